#pragma once

#include <cstddef>
#include <string_view>

namespace tlaloc {

/// Whether the text is well-formed UTF-8 (RFC 3629): no overlong forms, surrogates, or values above
/// U+10FFFF.
bool is_utf8(std::string_view text);

/// What stands at s[i]: the length of a well-formed character, or of the longest part of one.
struct Utf8Step {
  std::size_t length;
  bool well_formed;
};
Utf8Step utf8_step(std::string_view s, std::size_t i);

}  // namespace tlaloc
