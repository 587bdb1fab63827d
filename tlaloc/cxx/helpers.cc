#include "tlaloc/cxx/helpers.h"

#include <vector>

#include "tlaloc/base/error.h"

namespace tlaloc::cxx {
namespace {

struct Definition {
  Helper helper;
  const char* name;
  std::vector<Helper> uses;
  const char* text;
};

// The second operand is often a literal: type_identity_t lets it take the first one's type.
const std::vector<Definition>& table() {
  static const std::vector<Definition> definitions = {
      {Helper::wrapping_add,
       "wrapping_add",
       {},
       R"(// Integer arithmetic wraps around; signed overflow would be undefined.
template <class T>
T wrapping_add(T a, std::type_identity_t<T> b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
)"},
      {Helper::wrapping_sub,
       "wrapping_sub",
       {},
       R"(template <class T>
T wrapping_sub(T a, std::type_identity_t<T> b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
)"},
      {Helper::wrapping_mul,
       "wrapping_mul",
       {},
       R"(template <class T>
T wrapping_mul(T a, std::type_identity_t<T> b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
)"},
      {Helper::wrapping_neg,
       "wrapping_neg",
       {},
       R"(template <class T>
T wrapping_neg(T a) {
  return static_cast<T>(-static_cast<std::uint64_t>(a));
}
)"},
      {Helper::wrapping_abs,
       "wrapping_abs",
       {Helper::wrapping_neg},
       R"(template <class T>
T wrapping_abs(T a) {
  return a < 0 ? wrapping_neg(a) : a;
}
)"},
      {Helper::divide,
       "integer_divide",
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
       R"(// -1, 0 or 1; keeps -0, +0 and NaN.
template <class T>
T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}
)"},
      {Helper::logistic,
       "logistic",
       {},
       R"(template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}
)"},
      {Helper::log_add_exp,
       "log_add_exp",
       {Helper::maximum, Helper::minimum},
       R"(// log(e^a + e^b) without overflow.
template <class T>
T log_add_exp(T a, T b) {
  const T high = maximum(a, b), low = minimum(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}
)"},
      {Helper::clamp_index,
       "clamp_index",
       {},
       R"(// The position moved into [0, last].
inline std::int64_t clamp_index(std::int64_t i, std::int64_t last) {
  return std::clamp(i, std::int64_t{0}, std::max(last, std::int64_t{0}));
}
)"},
      {Helper::saturate_cast,
       "saturate_cast",
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
       {},
       R"(// Filled with zeros; an amount that is negative or too large leaves nothing.
template <class T>
T shift_right_logical(T x, std::type_identity_t<T> y) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(y) >= std::numeric_limits<U>::digits) return 0;
  return static_cast<T>(static_cast<U>(x) >> y);
}
)"},
      {Helper::erf_inv,
       "erf_inv",
       {},
       R"(// Inverse of erf by the polynomials of M. Giles, "Approximating the erfinv function" (2010).
template <class T, std::size_t N>
T polynomial(T x, const std::array<T, N>& coefficients) {
  T r = coefficients[0];
  for (std::size_t i = 1; i < N; ++i) r = r * x + coefficients[i];
  return r;
}
inline float erf_inv(float x) {
  constexpr std::array<float, 9> kCentre{
      2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
      -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f};
  constexpr std::array<float, 9> kTail{
      -0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
      -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f};
  if (std::abs(x) == 1) return x * std::numeric_limits<float>::infinity();
  const float w = -std::log1p(-x * x);
  return x * (w < 5 ? polynomial(w - 2.5f, kCentre) : polynomial(std::sqrt(w) - 3, kTail));
}
inline double erf_inv(double x) {
  constexpr std::array<double, 23> kCentre{
      -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18,
      1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17,
      6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
      2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08,
      4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05,
      0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533,
      0.24015818242558961693, 1.6536545626831027356};
  constexpr std::array<double, 19> kTail{
      2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
      1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
      2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
      6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
      0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
      -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334,
      3.0838856104922207635};
  constexpr std::array<double, 17> kFarTail{
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
      -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
      2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
      -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
      7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
      1.0103004648645343977, 4.8499064014085844221};
  if (std::abs(x) == 1) return x * std::numeric_limits<double>::infinity();
  // log1p(-x * x) would lose what x * x rounds away next to 1.
  const double w = -std::log((1 - x) * (1 + x));
  if (w < 6.25) return x * polynomial(w - 3.125, kCentre);
  if (w < 16) return x * polynomial(std::sqrt(w) - 3.25, kTail);
  return x * polynomial(std::sqrt(w) - 5, kFarTail);
}
)"},
      {Helper::reduce_precision,
       "reduce_precision",
       {},
       R"(// Rounds to a floating format with fewer bits; its subnormals become 0.
template <class T>
T reduce_precision(T x, int exponent_bits, int mantissa_bits) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  constexpr int kExponent = 8 * sizeof(T) - 1 - kMantissa;
  const std::uint64_t one = 1, u = std::bit_cast<Bits>(x);
  const std::uint64_t infinity = ((one << kExponent) - 1) << kMantissa;
  const std::uint64_t sign = u & (one << (kExponent + kMantissa));
  std::uint64_t magnitude = u ^ sign;
  if (magnitude > infinity) return x;  // NaN
  if (mantissa_bits < kMantissa) {
    const int dropped = kMantissa - mantissa_bits;
    magnitude += (one << (dropped - 1)) - 1 + ((magnitude >> dropped) & 1);
    magnitude &= ~((one << dropped) - 1);
  }
  if (exponent_bits < kExponent) {
    const std::uint64_t bias = (one << (kExponent - 1)) - 1;
    const std::uint64_t new_bias = (one << (exponent_bits - 1)) - 1;
    const std::uint64_t exponent = magnitude >> kMantissa;
    if (exponent > bias + new_bias) magnitude = infinity;
    if (exponent <= bias - new_bias) magnitude = 0;
  }
  return std::bit_cast<T>(static_cast<Bits>(sign | magnitude));
}
)"},
      {Helper::sorted_positions,
       "sorted_positions",
       {},
       R"(// Positions in the order of the keys, the first one first; equal ones keep their places, NaN
// counts as the largest.
template <class T, class... More>
std::vector<std::int64_t> sorted_positions(bool descending, const std::vector<T>& key,
                                           const More&... more) {
  std::vector<std::int64_t> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  auto compare = [](auto a, auto b) { return a < b ? -1 : b < a ? 1 : (a != a) - (b != b); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    if (descending) std::swap(i, j);
    int result = compare(key[i], key[j]);
    ((result = result ? result : compare(more[i], more[j])), ...);
    return result < 0;
  });
  return order;
}
)"},
      {Helper::positions_sorted_by,
       "positions_sorted_by",
       {},
       R"(// Positions in the order that before(a0, b0, a1, b1, ...) tells. Merges runs: whatever it
// answers, this stays within bounds.
template <class Before, class T, class... More>
std::vector<std::int64_t> positions_sorted_by(Before before, const std::vector<T>& x,
                                              const More&... more) {
  const std::int64_t n = std::ssize(x);
  std::vector<std::int64_t> order(n), other(n);
  std::iota(order.begin(), order.end(), 0);
  auto less = [&](std::int64_t i, std::int64_t j) -> bool {
    return std::apply(before, std::tuple_cat(std::make_tuple(x[i], x[j]),
                                             std::make_tuple(more[i], more[j])...));
  };
  for (std::int64_t width = 1; width < n; width *= 2) {
    for (std::int64_t i = 0; i < n; i += 2 * width) {
      auto at = [&](std::int64_t k) { return order.begin() + std::min(k, n); };
      std::merge(at(i), at(i + width), at(i + width), at(i + 2 * width), other.begin() + i, less);
    }
    order.swap(other);
  }
  return order;
}
)"},
      {Helper::cholesky,
       "cholesky",
       {},
       R"(// The lower L with L L^T = A of each n by n matrix, from its lower triangle; NaN in the lower
// triangle where A is not positive definite.
template <class T>
std::vector<T> cholesky(const std::vector<T>& matrices, std::int64_t n) {
  std::vector<T> result(matrices.size());
  for (std::int64_t first = 0; first < std::ssize(matrices); first += n * n) {
    const T* a = matrices.data() + first;
    T* l = result.data() + first;
    bool definite = true;
    for (std::int64_t j = 0; j < n && definite; ++j) {
      for (std::int64_t i = j; i < n && definite; ++i) {
        T sum = a[i * n + j];
        for (std::int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
        if (i == j) definite = sum > 0;
        l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
      }
    }
    for (std::int64_t i = 0; i < n && !definite; ++i) {
      std::fill_n(l + i * n, i + 1, std::numeric_limits<T>::quiet_NaN());
    }
  }
  return result;
}
)"},
      {Helper::triangular_solve,
       "triangular_solve",
       {},
       R"(// Solves op(A) x = b for m right sides per n by n matrix, the columns or the rows of b.
template <class T>
std::vector<T> triangular_solve(const std::vector<T>& matrices, const std::vector<T>& sides,
                                std::int64_t n, std::int64_t m, bool lower, bool transposed,
                                bool unit, bool columns) {
  std::vector<T> result(sides.size());
  const T* a = matrices.data();
  const std::int64_t step = columns ? m : 1, next = columns ? 1 : n;
  for (std::int64_t first = 0; first < std::ssize(sides); first += n * m, a += n * n) {
    for (std::int64_t j = 0; j < m; ++j) {
      const T* b = sides.data() + first + j * next;
      T* x = result.data() + first + j * next;
      for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t i = lower ? k : n - 1 - k;
        T sum = b[i * step];
        for (std::int64_t q = 0; q < k; ++q) {
          const std::int64_t p = lower ? q : n - 1 - q;
          sum -= (transposed ? a[p * n + i] : a[i * n + p]) * x[p * step];
        }
        x[i * step] = unit ? sum : sum / a[i * n + i];
      }
    }
  }
  return result;
}
)"},
      {Helper::threefry,
       "threefry2x32",
       {},
       R"(// Threefry-2x32 with 20 rounds (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011): two words from a key (k0, k1) and a counter (x0, x1); x1 comes in the upper half.
inline std::uint64_t threefry2x32(std::uint32_t k0, std::uint32_t k1, std::uint32_t x0,
                                  std::uint32_t x1) {
  const std::uint32_t key[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bdau};
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  x0 += key[0];
  x1 += key[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int r : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += key[(group + 1) % 3];
    x1 += key[(group + 2) % 3] + group + 1;
  }
  return x0 | (std::uint64_t{x1} << 32);
}
)"},
      {Helper::floor_div,
       "floor_div",
       {},
       R"(// Rounds toward minus infinity.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
)"},
      {Helper::floor_mod,
       "floor_mod",
       {Helper::floor_div},
       R"(// The sign of the divisor.
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - b * floor_div(a, b); }
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
  for (Helper used : d.uses) helper(used);
}
std::unordered_set<std::string> Needs::names() const {
  std::unordered_set<std::string> r;
  for (Helper h : helpers_) r.insert(name_of(h));
  return r;
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
