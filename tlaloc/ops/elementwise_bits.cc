#include "tlaloc/ops/elementwise_bits.h"

#include <cstring>

namespace tlaloc::ops {

// ---- is_finite ----

void IsFinite::infer(InferContext& c) {
  Unary::check_operand(c);
  if (!is_float(c.in[0].dtype())) c.fail(kDTypeError, "takes floating elements");
  c.out.push_back(c.in[0].with_dtype(DType::boolean));
}
void IsFinite::eval(EvalContext& c) {
  map_elements(c, [](std::floating_point auto x) { return std::isfinite(x); });
}
void IsFinite::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0)});
}

// ---- bitcast_convert ----

void BitcastConvert::infer(InferContext& c) {
  Unary::check_operand(c);
  const Type x = c.in[0];
  const DType to = c.as<BitcastConvertAttrs>().dtype;
  for (DType t : {x.dtype(), to}) {
    if (t == DType::boolean || is_complex(t)) c.fail(kDTypeError, "a bool has no bits of its own");
  }
  const int from_bytes = byte_size(x.dtype()), to_bytes = byte_size(to);
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  if (to_bytes < from_bytes) {
    shape.emplace_back(from_bytes / to_bytes);
  } else if (to_bytes > from_bytes) {
    if (shape.empty()) c.fail("TL-RANK-001", "a wider type needs a last axis of parts");
    c.require_equal(shape.back(), Dim(to_bytes / from_bytes), "last axis and number of parts");
    shape.pop_back();
  }
  c.out.push_back(Type::get(to, shape));
}
void BitcastConvert::eval(EvalContext& c) {
  static_assert(std::endian::native == std::endian::little, "parts are least significant first");
  HostArray y = c.make();
  if (y.size()) std::memcpy(y.mutable_data(), c.in[0].data(), y.bytes());
  c.out.push_back(std::move(y));
}
Val BitcastConvert::simplify(const Call& c) {
  return c.in_types[0].dtype() == c.as<BitcastConvertAttrs>().dtype ? c.in[0] : Val{};
}
void BitcastConvert::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0)});
}

// ---- reduce_precision ----

namespace {

template <class T>
struct Format;  // bits of exponent and mantissa
// clang-format off
template <> struct Format<Half> { using Bits = std::uint16_t; static constexpr int kExponent = 5, kMantissa = 10; };
template <> struct Format<BFloat16> { using Bits = std::uint16_t; static constexpr int kExponent = 8, kMantissa = 7; };
template <> struct Format<float> { using Bits = std::uint32_t; static constexpr int kExponent = 8, kMantissa = 23; };
template <> struct Format<double> { using Bits = std::uint64_t; static constexpr int kExponent = 11, kMantissa = 52; };
// clang-format on

template <class T>
T round_to(T x, std::int64_t exponent_bits, std::int64_t mantissa_bits) {
  using F = Format<T>;
  const auto u = static_cast<std::uint64_t>(std::bit_cast<typename F::Bits>(x));
  const std::uint64_t infinity = ((std::uint64_t{1} << F::kExponent) - 1) << F::kMantissa;
  const std::uint64_t sign = u & (std::uint64_t{1} << (F::kExponent + F::kMantissa));
  std::uint64_t magnitude = u ^ sign;
  if (magnitude > infinity) return x;  // NaN
  if (mantissa_bits < F::kMantissa) {
    // Nearest even; a carry out of the mantissa moves into the exponent, as it should.
    const std::int64_t dropped = F::kMantissa - mantissa_bits;
    const std::uint64_t last = (magnitude >> dropped) & 1;
    magnitude += (std::uint64_t{1} << (dropped - 1)) - 1 + last;
    magnitude &= ~((std::uint64_t{1} << dropped) - 1);
  }
  if (exponent_bits < F::kExponent) {
    const std::uint64_t bias = (std::uint64_t{1} << (F::kExponent - 1)) - 1;
    const std::uint64_t new_bias = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
    const std::uint64_t exponent = magnitude >> F::kMantissa;
    if (exponent > bias + new_bias) magnitude = infinity;
    if (exponent <= bias - new_bias) magnitude = 0;
  }
  return std::bit_cast<T>(static_cast<typename F::Bits>(sign | magnitude));
}

}  // namespace

void ReducePrecision::infer(InferContext& c) {
  Unary::check_operand(c);
  if (!is_float(c.in[0].dtype())) c.fail(kDTypeError, "takes floating elements");
  const auto& a = c.as<ReducePrecisionAttrs>();
  if (a.exponent_bits < 1 || a.mantissa_bits < 0) {
    c.fail(kAttrError, "needs at least one exponent bit and no negative number of mantissa bits");
  }
  c.out.push_back(c.in[0]);
}
void ReducePrecision::eval(EvalContext& c) {
  const auto& a = c.as<ReducePrecisionAttrs>();
  HostArray x = c.take(0);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (is_float(dtype_of<T>)) {
      for (T& v : x.as_mutable<T>()) v = round_to(v, a.exponent_bits, a.mantissa_bits);
    }
  });
  c.out.push_back(std::move(x));
}
void ReducePrecision::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = emit_like(c, {dx[0]});
}
void ReducePrecision::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, emit_like(c, {ct[0]}));
}
void ReducePrecision::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0)});
}

TLALOC_ROW(IsFinite);
TLALOC_ROW(Popcnt);
TLALOC_ROW(Clz);
TLALOC_ROW(Xor);
TLALOC_ROW(ShiftLeft);
TLALOC_ROW(ShiftRightArithmetic);
TLALOC_ROW(ShiftRightLogical);
TLALOC_ROW(BitcastConvert);
TLALOC_ROW(ReducePrecision);

TLALOC_UNARY(is_finite, IsFinite)
TLALOC_UNARY(popcnt, Popcnt)
TLALOC_UNARY(clz, Clz)
TLALOC_BINARY(logical_xor, Xor)
TLALOC_BINARY(shift_left, ShiftLeft)
TLALOC_BINARY(shift_right_arithmetic, ShiftRightArithmetic)
TLALOC_BINARY(shift_right_logical, ShiftRightLogical)

Val bitcast_convert(Val x, DType dtype) {
  return ir::Builder::current().emit(rows::BitcastConvert,
                                     ir::make_attr(BitcastConvertAttrs{dtype}), {x});
}
Val reduce_precision(Val x, int exponent_bits, int mantissa_bits) {
  return ir::Builder::current().emit(
      rows::ReducePrecision, ir::make_attr(ReducePrecisionAttrs{exponent_bits, mantissa_bits}),
      {x});
}

}  // namespace tlaloc::ops
