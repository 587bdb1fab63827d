// Draws as JAX makes them (jax/_src/random/core.py): the same operations in the same order.
#include "tlaloc/lang/random_core.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/random_bits.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;
using ops::operator+;
using ops::operator-;
using ops::operator*;
using ops::operator/;

struct FloatInfo {
  DType bits;
  int width;
  int mantissa;       ///< stored bits
  std::uint64_t one;  ///< the bits of 1.0
  double tiny;        ///< smallest normal
  double epsneg;      ///< 1 minus the number before it
};
FloatInfo info_of(const OpCall& call, DType type) {
  switch (type) {
    case DType::f16:
      return {DType::u16, 16, 10, 0x3c00, 0x1p-14, 0x1p-11};
    case DType::bf16:
      return {DType::u16, 16, 7, 0x3f80, 0x1p-126, 0x1p-8};
    case DType::f32:
      return {DType::u32, 32, 23, 0x3f800000, 0x1p-126, 0x1p-24};
    case DType::f64:
      return {DType::u64, 64, 52, 0x3ff0000000000000, 0x1p-1022, 0x1p-53};
    default:
      throw UserError({"TL-RANDOM-002", call.name,
                       std::string(tlaloc::name(type)) + " is not a floating type",
                       "draw f16, bf16, f32 or f64", user_place(call.where)});
  }
}

void require_key(const OpCall& call, const Ref& key) {
  const ir::Type t = node(key).type;
  if (t.dtype() == DType::u32 && t.rank() == 1 && ir::equal(t.dim(0), Dim(2)) != ir::Truth::no) {
    return;
  }
  throw UserError({"TL-RANDOM-001", call.name, describe(key) + " is not a key",
                   "make keys with random::key, split and fold_in; a key is u32[2]",
                   user_place(call.where)});
}

std::vector<Dim> shape_of(const OpCall& call, const Draw& draw) {
  std::vector<Dim> shape;
  for (int i = 0; i < static_cast<int>(draw.axes.size()); ++i) {
    shape.push_back(size_of_axis(call, draw.axes, i, draw.size_like));
  }
  return shape;
}
/// Operands that only give sizes are operands too when their sizes belong to a trace.
std::vector<Ref> operands_of(std::initializer_list<Ref> first, const Draw& draw) {
  std::vector<Ref> all = first;
  for (const Ref& x : draw.size_like) {
    if (node(x).traced() && node(x).type.has_symbols()) all.push_back(x);
  }
  return all;
}

Val constant_like(Val x, double value) { return ops::full(value, x.type()); }

/// In [low, high): the mantissa random, the exponent that of 1, then shifted and scaled.
Val uniform(const FloatInfo& f, Val key, Val low, Val high, std::span<const Dim> shape,
            random::Stream stream) {
  // bfloat16 has 7 bits of mantissa, for which JAX draws 8 bits.
  const int drawn = f.mantissa < 8 ? 8 : f.width;
  Val bits = random_bits(key, drawn, shape, stream);
  if (drawn != f.width) bits = ops::convert(bits, f.bits);
  const auto all = [&](std::uint64_t x) {
    return ops::broadcast_to(ops::scalar_int(static_cast<std::int64_t>(x), f.bits), shape);
  };
  bits = ops::shift_right_logical(bits, all(static_cast<std::uint64_t>(drawn - f.mantissa)));
  bits = ops::logical_or(bits, all(f.one));
  const Val unit = ops::bitcast_convert(bits, low.dtype()) - 1.0;
  const Val lowest = ops::broadcast_to(low, shape);
  return ops::max(lowest,
                  ops::add(ops::mul(unit, ops::broadcast_to(ops::sub(high, low), shape)), lowest));
}

/// A draw that follows from one uniform value per element.
Ref from_uniform(const char* name, const Ref& key, const Draw& draw,
                 const std::function<std::array<double, 2>(const FloatInfo&)>& range,
                 const std::function<Val(Val)>& finish) {
  const OpCall call{name, draw.where};
  return with_place(draw.where, [&] {
    require_key(call, key);
    const FloatInfo f = info_of(call, draw.dtype);
    const std::vector<Dim> shape = shape_of(call, draw);
    return apply(call, operands_of({key}, draw), draw.axes, [&](std::span<const Val> in) {
      const auto [low, high] = range(f);
      return finish(uniform(f, in[0], ops::scalar(low, draw.dtype), ops::scalar(high, draw.dtype),
                            shape, random::current_stream()));
    });
  });
}

