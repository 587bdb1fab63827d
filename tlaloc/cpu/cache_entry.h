// What a file of the cache holds: an image, and what proves it whole and meant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/cpu/digest.h"
#include "tlaloc/cpu/image.h"

namespace tlaloc::cpu {

std::vector<std::byte> write_entry(const Digest& key, const CodeImage& image);

/// nullopt unless `from` is what write_entry() makes for that key, byte by byte. Allocates no more
/// than `from` holds.
std::optional<CodeImage> read_entry(const Digest& key, std::span<const std::byte> from);

}  // namespace tlaloc::cpu
