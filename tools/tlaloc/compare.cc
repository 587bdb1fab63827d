#include "tools/tlaloc/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tlaloc/base/array_text.h"

namespace tlaloc::command {
namespace {

template <class T>
constexpr bool kFloat = std::is_floating_point_v<ComputeType<T>>;

std::string type_of(const HostArray& a) {
  return std::string(name(a.dtype())) + to_string(a.extents());
}

/// "[1, 2]" of an element's number in row-major order.
std::string index_text(std::int64_t i, Extents extents) {
  for (auto e = extents.rbegin(); e != extents.rend(); ++e) {
    const std::int64_t extent = *e;
    *e = i % extent;
    i /= extent;
  }
  return to_string(extents);
}

std::string element_text(const HostArray& a, std::int64_t i) {
  const auto* bytes = static_cast<const char*>(a.data()) + i * byte_size(a.dtype());
  return array_text(HostArray::external(a.dtype(), {}, bytes, a.owner()), ArrayLayout::one_line);
}

/// Counts what is wrong: `fits(got, expected)` says of each element whether it is right.
template <class Fits>
std::optional<std::string> compare(const HostArray& got, const HostArray& expected,
                                   const std::string& wanted, const Fits& fits) {
  if (got.dtype() != expected.dtype() || got.extents() != expected.extents()) {
    return fmt::format("got {}, expected {}", type_of(got), type_of(expected));
  }
  std::int64_t wrong = 0, first = -1;
  dispatch(got.dtype(), [&]<class T>(TypeTag<T>) {
    const auto a = got.as<T>();
    const auto e = expected.as<T>();
    for (std::int64_t i = 0; i < got.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (fits(a[k], e[k])) continue;
      if (wrong++ == 0) first = i;
    }
  });
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} elements of {} {}; the first, {}: got {}, expected {}", wrong,
                     got.size(), type_of(got), wanted, index_text(first, got.extents()),
                     element_text(got, first), element_text(expected, first));
}

/// NaN and infinities; nothing where both are finite.
template <class F>
std::optional<bool> special(F a, F b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::nullopt;
}

template <class T>
double wide(T x) {
  return static_cast<double>(static_cast<ComputeType<T>>(x));
}

template <class T>
bool same_bits(T a, T b) {
  if constexpr (kFloat<T>) {
    using F = ComputeType<T>;
    const auto x = static_cast<F>(a), y = static_cast<F>(b);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return x == y && std::signbit(x) == std::signbit(y);
  } else {
    return a == b;
  }
}

bool within(double a, double b, double tolerance) {
  return special(a, b).value_or(std::abs(a - b) <= tolerance);
}

/// How many numbers of the type lie from one to the other, both zeros being one.
template <class T>
std::uint64_t ulps_between(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::int16_t,
                                  std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
  auto ordered = [](T x) {
    const auto bits = std::bit_cast<Bits>(x);
    // Negative numbers have their magnitude in the other bits.
    return bits >= 0 ? static_cast<std::int64_t>(bits)
                     : -static_cast<std::int64_t>(bits & std::numeric_limits<Bits>::max());
  };
  const auto [low, high] = std::minmax({ordered(a), ordered(b)});
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

template <class T>
bool is_close(T a, T b, std::uint64_t min_ulp, std::uint64_t max_ulp) {
  if constexpr (kFloat<T>) {
    const auto s = special(static_cast<ComputeType<T>>(a), static_cast<ComputeType<T>>(b));
    if (s) return *s;
    const std::uint64_t n = ulps_between(a, b);
    return n >= min_ulp && n <= max_ulp;
  } else {
    return a == b;
  }
}

}  // namespace

std::optional<std::string> difference(const HostArray& got, const HostArray& expected,
                                      double tolerance) {
  return compare(got, expected,
                 tolerance > 0
                     ? fmt::format("differ by more than {} of max(1, |expected|)", tolerance)
                     : "differ",
                 [&]<class T>(T a, T e) {
                   if constexpr (kFloat<T>) {
                     const double scale = std::max(1.0, std::abs(wide(e)));
                     return within(wide(a), wide(e), tolerance * scale);
                   } else {
                     return a == e;
                   }
                 });
}

std::optional<std::string> failure(const stablehlo::Check& check, const HostArray& got,
                                   const HostArray& expected) {
  using Kind = stablehlo::Check::Kind;
  switch (check.kind) {
    case Kind::equal:
      return compare(got, expected, "differ", [](auto a, auto e) { return same_bits(a, e); });
    case Kind::almost:
      return compare(got, expected, fmt::format("differ by more than {}", check.tolerance),
                     [&]<class T>(T a, T e) {
                       if constexpr (kFloat<T>) {
                         return within(wide(a), wide(e), check.tolerance);
                       } else {
                         return a == e;
                       }
                     });
    case Kind::close:
      return compare(got, expected,
                     fmt::format("are not {} to {} units in the last place apart", check.min_ulp,
                                 check.max_ulp),
                     [&](auto a, auto e) {
                       return is_close(a, e, static_cast<std::uint64_t>(check.min_ulp),
                                       static_cast<std::uint64_t>(check.max_ulp));
                     });
  }
  return std::nullopt;
}

}  // namespace tlaloc::command
