#include "tlaloc/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace tlaloc {

Utf8Step utf8_step(std::string_view s, std::size_t i) {
  auto at = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned b = at(i);
  if (b < 0x80) return {1, true};
  if (b < 0xC2 || b > 0xF4) return {1, false};
  const std::size_t length = b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned low = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
  const unsigned high = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t k = 1; k < length; ++k) {
    if (i + k == s.size()) return {k, false};
    const unsigned c = at(i + k);
    if (c < (k == 1 ? low : 0x80u) || c > (k == 1 ? high : 0xBFu)) return {k, false};
  }
  return {length, true};
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    // Most text is ASCII: eight bytes at a time.
    for (std::uint64_t word; i + 8 <= text.size(); i += 8) {
      std::memcpy(&word, text.data() + i, 8);
      if (word & 0x8080808080808080u) break;
    }
    if (i == text.size()) break;
    const Utf8Step at = utf8_step(text, i);
    if (!at.well_formed) return false;
    i += at.length;
  }
  return true;
}

}  // namespace tlaloc
