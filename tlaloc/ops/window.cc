#include "tlaloc/ops/window.h"

#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {

Dim dilated(Dim n, std::int64_t dilation) {
  return dilation == 1 ? n : n + max(n - 1, 0) * Dim(dilation - 1);
}
Dim window_count(Dim n, Dim low, Dim high, Dim size, std::int64_t stride) {
  return max(floordiv(low + n + high - size, Dim(stride)) + 1, 0);
}
Padding transposed_padding(Dim n, std::int64_t base, Dim low, Dim size, Dim m) {
  const Dim front = size - 1 - low;
  return {front, (n - 1) * Dim(base) + size - m - front};
}

Window plain_window(std::vector<Dim> size) {
  const std::size_t rank = size.size();
  return {std::move(size),
          std::vector<std::int64_t>(rank, 1),
          std::vector<Dim>(rank, Dim(0)),
          std::vector<Dim>(rank, Dim(0)),
          std::vector<std::int64_t>(rank, 1),
          std::vector<std::int64_t>(rank, 1)};
}

Window with_lane_axis(Window w) {
  w.size.insert(w.size.begin(), Dim(1));
  w.strides.insert(w.strides.begin(), 1);
  w.low.insert(w.low.begin(), Dim(0));
  w.high.insert(w.high.begin(), Dim(0));
  w.base_dilation.insert(w.base_dilation.begin(), 1);
  w.window_dilation.insert(w.window_dilation.begin(), 1);
  return w;
}

Window transposed_window(const Window& w, Type x, Type result) {
  Window t = w;
  t.strides = w.base_dilation;
  t.base_dilation = w.strides;
  for (int i = 0; i < x.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const Dim k = dilated(w.size[axis], w.window_dilation[axis]);
    const Dim m = dilated(result.dim(i), w.strides[axis]);
    const auto [low, high] = transposed_padding(x.dim(i), w.base_dilation[axis], w.low[axis], k, m);
    t.low[axis] = low;
    t.high[axis] = high;
  }
  return t;
}

std::vector<Dim> infer_windows(const InferContext& c, Type x, const Window& w) {
  const auto rank = static_cast<std::size_t>(x.rank());
  for (std::size_t n : {w.size.size(), w.strides.size(), w.low.size(), w.high.size(),
                        w.base_dilation.size(), w.window_dilation.size()}) {
    if (n != rank) c.fail("TL-WINDOW-001", "the window needs one entry per axis");
  }
  std::vector<Dim> shape;
  for (std::size_t i = 0; i < rank; ++i) {
    if (w.strides[i] < 1 || w.base_dilation[i] < 1 || w.window_dilation[i] < 1 ||
        less_equal(1, w.size[i]) == ir::Truth::no) {
      c.fail("TL-WINDOW-001", "sizes, strides and dilations must be positive");
    }
    const Dim n = dilated(x.dim(static_cast<int>(i)), w.base_dilation[i]);
    const Dim k = dilated(w.size[i], w.window_dilation[i]);
    shape.push_back(window_count(n, w.low[i], w.high[i], k, w.strides[i]));
  }
  return shape;
}

WindowVisitor::WindowVisitor(const EvalContext& c, const Window& w, const Extents& in,
                             const Extents& out)
    : out_(out) {
  const Extents strides = row_major_strides(in);
  for (std::size_t i = 0; i < in.size(); ++i) {
    axes_.push_back({in[i], strides[i], c.size_of(w.size[i]), w.strides[i], c.size_of(w.low[i]),
                     w.base_dilation[i], w.window_dilation[i]});
  }
}

}  // namespace tlaloc::ops
