#include "tlaloc/cxx/helpers.h"

#include <vector>

#include "tlaloc/base/error.h"

namespace tlaloc::cxx {
namespace {

struct Definition {
  Helper helper;
  const char* name;
  std::vector<const char*> headers;
  std::vector<Helper> uses;
  const char* text;
};

// The second operand is often a literal: type_identity_t lets it take the first one's type.
const std::vector<Definition>& table() {
  static const std::vector<Definition> definitions = {
      {Helper::wrapping_add,
       "wrapping_add",
       {"cstdint", "type_traits"},
       {},
       R"(// Integer arithmetic wraps around; signed overflow would be undefined.
template <class T>
T wrapping_add(T a, std::type_identity_t<T> b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
)"},
      {Helper::wrapping_sub,
       "wrapping_sub",
       {"cstdint", "type_traits"},
       {},
       R"(template <class T>
T wrapping_sub(T a, std::type_identity_t<T> b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
)"},
      {Helper::wrapping_mul,
       "wrapping_mul",
       {"cstdint", "type_traits"},
       {},
       R"(template <class T>
T wrapping_mul(T a, std::type_identity_t<T> b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
)"},
      {Helper::wrapping_neg,
       "wrapping_neg",
       {"cstdint"},
       {},
       R"(template <class T>
T wrapping_neg(T a) {
  return static_cast<T>(-static_cast<std::uint64_t>(a));
}
)"},
      {Helper::wrapping_abs,
       "wrapping_abs",
       {},
       {Helper::wrapping_neg},
       R"(template <class T>
T wrapping_abs(T a) {
  return a < 0 ? wrapping_neg(a) : a;
}
)"},
      {Helper::divide,
       "integer_divide",
       {"cstdint", "type_traits"},
       {},
       R"(// Truncates; a / 0 is -1 (all ones), and the least integer by -1 is itself.
template <class T>
T integer_divide(T a, std::type_identity_t<T> b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return static_cast<T>(-static_cast<std::uint64_t>(a));
  }
  return static_cast<T>(a / b);
}
)"},
      {Helper::remainder,
       "integer_remainder",
       {"type_traits"},
       {},
       R"(// The sign of the dividend; by 0, the dividend.
template <class T>
T integer_remainder(T a, std::type_identity_t<T> b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
)"},
      {Helper::integer_power,
       "integer_power",
       {"cstdint", "type_traits"},
       {Helper::wrapping_mul},
       R"(// By repeated squaring.
template <class T>
T integer_power(T x, std::uint64_t n) {
  T r = 1;
  for (; n; n >>= 1) {
    if constexpr (std::is_floating_point_v<T>) {
      if (n & 1) r = r * x;
      if (n > 1) x = x * x;
    } else {
      if (n & 1) r = wrapping_mul(r, x);
      if (n > 1) x = wrapping_mul(x, x);
    }
  }
  return r;
}
)"},
      {Helper::power,
       "wrapping_pow",
       {"cstdint", "type_traits"},
       {Helper::integer_power},
       R"(// A negative exponent gives 0 unless the base is 1 or -1.
template <class T>
T wrapping_pow(T x, std::type_identity_t<T> n) {
  if (std::is_signed_v<T> && n < 0 && x != 1 && x != static_cast<T>(-1)) return 0;
  return integer_power(x, static_cast<std::uint64_t>(n));
}
)"},
      {Helper::maximum,
       "maximum",
       {"cmath", "type_traits"},
       {},
       R"(// NaN if either is NaN; +0 is above -0.
template <class T>
T maximum(T a, std::type_identity_t<T> b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
)"},
      {Helper::minimum,
       "minimum",
       {"cmath", "type_traits"},
       {},
       R"(// NaN if either is NaN; -0 is below +0.
template <class T>
T minimum(T a, std::type_identity_t<T> b) {
  if (std::isnan(a)) return a;
  if (std::isnan(b)) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
)"},
      {Helper::sign,
       "sign",
       {},
       {},
       R"(// -1, 0 or 1; keeps -0, +0 and NaN.
template <class T>
T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}
)"},
      {Helper::logistic,
       "logistic",
       {"cmath"},
       {},
       R"(template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
)"},
      {Helper::clamp_index,
       "clamp_index",
       {"algorithm", "cstdint"},
       {},
       R"(// The position moved into [0, last].
std::int64_t clamp_index(std::int64_t i, std::int64_t last) {
  return std::clamp(i, std::int64_t{0}, std::max(last, std::int64_t{0}));
}
)"},
      {Helper::saturate_cast,
       "saturate_cast",
       {"cmath", "limits"},
       {},
       R"(// Truncates and saturates; NaN becomes 0.
template <class To, class From>
To saturate_cast(From x) {
  if (std::isnan(x)) return 0;
  constexpr To kLow = std::numeric_limits<To>::min(), kHigh = std::numeric_limits<To>::max();
  if (x <= static_cast<From>(kLow)) return kLow;
  if (x >= static_cast<From>(kHigh)) return kHigh;  // as From, it may have been rounded up
  return static_cast<To>(x);
}
)"},
      {Helper::shift_left,
       "shift_left",
       {"cstdint", "limits", "type_traits"},
       {},
       R"(// An amount that is negative or not below the width shifts every bit out.
template <class T>
T shift_left(T x, std::type_identity_t<T> y) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(y) >= std::numeric_limits<U>::digits) return 0;
  return static_cast<T>(static_cast<std::uint64_t>(x) << y);
}
)"},
      {Helper::shift_right_arithmetic,
       "shift_right_arithmetic",
       {"limits", "type_traits"},
       {},
       R"(// Filled with the top bit; an amount that is negative or too large leaves only that.
template <class T>
T shift_right_arithmetic(T x, std::type_identity_t<T> y) {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  constexpr int kTop = std::numeric_limits<S>::digits;
  const bool all = static_cast<U>(y) >= std::numeric_limits<U>::digits;
  return static_cast<T>(static_cast<S>(x) >> (all ? kTop : static_cast<int>(y)));
}
)"},
      {Helper::shift_right_logical,
       "shift_right_logical",
       {"limits", "type_traits"},
       {},
       R"(// Filled with zeros; an amount that is negative or too large leaves nothing.
template <class T>
T shift_right_logical(T x, std::type_identity_t<T> y) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(y) >= std::numeric_limits<U>::digits) return 0;
  return static_cast<T>(static_cast<U>(x) >> y);
}
)"},
      {Helper::floor_div,
       "floor_div",
       {"cstdint"},
       {},
       R"(// Rounds toward minus infinity.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)"},
      {Helper::floor_mod,
       "floor_mod",
       {"cstdint"},
       {Helper::floor_div},
       R"(// The sign of the divisor.
std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - b * floor_div(a, b); }
)"},
  };
  return definitions;
}
const Definition& definition(Helper h) {
  for (const Definition& d : table()) {
    if (d.helper == h) return d;
  }
  throw InternalError("a printed helper has no text");
}

}  // namespace

std::string name_of(Helper helper) { return definition(helper).name; }

void Needs::helper(Helper h) {
  if (!helpers_.insert(h).second) return;
  const Definition& d = definition(h);
  for (const char* name : d.headers) headers_.insert(name);
  for (Helper used : d.uses) helper(used);
}
std::unordered_set<std::string> Needs::names() const {
  std::unordered_set<std::string> r;
  for (Helper h : helpers_) r.insert(name_of(h));
  return r;
}
std::string Needs::includes() const {
  std::string text;
  for (const std::string& h : headers_) text += "#include <" + h + ">\n";
  return text;
}
std::string Needs::definitions() const {
  if (helpers_.empty()) return "";
  std::string text = "namespace {\n\n";
  for (const Definition& d : table()) {  // the order in which they may use each other
    if (helpers_.contains(d.helper)) text += std::string(d.text) + "\n";
  }
  return text + "}  // namespace\n\n";
}

}  // namespace tlaloc::cxx
