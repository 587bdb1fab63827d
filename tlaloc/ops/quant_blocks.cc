#include "tlaloc/ops/quant_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tlaloc/base/block_formats.h"
#include "tlaloc/base/error.h"

namespace tlaloc::ops {

ir::Type storage_type(ir::Type t) {
  if (!t.encoding()) return t;
  internal_check(t.rank() > 0, "blocks need an axis");
  std::vector<ir::Dim> shape(t.shape().begin(), t.shape().end());
  shape.back() = floordiv(shape.back(), t.encoding()->block_elements) * t.encoding()->block_bytes;
  return ir::Type::get(DType::u8, shape);
}

void decode_block(const ir::Encoding& e, const std::uint8_t* block, std::span<float> out) {
  const BlockFormat* format = find_block_format(e.name);
  internal_check(format != nullptr && std::ssize(out) == format->elements,
                 "a block that has no decoder, or another size");
  format->decode(block, 1, out.data());
}

void round_to_q8_32(std::span<float, 32> x) {
  float largest = 0;
  bool finite = true;
  for (float v : x) {
    largest = std::max(largest, std::abs(v));
    finite = finite && std::isfinite(v);
  }
  // The scale is all elements', and the largest of NaN and zeros is 0.
  if (!finite) {
    std::ranges::fill(x, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const float d = largest / 127;
  // A scale that is subnormal may be much less than the quotient.
  for (float& v : x) v = d > 0 ? std::clamp(std::round(v / d), -127.0f, 127.0f) * d : 0;
}

}  // namespace tlaloc::ops
