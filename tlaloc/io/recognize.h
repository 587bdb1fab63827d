// What a file is, by how it starts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tlaloc::io {

struct Recognized {
  std::string_view what;  ///< "a GGUF file", …; empty for what is not known
  std::string_view hint;  ///< what to do with it
};
/// By how a file starts: what checkpoints are saved as, and what downloads leave in their place.
Recognized recognize(std::span<const std::byte> file);

/// By what the file has, not by its name alone: caches name files by their hashes. One that can't
/// be read is none, unless its name says so.
bool is_gguf(const std::string& path);

}  // namespace tlaloc::io
