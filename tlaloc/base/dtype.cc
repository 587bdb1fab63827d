#include "tlaloc/base/dtype.h"

#include <string>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {
constexpr std::string_view kNames[kDTypeCount] = {"bool", "i8",  "i16", "i32", "i64",
                                                  "u8",   "u16", "u32", "u64", "f16",
                                                  "bf16", "f32", "f64", "c64", "c128"};
}  // namespace

std::string_view name(DType type) { return kNames[static_cast<int>(type)]; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kNames[i] == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

void throw_unsupported_dtype(DType type) {
  throw UserError({.code = "TL-DTYPE-003",
                   .op = std::string(name(type)),
                   .message = "complex element types are reserved and not supported yet",
                   .hint = "use a pair of real arrays"});
}

Half::Half(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
  const std::uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: keep the top payload bits and make it quiet
    bits = static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  } else if (magnitude >= 0x477ff000u) {  // rounds to at least 65520: infinity
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // below the smallest normal 2^-14
    // Adding 0.5 aligns the subnormal's last place (2^-24) with the float's last place, so that
    // the addition itself rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  } else {
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
}

Half::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24, exact in float
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t top = exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23;
  return std::bit_cast<float>(sign | top | (mantissa << 13));
}

}  // namespace tlaloc