Val gumbel(const FloatInfo& f, Val key, DType type, std::span<const Dim> shape) {
  const Val u = uniform(f, key, ops::scalar(f.tiny, type), ops::scalar(1, type), shape,
                        random::current_stream());
  return ops::neg(ops::log(ops::neg(ops::log(u))));
}

constexpr double kSqrt2 = 1.4142135623730951;

/// The next representable number up or down.
Val next_after(const FloatInfo& f, Val x, bool up) {
  const Val bits = ops::bitcast_convert(x, f.bits);
  const Val one = ops::scalar_int(1, f.bits), zero = ops::scalar(0, x.dtype());
  const Val larger = ops::bitcast_convert(ops::add(bits, one), x.dtype());
  const Val smaller = ops::bitcast_convert(ops::sub(bits, one), x.dtype());
  // Magnitude grows away from zero; at zero the smallest subnormal of the wanted sign.
  const Val first = ops::bitcast_convert(one, x.dtype());
  const Val from_zero = up ? first : ops::neg(first);
  const Val positive = ops::compare(ops::Comparison::gt, x, zero);
  const Val moved =
      up ? ops::select(positive, larger, smaller) : ops::select(positive, smaller, larger);
  return ops::select(ops::compare(ops::Comparison::eq, x, zero), from_zero, moved);
}

}  // namespace

Ref random_key(std::uint64_t seed) {
  const std::array words{static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)};
  return make_concrete(HostArray::from<std::uint32_t>(words, {2}));
}

Ref random_split(const Ref& key, std::int64_t n, AxesSpec axes, Where where) {
  const OpCall call{"split", where};
  return with_place(where, [&] {
    require_key(call, key);
    if (n < 0) {
      throw UserError({"TL-SIZE-001", call.name, std::to_string(n) + " keys", "", {}});
    }
    return apply(call, std::array{key}, axes, [&](std::span<const Val> in) {
      return split_key(in[0], n, random::current_stream());
    });
  });
}

Ref random_fold_in(const Ref& key, const Ref& data, Where where) {
  const OpCall call{"fold_in", where};
  return with_place(where, [&] {
    require_key(call, key);
    if (!is_integer(dtype(data)) || rank(data) != 0) {
      throw UserError({"TL-RANDOM-002", call.name, describe(data) + " is not an integer scalar",
                       "fold in an integer", user_place(where)});
    }
    return apply(call, std::array{key, data}, node(key).labels, [&](std::span<const Val> in) {
      return fold_in_key(in[0], ops::convert(in[1], DType::u32));
    });
  });
}

Ref random_bits(const Ref& key, const Draw& draw) {
  const OpCall call{"bits", draw.where};
  return with_place(draw.where, [&] {
    require_key(call, key);
    if (!is_unsigned_integer(draw.dtype)) {
      throw UserError({"TL-RANDOM-002", call.name,
                       std::string(tlaloc::name(draw.dtype)) + " is not an unsigned type",
                       "draw u8, u16, u32 or u64", user_place(draw.where)});
    }
    const std::vector<Dim> shape = shape_of(call, draw);
    return apply(call, operands_of({key}, draw), draw.axes, [&](std::span<const Val> in) {
      return random_bits(in[0], bit_width(draw.dtype), shape, random::current_stream());
    });
  });
}

Ref random_uniform(const Ref& key, const Ref& low, const Ref& high, const Draw& draw) {
  const OpCall call{"uniform", draw.where};
  return with_place(draw.where, [&] {
    require_key(call, key);
    const FloatInfo f = info_of(call, draw.dtype);
    const std::vector<Dim> shape = shape_of(call, draw);
    return apply(call, operands_of({key, low, high}, draw), draw.axes,
                 [&](std::span<const Val> in) {
                   return uniform(f, in[0], in[1], in[2], shape, random::current_stream());
                 });
  });
}

Ref random_normal(const Ref& key, const Draw& draw) {
  return from_uniform(
      "normal", key, draw,
      // From the number after -1, which erf_inv would map to -inf.
      [](const FloatInfo& f) { return std::array{f.epsneg - 1, 1.0}; },
      [](Val u) { return ops::mul(constant_like(u, kSqrt2), ops::erf_inv(u)); });
}

