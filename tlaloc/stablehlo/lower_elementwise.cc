// Elementwise ops, one to one where StableHLO or CHLO has them.
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

Values same(Emitter& e, const Op& op, const char* name) { return {e.op(name, op.in, op.out[0])}; }

}  // namespace

#define TLALOC_SAME(Name, hlo) \
  Values Name(Emitter& e, const Op& op) { return same(e, op, hlo); }
TLALOC_SAME(Neg, "stablehlo.negate")
TLALOC_SAME(Ceil, "stablehlo.ceil")
TLALOC_SAME(Floor, "stablehlo.floor")
TLALOC_SAME(Round, "stablehlo.round_nearest_afz")
TLALOC_SAME(RoundEven, "stablehlo.round_nearest_even")
TLALOC_SAME(Exp, "stablehlo.exponential")
TLALOC_SAME(Expm1, "stablehlo.exponential_minus_one")
TLALOC_SAME(Log, "stablehlo.log")
TLALOC_SAME(Log1p, "stablehlo.log_plus_one")
TLALOC_SAME(Sqrt, "stablehlo.sqrt")
TLALOC_SAME(Rsqrt, "stablehlo.rsqrt")
TLALOC_SAME(Cbrt, "stablehlo.cbrt")
TLALOC_SAME(Logistic, "stablehlo.logistic")
TLALOC_SAME(Tanh, "stablehlo.tanh")
TLALOC_SAME(Sin, "stablehlo.sine")
TLALOC_SAME(Cos, "stablehlo.cosine")
TLALOC_SAME(Tan, "stablehlo.tan")
TLALOC_SAME(Asin, "chlo.asin")
TLALOC_SAME(Acos, "chlo.acos")
TLALOC_SAME(Asinh, "chlo.asinh")
TLALOC_SAME(Acosh, "chlo.acosh")
TLALOC_SAME(Atanh, "chlo.atanh")
TLALOC_SAME(Erf, "chlo.erf")
TLALOC_SAME(Erfc, "chlo.erfc")
TLALOC_SAME(ErfInv, "chlo.erf_inv")
TLALOC_SAME(IsFinite, "stablehlo.is_finite")
TLALOC_SAME(Popcnt, "stablehlo.popcnt")
TLALOC_SAME(Clz, "stablehlo.count_leading_zeros")
TLALOC_SAME(Add, "stablehlo.add")
TLALOC_SAME(Sub, "stablehlo.subtract")
TLALOC_SAME(Mul, "stablehlo.multiply")
TLALOC_SAME(Div, "stablehlo.divide")
TLALOC_SAME(Max, "stablehlo.maximum")
TLALOC_SAME(Min, "stablehlo.minimum")
TLALOC_SAME(And, "stablehlo.and")
TLALOC_SAME(Or, "stablehlo.or")
TLALOC_SAME(Xor, "stablehlo.xor")
TLALOC_SAME(Not, "stablehlo.not")
TLALOC_SAME(ShiftLeft, "stablehlo.shift_left")
TLALOC_SAME(ShiftRightArithmetic, "stablehlo.shift_right_arithmetic")
TLALOC_SAME(ShiftRightLogical, "stablehlo.shift_right_logical")
TLALOC_SAME(Rem, "stablehlo.remainder")
TLALOC_SAME(Select, "stablehlo.select")
TLALOC_SAME(BitcastConvert, "stablehlo.bitcast_convert")
TLALOC_SAME(OptimizationBarrier, "stablehlo.optimization_barrier")
#undef TLALOC_SAME

/// With the divisor where compilers don't see it: XLA turns a divisor of 1 into its atan, whose
/// vectorized code gives wrong numbers for arrays of some sixty elements and more (PJRT 0.115).
Value atan2(Emitter& e, const Value& y, const Value& x) {
  return e.op("stablehlo.atan2", {y, e.op("stablehlo.optimization_barrier", {x}, x.type)}, y.type);
}
Values Atan(Emitter& e, const Op& op) { return {atan2(e, op.in[0], e.splat(1, op.in[0].type))}; }
Values Atan2(Emitter& e, const Op& op) { return {atan2(e, op.in[0], op.in[1])}; }

