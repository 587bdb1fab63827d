// Windows over an array: sizes and traversal.
#pragma once

#include <vector>

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {

// Per axis: n elements are dilated to m = n + max(n - 1, 0) * (dilation - 1) and padded; there are
// max(0, floordiv(low + m + high - k, stride) + 1) windows, where k is a window's dilated size.
// Padding and the gaps of dilation hold no elements.

/// The size of n elements with dilation - 1 gaps between any two.
Dim dilated(Dim n, std::int64_t dilation);
/// How many windows of that dilated size fit into n dilated elements with padding.
Dim window_count(Dim n, Dim low, Dim high, Dim size, std::int64_t stride);
struct Padding {
  Dim low, high;
};
/// The padding under which windows of that dilated size, with stride `base`, over m elements (the
/// dilated result of windows over n elements with padding `low`) are n again.
Padding transposed_padding(Dim n, std::int64_t base, Dim low, Dim size, Dim m);

/// With an axis in front on which every element is a window.
Window with_lane_axis(Window w);
/// The window whose sums scatter what `w` gathers from `x`: reduce_window_sum(ct, transposed) is
/// the transpose of reduce_window_sum(x, w).
Window transposed_window(const Window& w, Type x, Type result);

/// The number of windows per axis; refuses (TL-WINDOW-001) lists of other lengths than x's rank,
/// and sizes, strides or dilations below 1.
std::vector<Dim> infer_windows(const InferContext& c, Type x, const Window& w);

/// The windows of an array with known sizes.
class WindowVisitor {
 public:
  WindowVisitor(const EvalContext& c, const Window& w, const Extents& in, const Extents& out);
  /// For each window in row-major order: begin(window), then visit(offset) for its elements in
  /// row-major order, then end(window).
  template <class Begin, class Visit, class End>
  void each(const Begin& begin, const Visit& visit, const End& end) const {
    std::int64_t count = 1;
    for (std::int64_t n : out_) count *= n;
    Extents window(out_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      begin(i);
      walk(window, 0, 0, visit);
      end(i);
      for (std::size_t axis = out_.size(); axis-- > 0 && ++window[axis] == out_[axis];) {
        window[axis] = 0;
      }
    }
  }

 private:
  struct Axis {
    std::int64_t n, step, size, stride, low, base, dilation;
  };
  template <class Visit>
  void walk(const Extents& window, std::size_t axis, std::int64_t offset,
            const Visit& visit) const {
    if (axis == axes_.size()) return visit(offset);
    const Axis& a = axes_[axis];
    for (std::int64_t k = 0; k < a.size; ++k) {
      const std::int64_t at = window[axis] * a.stride + k * a.dilation - a.low;
      if (at < 0 || at % a.base || at / a.base >= a.n) continue;
      walk(window, axis + 1, offset + at / a.base * a.step, visit);
    }
  }
  std::vector<Axis> axes_;
  Extents out_;
};

}  // namespace tlaloc::ops
