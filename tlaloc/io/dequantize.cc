#include "tlaloc/io/dequantize.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

using Bytes = const std::uint8_t*;

template <class T>
T read(Bytes bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof x);
  return x;
}
/// As Half's conversion, without a branch, so that loops of it become vectors: the bits as those of
/// a float are 2^-112 of the value, subnormals included.
inline float half(std::uint16_t h) {
  const float scaled =
      std::bit_cast<float>(static_cast<std::uint32_t>(h & 0x7fffu) << 13) * 0x1p112f;
  const std::uint32_t special = (h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}
float half_at(Bytes bytes) { return half(read<std::uint16_t>(bytes)); }
float f32(int x) { return static_cast<float>(x); }

// Each decoder turns one block into floats. Products and differences are taken in the order of the
// gguf package, which decides their last bits.

struct F32 {
  static constexpr int kElements = 1;
  static void decode(Bytes b, float* out) { std::memcpy(out, b, sizeof(float)); }
};
struct F16 {
  static constexpr int kElements = 1;
  static void decode(Bytes b, float* out) { *out = half_at(b); }
};
struct BF16 {
  static constexpr int kElements = 1;
  static void decode(Bytes b, float* out) {
    *out = std::bit_cast<float>(static_cast<std::uint32_t>(read<std::uint16_t>(b)) << 16);
  }
};

// Blocks of 32: byte j of 16 has elements j and j + 16.
struct Q4_0 {
  static constexpr int kElements = 32;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * f32((b[2 + j] & 15) - 8);
      out[j + 16] = d * f32((b[2 + j] >> 4) - 8);
    }
  }
};
struct Q4_1 {
  static constexpr int kElements = 32;
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
  static constexpr int kElements = 32;
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
  static constexpr int kElements = 32;
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
  static constexpr int kElements = 32;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    for (int j = 0; j < 32; ++j) out[j] = f32(static_cast<std::int8_t>(b[2 + j])) * d;
  }
};

// Blocks of 256.
struct Q2_K {  // scales[16], q[64], d, dmin
  static constexpr int kElements = 256;
  static void decode(Bytes b, float* out) {
    const Bytes scales = b, q = b + 16;
    const float d = half_at(b + 80), dmin = half_at(b + 82);
    for (int part = 0; part < 16; ++part) {
      const float scale = d * f32(scales[part] & 15), least = dmin * f32(scales[part] >> 4);
      // Parts of 16; a half of the block has 32 bytes with four times two bits each.
      const int shift = part / 2 % 4 * 2, from = part / 8 * 32 + part % 2 * 16;
      for (int j = 0; j < 16; ++j) {
        out[part * 16 + j] = scale * f32(q[from + j] >> shift & 3) - least;
      }
    }
  }
};
struct Q3_K {  // high bits[32], q[64], scales[12], d
  static constexpr int kElements = 256;
  static void decode(Bytes b, float* out) {
    const Bytes high = b, q = b + 32, scales = b + 96;
    const float d = half_at(b + 108);
    for (int part = 0; part < 16; ++part) {
      const int low_bits = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
      const int high_bits = scales[8 + part % 4] >> (part / 4 * 2) & 3;
      const float scale = d * f32((low_bits | high_bits << 4) - 32);
      const int shift = part / 2 % 4 * 2, from = part / 8 * 32 + part % 2 * 16;
      for (int j = 0; j < 16; ++j) {
        // A high bit that is not set takes four away.
        const int bit = high[part % 2 * 16 + j] >> (part / 2) & 1;
        out[part * 16 + j] = scale * f32((q[from + j] >> shift & 3) - (bit ? 0 : 4));
      }
    }
  }
};
/// Eight scales and minima of six bits in twelve bytes.
std::pair<int, int> scale_and_least(Bytes s, int part) {
  if (part < 4) return {s[part] & 63, s[part + 4] & 63};
  return {(s[part + 4] & 15) | (s[part - 4] >> 6 << 4), (s[part + 4] >> 4) | (s[part] >> 6 << 4)};
}
struct Q4_K {  // d, dmin, scales[12], q[128]
  static constexpr int kElements = 256;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b), dmin = half_at(b + 2);
    for (int part = 0; part < 8; ++part) {
      const auto [s, m] = scale_and_least(b + 4, part);
      const float scale = d * f32(s), least = dmin * f32(m);
      const Bytes q = b + 16 + part / 2 * 32;
      const int shift = part % 2 * 4;
      for (int j = 0; j < 32; ++j) out[part * 32 + j] = scale * f32(q[j] >> shift & 15) - least;
    }
  }
};
struct Q5_K {  // d, dmin, scales[12], high bits[32], q[128]
  static constexpr int kElements = 256;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b), dmin = half_at(b + 2);
    const Bytes high = b + 16;
    for (int part = 0; part < 8; ++part) {
      const auto [s, m] = scale_and_least(b + 4, part);
      const float scale = d * f32(s), least = dmin * f32(m);
      const Bytes q = b + 48 + part / 2 * 32;
      const int shift = part % 2 * 4;
      for (int j = 0; j < 32; ++j) {
        out[part * 32 + j] = scale * f32((q[j] >> shift & 15) | (high[j] >> part & 1) << 4) - least;
      }
    }
  }
};
struct Q6_K {  // low bits[128], high bits[64], scales[16], d
  static constexpr int kElements = 256;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b + 208);
    for (int part = 0; part < 16; ++part) {
      const float scale = d * f32(static_cast<std::int8_t>(b[192 + part]));
      const int half = part / 8, in_half = part % 8;
      const Bytes low = b + half * 64 + in_half % 4 * 16;
      const Bytes high = b + 128 + half * 32 + in_half % 2 * 16;
      const int low_shift = in_half / 4 * 4, high_shift = in_half / 2 * 2;
      for (int j = 0; j < 16; ++j) {
        const int q = (low[j] >> low_shift & 15) | (high[j] >> high_shift & 3) << 4;
        out[part * 16 + j] = scale * f32(q - 32);
      }
    }
  }
};

