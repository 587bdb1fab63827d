// Composites and convolution of the untyped core.
#include "tlaloc/lang/core_nn.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

/// What its type tells of a Tensor, and nothing of an Array: floating values of that rank at least.
void require_floats(const char* op, Val x, int least_rank) {
  if (!is_float(x.dtype())) {
    throw UserError({"TL-DTYPE-003",
                     op,
                     x.type().to_string() + " has no floating elements",
                     "convert them, for example by cast<float>",
                     {}});
  }
  if (x.rank() < least_rank) {
    throw UserError({"TL-RANK-001",
                     op,
                     x.type().to_string() + " has a rank below " + std::to_string(least_rank),
                     "",
                     {}});
  }
}

/// What the rules tell of a window on a Tensor.
void require_window(const char* op, const WindowSpec& w) {
  if (w.size >= 1 && w.stride >= 1 && w.dilation >= 1 && w.padding >= 0) return;
  throw UserError({"TL-SHAPE-007",
                   op,
                   "window, stride and dilation are at least 1, padding at least 0",
                   "",
                   {}});
}

/// A reduction by `f(x, axes)`; the axes stay as literal 1s when `keep`.
template <class F>
Ref reduce_by(const char* name, const Ref& x, std::span<const int> over, bool keep, AxesSpec axes,
              Where where, const F& f, std::int64_t parameter = 0) {
  const OpCall call{name, where, Variant::of(over, keep, parameter)};
  return apply(call, std::array{x}, axes, [&](std::span<const Val> in) {
    require_floats(name, in[0], 0);
    std::vector<std::int64_t> sorted(over.begin(), over.end());
    std::ranges::sort(sorted);
    std::vector<Dim> kept(in[0].shape().begin(), in[0].shape().end());
    for (std::int64_t a : sorted) {
      if (a < 0 || a >= in[0].rank()) {
        throw UserError({"TL-AXIS-001",
                         name,
                         "axis " + std::to_string(a) + " is out of range for " + describe(x),
                         "",
                         {}});
      }
      kept[static_cast<std::size_t>(a)] = Dim(1);
    }
    const Val y = f(in[0], std::span<const std::int64_t>(sorted));
    return keep ? ops::reshape(y, kept) : y;
  });
}

/// The operands that are there, in order.
std::vector<Ref> given(std::initializer_list<Ref> xs) {
  std::vector<Ref> r;
  for (const Ref& x : xs) {
    if (x) r.push_back(x);
  }
  return r;
}

}  // namespace

Ref mean(const Ref& x, std::span<const int> over, bool keep, AxesSpec axes, Where where) {
  return reduce_by("mean", x, over, keep, axes, where,
                   [](Val v, auto a) { return ops::mean(v, a); });
}
Ref variance(const Ref& x, std::span<const int> over, std::int64_t ddof, bool keep, AxesSpec axes,
             Where where) {
  return reduce_by(
      "variance", x, over, keep, axes, where,
      [&](Val v, auto a) { return ops::variance(v, a, ddof); }, ddof);
}
Ref norm(const Ref& x, std::span<const int> over, bool keep, AxesSpec axes, Where where) {
  return reduce_by("norm", x, over, keep, axes, where,
                   [](Val v, auto a) { return ops::norm(v, a); });
}
Ref logsumexp(const Ref& x, std::span<const int> over, bool keep, AxesSpec axes, Where where) {
  return reduce_by("logsumexp", x, over, keep, axes, where,
                   [](Val v, auto a) { return ops::logsumexp(v, a); });
}

Ref activation(Activation op, const Ref& x, double parameter, AxesSpec axes, Where where) {
  constexpr std::array<const char*, static_cast<std::size_t>(Activation::count)> kNames{
      "relu", "relu6",    "leaky_relu",   "elu",        "gelu", "gelu_tanh",
      "silu", "softplus", "hard_sigmoid", "hard_swish", "mish", "log_sigmoid"};
  return apply({kNames[static_cast<std::size_t>(op)], where, Variant::of(parameter)}, std::array{x},
               axes, [&](std::span<const Val> in) {
                 const Val v = in[0];
                 switch (op) {
                   case Activation::relu:
                     return ops::relu(v);
                   case Activation::relu6:
                     return ops::relu6(v);
                   case Activation::leaky_relu:
                     return ops::leaky_relu(v, parameter);
                   case Activation::elu:
                     return ops::elu(v, parameter);
                   case Activation::gelu:
                     return ops::gelu(v);
                   case Activation::gelu_tanh:
                     return ops::gelu_tanh(v);
                   case Activation::silu:
                     return ops::silu(v);
                   case Activation::softplus:
                     return ops::softplus(v);
                   case Activation::hard_sigmoid:
                     return ops::hard_sigmoid(v);
                   case Activation::hard_swish:
                     return ops::hard_swish(v);
                   case Activation::mish:
                     return ops::mish(v);
                   case Activation::log_sigmoid:
                     return ops::log_sigmoid(v);
                   case Activation::count:
                     break;
                 }
                 throw InternalError("no such activation");
               });
}

