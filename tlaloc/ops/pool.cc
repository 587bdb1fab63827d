// Pooling over windows, as a chain of strided slices: one per position in the window.
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {
namespace {

using Dims = std::vector<Dim>;

/// combine(…combine(first, second)…) over the window's positions in row-major order.
template <class F>
Val over_window(Val x, const PoolParams& p, const F& combine) {
  const std::size_t spatial = p.low.size();
  const Dim reach = Dim((p.size - 1) * p.dilation + 1);
  Dims start(static_cast<std::size_t>(x.rank()), Dim(0)), limit(x.shape().begin(), x.shape().end()),
      strides(start.size(), Dim(1));
  Dims out(spatial);
  for (std::size_t i = 0; i < spatial; ++i) {
    out[i] = floordiv(x.dim(static_cast<int>(i) + 1) - reach, Dim(p.stride)) + 1;
    strides[i + 1] = p.stride;
  }
  Val result;
  std::vector<std::int64_t> at(spatial, 0);
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < spatial; ++i) {
      start[i + 1] = at[i] * p.dilation;
      limit[i + 1] = start[i + 1] + (out[i] - 1) * Dim(p.stride) + 1;
    }
    const Val piece = slice(x, start, limit, strides);
    result = result ? combine(result, piece) : piece;
    more = false;
    for (std::size_t i = spatial; i-- > 0 && !more;) {
      more = ++at[i] < p.size;
      if (!more) at[i] = 0;
    }
  }
  return result;
}

Val padded(Val x, double value, const PoolParams& p) {
  Dims low(static_cast<std::size_t>(x.rank()), Dim(0)), high = low, interior = low;
  for (std::size_t i = 0; i < p.low.size(); ++i) {
    low[i + 1] = p.low[i];
    high[i + 1] = p.high[i];
  }
  return pad(x, scalar(value, x.dtype()), low, high, interior);
}

std::vector<ir::CallParam> params_of(const PoolParams& p) {
  return {{"window", {p.size, p.stride, p.dilation}, {}}};
}

}  // namespace

Val max_pool(Val x, const PoolParams& p) {
  return composite1("max_pool", params_of(p), {x}, [&](const Vals& in) {
    // The first of equals wins, and so gets the whole gradient; the last NaN wins.
    return Vals{over_window(
        padded(in[0], -std::numeric_limits<double>::infinity(), p), p, [](Val best, Val next) {
          const Val wins = logical_or(next > best, compare(Comparison::ne, next, next));
          return select(wins, next, best);
        })};
  });
}

Val mean_pool(Val x, const PoolParams& p) {
  return composite1("mean_pool", params_of(p), {x}, [&](const Vals& in) {
    const Val sum = over_window(padded(in[0], 0, p), p, [](Val a, Val b) { return a + b; });
    Dims shape(in[0].shape().begin(), in[0].shape().end());
    shape.front() = shape.back() = Dim(1);
    const Val inside = over_window(padded(ones(Type::get(x.dtype(), shape)), 0, p), p,
                                   [](Val a, Val b) { return a + b; });
    std::vector<std::int64_t> axes;
    for (int i = 0; i < sum.rank(); ++i) axes.push_back(i);
    return Vals{sum / broadcast_in_dim(inside, sum.shape(), axes)};
  });
}

}  // namespace tlaloc::ops
