#include "tlaloc/text/word_scanner.h"

#include <gtest/gtest.h>

#include <random>

#include "tlaloc/text/pre_tokenizers.h"

namespace tlaloc::text {
namespace {

std::vector<std::string> pieces(const PreTokenizer& step, const std::string& text) {
  Pieces p{AlignedText(text, {0, static_cast<std::uint32_t>(text.size())}), {}, {}};
  p.ranges.push_back({0, static_cast<std::uint32_t>(text.size())});
  step.apply(p);
  std::vector<std::string> out;
  for (Range r : p.ranges) out.emplace_back(p.text.of(r));
  return out;
}

/// Texts of a few characters each, most of them such that patterns care about.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::u32string> kPools{U"''''sStTdDmMrReEvVlL\u017F",
                                                  U"abcXYZ",
                                                  U"0123456789",
                                                  U"     \t\n\r\n\n\v\f",
                                                  U"\u0085\u00A0\u2028\u3000",
                                                  U".,;:!?-/_\"",
                                                  U"éß中あ한अ\u0301\u0948",
                                                  U"²½Ⅷ٣",
                                                  U"€\u200B\U0001F600"};
  std::string text;
  for (int n = static_cast<int>(random() % 16); n > 0; --n) {
    const std::u32string& pool = kPools[random() % kPools.size()];
    char32_t c = pool[random() % pool.size()];
    if (random() % 16 == 0) c = static_cast<char32_t>(random() % 0x110000);
    if (c >= 0xD800 && c < 0xE000) c = 'x';
    append_char(text, c);
  }
  return text;
}

TEST(WordScanner, AgreesWithItsPattern) {
  std::mt19937 random(1);
  for (WordPattern pattern : {WordPattern::kGpt2, WordPattern::kLlama3, WordPattern::kQwen2}) {
    const std::string_view regex = word_pattern_text(pattern);
    const PreTokenizerPtr scanner = make_split(regex, Behavior::kIsolated, false, "test");
    const PreTokenizerPtr reference = make_regex_split(regex, Behavior::kIsolated, false, "test");
    for (int i = 0; i < 20000; ++i) {
      const std::string text = random_text(random);
      ASSERT_EQ(pieces(*scanner, text), pieces(*reference, text)) << regex << "\n" << text;
    }
  }
}

TEST(WordScanner, CutsNumbersAsTheirPatternDoes) {
  std::mt19937 random(2);
  for (const Behavior behavior : {Behavior::kIsolated, Behavior::kRemoved, Behavior::kContiguous,
                                  Behavior::kMergedWithPrevious, Behavior::kMergedWithNext}) {
    for (const bool invert : {false, true}) {
      const PreTokenizerPtr scanner = make_split(kThousands, behavior, invert, "test");
      const PreTokenizerPtr reference = make_regex_split(kThousands, behavior, invert, "test");
      auto check = [&](const std::string& text) {
        ASSERT_EQ(pieces(*scanner, text), pieces(*reference, text)) << text;
      };
      for (int i = 0; i < 2000; ++i) check(random_text(random));
      for (std::size_t n = 0; n < 20; ++n) {
        for (const char* after : {"", "a", "_", " 1", ".1", "²", "٣", "中", "\u0301", "Ⅷ4"}) {
          check(std::string(n, '7') + after);
          check("x" + std::string(n, '7') + after + std::string(n, '8'));
        }
      }
    }
  }
}

TEST(WordScanner, CutsAMillionDigits) {
  const PreTokenizerPtr split = make_split(kThousands, Behavior::kIsolated, false, "test");
  const std::string digits(1'000'000, '1');
  const std::vector<std::string> cut = pieces(*split, digits);
  ASSERT_EQ(cut.size(), 333'334u);
  EXPECT_EQ(cut.front(), "1");
  EXPECT_EQ(cut.back(), "111");
  EXPECT_EQ(pieces(*split, digits + "a"), std::vector<std::string>{digits + "a"});
}

TEST(WordScanner, KnowsPatternsByTheirText) {
  EXPECT_EQ(word_pattern(word_pattern_text(WordPattern::kLlama3)), WordPattern::kLlama3);
  EXPECT_EQ(word_pattern(R"(\p{L}+|\s+)"), WordPattern::kNone);
}

TEST(WordScanner, DiffersBetweenPatterns) {
  auto words = [](WordPattern p, const std::string& text) {
    return pieces(*make_split(word_pattern_text(p), Behavior::kIsolated, false, ""), text);
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words(WordPattern::kGpt2, "I'M 12345\n\n x"),
            (Words{"I", "'", "M", " 12345", "\n\n", " x"}));
  EXPECT_EQ(words(WordPattern::kLlama3, "I'M 12345\n\n x"),
            (Words{"I", "'M", " ", "123", "45", "\n\n", " x"}));
  EXPECT_EQ(words(WordPattern::kQwen2, "12(x"), (Words{"1", "2", "(x"}));
}

}  // namespace
}  // namespace tlaloc::text