Ref softmax(const Ref& x, int axis, AxesSpec axes, Where where) {
  return apply({"softmax", where, Variant::of(axis)}, std::array{x}, axes,
               [&](std::span<const Val> in) { return ops::softmax(in[0], axis); });
}
Ref log_softmax(const Ref& x, int axis, AxesSpec axes, Where where) {
  return apply({"log_softmax", where, Variant::of(axis)}, std::array{x}, axes,
               [&](std::span<const Val> in) { return ops::log_softmax(in[0], axis); });
}
Ref cross_entropy(const Ref& logits, const Ref& ids, AxesSpec axes, Where where) {
  const OpCall call{"cross_entropy", where, Variant::of()};
  return with_place(where, [&] {
    for (int i = 0; i < core::rank(ids); ++i) require_same(call, "TL-SHAPE-006", logits, i, ids, i);
    return apply(call, std::array{logits, ids}, axes,
                 [&](std::span<const Val> in) { return ops::cross_entropy(in[0], in[1]); });
  });
}
Ref layer_norm(const Ref& x, const Ref& scale, const Ref& bias, double epsilon, AxesSpec axes,
               Where where) {
  return apply({"layer_norm", where,
                Variant::of(static_cast<bool>(scale), static_cast<bool>(bias), epsilon)},
               given({x, scale, bias}), axes, [&](std::span<const Val> in) {
                 require_floats("layer_norm", in[0], 1);
                 std::size_t next = 1;
                 const Val s = scale ? in[next++] : Val{}, b = bias ? in[next++] : Val{};
                 return ops::layer_norm(in[0], s, b, epsilon);
               });
}
Ref rms_norm(const Ref& x, const Ref& scale, double epsilon, AxesSpec axes, Where where) {
  return apply({"rms_norm", where, Variant::of(static_cast<bool>(scale), epsilon)},
               given({x, scale}), axes, [&](std::span<const Val> in) {
                 require_floats("rms_norm", in[0], 1);
                 return ops::rms_norm(in[0], scale ? in[1] : Val{}, epsilon);
               });
}
Ref attention(const Ref& q, const Ref& k, const Ref& v, const Ref& mask,
              const AttentionOptions& options, AxesSpec axes, Where where) {
  return apply({"attention", where}, given({q, k, v, mask}), axes, [&](std::span<const Val> in) {
    Val m;
    if (mask) {
      std::vector<Dim> shape(in[0].shape().begin(), in[0].shape().end());
      shape.back() = in[1].dim(in[1].rank() - 2);
      m = ops::broadcast_to(in[3], shape);
    }
    return ops::attention(in[0], in[1], in[2], m,
                          {options.causal, options.scale, options.window, options.soft_cap});
  });
}
Ref rope(const Ref& x, const Ref& positions, double base, bool interleaved, AxesSpec axes,
         Where where) {
  return apply({"rope", where, Variant::of(base, interleaved)}, std::array{x, positions}, axes,
               [&](std::span<const Val> in) {
                 require_floats("rope", in[0], 1);
                 const Val p = ops::broadcast_to(
                     in[1], in[0].shape().first(static_cast<std::size_t>(in[0].rank()) - 1));
                 return ops::rope(in[0], p, base, interleaved);
               });
}
Ref swiglu(const Ref& gate, const Ref& up, AxesSpec axes, Where where) {
  return apply({"swiglu", where, Variant::of()}, std::array{gate, up}, axes,
               [](std::span<const Val> in) { return ops::swiglu(in[0], in[1]); });
}