Ref random_truncated_normal(const Ref& key, const Ref& lower, const Ref& upper, const Draw& draw) {
  const OpCall call{"truncated_normal", draw.where};
  return with_place(draw.where, [&] {
    require_key(call, key);
    const FloatInfo f = info_of(call, draw.dtype);
    const std::vector<Dim> shape = shape_of(call, draw);
    // The open interval's ends: constants of the draw, not differentiated.
    const Ref low_end = unary(UnaryOp::stop_gradient, lower, {}, draw.where);
    const Ref high_end = unary(UnaryOp::stop_gradient, upper, {}, draw.where);
    return apply(call, operands_of({key, lower, upper, low_end, high_end}, draw), draw.axes,
                 [&](std::span<const Val> in) {
                   const Val sqrt2 = ops::scalar(kSqrt2, draw.dtype);
                   const Val a = ops::erf(ops::div(in[1], sqrt2));
                   const Val b = ops::erf(ops::div(in[2], sqrt2));
                   const Val u = uniform(f, in[0], a, b, shape, random::current_stream());
                   const Val x = ops::mul(ops::broadcast_to(sqrt2, shape), ops::erf_inv(u));
                   return ops::min(
                       ops::max(x, ops::broadcast_to(next_after(f, in[3], true), shape)),
                       ops::broadcast_to(next_after(f, in[4], false), shape));
                 });
  });
}

Ref random_exponential(const Ref& key, const Draw& draw) {
  return from_uniform(
      "exponential", key, draw, [](const FloatInfo&) { return std::array{0.0, 1.0}; },
      [](Val u) { return ops::neg(ops::log1p(ops::neg(u))); });
}

Ref random_gumbel(const Ref& key, const Draw& draw) {
  return from_uniform(
      "gumbel", key, draw, [](const FloatInfo& f) { return std::array{f.tiny, 1.0}; },
      [](Val u) { return ops::neg(ops::log(ops::neg(ops::log(u)))); });
}

Ref random_laplace(const Ref& key, const Draw& draw) {
  return from_uniform(
      "laplace", key, draw, [](const FloatInfo& f) { return std::array{f.epsneg - 1, 1.0}; },
      [](Val u) { return ops::mul(ops::sign(u), ops::log1p(ops::neg(ops::abs(u)))); });
}

Ref random_bernoulli(const Ref& key, const Ref& p, std::span<const int> axis_of_p,
                     const Draw& draw) {
  const OpCall call{"bernoulli", draw.where};
  return with_place(draw.where, [&] {
    require_key(call, key);
    const FloatInfo f = info_of(call, dtype(p));
    const std::vector<Dim> shape = shape_of(call, draw);
    return apply(call, operands_of({key, p}, draw), draw.axes, [&](std::span<const Val> in) {
      const Val u = uniform(f, in[0], ops::scalar(0, in[1].dtype()), ops::scalar(1, in[1].dtype()),
                            shape, random::current_stream());
      return ops::compare(ops::Comparison::lt, u, broadcast_val(in[1], axis_of_p, shape));
    });
  });
}

namespace {

/// x as an integer of `type`, saturated.
Val clipped(Val x, DType type) {
  const auto limits = dispatch(type, [&]<class T>(TypeTag<T>) -> std::array<std::int64_t, 2> {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const auto top = std::numeric_limits<T>::max();
      return {static_cast<std::int64_t>(std::numeric_limits<T>::min()),
              std::in_range<std::int64_t>(top) ? static_cast<std::int64_t>(top)
                                               : std::numeric_limits<std::int64_t>::max()};
    }
    return {0, 0};
  });
  const Val wide = ops::convert(x, DType::i64);
  return ops::convert(ops::min(ops::max(wide, ops::scalar_int(limits[0], DType::i64)),
                               ops::scalar_int(limits[1], DType::i64)),
                      type);
}

DType unsigned_like(DType type) { return bit_width(type) == 64 ? DType::u64 : DType::u32; }

}  // namespace

