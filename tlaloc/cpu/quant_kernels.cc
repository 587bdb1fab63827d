#include "tlaloc/cpu/quant_kernels.h"

#include <bit>
#include <cstring>

#include "tlaloc/base/block_formats.h"
#include "tlaloc/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/quant_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr int kBlock = 32;

template <class T>
HWY_INLINE T read(const std::uint8_t* bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof x);
  return x;
}
HWY_INLINE float read_half(const std::uint8_t* bytes) {
  const std::uint32_t bits = read<std::uint16_t>(bytes), sign = (bits & 0x8000) << 16;
  const std::uint32_t number = (bits & 0x7fff) << 13;
  // The exponent is 112 too small; of infinity and NaN it is all ones in both.
  const std::uint32_t magnitude =
      (bits & 0x7c00) == 0x7c00
          ? number | 0x7f800000
          : std::bit_cast<std::uint32_t>(std::bit_cast<float>(number) * 0x1p112f);
  return std::bit_cast<float>(magnitude | sign);
}

// The formats, as ops/quant_blocks.h has them. integers(block, first): elements from `first` on,
// before they are scaled.

HWY_INLINE hn::Vec<hn::RebindToSigned<D>> nibbles(const std::uint8_t* q, int first) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto pair = hn::LoadU(bytes, q + first % 16);
  const auto half = first < 16 ? hn::And(pair, hn::Set(bytes, 15)) : hn::ShiftRight<4>(pair);
  return hn::PromoteTo(hn::RebindToSigned<D>(), half);
}
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> fives(const std::uint8_t* q, std::uint32_t high,
                                                int first) {
  const hn::RebindToUnsigned<D> words;
  const auto place = hn::Iota(words, static_cast<std::uint32_t>(first));
  const auto bit = hn::And(hn::Shr(hn::Set(words, high), place), hn::Set(words, 1));
  return hn::Or(nibbles(q, first), hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftLeft<4>(bit)));
}
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> bytes(const std::uint8_t* q, int first) {
  const hn::Rebind<std::int8_t, D> tag;
  return hn::PromoteTo(hn::RebindToSigned<D>(),
                       hn::LoadU(tag, reinterpret_cast<const std::int8_t*>(q) + first));
}

struct Q8 {
  static constexpr std::int64_t kBytes = 34;
  static constexpr float kOffset = 0;
  static constexpr bool kAdds = false;
  static HWY_INLINE float scale(const std::uint8_t* b) { return read_half(b); }
  static HWY_INLINE float least(const std::uint8_t*) { return 0; }
  static HWY_INLINE auto integers(const std::uint8_t* b, int first) { return bytes(b + 2, first); }
};
struct Q8Wide : Q8 {
  static constexpr std::int64_t kBytes = 36;
  static HWY_INLINE float scale(const std::uint8_t* b) { return read<float>(b); }
  static HWY_INLINE auto integers(const std::uint8_t* b, int first) { return bytes(b + 4, first); }
};
struct Q4 {
  static constexpr std::int64_t kBytes = 18;
  static constexpr float kOffset = 8;
  static constexpr bool kAdds = false;
  static HWY_INLINE float scale(const std::uint8_t* b) { return read_half(b); }
  static HWY_INLINE float least(const std::uint8_t*) { return 0; }
  static HWY_INLINE auto integers(const std::uint8_t* b, int first) {
    return nibbles(b + 2, first);
  }
};
struct Q4Least : Q4 {
  static constexpr std::int64_t kBytes = 20;
  static constexpr float kOffset = 0;
  static constexpr bool kAdds = true;
  static HWY_INLINE float least(const std::uint8_t* b) { return read_half(b + 2); }
  static HWY_INLINE auto integers(const std::uint8_t* b, int first) {
    return nibbles(b + 4, first);
  }
};
struct Q5 : Q4 {
  static constexpr std::int64_t kBytes = 22;
  static constexpr float kOffset = 16;
  static HWY_INLINE auto integers(const std::uint8_t* b, int first) {
    return fives(b + 6, read<std::uint32_t>(b + 2), first);
  }
};
struct Q5Least : Q4Least {
  static constexpr std::int64_t kBytes = 24;
  static HWY_INLINE auto integers(const std::uint8_t* b, int first) {
    return fives(b + 8, read<std::uint32_t>(b + 4), first);
  }
};

template <class Q>
struct Block {
  explicit HWY_INLINE Block(const std::uint8_t* b)
      : bytes(b), scale(hn::Set(kTag, Q::scale(b))), least(hn::Set(kTag, Q::least(b))) {}
  /// Elements from `first` on.
  HWY_INLINE V elements(int first) const {
    V x = hn::ConvertTo(kTag, Q::integers(bytes, first));
    if constexpr (Q::kOffset != 0) x = hn::Sub(x, hn::Set(kTag, Q::kOffset));
    x = hn::Mul(x, scale);
    if constexpr (Q::kAdds) x = hn::Add(x, least);
    return x;
  }
  const std::uint8_t* bytes;
  V scale, least;
};

template <class Q>
void decode(const std::uint8_t* blocks, std::size_t count, float* HWY_RESTRICT out) {
  const int n = static_cast<int>(hn::Lanes(kTag));
  for (std::size_t b = 0; b < count; ++b, blocks += Q::kBytes, out += kBlock) {
    const Block<Q> block(blocks);
    for (int i = 0; i < kBlock; i += n) hn::StoreU(block.elements(i), kTag, out + i);
  }
}

DecodeBlocks find_decoder(std::string_view encoding) {
  if (encoding == "q8_0") return decode<Q8>;
  if (encoding == "q8_32") return decode<Q8Wide>;
  if (encoding == "q4_0") return decode<Q4>;
  if (encoding == "q4_1") return decode<Q4Least>;
  if (encoding == "q5_0") return decode<Q5>;
  if (encoding == "q5_1") return decode<Q5Least>;
  return nullptr;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(find_decoder);

DecodeBlocks block_decoder(std::string_view encoding) {
  if (const DecodeBlocks decoder = HWY_DYNAMIC_DISPATCH(find_decoder)(encoding)) return decoder;
  const BlockFormat* format = find_block_format(encoding);
  internal_check(format != nullptr, "an encoding has no decoder");
  return format->decode;
}

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
