#include "tlaloc/text/utf8.h"

#include <gtest/gtest.h>

namespace tlaloc::text {
namespace {

using namespace std::string_literals;

// What Python's bytes.decode("utf-8", errors="replace") gives.
TEST(Utf8, ReplacesMaximalParts) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(replace_ill_formed("a\x80z"), "a" + r + "z");
  EXPECT_EQ(replace_ill_formed("\xC0\xAF"), r + r);
  EXPECT_EQ(replace_ill_formed("\xE4\xBD"), r);
  EXPECT_EQ(replace_ill_formed("\xE4\xBDz"), r + "z");
  EXPECT_EQ(replace_ill_formed("\xF0\x9F\x98z"), r + "z");
  EXPECT_EQ(replace_ill_formed("\xED\xA0\x80"), r + r + r);
  EXPECT_EQ(replace_ill_formed("\xF4\x90\x80\x80"), r + r + r + r);
  EXPECT_EQ(replace_ill_formed("\xF0\x9F\xF0\x9F\x98\x80"), r + "\xF0\x9F\x98\x80");
}

TEST(Utf8, KeepsWhatIsWellFormed) {
  const std::string text = "eight or more bytes of ASCII, \u00e9 \u4e2d \U0001F600\0"s;
  EXPECT_EQ(replace_ill_formed(text), text);
}

TEST(Utf8, ReadsAndWritesCharacters) {
  for (char32_t c :
       {U'a', U'\x7F', U'\x80', U'\u07FF', U'\u0800', U'\uFFFF', U'\U00010000', U'\U0010FFFF'}) {
    std::string s;
    append_char(s, c);
    const char* p = s.data();
    EXPECT_EQ(next_char(p), c);
    EXPECT_EQ(p, s.data() + s.size());
    EXPECT_EQ(length_of(s[0]), s.size());
  }
}

}  // namespace
}  // namespace tlaloc::text
