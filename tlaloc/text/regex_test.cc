#include "tlaloc/text/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

/// What Oniguruma reads in another way than PCRE2, or not at all. tests/text/check_regexes.py has
/// those that both read in the same way.
TEST(Regex, RefusesWhatOnigurumaReadsOtherwise) {
  for (const char* pattern :
       {"a{3}?b",      "a{,2}b",        "a{2}+b",        "(?m:a.b)",     "(?m)a",      "(?s)a",
        "(?x: a )",    "(?i-m:A)",      "(?i)ss",        "x(?i)sT",      "(?i:fi)",    "(?i)s{2}",
        "(?i:\u00DF)", R"((?i)\x{df})", "(?<n>a)",       "(?P<n>a)",     "(?'n'a)",    "(?|a|b)",
        "(?R)?a",      "(?1)(a)",       "(a)?(?(1)b)",   "(?C)a",        "(?~a)",      "(*ACCEPT)a",
        "(*UCP)a",     "(*NO_JIT)a",    "[[:alpha:]]",   "[[:^space:]]", "[[:word:]]", "[a&&b]",
        "[a[b]]",      R"(\pL)",        R"(\p{sc=Han})", R"(\p{Xan})",   R"(\p{L&})",  R"(\K)",
        R"(\R)",       R"(\h)",         R"(\Qa\E)",      R"(\N)",        R"(\o{141})", R"(\l)",
        R"(a\)"}) {
    try {
      const Regex regex(pattern, "t.json: /pattern");
      ADD_FAILURE() << pattern;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), "TL-TOKENIZER-002");
      EXPECT_THAT(e.what(), testing::HasSubstr("t.json: /pattern: '" + std::string(pattern)));
    }
  }
}

TEST(Regex, TakesThePatternsOfPublishedTokenizers) {
  for (
      const char* pattern :
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"}) {
    EXPECT_NO_THROW(Regex(pattern, "t.json: /pattern")) << pattern;
  }
}

}  // namespace
}  // namespace tlaloc::text