Ref random_randint(const Ref& key, const Ref& low, const Ref& high, const Draw& draw) {
  const OpCall call{"randint", draw.where};
  return with_place(draw.where, [&] {
    require_key(call, key);
    if (!is_integer(draw.dtype) || !is_integer(dtype(low)) || !is_integer(dtype(high))) {
      throw UserError({"TL-RANDOM-002", call.name,
                       std::string(tlaloc::name(draw.dtype)) + " in [" + describe(low) + ", " +
                           describe(high) + ")",
                       "the type and the bounds are integers", user_place(draw.where)});
    }
    const std::vector<Dim> shape = shape_of(call, draw);
    // Narrow types are drawn in 32 bits, where the remainder is nearly unbiased, and cast.
    const DType type = bit_width(draw.dtype) >= 32 ? draw.dtype : DType::i32;
    const DType bits = unsigned_like(type);
    return apply(
        call, operands_of({key, low, high}, draw), draw.axes, [&](std::span<const Val> in) {
          const Val from = ops::convert(clipped(in[1], draw.dtype), type),
                    to = ops::convert(clipped(in[2], draw.dtype), type);
          const Val wide = ops::convert(in[2], DType::i64);
          const Val empty = ops::compare(ops::Comparison::le, to, from);
          const Val one = ops::scalar_int(1, bits);
          Val span = ops::convert(ops::sub(to, from), bits);
          span = ops::select(empty, one, span);
          // An upper bound beyond the type's largest value means all values up to it.
          const Val beyond = ops::compare(ops::Comparison::gt, wide, ops::convert(to, DType::i64));
          span = ops::select(ops::logical_and(beyond, ops::logical_not(empty)), ops::add(span, one),
                             span);
          const auto stream = random::current_stream();
          const Val keys = split_key(in[0], 2, stream);
          const auto draw_bits = [&](std::int64_t k) {
            const std::array two{Dim(2)};
            const Val sub = ops::reshape(ops::slice_axis(keys, 0, Dim(k), Dim(k + 1)), two);
            return random_bits(sub, bit_width(bits), shape, stream);
          };
          const Val half = ops::scalar_int(std::int64_t{1} << (bit_width(bits) / 2), bits);
          Val multiplier = ops::rem(half, span);
          multiplier = ops::rem(ops::mul(multiplier, multiplier), span);
          const auto all = [&](Val x) { return ops::broadcast_to(x, shape); };
          const Val upper = ops::mul(ops::rem(draw_bits(0), all(span)), all(multiplier));
          const Val offset =
              ops::rem(ops::add(upper, ops::rem(draw_bits(1), all(span))), all(span));
          return ops::convert(ops::add(all(from), ops::convert(offset, type)), draw.dtype);
        });
  });
}

Ref random_categorical(const Ref& key, const Ref& logits, int axis, AxesSpec axes, Where where) {
  const OpCall call{"categorical", where};
  const Ref noisy = with_place(where, [&] {
    require_key(call, key);
    const FloatInfo f = info_of(call, dtype(logits));
    return apply(call, std::array{key, logits}, node(logits).labels, [&](std::span<const Val> in) {
      return ops::add(gumbel(f, in[0], in[1].dtype(), in[1].shape()), in[1]);
    });
  });
  return arg_extreme(true, noisy, axis, false, axes, where);
}

Ref random_permutation(const Ref& key, const Ref& x, int axis, AxesSpec axes, Where where) {
  const OpCall call{"permutation", where};
  return with_place(where, [&] {
    require_key(call, key);
    const Dim size = node(x).type.dim(axis);
    if (!size.is_constant()) {
      throw UserError({"TL-TRACE-001", call.name,
                       "the size of the permuted axis of " + describe(x) +
                           " is not known while tracing, and the number of rounds depends on it",
                       "give the axis a size in the type", user_place(where)});
    }
    const std::int64_t n = size.constant();
    // Each round sorts by 32-bit keys; together they are distinct with high probability.
    const int rounds = static_cast<int>(std::ceil(
        3 * std::log(static_cast<double>(std::max<std::int64_t>(1, n))) / std::log(4294967295.0)));
    Ref rest = key;
    std::vector<std::int32_t> identity(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<std::int32_t>(i);
    Ref order = make_concrete(HostArray::from<std::int32_t>(identity, {n}));
    const AxisSpec vector{.size = n};
    const std::span<const AxisSpec> one(&vector, 1);
    for (int k = 0; k < rounds; ++k) {
      const Ref keys = random_split(rest, 2, {}, where);
      const AxisSpec pair{.size = 2};
      const auto row = [&](std::int32_t i) {
        return take(keys, 0, scalar_int(DType::i32, i), std::span(&pair, 1), where,
                    Outside::nearest);
      };
      rest = row(0);
      const Ref bits = random_bits(row(1), {DType::u32, {}, one, where});
      order = take(order, 0, argsort(bits, 0, false, one, where), one, where, Outside::nearest);
    }
    return take(x, axis, order, axes, where, Outside::nearest);
  });
}

}  // namespace tlaloc::core
