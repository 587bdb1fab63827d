// Elementwise operations of StableHLO and CHLO.
#include <cmath>
#include <numbers>

#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_power.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {

using ir::Val;
using ir::Vals;
using namespace ops;  // NOLINT: the vocabulary of rules

Val total_order(Val x) {
  const DType t = x.dtype();
  const DType word = byte_size(t) == 2 ? DType::i16 : byte_size(t) == 4 ? DType::i32 : DType::i64;
  const Val bits = bitcast_convert(x, word);
  const Val sign = shift_right_arithmetic(bits, full(bit_width(word) - 1, bits.type()));
  return logical_xor(bits, shift_right_logical(sign, full(1, bits.type())));
}
namespace {

/// Operands of one type.
void expect_same(const Site& s, std::size_t count) {
  s.expect_operands(count);
  for (std::size_t k = 1; k < count; ++k) {
    const TensorSpec &a = *s.operand_type(0), &b = *s.operand_type(k);
    if (&a == &b) continue;
    bool may_be = a.dtype == b.dtype && a.extents.size() == b.extents.size();
    for (std::size_t i = 0; may_be && i < a.extents.size(); ++i) {
      may_be = a.extents[i] == b.extents[i] || a.extents[i] < 0 || b.extents[i] < 0;
    }
    if (!may_be) s.fail("its operands are of different types");
  }
}
template <const ir::OpDef& Row, std::size_t Count>
Vals same(const Site& s) {
  expect_same(s, Count);
  return {ir::Builder::current().emit(Row, {}, s.in())};
}
/// On bools StableHLO's arithmetic is logic.
template <const ir::OpDef& Row, const ir::OpDef& OnBools>
Vals arithmetic(const Site& s) {
  expect_same(s, 2);
  const bool boolean = s.in(0).dtype() == DType::boolean;
  return {ir::Builder::current().emit(boolean ? OnBools : Row, {}, s.in())};
}

Vals convert_op(const Site& s) {
  s.expect_operands(1);
  return {convert(s.in(0), s.result_dtype())};
}
Vals bitcast(const Site& s) {
  s.expect_operands(1);
  return {bitcast_convert(s.in(0), s.result_dtype())};
}

Vals compare_op(const Site& s) {
  expect_same(s, 2);
  const std::string_view direction = s.word({"comparison_direction"}, "");
  constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const auto* known = std::ranges::find(kDirections, direction);
  if (known == std::end(kDirections)) s.fail("it has no comparison_direction");
  const auto c = static_cast<Comparison>(known - kDirections);
  const DType t = s.in(0).dtype();
  const std::string_view kind = s.word({"compare_type"}, "NOTYPE");
  const bool total = kind == "TOTALORDER";
  const std::string_view natural = is_float(t)            ? "FLOAT"
                                   : is_signed_integer(t) ? "SIGNED"
                                                          : "UNSIGNED";
  if (kind != "NOTYPE" && kind != natural && !(total && is_float(t))) {
    s.fail("compare_type " + std::string(kind) + " is not for " + std::string(name(t)));
  }
  if (!total) return {compare(c, s.in(0), s.in(1))};
  return {compare(c, total_order(s.in(0)), total_order(s.in(1)))};
}
/// `select(any(x != x), NaN, max(x))`, as emission writes a maximum that no compiler loses a NaN
/// of.
bool asks_for_nan(Val p, Val nan, Val y) {
  ir::Builder& b = ir::Builder::of(y);
  const ir::OpDef* extreme = b.op_of(y);
  if (extreme != &rows::ReduceMax && extreme != &rows::ReduceMin) return false;
  if (b.op_of(p) != &rows::ReduceOr || !b.attr_of(p)->equals(*b.attr_of(y))) return false;
  const Val differs = b.operand_of(p, 0), x = b.operand_of(y, 0);
  const auto value = scalar_value(nan);
  return value && std::isnan(*value) && b.op_of(differs) == &rows::Compare &&
         b.attr_of(differs)->equals(*ir::make_attr(CompareAttrs{Comparison::ne})) &&
         b.operand_of(differs, 0) == x && b.operand_of(differs, 1) == x;
}
Vals select_op(const Site& s) {
  s.expect_operands(3);
  if (s.operand_type(1) != s.operand_type(2) && s.operand_type(1)->is_static() &&
      s.operand_type(2)->is_static()) {
    s.fail("what it selects from is of different types");
  }
  if (asks_for_nan(s.in(0), s.in(1), s.in(2))) return {s.in(2)};
  return {select(s.in(0), s.in(1), s.in(2))};
}
Vals clamp_op(const Site& s) {
  s.expect_operands(3);
  return {clamp(s.in(0), s.in(1), s.in(2))};
}
Vals reduce_precision_op(const Site& s) {
  s.expect_operands(1);
  std::int64_t exponent = 0, mantissa = 0;
  if (const Attribute* format = s.op().find("format")) {
    const std::string_view f = format->text;  // e5m10
    const std::size_t m = f.find('m');
    const bool ok = f.starts_with('e') && m != std::string_view::npos &&
                    parse_digits(f.substr(1, m - 1), exponent) &&
                    parse_digits(f.substr(m + 1), mantissa);
    if (!ok) s.fail("its format is no e5m10");
  } else {
    exponent = s.integer({"exponent_bits"});
    mantissa = s.integer({"mantissa_bits"});
  }
  if (exponent < 1 || exponent > 64 || mantissa < 0 || mantissa > 64) {
    s.fail("no format has so many bits");
  }
  return {reduce_precision(s.in(0), static_cast<int>(exponent), static_cast<int>(mantissa))};
}
Vals barrier(const Site& s) {
  Vals r;
  for (Val x : s.in()) r.push_back(optimization_barrier(x));
  return r;
}

// ---- what emission writes in another way ----

/// The divisor that emission hides from compilers.
Val behind_barrier(Val x) {
  ir::Builder& b = ir::Builder::of(x);
  return b.op_of(x) == &rows::OptimizationBarrier ? b.operand_of(x, 0) : x;
}
Vals atan2_op(const Site& s) {
  expect_same(s, 2);
  const Val x = behind_barrier(s.in(1));
  if (x != s.in(1) && scalar_value(x) == 1.0) return {atan(s.in(0))};
  return {atan2(s.in(0), x)};
}

// ---- CHLO ----

/// In f32 where x is narrower.
template <class F>
Vals in_wide(const Site& s, F f) {
  s.expect_operands(1);
  const Val x = s.in(0);
  if (!is_float(x.dtype())) s.fail("it takes floats");
  const bool narrow = byte_size(x.dtype()) == 2;
  return {convert(f(narrow ? convert(x, DType::f32) : x), x.dtype())};
}

Vals square(const Site& s) {
  s.expect_operands(1);
  return {mul(s.in(0), s.in(0))};
}
Val infinity_like(Val x) { return full(std::numeric_limits<double>::infinity(), x.type()); }
Vals is_inf(const Site& s) {
  s.expect_operands(1);
  return {compare(Comparison::eq, abs(s.in(0)), infinity_like(s.in(0)))};
}
Vals is_pos_inf(const Site& s) {
  s.expect_operands(1);
  return {compare(Comparison::eq, s.in(0), infinity_like(s.in(0)))};
}
Vals is_neg_inf(const Site& s) {
  s.expect_operands(1);
  return {compare(Comparison::eq, s.in(0), neg(infinity_like(s.in(0))))};
}

// Lanczos' approximation with g = 7 and 9 terms; the coefficients are Godfrey's.
constexpr double kLanczosG = 7, kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

Val lgamma_of(Val x) {
  const Val reflects = x < full(0.5, x.type());
  const Val z = select(reflects, -x, x - 1.0);
  Val sum = full(kLanczosBase, x.type());
  for (int i = 0; i < 8; ++i) sum = sum + kLanczos[i] / (z + (i + 1.0));
  const double half = kLanczosG + 0.5;
  const Val t = z + half, log_t = log1p(z / half) + std::log(half);
  const Val log_y =
      (z + 0.5 - t / log_t) * log_t + (0.5 * std::log(2 * std::numbers::pi)) + log(sum);
  // log |gamma(x)| = log(pi / |sin(pi x)|) - log |gamma(1 - x)|, with x reduced for the sine.
  const Val fraction = abs(x) - floor(abs(x));
  const Val reduced = select(fraction > full(0.5, x.type()), 1.0 - fraction, fraction);
  const Val log_sin = log(sin(reduced * std::numbers::pi));
  const Val reflected =
      select(is_finite(log_sin), std::log(std::numbers::pi) - log_sin - log_y, -log_sin);
  const Val y = select(reflects, reflected, log_y);
  return select(compare(Comparison::eq, abs(x), infinity_like(x)), infinity_like(x), y);
}
Val digamma_of(Val x) {
  const Val reflects = x < full(0.5, x.type());
  const Val z = select(reflects, -x, x - 1.0);
  Val sum = full(kLanczosBase, x.type()), derivative = zeros_like(x);
  for (int i = 0; i < 8; ++i) {
    const Val at = z + (i + 1.0);
    sum = sum + kLanczos[i] / at;
    derivative = derivative - kLanczos[i] / (at * at);
  }
  const double half = kLanczosG + 0.5;
  const Val t = z + half, log_t = log1p(z / half) + std::log(half);
  const Val y = log_t + derivative / sum - kLanczosG / t;
  const Val reduced = (x + abs(floor(x + 0.5))) * std::numbers::pi;
  const Val reflected = y - std::numbers::pi * cos(reduced) / sin(reduced);
  const Val pole = logical_and(x <= zeros_like(x), compare(Comparison::eq, x, floor(x)));
  return select(pole, full(std::numeric_limits<double>::quiet_NaN(), x.type()),
                select(reflects, reflected, y));
}
Vals lgamma(const Site& s) { return in_wide(s, lgamma_of); }
Vals digamma(const Site& s) { return in_wide(s, digamma_of); }

Vals next_after(const Site& s) {
  expect_same(s, 2);
  const Val x = s.in(0), y = s.in(1);
  if (!is_float(x.dtype())) s.fail("it takes floats");
  const int size = byte_size(x.dtype());
  const DType word = size == 2 ? DType::u16 : size == 4 ? DType::u32 : DType::u64;
  const Val bx = bitcast_convert(x, word), by = bitcast_convert(y, word);
  const Val sign = shift_left(full(1, bx.type()), full(bit_width(word) - 1, bx.type()));
  const Val ax = logical_and(bx, logical_not(sign)), ay = logical_and(by, logical_not(sign));
  const Val zero = zeros_like(bx);
  const Val other_side = compare(Comparison::ne, logical_and(bx, sign), logical_and(by, sign));
  const Val shrinks = logical_or(other_side, ax > ay);
  const Val one = full(1, bx.type());
  Val r = select(shrinks, bx - one, bx + one);
  // From a zero to the smallest number on y's side.
  r = select(compare(Comparison::eq, ax, zero), logical_or(logical_and(by, sign), one), r);
  Val out = bitcast_convert(r, x.dtype());
  out = select(compare(Comparison::eq, x, y), y, out);
  const Val nan = logical_or(compare(Comparison::ne, x, x), compare(Comparison::ne, y, y));
  return {select(nan, full(std::numeric_limits<double>::quiet_NaN(), x.type()), out)};
}

}  // namespace

