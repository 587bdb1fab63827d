#include "tlaloc/cpu/tiles.h"

#include <cstring>

#include "tlaloc/cpu/tile_kernels.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"

namespace tlaloc::cpu {
namespace {

using ops::OpId;

// ---- the ops that mix element types or have attributes ----

template <class T, class F>
void compare_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* z = static_cast<bool*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  const auto* y = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) z[i] = F{}(x[i], y[i]);
}
template <class F>
constexpr TileRow kCompareTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (kIsShortFloat<T>) {
    return short_tile<compare_tile<float, F>, 2, T, false>;
  } else {
    return compare_tile<T, F>;
  }
});

TileFn compare_kernel(ops::Comparison direction, DType t) {
  const auto i = static_cast<std::size_t>(t);
  switch (direction) {
    case ops::Comparison::eq:
      return kCompareTiles<std::equal_to<>>[i];
    case ops::Comparison::ne:
      return kCompareTiles<std::not_equal_to<>>[i];
    case ops::Comparison::lt:
      return kCompareTiles<std::less<>>[i];
    case ops::Comparison::le:
      return kCompareTiles<std::less_equal<>>[i];
    case ops::Comparison::gt:
      return kCompareTiles<std::greater<>>[i];
    case ops::Comparison::ge:
      return kCompareTiles<std::greater_equal<>>[i];
  }
  return nullptr;
}

/// By size: choosing an element needs no more.
template <class U>
void select_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* z = static_cast<U*>(out);
  const auto* p = static_cast<const bool*>(in[0]);
  const auto* x = static_cast<const U*>(in[1]);
  const auto* y = static_cast<const U*>(in[2]);
  for (std::int64_t i = 0; i < n; ++i) z[i] = p[i] ? x[i] : y[i];
}
template <class U>
void identity_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  if (out != in[0]) std::memcpy(out, in[0], usize(n) * sizeof(U));
}
template <template <class> class Maker>
TileFn by_size(DType t) {
  switch (byte_size(t)) {
    case 1:
      return Maker<std::uint8_t>::kRun;
    case 2:
      return Maker<std::uint16_t>::kRun;
    case 4:
      return Maker<std::uint32_t>::kRun;
    default:
      return Maker<std::uint64_t>::kRun;
  }
}
template <class U>
struct SelectMaker {
  static constexpr TileFn kRun = select_tile<U>;
};
template <class U>
struct IdentityMaker {
  static constexpr TileFn kRun = identity_tile<U>;
};

template <class From, class To>
void convert_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* y = static_cast<To*>(out);
  const auto* x = static_cast<const From*>(in[0]);
  if constexpr (std::is_same_v<From, float> && kIsShortFloat<To>) {
    narrow_all(y, x, n);
  } else if constexpr (std::is_same_v<To, float> && kIsShortFloat<From>) {
    widen_all(y, x, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = ops::convert_element<To>(x[i]);
  }
}
template <class From>
constexpr TileRow kConvertTiles =
    tile_row([]<class To>() -> TileFn { return convert_tile<From, To>; });

template <class T>
void clamp_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* y = static_cast<T*>(out);
  const auto* lo = static_cast<const T*>(in[0]);
  const auto* x = static_cast<const T*>(in[1]);
  const auto* hi = static_cast<const T*>(in[2]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = ops::Min::eval(ops::Max::eval(x[i], lo[i]), hi[i]);
}
constexpr TileRow kClampTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (kIsShortFloat<T>) {
    return short_tile<clamp_tile<float>, 3, T>;
  } else {
    return clamp_tile<T>;
  }
});

template <class T>
void is_finite_tile(void* out, const void* const* in, std::int64_t n, const void*) {
  auto* y = static_cast<bool*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::isfinite(x[i]);
}
constexpr TileRow kIsFiniteTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (kIsShortFloat<T>) {
    return short_tile<is_finite_tile<float>, 1, T, false>;
  } else if constexpr (std::is_floating_point_v<T>) {
    return is_finite_tile<T>;
  } else {
    return nullptr;
  }
});

template <class T>
void integer_pow_tile(void* out, const void* const* in, std::int64_t n, const void* data) {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in[0]);
  const std::int64_t exponent = static_cast<const ops::IntegerPowAttrs*>(data)->exponent;
  const auto power = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent);
  for (std::int64_t i = 0; i < n; ++i) {
    const T p = ops::integer_power(x[i], power);
    if constexpr (std::floating_point<T>) {
      y[i] = exponent < 0 ? 1 / p : p;
    } else {
      y[i] = p;
    }
  }
}
constexpr TileRow kIntegerPowTiles = tile_row([]<class T>() -> TileFn {
  if constexpr (kIsShortFloat<T>) {
    return short_tile<integer_pow_tile<float>, 1, T>;
  } else if constexpr (ops::Number<T>) {
    return integer_pow_tile<T>;
  } else {
    return nullptr;
  }
});

}  // namespace

TileKernel find_tile(const ir::OpDef& op, const ir::Attr* attr, std::span<const DType> in,
                     DType out) {
  for (DType t : in) {
    if (is_complex(t)) return {};
  }
  if (is_complex(out) || in.empty()) return {};
  const auto first = static_cast<std::size_t>(in[0]);
  if (const TileRow* row = kernel_tiles(op); row && (*row)[first]) return {(*row)[first]};
  if (const TileRow* row = unary_tiles(op)) return {(*row)[first]};
  if (const TileRow* row = binary_tiles(op)) return {(*row)[first]};
  switch (static_cast<OpId>(op.id)) {
    case OpId::Compare:
      return {compare_kernel(ir::attr_as<ops::CompareAttrs>(attr).direction, in[0])};
    case OpId::Select:
      return {by_size<SelectMaker>(out)};
    case OpId::Convert: {
      TileFn run = nullptr;
      dispatch(in[0], [&]<class From>(TypeTag<From>) {
        run = kConvertTiles<From>[static_cast<std::size_t>(out)];
      });
      return {run};
    }
    case OpId::StopGradient:
    case OpId::OptimizationBarrier:
      return {by_size<IdentityMaker>(out)};
    case OpId::BitcastConvert:
      return {byte_size(in[0]) == byte_size(out) ? by_size<IdentityMaker>(out) : nullptr};
    case OpId::Clamp:
      return {kClampTiles[first]};
    case OpId::IsFinite:
      return {kIsFiniteTiles[first]};
    case OpId::IntegerPow:
      return {kIntegerPowTiles[first], &ir::attr_as<ops::IntegerPowAttrs>(attr)};
    default:
      return {};
  }
}

}  // namespace tlaloc::cpu
