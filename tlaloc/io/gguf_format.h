// What reading and writing GGUF share.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tlaloc::io {

inline constexpr std::string_view kGgufMagic = "GGUF";
inline constexpr std::string_view kGgufAlignmentKey = "general.alignment";
inline constexpr std::uint32_t kGgufAlignment = 32;
/// A page would do. More only makes files of padding.
inline constexpr std::uint32_t kGgufMaxAlignment = 1u << 20;
/// Lists in lists: written by no program that is known, so some levels are plenty.
inline constexpr int kGgufMaxDepth = 4;
inline constexpr std::size_t kGgufMaxRank = 12;
static_assert(std::endian::native == std::endian::little);

}  // namespace tlaloc::io