void add_elementwise(RaiseTable& t) {
  t["stablehlo.abs"] = same<rows::Abs, 1>;
  t["stablehlo.add"] = arithmetic<rows::Add, rows::Or>;
  t["stablehlo.multiply"] = arithmetic<rows::Mul, rows::And>;
  t["stablehlo.maximum"] = same<rows::Max, 2>;
  t["stablehlo.minimum"] = same<rows::Min, 2>;
  t["stablehlo.subtract"] = same<rows::Sub, 2>;
  t["stablehlo.divide"] = same<rows::Div, 2>;
  t["stablehlo.remainder"] = same<rows::Rem, 2>;
  t["stablehlo.power"] = same<rows::Pow, 2>;
  t["stablehlo.and"] = same<rows::And, 2>;
  t["stablehlo.or"] = same<rows::Or, 2>;
  t["stablehlo.xor"] = same<rows::Xor, 2>;
  t["stablehlo.not"] = same<rows::Not, 1>;
  t["stablehlo.shift_left"] = same<rows::ShiftLeft, 2>;
  t["stablehlo.shift_right_arithmetic"] = same<rows::ShiftRightArithmetic, 2>;
  t["stablehlo.shift_right_logical"] = same<rows::ShiftRightLogical, 2>;
  t["stablehlo.atan2"] = atan2_op;
  t["stablehlo.negate"] = same<rows::Neg, 1>;
  t["stablehlo.sign"] = same<rows::Sign, 1>;
  t["stablehlo.ceil"] = same<rows::Ceil, 1>;
  t["stablehlo.floor"] = same<rows::Floor, 1>;
  t["stablehlo.round_nearest_afz"] = same<rows::Round, 1>;
  t["stablehlo.round_nearest_even"] = same<rows::RoundEven, 1>;
  t["stablehlo.exponential"] = same<rows::Exp, 1>;
  t["stablehlo.exponential_minus_one"] = same<rows::Expm1, 1>;
  t["stablehlo.log"] = same<rows::Log, 1>;
  t["stablehlo.log_plus_one"] = same<rows::Log1p, 1>;
  t["stablehlo.sqrt"] = same<rows::Sqrt, 1>;
  t["stablehlo.rsqrt"] = same<rows::Rsqrt, 1>;
  t["stablehlo.cbrt"] = same<rows::Cbrt, 1>;
  t["stablehlo.logistic"] = same<rows::Logistic, 1>;
  t["stablehlo.tanh"] = same<rows::Tanh, 1>;
  t["stablehlo.sine"] = same<rows::Sin, 1>;
  t["stablehlo.cosine"] = same<rows::Cos, 1>;
  t["stablehlo.tan"] = same<rows::Tan, 1>;
  t["stablehlo.is_finite"] = same<rows::IsFinite, 1>;
  t["stablehlo.popcnt"] = same<rows::Popcnt, 1>;
  t["stablehlo.count_leading_zeros"] = same<rows::Clz, 1>;
  t["stablehlo.compare"] = compare_op;
  t["stablehlo.select"] = select_op;
  t["stablehlo.clamp"] = clamp_op;
  t["stablehlo.convert"] = convert_op;
  t["stablehlo.bitcast_convert"] = bitcast;
  t["stablehlo.reduce_precision"] = reduce_precision_op;
  t["stablehlo.optimization_barrier"] = barrier;
  t["chlo.tan"] = same<rows::Tan, 1>;
  t["chlo.asin"] = same<rows::Asin, 1>;
  t["chlo.acos"] = same<rows::Acos, 1>;
  t["chlo.atan"] = same<rows::Atan, 1>;
  t["chlo.sinh"] = same<rows::Sinh, 1>;
  t["chlo.cosh"] = same<rows::Cosh, 1>;
  t["chlo.asinh"] = same<rows::Asinh, 1>;
  t["chlo.acosh"] = same<rows::Acosh, 1>;
  t["chlo.atanh"] = same<rows::Atanh, 1>;
  t["chlo.erf"] = same<rows::Erf, 1>;
  t["chlo.erfc"] = same<rows::Erfc, 1>;
  t["chlo.erf_inv"] = same<rows::ErfInv, 1>;
  t["chlo.square"] = square;
  t["chlo.is_inf"] = is_inf;
  t["chlo.is_pos_inf"] = is_pos_inf;
  t["chlo.is_neg_inf"] = is_neg_inf;
  t["chlo.lgamma"] = lgamma;
  t["chlo.digamma"] = digamma;
  t["chlo.next_after"] = next_after;
}

}  // namespace tlaloc::stablehlo::raising
