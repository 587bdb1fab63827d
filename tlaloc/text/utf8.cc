#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

/// What stands at `s[i]`: the length of a well-formed character, or of the longest part of one.
struct Step {
  std::size_t length;
  bool well_formed;
};

Step step(std::string_view s, std::size_t i) {
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

}  // namespace

std::string replace_ill_formed(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    const Step at = step(s, i);
    out += at.well_formed ? s.substr(i, at.length) : std::string_view("\xEF\xBF\xBD");
    i += at.length;
  }
  return out;
}

}  // namespace tlaloc::text
