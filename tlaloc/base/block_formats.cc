#include "tlaloc/base/block_formats.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tlaloc {
namespace {

using Bytes = const std::uint8_t*;

template <class T>
T read(Bytes bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof x);
  return x;
}
float half_at(Bytes bytes) { return block_half(read<std::uint16_t>(bytes)); }
float f32(int x) { return static_cast<float>(x); }

// Each decoder turns one block into floats. Products and differences are taken in the order of the
// gguf package, which decides their last bits.

// Blocks of 32: byte j of 16 has elements j and j + 16.
struct Q4_0 {
  static constexpr const char* kName = "q4_0";
  static constexpr int kElements = 32, kBytes = 2 + 16;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * f32((b[2 + j] & 15) - 8);
      out[j + 16] = d * f32((b[2 + j] >> 4) - 8);
    }
  }
};
struct Q4_1 {
  static constexpr const char* kName = "q4_1";
  static constexpr int kElements = 32, kBytes = 2 + 2 + 16;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b), m = half_at(b + 2);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * f32(b[4 + j] & 15) + m;
      out[j + 16] = d * f32(b[4 + j] >> 4) + m;
    }
  }
};
/// The five bits of elements j and j + 16.
std::pair<int, int> five_bits(std::uint32_t high, std::uint8_t low, int j) {
  return {static_cast<int>((low & 15u) | ((high >> j & 1u) << 4)),
          static_cast<int>((low >> 4) | ((high >> (j + 16) & 1u) << 4))};
}
struct Q5_0 {
  static constexpr const char* kName = "q5_0";
  static constexpr int kElements = 32, kBytes = 2 + 4 + 16;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    const auto high = read<std::uint32_t>(b + 2);
    for (int j = 0; j < 16; ++j) {
      const auto [first, second] = five_bits(high, b[6 + j], j);
      out[j] = d * f32(first - 16);
      out[j + 16] = d * f32(second - 16);
    }
  }
};
struct Q5_1 {
  static constexpr const char* kName = "q5_1";
  static constexpr int kElements = 32, kBytes = 2 + 2 + 4 + 16;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b), m = half_at(b + 2);
    const auto high = read<std::uint32_t>(b + 4);
    for (int j = 0; j < 16; ++j) {
      const auto [first, second] = five_bits(high, b[8 + j], j);
      out[j] = d * f32(first) + m;
      out[j + 16] = d * f32(second) + m;
    }
  }
};
struct Q8_0 {
  static constexpr const char* kName = "q8_0";
  static constexpr int kElements = 32, kBytes = 2 + 32;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    for (int j = 0; j < 32; ++j) out[j] = f32(static_cast<std::int8_t>(b[2 + j])) * d;
  }
};
struct Q8_32 {
  static constexpr const char* kName = "q8_32";
  static constexpr int kElements = 32, kBytes = 4 + 32;
  static void decode(Bytes b, float* out) {
    const auto d = read<float>(b);
    for (int j = 0; j < 32; ++j) out[j] = f32(static_cast<std::int8_t>(b[4 + j])) * d;
  }
};

// Blocks of parts with scales of their own: each_part(block, f) gives
// f(first element, how many, scale, least, q), where element j of them is q(j) * scale - least.

template <int kCount>
using Count = std::integral_constant<int, kCount>;

