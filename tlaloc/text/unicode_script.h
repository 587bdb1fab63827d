// Scripts of characters, as the package tokenizers has them.
#pragma once

#include <cstdint>

namespace tlaloc::text {

/// A number for each script, 0 for what belongs to any: the space, and what has no script. Hiragana
/// and Katakana are Han.
std::uint8_t script_of(char32_t c);

}  // namespace tlaloc::text
