#include "tlaloc/cxx/range.h"

#include <algorithm>

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using OptDim = std::optional<Dim>;

// Constants beyond this are not mixed into sizes, so that arithmetic on them stays far from 2^63.
constexpr std::int64_t kSizeLimit = std::int64_t{1} << 40;

bool small(const OptDim& d) {
  if (!d) return false;
  const ir::Interval b = ir::bounds(*d);
  return b.lower > -kSizeLimit && (b.upper < kSizeLimit || !d->is_constant());
}
template <class F>
OptDim combine(const OptDim& a, const OptDim& b, const F& f) {
  return small(a) && small(b) ? OptDim(f(*a, *b)) : std::nullopt;
}
/// Fits if the number does, or if it is bounded by a size.
std::optional<Range> checked(bool low_overflows, bool high_overflows, Range r, DType dtype) {
  const Range limits = Range::of(dtype);
  const bool wide = dtype == DType::i64;
  const bool low_fits = (!low_overflows && r.low >= limits.low) || (wide && r.low_dim);
  const bool high_fits = (!high_overflows && r.high <= limits.high) || (wide && r.high_dim);
  if (!low_fits || !high_fits) return std::nullopt;
  if (low_overflows) r.low = limits.low;
  if (high_overflows) r.high = limits.high;
  return r;
}

}  // namespace

Range Range::of(DType dtype) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    Range r;
    // Values of u64 beyond 2^63 - 1 have no number here: nothing is known about them.
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
      r.low = static_cast<std::int64_t>(std::numeric_limits<T>::min());
      r.high = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    }
    return r;
  });
}
Range Range::exactly(std::int64_t value) {
  Range r{value, value, {}, {}};
  if (value > -kSizeLimit && value < kSizeLimit) r.low_dim = r.high_dim = Dim(value);
  return r;
}
Range Range::exactly(Dim size) {
  if (size.is_constant()) return exactly(size.constant());
  const ir::Interval b = ir::bounds(size);
  return {b.lower, b.upper, size, size};
}
Range Range::below(Dim size) {
  const ir::Interval b = ir::bounds(size);
  const std::int64_t high =
      b.upper == std::numeric_limits<std::int64_t>::max() ? b.upper : b.upper - 1;
  return {0, high, Dim(0), size - 1};
}

std::optional<std::int64_t> Range::constant() const {
  return low == high ? std::optional(low) : std::nullopt;
}
std::optional<Dim> Range::size() const {
  return low_dim && high_dim && *low_dim == *high_dim ? low_dim : std::nullopt;
}
bool Range::at_least(std::int64_t bound) const {
  return low >= bound || (low_dim && ir::less_equal(Dim(bound), *low_dim) == ir::Truth::yes);
}
bool Range::at_most(Dim bound) const {
  return high <= ir::bounds(bound).lower ||
         (high_dim && ir::less_equal(*high_dim, bound) == ir::Truth::yes);
}

Range united(const Range& a, const Range& b) {
  Range r{std::min(a.low, b.low), std::max(a.high, b.high), {}, {}};
  auto pick = [](const OptDim& x, const OptDim& y, bool larger) -> OptDim {
    if (!x || !y) return std::nullopt;
    if (ir::less_equal(*x, *y) == ir::Truth::yes) return larger ? y : x;
    if (ir::less_equal(*y, *x) == ir::Truth::yes) return larger ? x : y;
    return std::nullopt;
  };
  r.low_dim = pick(a.low_dim, b.low_dim, false);
  r.high_dim = pick(a.high_dim, b.high_dim, true);
  return r;
}

std::optional<Range> sum(const Range& a, const Range& b, DType dtype) {
  Range r;
  const bool low = __builtin_add_overflow(a.low, b.low, &r.low);
  const bool high = __builtin_add_overflow(a.high, b.high, &r.high);
  auto plus = [](Dim x, Dim y) { return x + y; };
  r.low_dim = combine(a.low_dim, b.low_dim, plus);
  r.high_dim = combine(a.high_dim, b.high_dim, plus);
  return checked(low, high, r, dtype);
}
std::optional<Range> difference(const Range& a, const Range& b, DType dtype) {
  Range r;
  const bool low = __builtin_sub_overflow(a.low, b.high, &r.low);
  const bool high = __builtin_sub_overflow(a.high, b.low, &r.high);
  auto minus = [](Dim x, Dim y) { return x - y; };
  r.low_dim = combine(a.low_dim, b.high_dim, minus);
  r.high_dim = combine(a.high_dim, b.low_dim, minus);
  return checked(low, high, r, dtype);
}
std::optional<Range> product(const Range& a, const Range& b, DType dtype) {
  const std::int64_t ends[4][2] = {
      {a.low, b.low}, {a.low, b.high}, {a.high, b.low}, {a.high, b.high}};
  Range r{
      std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), {}, {}};
  for (const auto& [x, y] : ends) {
    std::int64_t p = 0;
    if (__builtin_mul_overflow(x, y, &p)) return std::nullopt;
    r.low = std::min(r.low, p);
    r.high = std::max(r.high, p);
  }
  return checked(false, false, r, dtype);
}

}  // namespace tlaloc::cxx