/// f of x in f32 where x is narrower.
template <class F>
Values in_wide(Emitter& e, const Op& op, F f) {
  const DType t = op.out[0].dtype;
  const bool narrow = t == DType::f16 || t == DType::bf16;
  const Value in[] = {narrow ? e.convert(op.in[0], DType::f32) : op.in[0]};
  return {
      e.convert(e.decompose(in, [&](const ir::Vals& v) -> ir::Vals { return {f(v[0])}; })[0], t)};
}
/// CHLO's cosh and sinh add log(1/2) to x, which makes its rounding one of the result. Of an e^|x|
/// that overflows both halves are taken from e^(|x|/2).
Values Cosh(Emitter& e, const Op& op) {
  return in_wide(e, op, [](const ir::Val& x) {
    using namespace ops;  // NOLINT: the vocabulary of rules
    const Val half = exp(abs(x) * 0.5), y = exp(abs(x));
    return select(is_finite(y), 0.5 * y + 0.5 / y, 0.5 * half * half);
  });
}
Values Sinh(Emitter& e, const Op& op) {
  return in_wide(e, op, [](const ir::Val& x) {
    using namespace ops;  // NOLINT: the vocabulary of rules
    const Val half = exp(abs(x) * 0.5), y = expm1(abs(x));
    return sign(x) * select(is_finite(y), 0.5 * (y + y / (y + 1.0)), 0.5 * half * half);
  });
}

/// An i64 or u64 as f64 that rounds to f16 and bf16 as x does: of 2^53 and more the low bits become
/// one that says whether there were any.
Value f64_with_sticky_bit(Emitter& e, const Value& x) {
  const TensorType t = x.type;
  const Value zero = e.splat(0, t), low = e.binary("and", x, e.splat(4095, t));
  const Value mark = e.select(e.compare("NE", low, zero), e.splat(2048, t), zero);
  const Value kept = e.binary("or", e.binary("subtract", x, low), mark);
  Value small = e.compare("LE", x, e.splat(0x1p53, t));
  if (is_signed_integer(t.dtype)) {
    small = e.binary("and", small, e.compare("GE", x, e.splat(-0x1p53, t)));
  }
  return e.convert(e.select(small, x, kept), DType::f64);
}
/// An f64 as f32 that rounds to f16 and bf16 as x does: its last bit is set if anything was lost.
Value f32_with_sticky_bit(Emitter& e, const Value& x) {
  const Value f = e.convert(x, DType::f32), back = e.convert(f, DType::f64);
  const TensorType bits_type = f.type.with(DType::u32);
  const Value bits = e.op("stablehlo.bitcast_convert", {f}, bits_type), one = e.splat(1, bits_type);
  const Value more =
      e.compare("GT", e.op("stablehlo.abs", {back}, back.type), e.op("stablehlo.abs", {x}, x.type));
  const Value cut = e.select(more, e.binary("subtract", bits, one), bits);
  const Value odd = e.op("stablehlo.bitcast_convert", {e.binary("or", cut, one)}, f.type);
  const Value lost = e.binary("and", e.compare("NE", back, x), e.compare("EQ", x, x));
  return e.select(lost, odd, f);
}
/// XLA's CPU goes to f16 and bf16 through f32, and would round twice.
Values Convert(Emitter& e, const Op& op) {
  Value x = op.in[0];
  const DType from = x.type.dtype, to = op.out[0].dtype;
  if (to == DType::f16 || to == DType::bf16) {
    if (from == DType::i32 || from == DType::u32) x = e.convert(x, DType::f64);
    if (from == DType::i64 || from == DType::u64) x = f64_with_sticky_bit(e, x);
    if (x.type.dtype == DType::f64) x = f32_with_sticky_bit(e, x);
  }
  return {e.op("stablehlo.convert", {x}, op.out[0])};
}

Values StopGradient(Emitter&, const Op& op) { return {op.in[0]}; }

