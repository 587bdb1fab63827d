#pragma once

#include <string_view>

namespace tlaloc {

/// Whether the text is well-formed UTF-8 (RFC 3629): no overlong forms, surrogates, or values above
/// U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace tlaloc
