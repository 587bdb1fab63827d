// Element types. One enum for the whole system; `dispatch` turns it into a C++ type.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tlaloc {

/// Element type of an array. Values are stable: they are written to caches and artifacts.
enum class DType : std::uint8_t {
  boolean = 0,
  i8 = 1,
  i16 = 2,
  i32 = 3,
  i64 = 4,
  u8 = 5,
  u16 = 6,
  u32 = 7,
  u64 = 8,
  f16 = 9,
  bf16 = 10,
  f32 = 11,
  f64 = 12,
  c64 = 13,   // reserved: no operation accepts complex numbers yet
  c128 = 14,  // reserved
};
inline constexpr int kDTypeCount = 15;

/// IEEE binary16, stored only: arithmetic is done in float and rounded to nearest even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};

/// The upper half of a float, rounded to nearest even. NaN stays NaN.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    auto u = std::bit_cast<std::uint32_t>(value);
    // A NaN whose payload sits in the low bits would round to infinity: keep it quiet instead.
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<std::uint16_t>((u >> 16) | 0x40u);
    } else {
      bits = static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

constexpr int byte_size(DType type) {
  constexpr std::uint8_t kBytes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return kBytes[static_cast<int>(type)];
}
constexpr int bit_width(DType type) { return type == DType::boolean ? 1 : 8 * byte_size(type); }
constexpr bool is_float(DType t) { return t >= DType::f16 && t <= DType::f64; }
constexpr bool is_signed_integer(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned_integer(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_integer(DType t) { return t >= DType::i8 && t <= DType::u64; }
constexpr bool is_complex(DType t) { return t >= DType::c64; }
/// Types that carry tangents and cotangents.
constexpr bool is_differentiable(DType t) { return is_float(t); }

/// "f32", "bool", ...
std::string_view name(DType type);
std::optional<DType> parse_dtype(std::string_view text);

template <class T>
struct DTypeOf;
// clang-format off
template <> struct DTypeOf<bool> { static constexpr DType value = DType::boolean; };
template <> struct DTypeOf<std::int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<std::int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<std::int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<std::int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<std::uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<std::uint16_t> { static constexpr DType value = DType::u16; };
template <> struct DTypeOf<std::uint32_t> { static constexpr DType value = DType::u32; };
template <> struct DTypeOf<std::uint64_t> { static constexpr DType value = DType::u64; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
// clang-format on
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;
template <class T>
concept Element = requires { DTypeOf<T>::value; };

template <class T>
struct TypeTag {
  using type = T;
};

/// Raised by `dispatch` for the reserved complex types.
[[noreturn]] void throw_unsupported_dtype(DType type);

/// Calls f(TypeTag<T>{}) with the C++ type that stores `type`.
template <class F>
decltype(auto) dispatch(DType type, F&& f) {
  switch (type) {
    case DType::boolean:
      return f(TypeTag<bool>{});
    case DType::i8:
      return f(TypeTag<std::int8_t>{});
    case DType::i16:
      return f(TypeTag<std::int16_t>{});
    case DType::i32:
      return f(TypeTag<std::int32_t>{});
    case DType::i64:
      return f(TypeTag<std::int64_t>{});
    case DType::u8:
      return f(TypeTag<std::uint8_t>{});
    case DType::u16:
      return f(TypeTag<std::uint16_t>{});
    case DType::u32:
      return f(TypeTag<std::uint32_t>{});
    case DType::u64:
      return f(TypeTag<std::uint64_t>{});
    case DType::f16:
      return f(TypeTag<Half>{});
    case DType::bf16:
      return f(TypeTag<BFloat16>{});
    case DType::f32:
      return f(TypeTag<float>{});
    case DType::f64:
      return f(TypeTag<double>{});
    default:
      throw_unsupported_dtype(type);
  }
}

/// Type in which an element is computed: f16 and bf16 in float, everything else in itself.
template <class T>
using ComputeType =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace tlaloc
