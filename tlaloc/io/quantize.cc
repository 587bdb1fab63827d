#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/io/dequantize.h"

namespace tlaloc::io {
namespace {

constexpr std::size_t kBlock = 32;

/// What is encoded, for errors.
struct Values {
  Storage storage;
  std::span<const float> all;
  const std::string& name;

  [[noreturn]] void refuse(const float* value) const {
    throw UserError({"TL-QUANT-003",
                     "quantize",
                     fmt::format("{}: {} has no number for element {}, {}", name, io::name(storage),
                                 value - all.data(), *value),
                     "store the tensor as F32",
                     {}});
  }
};

/// The value without its sign: as an integer, which orders them as floats do, NaN above infinity.
std::int32_t magnitude(float x) { return std::bit_cast<std::int32_t>(x) & 0x7fffffff; }

/// The value of the largest magnitude, the first of equal ones.
const float* extreme(const Values& values, const float* x) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < kBlock; ++i) largest = std::max(largest, magnitude(x[i]));
  const float* first =
      std::find_if(x, x + kBlock, [&](float value) { return magnitude(value) == largest; });
  if (!std::isfinite(*first)) values.refuse(first);
  return first;
}
/// Writes the scale as f16; `value` is the one that it is made of.
std::byte* put_scale(const Values& values, const float* value, float scale, std::byte* out) {
  const Half half(scale);
  if (!std::isfinite(static_cast<float>(half))) values.refuse(value);
  std::memcpy(out, &half.bits, sizeof half.bits);
  return out + sizeof half.bits;
}
/// 1 / scale; 0 where a block is so small that the scale has no reciprocal, and is 0 as f16.
float reciprocal(float scale) {
  const float r = 1 / scale;
  return scale == 0 || std::isinf(r) ? 0 : r;
}

void q4_0(const Values& values, const float* x, std::byte* out) {
  // The largest value becomes -8, so that all sixteen steps are used.
  const float* const largest = extreme(values, x);
  const float scale = *largest / -8;
  const float inverse = reciprocal(scale);
  out = put_scale(values, largest, scale, out);
  // From 0.5 to 16.5 before it is cut off, up to rounding.
  auto step = [&](float value) { return std::min(static_cast<int>(value * inverse + 8.5f), 15); };
  for (std::size_t j = 0; j < kBlock / 2; ++j) {
    out[j] = static_cast<std::byte>(step(x[j]) | step(x[j + kBlock / 2]) << 4);
  }
}
void q8_0(const Values& values, const float* x, std::byte* out) {
  const float* const largest = extreme(values, x);
  const float scale = std::abs(*largest) / 127;
  const float inverse = reciprocal(scale);
  out = put_scale(values, largest, scale, out);
  for (std::size_t j = 0; j < kBlock; ++j) {
    // Rounded to the nearest, halves away from zero; what is cut off is exact.
    const float value = std::abs(x[j] * inverse);
    const int whole = static_cast<int>(value);
    const int rounded = whole + (value - static_cast<float>(whole) >= 0.5f ? 1 : 0);
    out[j] = static_cast<std::byte>(x[j] < 0 ? -rounded : rounded);
  }
}
/// `infinity` has the bits of the exponent of what is too large.
template <class T>
void narrow(const Values& values, std::uint16_t infinity, std::byte* out) {
  for (const float& x : values.all) {
    const T narrowed(x);
    if ((narrowed.bits & infinity) == infinity && std::isfinite(x)) values.refuse(&x);
    std::memcpy(out, &narrowed.bits, sizeof narrowed.bits);
    out += sizeof narrowed.bits;
  }
}

}  // namespace

bool can_quantize(Storage storage) {
  return storage == Storage::f32 || storage == Storage::f16 || storage == Storage::bf16 ||
         storage == Storage::q4_0 || storage == Storage::q8_0;
}

void quantize(Storage storage, std::span<const float> values, std::span<std::byte> out,
              const std::string& name) {
  if (!can_quantize(storage)) {
    throw UserError(
        {"TL-QUANT-002",
         "quantize",
         name + " is to be stored as " + std::string(io::name(storage)) + ", which has no encoder",
         "quantize to Q8_0 or Q4_0",
         {}});
  }
  const auto elements = usize(block_elements(storage)), bytes = usize(block_bytes(storage));
  const std::size_t blocks = values.size() / elements;
  internal_check(values.size() % elements == 0 && out.size() == blocks * bytes,
                 "quantize: sizes don't fit");
  const Values all{storage, values, name};
  if (storage == Storage::f16) return narrow<Half>(all, 0x7c00, out.data());
  if (storage == Storage::bf16) return narrow<BFloat16>(all, 0x7f80, out.data());
  if (storage == Storage::f32) {
    if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
    return;
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    const float* x = values.data() + i * elements;
    std::byte* block = out.data() + i * bytes;
    storage == Storage::q4_0 ? q4_0(all, x, block) : q8_0(all, x, block);
  }
}

}  // namespace tlaloc::io
