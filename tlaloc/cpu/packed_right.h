// Right sides of products that are packed once, for many products with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tlaloc/base/dtype.h"
#include "tlaloc/ir/type.h"

namespace tlaloc::cpu {

/// What the elements are kept as. Products with them are of f64 for f64, else of f32, which the
/// kernels make of an element where they use it: exactly, or, of blocks, as decode_block does.
/// Blocks of 256 are cut into such of 32, whose scales are multiplied out.
enum class Packing : std::uint8_t {
  f32,
  f64,
  f16,
  bf16,
  q8_0,
  q8_32,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs
};

const char* packing_name(Packing packing);
/// nullopt: there is none.
std::optional<Packing> packing_of(DType dtype);
/// nullopt for blocks.
std::optional<DType> element_of(Packing packing);
Packing packing_of(const ir::Encoding& encoding);

/// A right side [k, n], by panels of so many columns as the kernels of this CPU take. A panel
/// starts every panel_bytes, at multiples of 64.
struct PackedRight {
  Packing packing = Packing::f32;
  const std::byte* data = nullptr;
  explicit operator bool() const { return data != nullptr; }
};

/// k: of encodings a multiple of a block.
std::size_t packed_bytes(Packing packing, std::int64_t k, std::int64_t n);
std::int64_t panel_bytes(Packing packing, std::int64_t k);
/// From a panel's start to its row k, which starts a block of an encoding.
std::int64_t packed_offset(Packing packing, std::int64_t k);
/// Element (k, n) of b lies `k * row + n * column` elements behind `b`. `out` is aligned to 64.
void pack_right(Packing packing, std::int64_t k, std::int64_t n, const void* b, std::int64_t row,
                std::int64_t column, std::byte* out);

/// From n rows of blocks of the encoding of that name, which lie behind each other.
void pack_blocks(Packing packing, std::int64_t k, std::int64_t n, const std::uint8_t* blocks,
                 std::byte* out);

}  // namespace tlaloc::cpu
