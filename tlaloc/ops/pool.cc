// Pooling. What a back end that claims a call has to know is in its reduce_window.
#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/nn.h"

namespace tlaloc::ops {

Val max_pool(Val x, const Window& window) {
  return composite1("max_pool", {}, {x}, [&](const Vals& in) {
    return Vals{reduce_window(in[0], Monoid::max, window)};
  });
}

Val mean_pool(Val x, const Window& window) {
  return composite1("mean_pool", {}, {x}, [&](const Vals& in) {
    const Val sum = reduce_window(in[0], Monoid::sum, window);
    // How many elements a window holds is the same all along an axis that it does not cover.
    std::vector<Dim> shape;
    std::vector<std::int64_t> axes;
    for (int i = 0; i < x.rank(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const bool single = window.size[k] == Dim(1) && window.strides[k] == 1 &&
                          window.low[k] == Dim(0) && window.high[k] == Dim(0) &&
                          window.base_dilation[k] == 1;
      shape.push_back(single ? Dim(1) : x.dim(i));
      axes.push_back(i);
    }
    const Val inside = reduce_window(ones(Type::get(x.dtype(), shape)), Monoid::sum, window);
    return Vals{sum / broadcast_in_dim(inside, sum.shape(), axes)};
  });
}

}  // namespace tlaloc::ops
