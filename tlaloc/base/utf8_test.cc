#include "tlaloc/base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace tlaloc {
namespace {

/// The bit pattern of RFC 3629 of so many bytes, whether or not it is the shortest.
std::string encoded(std::uint32_t c, int length) {
  if (length == 1) return {static_cast<char>(c)};
  std::string s;
  for (int i = 1; i < length; ++i, c >>= 6) s.insert(s.begin(), static_cast<char>(0x80 | (c & 63)));
  s.insert(s.begin(), static_cast<char>((0xf00 >> length & 0xff) | c));
  return s;
}
int shortest(std::uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

TEST(Utf8, IsEveryCodePointInItsShortestForm) {
  for (std::uint32_t c = 0; c < 0x200000; ++c) {
    const int length = shortest(c);
    const bool right = c < 0x110000 && (c < 0xd800 || c > 0xdfff);
    ASSERT_EQ(is_utf8("a" + encoded(c, length) + "b"), right) << c;
    for (int longer = length + 1; longer <= 4; ++longer) {
      ASSERT_FALSE(is_utf8(encoded(c, longer))) << c;
    }
    const std::string cut = encoded(c, length).substr(0, static_cast<std::size_t>(length) - 1);
    ASSERT_EQ(is_utf8(cut), cut.empty()) << c;
  }
}

TEST(Utf8, IsNotAnyOtherByte) {
  for (int b = 0x80; b < 0x100; ++b) {
    EXPECT_FALSE(is_utf8(std::string{static_cast<char>(b)})) << b;
    EXPECT_FALSE(is_utf8(std::string{static_cast<char>(b), 'a', 'a', 'a'})) << b;
    EXPECT_FALSE(is_utf8(std::string{'\xf1', '\x80', static_cast<char>(b ^ 0xc0), '\x80'})) << b;
  }
}

}  // namespace
}  // namespace tlaloc
