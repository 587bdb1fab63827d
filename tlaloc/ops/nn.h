// Composites of neural networks, by name. Axes are numbers from 0.
#pragma once

#include <span>
#include <vector>

#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {

// ---- statistics; the axes vanish ----
/// Of nothing, NaN.
Val mean(Val x, std::span<const std::int64_t> axes);
/// Sum of squared deviations over (n - ddof).
Val variance(Val x, std::span<const std::int64_t> axes, std::int64_t ddof);
/// sqrt(sum x²); the gradient at 0 is 0.
Val norm(Val x, std::span<const std::int64_t> axes);
/// log sum exp x without overflow; of only -inf: -inf, with gradient 0.
Val logsumexp(Val x, std::span<const std::int64_t> axes);

// ---- activations ----
Val relu(Val x);                      ///< the gradient at 0 is 0
Val relu6(Val x);                     ///< min(max(x, 0), 6); the gradient at both ends is 0
Val leaky_relu(Val x, double slope);  ///< the gradient at 0 is 1
Val elu(Val x, double alpha);         ///< alpha (e^x - 1) below 0 (Clevert et al., 2016)
Val gelu(Val x);                      ///< x Phi(x) (Hendrycks and Gimpel, 2016)
Val gelu_tanh(Val x);                 ///< its approximation by tanh
Val silu(Val x);                      ///< x logistic(x)
Val softplus(Val x);                  ///< log(1 + e^x)
Val hard_sigmoid(Val x);              ///< relu6(x + 3) / 6
Val hard_swish(Val x);                ///< x hard_sigmoid(x)
Val mish(Val x);                      ///< x tanh(softplus(x))
Val log_sigmoid(Val x);               ///< log logistic(x)

// ---- along one axis ----
/// e^x / sum e^x; zeros where everything is -inf.
Val softmax(Val x, int axis);
Val log_softmax(Val x, int axis);
/// -log_softmax(logits)[id] along the last axis: [d…, classes], [d…] -> [d…]. NaN for an id out of
/// range.
Val cross_entropy(Val logits, Val ids);
/// (x - mean) / sqrt(var + epsilon) along the last axis, times scale, plus bias; either may be
/// absent.
Val layer_norm(Val x, Val scale, Val bias, double epsilon);
/// x / sqrt(mean x² + epsilon) along the last axis, times scale, which may be absent.
Val rms_norm(Val x, Val scale, double epsilon);
/// Rotary position embedding (Su et al., 2021) of the last axis, whose size is even and known.
/// `positions`: x's shape without that axis. Pairs are (2i, 2i + 1) when interleaved, otherwise
/// (i, i + width / 2).
Val rope(Val x, Val positions, double base, bool interleaved);
/// silu(gate) up.
Val swiglu(Val gate, Val up);

struct AttentionParams {
  bool causal = false;      ///< query i sees keys up to i + (keys - queries)
  double scale = 0;         ///< 0: 1 / sqrt(width)
  std::int64_t window = 0;  ///< a query sees keys less than that far away; 0: all
  double soft_cap = 0;      ///< scores become cap tanh(score / cap), before any mask; 0: they stay
};
/// softmax(q kᵀ scale + mask) v. q: […, heads, queries, width], k: […, kv heads, keys, width], v:
/// […, kv heads, keys, value width]; heads is a multiple of kv heads. `mask` may be absent, else
/// […, heads, queries, keys]: bool keeps where true, floating is added. A query that sees no key
/// gives zeros. Its derivative is declared on (q, k, v, mask, o, lse): no score matrix is kept.
Val attention(Val q, Val k, Val v, Val mask, const AttentionParams& params);

// ---- pooling, over windows of any axes ----
/// Of equals the first in row-major order gets the whole gradient. Padding never wins; a window
/// without elements gives the lowest value.
Val max_pool(Val x, const Window& window);
/// The mean of the elements of x in each window; of none, NaN.
Val mean_pool(Val x, const Window& window);

}  // namespace tlaloc::ops