struct Q2_K {  // scales[16], q[64], d, dmin
  static constexpr const char* kName = "q2_k";
  static constexpr int kElements = 256, kBytes = 16 + 64 + 2 + 2;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    const float d = half_at(b + 80), dmin = half_at(b + 82);
    for (int part = 0; part < 16; ++part) {
      // A half of the block has 32 bytes with four times two bits each.
      const int shift = part / 2 % 4 * 2;
      const Bytes q = b + 16 + part / 8 * 32 + part % 2 * 16;
      f(part * 16, Count<16>(), d * f32(b[part] & 15), dmin * f32(b[part] >> 4),
        [=](int j) { return q[j] >> shift & 3; });
    }
  }
};
struct Q3_K {  // high bits[32], q[64], scales[12], d
  static constexpr const char* kName = "q3_k";
  static constexpr int kElements = 256, kBytes = 32 + 64 + 12 + 2;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    const Bytes scales = b + 96;
    const float d = half_at(b + 108);
    for (int part = 0; part < 16; ++part) {
      const int low_bits = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
      const int high_bits = scales[8 + part % 4] >> (part / 4 * 2) & 3;
      const int shift = part / 2 % 4 * 2;
      const Bytes high = b + part % 2 * 16, q = b + 32 + part / 8 * 32 + part % 2 * 16;
      // A high bit that is not set takes four away.
      f(part * 16, Count<16>(), d * f32((low_bits | high_bits << 4) - 32), 0.0f,
        [=](int j) { return (q[j] >> shift & 3) - ((high[j] >> (part / 2) & 1) != 0 ? 0 : 4); });
    }
  }
};
/// Eight scales and minima of six bits in twelve bytes.
std::pair<int, int> scale_and_least(Bytes s, int part) {
  if (part < 4) return {s[part] & 63, s[part + 4] & 63};
  return {(s[part + 4] & 15) | (s[part - 4] >> 6 << 4), (s[part + 4] >> 4) | (s[part] >> 6 << 4)};
}
struct Q4_K {  // d, dmin, scales[12], q[128]
  static constexpr const char* kName = "q4_k";
  static constexpr int kElements = 256, kBytes = 2 + 2 + 12 + 128;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    const float d = half_at(b), dmin = half_at(b + 2);
    for (int part = 0; part < 8; ++part) {
      const auto [s, m] = scale_and_least(b + 4, part);
      const Bytes q = b + 16 + part / 2 * 32;
      const int shift = part % 2 * 4;
      f(part * 32, Count<32>(), d * f32(s), dmin * f32(m),
        [=](int j) { return q[j] >> shift & 15; });
    }
  }
};
struct Q5_K {  // d, dmin, scales[12], high bits[32], q[128]
  static constexpr const char* kName = "q5_k";
  static constexpr int kElements = 256, kBytes = 2 + 2 + 12 + 32 + 128;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    const float d = half_at(b), dmin = half_at(b + 2);
    const Bytes high = b + 16;
    for (int part = 0; part < 8; ++part) {
      const auto [s, m] = scale_and_least(b + 4, part);
      const Bytes q = b + 48 + part / 2 * 32;
      const int shift = part % 2 * 4;
      f(part * 32, Count<32>(), d * f32(s), dmin * f32(m),
        [=](int j) { return (q[j] >> shift & 15) | (high[j] >> part & 1) << 4; });
    }
  }
};
struct Q6_K {  // low bits[128], high bits[64], scales[16], d
  static constexpr const char* kName = "q6_k";
  static constexpr int kElements = 256, kBytes = 128 + 64 + 16 + 2;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    const float d = half_at(b + 208);
    for (int part = 0; part < 16; ++part) {
      const int half = part / 8, in_half = part % 8;
      const Bytes low = b + half * 64 + in_half % 4 * 16;
      const Bytes high = b + 128 + half * 32 + in_half % 2 * 16;
      const int low_shift = in_half / 4 * 4, high_shift = in_half / 2 * 2;
      f(part * 16, Count<16>(), d * f32(static_cast<std::int8_t>(b[192 + part])), 0.0f, [=](int j) {
        return ((low[j] >> low_shift & 15) | (high[j] >> high_shift & 3) << 4) - 32;
      });
    }
  }
};

constexpr std::int8_t kNonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                        1,    13,   25,  38,  53,  69,  89,  113};
/// Sixteen bytes: element j in the low half of byte j, element j + 16 in its high half.
int nonlinear(Bytes q, int j) { return kNonlinear[j < 16 ? q[j] & 15 : q[j - 16] >> 4]; }
struct IQ4_NL {  // d, q[16]
  static constexpr const char* kName = "iq4_nl";
  static constexpr int kElements = 32, kBytes = 2 + 16;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    f(0, Count<32>(), half_at(b), 0.0f, [=](int j) { return nonlinear(b + 2, j); });
  }
};
struct IQ4_XS {  // d, high bits of scales, low bits[4], q[128]
  static constexpr const char* kName = "iq4_xs";
  static constexpr int kElements = 256, kBytes = 2 + 2 + 4 + 128;
  template <class F>
  static void each_part(Bytes b, const F& f) {
    const float d = half_at(b);
    const auto high = read<std::uint16_t>(b + 2);
    for (int part = 0; part < 8; ++part) {
      const int low_bits = b[4 + part / 2] >> (part % 2 * 4) & 15;
      const Bytes q = b + 8 + part * 16;
      f(part * 32, Count<32>(), d * f32((low_bits | (high >> (2 * part) & 3) << 4) - 32), 0.0f,
        [=](int j) { return nonlinear(q, j); });
    }
  }
};

