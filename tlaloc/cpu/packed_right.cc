#include "tlaloc/cpu/packed_right.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tlaloc/base/block_formats.h"
#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm_kernels.h"
#include "tlaloc/cpu/right_kernels.h"

namespace tlaloc::cpu {
namespace {

constexpr std::int64_t kBlock = 32;

std::int64_t columns_of(Packing p) {
  return p == Packing::f64 ? gemm_kernels<double>().columns : gemm_kernels<float>().columns;
}
/// Of elements that are no blocks.
std::int64_t element_bytes(Packing p) { return byte_size(*element_of(p)); }

/// f(first column, number of columns, panel) for each panel.
template <class F>
void each_panel(Packing p, std::int64_t k, std::int64_t n, std::byte* out, const F& f) {
  constexpr double kNanoseconds = 0.5;  // an element
  const std::int64_t width = columns_of(p), bytes = panel_bytes(p, k);
  parallel(share(n, kNanoseconds * static_cast<double>(k), width),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t j = begin; j < end; j += width) {
               f(j, std::min(width, end - j), out + j / width * bytes);
             }
           });
}

/// 16-bit elements. Columns that are contiguous along k are read by pieces that stay in the
/// first-level cache, since each k is written across all of them.
void pack_halves(const std::uint16_t* b, std::int64_t row, std::int64_t column, std::int64_t k,
                 std::int64_t columns, std::int64_t width, std::uint16_t* out) {
  constexpr std::int64_t kPiece = 32;
  if (columns < width) std::fill_n(out, k * width, std::uint16_t(0));
  for (std::int64_t first = 0; first < k; first += kPiece) {
    const std::int64_t end = std::min(k, first + kPiece);
    for (std::int64_t q = first; q < end; ++q) {
      const std::uint16_t* const from = b + q * row;
      std::uint16_t* const to = out + q * width;
      for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j * column];
    }
  }
}

/// A block as blocks of 32 whose bytes are in the order of the layout; behind them.
std::uint8_t* cut(const BlockLayout& layout, const BlockFormat& format, const std::uint8_t* block,
                  std::uint8_t* out) {
  BlockParts parts;
  format.split(block, parts);
  const auto put = [&out]<class T>(T x) {
    std::memcpy(out, &x, sizeof x);
    out += sizeof x;
  };
  for (std::int64_t i = 0; i < format.elements; i += kBlock) {
    const std::int64_t first = i / parts.elements;
    for (std::int64_t p = 0; p < layout.parts; ++p) put(parts.scales[first + p]);
    for (std::int64_t p = 0; layout.has_least && p < layout.parts; ++p) {
      put(-parts.leasts[first + p]);
    }
    if (layout.has_bytes) {
      std::memcpy(out, parts.q + i, kBlock);
      out += kBlock;
      continue;
    }
    std::array<unsigned, kBlock> bits;
    std::uint32_t fifth = 0;
    for (std::size_t j = 0; j < bits.size(); ++j) {
      bits[j] = static_cast<unsigned>(parts.q[usize(i) + j] + static_cast<int>(layout.offset));
      fifth |= (bits[j] >> 4) << j;
    }
    if (layout.has_fifth) put(fifth);
    for (std::size_t j = 0; j < 16; ++j) {
      put(static_cast<std::uint8_t>((bits[j] & 15) | (bits[j + 16] & 15) << 4));
    }
  }
  return out;
}

/// Columns of k elements, in blocks of 32 whose bytes are in the order of the layout.
void pack_panel(const BlockLayout& layout, std::int64_t k, std::int64_t columns,
                const std::uint8_t* blocks, std::byte* panel) {
  const std::int64_t width = gemm_kernels<float>().columns, bytes = layout.bytes();
  const std::int64_t column = k / kBlock * bytes;
  // Where there is no column, all scales are 0.
  if (columns < width) std::fill_n(panel, column * width, std::byte(0));
  for (std::int64_t b = 0; b < k / kBlock; ++b, blocks += bytes, panel += bytes * width) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::uint8_t* from = blocks + j * column;
      std::byte* to = panel;
      // What is `size` bytes of each column's, and lies side by side in the panel.
      const auto put = [&](std::int64_t size) {
        std::memcpy(to + j * size, from, usize(size));
        from += size;
        to += size * width;
      };
      for (std::int64_t i = 0; i < layout.parts * (layout.has_least ? 2 : 1); ++i) {
        put(layout.scale);
      }
      if (layout.has_fifth) put(4);
      for (int i = 0; i < layout.words(); ++i) put(4);
    }
  }
}

}  // namespace

