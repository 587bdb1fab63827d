#include "tlaloc/ops/nn.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {
namespace {

using Axes = std::vector<std::int64_t>;

Axes list(std::span<const std::int64_t> axes) { return {axes.begin(), axes.end()}; }
/// f16 and bf16 as f32, for what is summed, counted or turned into angles: f16 ends at 65504, and
/// bf16 has no odd number above 256. The result is rounded once, at the end.
Val widened(Val x) {
  return is_float(x.dtype()) && byte_size(x.dtype()) < 4 ? convert(x, DType::f32) : x;
}
/// How many elements the axes span, in x's element type.
Val count_of(Val x, const Axes& axes) {
  Dim n(1);
  for (std::int64_t a : axes) n *= x.dim(static_cast<int>(a));
  return convert(dim_value(n), x.dtype());
}
Val over(Val small, Val x, const Axes& axes) { return broadcast_over(small, x.type(), axes); }
Val is(Comparison c, Val x, double value) { return compare(c, x, full(value, x.type())); }
/// The maximum to subtract before exp: finite, without a tangent.
Val shift_for_exp(Val x, const Axes& axes) {
  const Val m = stop_gradient(reduce_max(x, axes));
  // -inf - -inf would be NaN; +inf and NaN must stay visible.
  return select(is(Comparison::eq, m, -HUGE_VAL), zeros_like(m), m);
}
Val activation(const char* name, Val x, const std::function<Val(Val)>& f,
               std::vector<ir::CallParam> params = {}) {
  return composite1(name, std::move(params), {x}, [&](const Vals& a) { return Vals{f(a[0])}; });
}
/// The same with its derivative. One array of slopes is what the backward pass keeps of x, where
/// the chain rule would keep an array for each factor.
Val activation_with_slope(const char* name, Val x, const std::function<Val(Val)>& f,
                          const std::function<Val(Val)>& slope) {
  return composite_with_rule(
      name, {}, {x}, [&](const Vals& a) { return Vals{f(a[0])}; },
      [&](const Vals& a) { return Vals{f(a[0]), slope(a[0])}; },
      [](const Vals& a) { return Vals{a[1] * a[0]}; })[0];
}
Val relu6_of(Val x) {
  const Val capped = select(is(Comparison::ge, x, 6), full(6, x.type()), x);
  return select(is(Comparison::le, x, 0), zeros_like(x), capped);
}
Val softplus_of(Val x) { return max(x, zeros_like(x)) + log1p(exp(neg(abs(x)))); }

}  // namespace

Val mean(Val x, std::span<const std::int64_t> axes) {
  const Axes a = list(axes);
  return composite1("mean", {{"axes", a, {}}}, {x}, [&](const Vals& in) {
    const Val v = widened(in[0]);
    return Vals{convert(reduce_sum(v, a) / count_of(v, a), in[0].dtype())};
  });
}
Val variance(Val x, std::span<const std::int64_t> axes, std::int64_t ddof) {
  const Axes a = list(axes);
  return composite1("variance", {{"axes", a, {}}, {"ddof", {ddof}, {}}}, {x}, [&](const Vals& in) {
    const Val v = widened(in[0]), n = count_of(v, a);
    const Val d = v - over(reduce_sum(v, a) / n, v, a);
    return Vals{convert(reduce_sum(d * d, a) / (n - static_cast<double>(ddof)), in[0].dtype())};
  });
}
Val norm(Val x, std::span<const std::int64_t> axes) {
  const Axes a = list(axes);
  return composite1("norm", {{"axes", a, {}}}, {x}, [&](const Vals& in) {
    const Val s = reduce_sum(in[0] * in[0], a);
    const Val zero = is(Comparison::eq, s, 0);
    // Zeros, not s: its second derivative at 0 is 2.
    return Vals{select(zero, zeros_like(s), sqrt(select(zero, ones(s.type()), s)))};
  });
}
Val logsumexp(Val x, std::span<const std::int64_t> axes) {
  const Axes a = list(axes);
  return composite1("logsumexp", {{"axes", a, {}}}, {x}, [&](const Vals& in) {
    const Val m = shift_for_exp(in[0], a);
    const Val s = reduce_sum(exp(in[0] - over(m, in[0], a)), a);
    const Val none = is(Comparison::eq, s, 0);
    const Val y = log(select(none, ones(s.type()), s)) + m;
    return Vals{select(none, full(-HUGE_VAL, s.type()), y)};
  });
}

