// The untyped core, continued: composites (named calls that back ends may claim), convolutions.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

// ---- statistics over axes; `over` and `keep` as in reduce ----

/// Sum over number of elements; NaN without elements.
Ref mean(const Ref& x, std::span<const int> over, bool keep, AxesSpec axes, Where where);
/// Sum of squared deviations over (n - ddof).
Ref variance(const Ref& x, std::span<const int> over, std::int64_t ddof, bool keep, AxesSpec axes,
             Where where);
/// sqrt(sum x²), with a zero gradient at 0.
Ref norm(const Ref& x, std::span<const int> over, bool keep, AxesSpec axes, Where where);
/// log sum exp x, without overflow.
Ref logsumexp(const Ref& x, std::span<const int> over, bool keep, AxesSpec axes, Where where);

// ---- activations ----

// clang-format off
enum class Activation : std::uint8_t {
  relu, relu6, leaky_relu, elu, gelu, gelu_tanh, silu, softplus, hard_sigmoid, hard_swish, mish,
  log_sigmoid, count
};
// clang-format on
/// `parameter`: the slope of leaky_relu, alpha of elu.
Ref activation(Activation op, const Ref& x, double parameter, AxesSpec axes, Where where);

// ---- composites ----

/// exp(x) / sum exp(x) along an axis, without overflow; a line of -inf only gives 0.
Ref softmax(const Ref& x, int axis, AxesSpec axes, Where where);
/// x - logsumexp(x) along an axis: the logarithm of softmax, exact where that underflows.
Ref log_softmax(const Ref& x, int axis, AxesSpec axes, Where where);
/// -log_softmax(logits)[id] over the last axis of the logits: [d..., classes], [d...] -> [d...].
Ref cross_entropy(const Ref& logits, const Ref& ids, AxesSpec axes, Where where);
/// (x - mean) / sqrt(var + epsilon) over the last axis, times scale, plus bias; both may be empty.
Ref layer_norm(const Ref& x, const Ref& scale, const Ref& bias, double epsilon, AxesSpec axes,
               Where where);
/// x / sqrt(mean x² + epsilon) over the last axis, times scale, which may be empty.
Ref rms_norm(const Ref& x, const Ref& scale, double epsilon, AxesSpec axes, Where where);

struct AttentionOptions {
  bool causal = false;      ///< query i sees keys up to i + (keys - queries)
  double scale = 0;         ///< 0: 1 / sqrt(width)
  std::int64_t window = 0;  ///< a query sees keys less than that far away; 0: all
  double soft_cap = 0;      ///< scores become cap tanh(score / cap), before any mask; 0: they stay
};
/// softmax(q kᵀ scale + mask) v. q: [..., queries, width], k: [..., keys, width], v: [..., keys,
/// value width]. Leading axes of k and v may be fewer per query head (grouped queries): the axis
/// before the last two of q is a multiple of theirs. `mask` (may be empty) broadcasts to [...,
/// queries, keys]: bool keeps where true, floating is added.
Ref attention(const Ref& q, const Ref& k, const Ref& v, const Ref& mask,
              const AttentionOptions& options, AxesSpec axes, Where where);
/// Rotary position embedding of the last axis (even width) at `positions`, which broadcast to x
/// without that axis. `interleaved`: pairs (2i, 2i + 1), else (i, i + width / 2).
Ref rope(const Ref& x, const Ref& positions, double base, bool interleaved, AxesSpec axes,
         Where where);
/// silu(gate) · up, equal shapes.
Ref swiglu(const Ref& gate, const Ref& up, AxesSpec axes, Where where);

// ---- windows. Layout [n, spatial..., c]; kernel [spatial..., c / groups, features] ----

/// Along one spatial axis. `same`: padding that gives ceil(size / stride), more behind than before.
struct WindowSpec {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  bool same = false;
};
/// The windows' sizes are the kernel's. Strides, padding and dilation per spatial axis.
Ref conv(const Ref& x, const Ref& kernel, std::span<const WindowSpec> windows, std::int64_t groups,
         AxesSpec axes, Where where);
/// What conv does, from its result back to its operand; kernel [spatial..., features, c].
Ref conv_transposed(const Ref& x, const Ref& kernel, std::span<const WindowSpec> windows,
                    AxesSpec axes, Where where);
enum class Pooling : std::uint8_t { max, mean, count };
/// One window for every spatial axis. The mean counts the elements inside x only.
Ref pool(Pooling op, const Ref& x, const WindowSpec& window, AxesSpec axes, Where where);

}  // namespace tlaloc::core