constexpr float kNonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};
struct IQ4_NL {
  static constexpr int kElements = 32;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    for (int j = 0; j < 16; ++j) {
      out[j] = d * kNonlinear[b[2 + j] & 15];
      out[j + 16] = d * kNonlinear[b[2 + j] >> 4];
    }
  }
};
struct IQ4_XS {  // d, high bits of scales, low bits[4], q[128]
  static constexpr int kElements = 256;
  static void decode(Bytes b, float* out) {
    const float d = half_at(b);
    const auto high = read<std::uint16_t>(b + 2);
    for (int part = 0; part < 8; ++part) {
      const int low_bits = b[4 + part / 2] >> (part % 2 * 4) & 15;
      const float scale = d * f32((low_bits | (high >> (2 * part) & 3) << 4) - 32);
      const Bytes q = b + 8 + part * 16;
      for (int j = 0; j < 16; ++j) {
        out[part * 32 + j] = scale * kNonlinear[q[j] & 15];
        out[part * 32 + j + 16] = scale * kNonlinear[q[j] >> 4];
      }
    }
  }
};

/// Digit `power` of a byte that holds five of base 3, as -1, 0 or 1.
float third(std::uint8_t byte, int power) {
  constexpr int kPowers[] = {1, 3, 9, 27, 81};
  return f32(((byte * kPowers[power] & 255) * 3 >> 8) - 1);
}
struct TQ1_0 {  // five digits[48], four digits[4], d
  static constexpr int kElements = 256;
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
  static constexpr int kElements = 256;
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
  static constexpr int kElements = 32;
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
  static constexpr int kElements = 64;
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

using Decode = void (*)(Bytes from, std::size_t blocks, std::size_t block_bytes, float* out);
template <class Block>
void decode_all(Bytes from, std::size_t blocks, std::size_t block_bytes, float* out) {
  for (std::size_t i = 0; i < blocks; ++i) {
    Block::decode(from + i * block_bytes, out + i * Block::kElements);
  }
}

Decode decoder(Storage storage) {
  switch (storage) {
    case Storage::f32:
      return decode_all<F32>;
    case Storage::f16:
      return decode_all<F16>;
    case Storage::bf16:
      return decode_all<BF16>;
    case Storage::q4_0:
      return decode_all<Q4_0>;
    case Storage::q4_1:
      return decode_all<Q4_1>;
    case Storage::q5_0:
      return decode_all<Q5_0>;
    case Storage::q5_1:
      return decode_all<Q5_1>;
    case Storage::q8_0:
      return decode_all<Q8_0>;
    case Storage::q2_k:
      return decode_all<Q2_K>;
    case Storage::q3_k:
      return decode_all<Q3_K>;
    case Storage::q4_k:
      return decode_all<Q4_K>;
    case Storage::q5_k:
      return decode_all<Q5_K>;
    case Storage::q6_k:
      return decode_all<Q6_K>;
    case Storage::iq4_nl:
      return decode_all<IQ4_NL>;
    case Storage::iq4_xs:
      return decode_all<IQ4_XS>;
    case Storage::tq1_0:
      return decode_all<TQ1_0>;
    case Storage::tq2_0:
      return decode_all<TQ2_0>;
    case Storage::mxfp4:
      return decode_all<MXFP4>;
    case Storage::nvfp4:
      return decode_all<NVFP4>;
    default:
      return nullptr;
  }
}

}  // namespace

bool can_dequantize(Storage storage) { return decoder(storage) != nullptr; }

void dequantize(Storage storage, std::span<const std::byte> blocks, std::span<float> out,
                const std::string& name) {
  const Decode decode = decoder(storage);
  if (!decode) {
    throw UserError(
        {"TL-QUANT-002",
         "dequantize",
         name + " is stored as " + std::string(io::name(storage)) + ", which has no decoder",
         "use a model that is quantized to Q4_K_M, Q8_0 or another common type",
         {}});
  }
  const auto block = static_cast<std::size_t>(block_bytes(storage));
  const std::size_t count = blocks.size() / block;
  internal_check(blocks.size() % block == 0 && out.size() == count * usize(block_elements(storage)),
                 "dequantize: sizes don't fit");
  decode(reinterpret_cast<Bytes>(blocks.data()), count, block, out.data());
}

HostArray to_f32(const Tensor& tensor) {
  if (tensor.storage == Storage::f32) return array_of(tensor);
  HostArray array = HostArray::uninitialized(DType::f32, tensor.shape);
  dequantize(tensor.storage, tensor.bytes, array.as_mutable<float>(), where(tensor));
  return array;
}

}  // namespace tlaloc::io