// Others.
/// Digit `power` of a byte that holds five of base 3, as -1, 0 or 1.
float third(std::uint8_t byte, int power) {
  constexpr int kPowers[] = {1, 3, 9, 27, 81};
  return f32(((byte * kPowers[power] & 255) * 3 >> 8) - 1);
}
struct TQ1_0 {  // five digits[48], four digits[4], d
  static constexpr const char* kName = "tq1_0";
  static constexpr int kElements = 256, kBytes = 48 + 4 + 2;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b + 52);
    auto digits = [&](Bytes bytes, int count, int powers) {
      for (int p = 0; p < powers; ++p) {
        for (int j = 0; j < count; ++j) *out++ = d * third(bytes[j], p);
      }
    };
    digits(b, 32, 5);
    digits(b + 32, 16, 5);
    digits(b + 48, 4, 4);
  }
};
struct TQ2_0 {  // q[64], d
  static constexpr const char* kName = "tq2_0";
  static constexpr int kElements = 256, kBytes = 64 + 2;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b + 64);
    for (int part = 0; part < 8; ++part) {
      const Bytes q = b + part / 4 * 32;
      const int shift = part % 4 * 2;
      for (int j = 0; j < 32; ++j) out[part * 32 + j] = d * f32((q[j] >> shift & 3) - 1);
    }
  }
};

/// Twice the values of a float of 4 bits (E2M1).
constexpr float kE2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
struct MXFP4 {  // exponent, q[16]
  static constexpr const char* kName = "mxfp4";
  static constexpr int kElements = 32, kBytes = 1 + 16;
  static void decode(Bytes b, float* out) {
    const std::uint32_t e = b[0];
    // Half of 2^(e - 127), subnormals included.
    const float d = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * kE2M1[b[1 + j] & 15];
      out[j + 16] = d * kE2M1[b[1 + j] >> 4];
    }
  }
};
struct NVFP4 {  // scales[4], q[32]
  static constexpr const char* kName = "nvfp4";
  static constexpr int kElements = 64, kBytes = 4 + 32;
  /// Half of a float without sign of 4 bits of exponent and 3 of mantissa.
  static float scale(std::uint8_t x) {
    if (x == 0 || x == 0x7f) return 0;
    const int exponent = x >> 3 & 15, mantissa = x & 7;
    const float value = exponent == 0
                            ? f32(mantissa) * 0x1p-9f
                            : f32(8 + mantissa) / 8 * std::bit_cast<float>((exponent + 120) << 23);
    return value * 0.5f;
  }
  static void decode(Bytes b, float* out) {
    for (int part = 0; part < 4; ++part) {
      const float d = scale(b[part]);
      for (int j = 0; j < 8; ++j) {
        out[part * 16 + j] = d * kE2M1[b[4 + part * 8 + j] & 15];
        out[part * 16 + j + 8] = d * kE2M1[b[4 + part * 8 + j] >> 4];
      }
    }
  }
};

/// Whether it has each_part, and not decode.
template <class Block>
constexpr bool kHasParts =
    requires(Bytes b) { Block::each_part(b, [](int, auto, float, float, auto) {}); };

template <class Block>
void decode_all(Bytes from, std::size_t blocks, float* out) {
  for (std::size_t i = 0; i < blocks; ++i, from += Block::kBytes, out += Block::kElements) {
    if constexpr (kHasParts<Block>) {
      Block::each_part(from, [out](int first, auto count, float scale, float least, auto q) {
        for (int j = 0; j < count; ++j) out[first + j] = scale * f32(q(j)) - least;
      });
    } else {
      Block::decode(from, out);
    }
  }
}

template <class Block>
void split(Bytes from, BlockParts& out) {
  Block::each_part(from, [&out](int first, auto count, float scale, float least, auto q) {
    out.elements = count;
    out.scales[first / count] = scale;
    out.leasts[first / count] = least;
    for (int j = 0; j < count; ++j) out.q[first + j] = static_cast<std::int8_t>(q(j));
  });
}
template <class Block>
constexpr auto splitter() {
  if constexpr (kHasParts<Block>) {
    return &split<Block>;
  } else {
    return static_cast<decltype(BlockFormat::split)>(nullptr);
  }
}

template <class... Block>
constexpr std::array<BlockFormat, sizeof...(Block)> formats_of() {
  return {BlockFormat{Block::kName, Block::kElements, Block::kBytes, decode_all<Block>,
                      splitter<Block>()}...};
}
constexpr auto kFormats = formats_of<Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_32, Q2_K, Q3_K, Q4_K, Q5_K,
                                     Q6_K, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0, MXFP4, NVFP4>();

}  // namespace

const BlockFormat* find_block_format(std::string_view name) {
  for (const BlockFormat& f : kFormats) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

}  // namespace tlaloc
