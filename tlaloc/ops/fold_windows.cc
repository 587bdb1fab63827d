// Windows under any reducer: gathered, then folded.
#include "tlaloc/ops/reduce_general.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/window.h"

namespace tlaloc::ops {
namespace {

/// x with its padding and the gaps of its dilation. A last window always fits, so that there is
/// something to gather from where there are no windows.
Val padded(Val x, Val value, const Window& w) {
  std::vector<Dim> high, gaps;
  bool grows = false;
  for (std::size_t i = 0; i < w.size.size(); ++i) {
    const Dim n = dilated(x.dim(static_cast<int>(i)), w.base_dilation[i]);
    const Dim k = dilated(w.size[i], w.window_dilation[i]);
    high.push_back(max(w.high[i], k - n - w.low[i]));
    gaps.emplace_back(w.base_dilation[i] - 1);
    grows = grows || w.low[i] != Dim(0) || high.back() != Dim(0) || w.base_dilation[i] != 1;
  }
  return grows ? pad(x, value, w.low, high, gaps) : x;
}

/// Axis `axis` becomes two: the windows, and the elements of each.
Val gathered(Val x, int axis, Dim count, Dim size, std::int64_t stride, std::int64_t dilation) {
  const Type t = Type::get(DType::i64, {count, size});
  const Val at =
      iota(t, 0) * scalar_int(stride, DType::i64) + iota(t, 1) * scalar_int(dilation, DType::i64);
  return take(x, at, axis, OutOfBounds::promise);
}

}  // namespace

Vals reduce_window(std::span<const Val> xs, std::span<const Val> starts, const Window& w,
                   ir::GraphRef reducer) {
  if (xs.size() == 1) {
    // The op has no derivative of a product; what is gathered has.
    const auto monoid = known_monoid(*reducer, starts[0]);
    if (monoid && *monoid != Monoid::prod) return {reduce_window(xs[0], *monoid, w)};
  }
  Vals windows;
  AxisList within;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    Val v = padded(xs[k], starts[k], w);
    within.clear();
    int axis = 0;
    for (std::size_t i = 0; i < w.size.size(); ++i, ++axis) {
      const Dim n = dilated(xs[k].dim(static_cast<int>(i)), w.base_dilation[i]);
      const Dim reach = dilated(w.size[i], w.window_dilation[i]);
      const Dim count = window_count(n, w.low[i], w.high[i], reach, w.strides[i]);
      if (w.size[i] == Dim(1) && w.strides[i] == 1 && v.dim(axis) == count) continue;
      v = gathered(v, axis, count, w.size[i], w.strides[i], w.window_dilation[i]);
      within.push_back(++axis);
    }
    windows.push_back(v);
  }
  return reduce(windows, starts, within, std::move(reducer));
}

}  // namespace tlaloc::ops
