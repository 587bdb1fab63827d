#include "tlaloc/ops/quant_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tlaloc/base/error.h"

namespace tlaloc::ops {
namespace {

template <class T>
T read(const std::uint8_t* bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof x);
  return x;
}
float read_half(const std::uint8_t* bytes) { return static_cast<float>(read<Half>(bytes)); }

void decode_bytes(const std::uint8_t* q, float d, std::span<float, 32> out) {
  for (std::size_t i = 0; i < 32; ++i)
    out[i] = d * static_cast<float>(static_cast<std::int8_t>(q[i]));
}
/// `high` has the fifth bits; 0 where there are none.
void decode_nibbles(const std::uint8_t* q, std::uint32_t high, float d, float offset, float m,
                    std::span<float, 32> out) {
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t low = i < 16 ? q[i] & 15u : q[i - 16] >> 4;
    const std::uint32_t bits = low | ((high >> i & 1u) << 4);
    out[i] = (static_cast<float>(bits) - offset) * d + m;
  }
}

}  // namespace

ir::Type storage_type(ir::Type t) {
  if (!t.encoding()) return t;
  internal_check(t.rank() > 0, "blocks need an axis");
  std::vector<ir::Dim> shape(t.shape().begin(), t.shape().end());
  shape.back() = floordiv(shape.back(), t.encoding()->block_elements) * t.encoding()->block_bytes;
  return ir::Type::get(DType::u8, shape);
}

void decode_block(const ir::Encoding& e, const std::uint8_t* block, std::span<float, 32> out) {
  if (e.name == "q8_0") {
    decode_bytes(block + 2, read_half(block), out);
  } else if (e.name == "q8_32") {
    decode_bytes(block + 4, read<float>(block), out);
  } else if (e.name == "q4_0") {
    decode_nibbles(block + 2, 0, read_half(block), 8, 0, out);
  } else if (e.name == "q4_1") {
    decode_nibbles(block + 4, 0, read_half(block), 0, read_half(block + 2), out);
  } else if (e.name == "q5_0") {
    decode_nibbles(block + 6, read<std::uint32_t>(block + 2), read_half(block), 16, 0, out);
  } else if (e.name == "q5_1") {
    decode_nibbles(block + 8, read<std::uint32_t>(block + 4), read_half(block), 0,
                   read_half(block + 2), out);
  } else {
    throw InternalError("no decoder for the encoding " + e.name);
  }
}

void round_to_q8_32(std::span<float, 32> x) {
  float largest = 0;
  for (float v : x) largest = std::max(largest, std::abs(v));
  const float d = largest / 127;
  for (float& v : x) v = d > 0 ? std::round(v / d) * d : 0;
}

}  // namespace tlaloc::ops