Ref conv(const Ref& x, const Ref& kernel, std::span<const WindowSpec> windows, std::int64_t groups,
         AxesSpec axes, Where where) {
  return apply({"conv", where}, std::array{x, kernel}, axes, [&](std::span<const Val> in) {
    const int spatial = static_cast<int>(windows.size());
    ops::ConvAttrs a = ops::plain_convolution(spatial);
    a.dims.lhs_batch = a.dims.out_batch = 0;
    a.dims.lhs_feature = a.dims.out_feature = spatial + 1;
    a.dims.rhs_in = spatial;
    a.dims.rhs_out = spatial + 1;
    for (int i = 0; i < spatial; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const WindowSpec& w = windows[k];
      require_window("conv", w);
      a.dims.lhs_spatial[k] = a.dims.out_spatial[k] = i + 1;
      a.dims.rhs_spatial[k] = i;
      a.strides[k] = w.stride;
      a.rhs_dilation[k] = w.dilation;
      const auto [low, high] = window_padding(w, in[0].dim(i + 1), in[1].dim(i));
      a.low[k] = low;
      a.high[k] = high;
    }
    a.feature_groups = groups;
    return ops::convolution(in[0], in[1], std::move(a));
  });
}

Ref conv_transposed(const Ref& x, const Ref& kernel, std::span<const WindowSpec> windows,
                    AxesSpec axes, Where where) {
  return apply({"conv_transposed", where}, std::array{x, kernel}, axes,
               [&](std::span<const Val> in) {
                 const int spatial = static_cast<int>(windows.size());
                 ops::ConvAttrs a = ops::plain_convolution(spatial);
                 a.dims.lhs_batch = a.dims.out_batch = 0;
                 a.dims.lhs_feature = a.dims.out_feature = spatial + 1;
                 a.dims.rhs_in = spatial + 1;
                 a.dims.rhs_out = spatial;
                 for (int i = 0; i < spatial; ++i) {
                   const auto k = static_cast<std::size_t>(i);
                   const WindowSpec& w = windows[k];
                   require_window("conv_transposed", w);
                   a.dims.lhs_spatial[k] = a.dims.out_spatial[k] = i + 1;
                   a.dims.rhs_spatial[k] = i;
                   a.lhs_dilation[k] = w.stride;
                   a.rhs_dilation[k] = w.dilation;
                   a.reversed[k] = true;
                   const Dim n = in[0].dim(i + 1), last = (in[1].dim(i) - 1) * Dim(w.dilation);
                   // Padding of the convolution that leads here from n stride elements.
                   const auto [low, high] = window_padding(w, n * Dim(w.stride), in[1].dim(i));
                   a.low[k] = last - low;
                   a.high[k] = w.same ? low + Dim(w.stride - 1) : last - high;
                 }
                 return ops::convolution(in[0], in[1], std::move(a));
               });
}

Ref pool(Pooling op, const Ref& x, const WindowSpec& window, AxesSpec axes, Where where) {
  return apply({op == Pooling::max ? "max_pool" : "mean_pool", where}, std::array{x}, axes,
               [&](std::span<const Val> in) {
                 const bool largest = op == Pooling::max;
                 require_window(largest ? "max_pool" : "mean_pool", window);
                 if (!largest) require_floats("mean_pool", in[0], 0);
                 const auto rank = static_cast<std::size_t>(in[0].rank());
                 if (rank < 3) {
                   throw UserError({"TL-RANK-001",
                                    largest ? "max_pool" : "mean_pool",
                                    describe(x) + " has no spatial axis",
                                    "the layout is [n, spatial..., channels]",
                                    {}});
                 }
                 ops::Window w = ops::plain_window(std::vector<Dim>(rank, Dim(1)));
                 for (std::size_t i = 1; i + 1 < rank; ++i) {
                   w.size[i] = window.size;
                   w.strides[i] = window.stride;
                   w.window_dilation[i] = window.dilation;
                   std::tie(w.low[i], w.high[i]) =
                       window_padding(window, in[0].dim(static_cast<int>(i)), Dim(window.size));
                 }
                 return largest ? ops::max_pool(in[0], w) : ops::mean_pool(in[0], w);
               });
}

std::pair<Dim, Dim> window_padding(const WindowSpec& w, Dim size, Dim window) {
  if (!w.same) return {w.padding, w.padding};
  const Dim out = ceildiv(size, Dim(w.stride));
  const Dim reach = (window - 1) * Dim(w.dilation) + 1;
  const Dim total = max((out - 1) * Dim(w.stride) + reach - size, Dim(0));
  const Dim low = floordiv(total, Dim(2));  // the odd one behind, as in JAX
  return {low, total - low};
}

}  // namespace tlaloc::core
