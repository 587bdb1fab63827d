// What a file of the cache holds: bytes, and what proves them whole and meant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/base/digest.h"

namespace tlaloc::cache {

std::vector<std::byte> write_entry(const Digest& key, std::span<const std::byte> body);

/// The body within `from`; nullopt unless that is what write_entry() makes for the key, byte by
/// byte.
std::optional<std::span<const std::byte>> read_entry(const Digest& key,
                                                     std::span<const std::byte> from);

}  // namespace tlaloc::cache
