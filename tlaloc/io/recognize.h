// What a file is that is not what it was taken for.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tlaloc::io {

struct Recognized {
  std::string_view what;  ///< "a GGUF file", …; empty for what is not known
  std::string_view hint;  ///< what to do with it
};
/// By how a file starts: what checkpoints are saved as, and what downloads leave in their place.
Recognized recognize(std::span<const std::byte> file);

}  // namespace tlaloc::io
