#include "tlaloc/text/precompiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/text/base64.h"

namespace tlaloc::text {
namespace {

using testing::HasSubstr;

TEST(Base64, IsReadOneWay) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("TWFu"), "Man");
  EXPECT_EQ(decode_base64("TWE="), "Ma");
  EXPECT_EQ(decode_base64("TQ=="), "M");
  EXPECT_EQ(decode_base64("+/8A"), std::string("\xFB\xFF\0", 3));
  for (const char* wrong :
       {"TWF", "TWFuT", "TR==", "TWF=", "T===", "TW=u", "TWE=TWFu", "TW u", "T\xFFud"}) {
    EXPECT_EQ(decode_base64(wrong), std::nullopt) << wrong;
  }
}

std::string encode(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

/// A table of these units, and more up to 256 as such tables have, and texts.
std::string table(std::vector<std::uint32_t> units, std::string_view texts) {
  units.resize(256);
  std::string bytes;
  auto add = [&](std::uint32_t word) {
    for (int k = 0; k < 32; k += 8) bytes += static_cast<char>(word >> k);
  };
  add(static_cast<std::uint32_t>(units.size() * 4));
  for (const std::uint32_t unit : units) add(unit);
  return encode(bytes + std::string(texts));
}

std::string normalized(const std::string& base64, std::string_view source) {
  AlignedText text(source, {0, static_cast<std::uint32_t>(source.size())});
  make_precompiled(base64, "rules")->apply(text);
  return std::string(text.view());
}

std::string error(const std::string& base64, std::string_view source = "\x01") {
  try {
    normalized(base64, source);
  } catch (const UserError& e) {
    EXPECT_EQ(e.info().code, "TL-TOKENIZER-001");
    return e.info().message;
  }
  return "none";
}

constexpr std::uint32_t kRoot = 4 << 10;
constexpr std::uint32_t kLeaf = 1u << 31;

TEST(Precompiled, ReplacesWhatHasARule) {
  // U+0001 is at 4 ^ 1 = 5, and its value at 5 ^ 2 = 7.
  const std::string rules = table({kRoot, 0, 0, 0, 0, 2 << 10 | 1 << 8 | 1, 0, kLeaf | 2},
                                  std::string_view("a\0bc\0", 5));
  EXPECT_EQ(normalized(rules, "\x01x\x01"), "bcxbc");
  EXPECT_EQ(normalized(rules, "x\x02"), "x\x02");
  EXPECT_EQ(normalized(rules, ""), "");
}

TEST(Precompiled, RefusesWhatPointsOutside) {
  EXPECT_THAT(error("TWF"), HasSubstr("rules: this is no base64"));
  for (const std::string& cut :
       {std::string(), encode("abc"), encode(std::string(4, '\0')),
        encode(std::string("\x05\0\0\0aaaaa", 9)), encode(std::string("\x08\0\0\0aaaa", 8))}) {
    EXPECT_THAT(error(cut), HasSubstr("cut off"));
  }
  EXPECT_THAT(error(table({kRoot}, "\xFF")), HasSubstr("no UTF-8"));
  EXPECT_THAT(error(table({512 << 10}, "")), HasSubstr("outside of the table"));
  const auto leaf = [](std::uint32_t value, std::string_view texts) {
    return table({kRoot, 0, 0, 0, 0, 2 << 10 | 1 << 8 | 1, 0, kLeaf | value}, texts);
  };
  EXPECT_THAT(error(leaf(3, "ab")), HasSubstr("outside of the texts"));
  EXPECT_THAT(error(leaf(1, "\xC3\xA9")), HasSubstr("outside of the texts"));
  EXPECT_EQ(normalized(leaf(2, "ab"), "x\x01"), "x");
}

}  // namespace
}  // namespace tlaloc::text
