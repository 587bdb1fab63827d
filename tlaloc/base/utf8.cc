#include "tlaloc/base/utf8.h"

#include <cstddef>

namespace tlaloc {

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() - i < length) return false;
    // What the second byte may be keeps out overlong forms, surrogates and too large values.
    const unsigned second = byte(i + 1);
    const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return false;
    for (std::size_t j = 2; j < length; ++j) {
      if ((byte(i + j) & 0xc0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace tlaloc