// ---- activations ----

Val relu(Val x) {
  return activation("relu", x,
                    [](Val v) { return select(is(Comparison::le, v, 0), zeros_like(v), v); });
}
Val relu6(Val x) { return activation("relu6", x, relu6_of); }
Val leaky_relu(Val x, double slope) {
  return activation("leaky_relu", x,
                    [&](Val v) { return select(is(Comparison::ge, v, 0), v, v * slope); },
                    {{"slope", {}, {slope}}});
}
Val elu(Val x, double alpha) {
  return activation("elu", x,
                    [&](Val v) {
                      const Val positive = is(Comparison::gt, v, 0);
                      // exp of a large positive value would overflow in the branch that is not
                      // taken.
                      return select(positive, v, expm1(select(positive, zeros_like(v), v)) * alpha);
                    },
                    {{"alpha", {}, {alpha}}});
}
Val gelu(Val x) {
  const auto upper = [](Val v) { return erfc(v * -std::numbers::sqrt2 / 2.0); };  // 2 Phi(v)
  const double density = 1 / std::sqrt(2 * std::numbers::pi);
  return activation_with_slope(
      "gelu", x, [&](Val v) { return 0.5 * v * upper(v); },
      [&](Val v) { return 0.5 * upper(v) + v * (density * exp(-0.5 * (v * v))); });
}
Val gelu_tanh(Val x) {
  const double c = std::sqrt(2 / std::numbers::pi), cubic = 0.044715;
  const auto bent = [&](Val v) { return tanh(c * (v + cubic * (v * v * v))); };
  return activation_with_slope(
      "gelu_tanh", x, [&](Val v) { return v * (0.5 * (1.0 + bent(v))); },
      [&](Val v) {
        const Val t = bent(v);
        return 0.5 * (1.0 + t) + (0.5 * c) * (v * (1.0 - t * t) * (1.0 + 3 * cubic * (v * v)));
      });
}
Val silu(Val x) {
  return activation_with_slope(
      "silu", x, [](Val v) { return v * logistic(v); },
      [](Val v) {
        const Val s = logistic(v);
        return s + v * (s * (1.0 - s));
      });
}
Val softplus(Val x) { return activation("softplus", x, softplus_of); }
Val hard_sigmoid(Val x) {
  return activation("hard_sigmoid", x, [](Val v) { return relu6_of(v + 3.0) / 6.0; });
}
Val hard_swish(Val x) {
  return activation("hard_swish", x, [](Val v) { return v * (relu6_of(v + 3.0) / 6.0); });
}
Val mish(Val x) {
  return activation("mish", x, [](Val v) { return v * tanh(softplus_of(v)); });
}
Val log_sigmoid(Val x) {
  return activation("log_sigmoid", x, [](Val v) { return neg(softplus_of(neg(v))); });
}

// ---- along one axis ----