Values Abs(Emitter& e, const Op& op) {
  if (is_unsigned_integer(op.out[0].dtype)) return {op.in[0]};
  return same(e, op, "stablehlo.abs");
}
Values Sign(Emitter& e, const Op& op) {
  if (!is_unsigned_integer(op.out[0].dtype)) return same(e, op, "stablehlo.sign");
  return {e.binary("minimum", op.in[0], e.splat(1, op.out[0]))};
}

Values Compare(Emitter& e, const Op& op) {
  constexpr const char* kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const auto direction = op.as<ops::CompareAttrs>().direction;
  return {e.compare(kDirections[static_cast<std::size_t>(direction)], op.in[0], op.in[1])};
}

Values ReducePrecision(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ReducePrecisionAttrs>();
  return {e.op("stablehlo.reduce_precision", op.in, op.out[0],
               "exponent_bits = " + std::to_string(a.exponent_bits) +
                   " : i32, mantissa_bits = " + std::to_string(a.mantissa_bits) + " : i32")};
}

/// x^y of integers by squaring, over all bits of y: compilers differ in how far they go.
Value integer_power(Emitter& e, const Value& x, const Value& y) {
  const std::int64_t bits = bit_width(y.type.dtype);
  const Value one = e.splat(1, x.type);
  const Value init[] = {e.index(0), one, x, y};
  const TensorType types[] = {init[0].type, x.type, x.type, y.type};
  const std::vector<TensorType> params(std::begin(types), std::end(types));
  const Region regions[] = {
      {params, [&](const Values& s) -> Values { return {e.compare("LT", s[0], e.index(bits))}; }},
      {params, [&](const Values& s) -> Values {
         const Value odd = e.compare("EQ", e.binary("and", s[3], one), one);
         return {e.binary("add", s[0], e.index(1)),
                 e.select(odd, e.binary("multiply", s[1], s[2]), s[1]),
                 e.binary("multiply", s[2], s[2]), e.binary("shift_right_logical", s[3], one)};
       }}};
  return e.op("stablehlo.while", init, types, {}, regions)[1];
}

Values Pow(Emitter& e, const Op& op) {
  const Value &x = op.in[0], &y = op.in[1];
  if (is_float(x.type.dtype)) return same(e, op, "stablehlo.power");
  const Value power = integer_power(e, x, y);
  if (!is_signed_integer(x.type.dtype)) return {power};
  // A negative exponent gives 0 unless x is 1 or -1; their powers are right as they are, because
  // the low bit of a negative number is the parity of its absolute value.
  const Value one = e.splat(1, x.type), zero = e.splat(0, x.type), minus = e.splat(-1, x.type);
  const Value negative = e.compare("LT", y, zero);
  const Value other = e.binary("and", e.compare("NE", x, one), e.compare("NE", x, minus));
  return {e.select(e.binary("and", negative, other), zero, power)};
}

/// By squaring, in the order of the reference; narrow floats are rounded once.
Values IntegerPow(Emitter& e, const Op& op) {
  const std::int64_t exponent = op.as<ops::IntegerPowAttrs>().exponent;
  const DType t = op.out[0].dtype;
  const bool narrow = t == DType::f16 || t == DType::bf16;
  Value x = narrow ? e.convert(op.in[0], DType::f32) : op.in[0];
  const Value one = e.splat(1, x.type);
  std::optional<Value> power;
  auto n = static_cast<std::uint64_t>(exponent);
  if (exponent < 0) n = -n;
  for (; n; n >>= 1) {
    if (n & 1) power = power ? e.binary("multiply", *power, x) : x;
    if (n > 1) x = e.binary("multiply", x, x);
  }
  Value r = power ? *power : one;
  if (exponent < 0 && is_float(t)) r = e.binary("divide", one, r);
  return {e.convert(r, t)};
}

Values Clamp(Emitter& e, const Op& op) {
  if (op.out[0].dtype != DType::boolean) return same(e, op, "stablehlo.clamp");
  const Value low = e.leading(op.in[0], op.out[0]), high = e.leading(op.in[2], op.out[0]);
  return {e.binary("and", e.binary("or", low, op.in[1]), high)};
}

}  // namespace tlaloc::stablehlo::lowering