const char* packing_name(Packing packing) {
  static constexpr const char* kNames[] = {"f32",  "f64",  "f16",  "bf16",   "q8_0",  "q8_32",
                                           "q4_0", "q4_1", "q5_0", "q5_1",   "q2_k",  "q3_k",
                                           "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs"};
  return kNames[static_cast<std::size_t>(packing)];
}

std::optional<Packing> packing_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Packing::f32;
    case DType::f64:
      return Packing::f64;
    case DType::f16:
      return Packing::f16;
    case DType::bf16:
      return Packing::bf16;
    default:
      return std::nullopt;
  }
}

std::optional<DType> element_of(Packing packing) {
  for (const DType t : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    if (packing_of(t) == packing) return t;
  }
  return std::nullopt;
}

Packing packing_of(const ir::Encoding& encoding) {
  for (int p = static_cast<int>(Packing::q8_0); p <= static_cast<int>(Packing::iq4_xs); ++p) {
    if (encoding.name == packing_name(static_cast<Packing>(p))) return static_cast<Packing>(p);
  }
  throw InternalError("no packing for the encoding " + encoding.name);
}

std::int64_t packed_offset(Packing packing, std::int64_t k) {
  const std::int64_t width = columns_of(packing);
  if (packing < Packing::q8_0) return checked_mul(k, width * element_bytes(packing));
  return checked_mul(k / kBlock, width * block_layout(packing).bytes());
}
std::int64_t panel_bytes(Packing packing, std::int64_t k) {
  const std::int64_t bytes = packed_offset(packing, k);
  // Not a power of two, which would put all panels into the same few lines of the caches.
  return checked_add((bytes + 63) / 64 * 64, 64);
}
std::size_t packed_bytes(Packing packing, std::int64_t k, std::int64_t n) {
  const std::int64_t width = columns_of(packing);
  return usize(checked_mul((n + width - 1) / width, panel_bytes(packing, k)));
}

void pack_right(Packing packing, std::int64_t k, std::int64_t n, const void* b, std::int64_t row,
                std::int64_t column, std::byte* out) {
  const std::int64_t bytes = element_bytes(packing);
  each_panel(packing, k, n, out, [&](std::int64_t first, std::int64_t columns, std::byte* panel) {
    const std::byte* const from = static_cast<const std::byte*>(b) + first * column * bytes;
    auto packed = [&]<class T>(const GemmKernels<T>& kernels) {
      kernels.pack(from, column, row, columns, k, kernels.columns, reinterpret_cast<T*>(panel));
    };
    if (packing == Packing::f64) return packed(gemm_kernels<double>());
    if (packing == Packing::f32) return packed(gemm_kernels<float>());
    pack_halves(reinterpret_cast<const std::uint16_t*>(from), row, column, k, columns,
                columns_of(packing), reinterpret_cast<std::uint16_t*>(panel));
  });
}

void pack_blocks(Packing packing, std::int64_t k, std::int64_t n, const std::uint8_t* blocks,
                 std::byte* out) {
  const BlockLayout layout = block_layout(packing);
  const BlockFormat& format = *find_block_format(packing_name(packing));
  const std::int64_t row = k / format.elements * format.bytes;
  each_panel(packing, k, n, out, [&](std::int64_t first, std::int64_t columns, std::byte* panel) {
    const std::uint8_t* from = blocks + first * row;
    if (format.split == nullptr) return pack_panel(layout, k, columns, from, panel);
    std::vector<std::uint8_t> pieces(usize(columns * (k / kBlock) * layout.bytes()));
    std::uint8_t* to = pieces.data();
    for (const std::uint8_t* const end = from + columns * row; from != end; from += format.bytes) {
      to = cut(layout, format, from, to);
    }
    pack_panel(layout, k, columns, pieces.data(), panel);
  });
}

}  // namespace tlaloc::cpu