Val softmax(Val x, int axis) {
  const Axes a{axis};
  return composite1("softmax", {{"axis", a, {}}}, {x}, [&](const Vals& in) {
    const Val e = exp(in[0] - over(shift_for_exp(in[0], a), in[0], a));
    const Val s = reduce_sum(e, a);
    const Val none = is(Comparison::eq, s, 0);
    return Vals{e / over(select(none, ones(s.type()), s), in[0], a)};
  });
}
Val log_softmax(Val x, int axis) {
  const Axes a{axis};
  return composite1("log_softmax", {{"axis", a, {}}}, {x}, [&](const Vals& in) {
    const Val shifted = in[0] - over(shift_for_exp(in[0], a), in[0], a);
    return Vals{shifted - over(log(reduce_sum(exp(shifted), a)), in[0], a)};
  });
}
Val cross_entropy(Val logits, Val ids) {
  return composite1("cross_entropy", {}, {logits, ids}, [&](const Vals& in) {
    const Val x = in[0];
    const Axes a{x.rank() - 1};
    const Val shifted = x - over(shift_for_exp(x, a), x, a);
    // A comparison with every class instead of a gather: the gradient is dense anyway, and this way
    // neither direction leaves elementwise code.
    const Type classes = x.type().with_dtype(DType::i64);
    const Val hit = compare(Comparison::eq, iota(classes, x.rank() - 1),
                            over(convert(in[1], DType::i64), x, a));
    const Val picked = reduce_sum(select(hit, shifted, zeros_like(shifted)), a);
    const Val loss = log(reduce_sum(exp(shifted), a)) - picked;
    const Val known = reduce_or(hit, a);
    return Vals{select(known, loss, full(std::numeric_limits<double>::quiet_NaN(), loss.type()))};
  });
}
namespace {
Val times_and_plus(Val x, const Vals& in, bool scale, bool bias) {
  std::size_t next = 1;
  if (scale) x = x * broadcast_to(convert(in[next++], x.dtype()), x.shape());
  if (bias) x = x + broadcast_to(convert(in[next++], x.dtype()), x.shape());
  return convert(x, in[0].dtype());
}
}  // namespace
Val layer_norm(Val x, Val scale, Val bias, double epsilon) {
  Vals args{x};
  if (scale) args.push_back(scale);
  if (bias) args.push_back(bias);
  return composite1("layer_norm", {{"epsilon", {}, {epsilon}}}, args, [&](const Vals& in) {
    const Axes a{in[0].rank() - 1};
    const Val v = widened(in[0]), n = count_of(v, a);
    const Val d = v - over(reduce_sum(v, a) / n, v, a);
    const Val r = rsqrt(reduce_sum(d * d, a) / n + epsilon);
    return Vals{
        times_and_plus(d * over(r, v, a), in, static_cast<bool>(scale), static_cast<bool>(bias))};
  });
}
Val rms_norm(Val x, Val scale, double epsilon) {
  Vals args{x};
  if (scale) args.push_back(scale);
  return composite1("rms_norm", {{"epsilon", {}, {epsilon}}}, args, [&](const Vals& in) {
    const Axes a{in[0].rank() - 1};
    const Val v = widened(in[0]);
    const Val r = rsqrt(reduce_sum(v * v, a) / count_of(v, a) + epsilon);
    return Vals{times_and_plus(v * over(r, v, a), in, static_cast<bool>(scale), false)};
  });
}
Val swiglu(Val gate, Val up) {
  return composite1("swiglu", {}, {gate, up},
                    [](const Vals& in) { return Vals{in[0] * logistic(in[0]) * in[1]}; });
}

Val rope(Val x, Val positions, double base, bool interleaved) {
  const Dim width = x.dim(x.rank() - 1);
  if (!width.is_constant() || width.constant() % 2 != 0) {
    throw UserError({"TL-SHAPE-001", "rope",
                     "the last axis of " + x.type().to_string() + " is not a known even size", "",
                     ir::OriginScope::current()->place});
  }
  const std::int64_t half = width.constant() / 2;
  return composite1(
      "rope", {{"base", {}, {base}}, {"interleaved", {interleaved}, {}}}, {x, positions},
      [&](const Vals& in) {
        const Val v = widened(in[0]);
        HostArray frequencies(DType::f64, {half});
        for (std::int64_t i = 0; i < half; ++i) {
          frequencies.as_mutable<double>()[static_cast<std::size_t>(i)] =
              std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(2 * half));
        }
        std::vector<Dim> shape(v.shape().begin(), v.shape().end());
        shape.back() = half;
        Axes leading(static_cast<std::size_t>(v.rank()) - 1);
        for (std::size_t i = 0; i < leading.size(); ++i) leading[i] = static_cast<std::int64_t>(i);
        const Val p = broadcast_in_dim(convert(in[1], v.dtype()), shape, leading);
        const Val angle = p * broadcast_to(convert(constant(frequencies), v.dtype()), shape);
        const Val c = cos(angle), s = sin(angle);
        const int last = v.rank() - 1;
        if (!interleaved) {
          const Val a = slice_axis(v, last, 0, half), b = slice_axis(v, last, half, 2 * half);
          return Vals{
              convert(concatenate(Vals{a * c - b * s, b * c + a * s}, last), in[0].dtype())};
        }
        std::vector<Dim> paired = shape, column = shape;
        paired.push_back(2);
        column.push_back(1);
        const Val pairs = reshape(v, paired);
        const Val a = reshape(slice_axis(pairs, last + 1, 0, 1), shape);
        const Val b = reshape(slice_axis(pairs, last + 1, 1, 2), shape);
        const Val turned = concatenate(
            Vals{reshape(a * c - b * s, column), reshape(b * c + a * s, column)}, last + 1);
        return Vals{convert(reshape(turned, v.shape()), in[0].dtype())};
      });
}

}  // namespace tlaloc::ops
