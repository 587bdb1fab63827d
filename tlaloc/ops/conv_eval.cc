// Reference evaluation of convolution: loops over its definition.
#include "tlaloc/ops/conv.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/packing.h"

namespace tlaloc::ops {
namespace {

/// For one spatial axis: where kernel position w of result position p reads.
struct Axis {
  std::int64_t in, out, kernel, stride, low, lhs_dilation, rhs_dilation;
  bool reversed;
  /// The element of lhs, or -1 in the padding and between dilated elements.
  std::int64_t source(std::int64_t p, std::int64_t w) const {
    const std::int64_t at =
        checked_sub(checked_add(checked_mul(p, stride), checked_mul(w, rhs_dilation)), low);
    if (at < 0 || at % lhs_dilation != 0) return -1;
    return at / lhs_dilation < in ? at / lhs_dilation : -1;
  }
  std::int64_t tap(std::int64_t w) const { return reversed ? kernel - 1 - w : w; }
};

/// Advances a row-major index; false after the last one.
bool advance(Extents& index, const Extents& extents) {
  for (std::size_t i = index.size(); i-- > 0;) {
    if (++index[i] < extents[i]) return true;
    index[i] = 0;
  }
  return false;
}

/// The pairs (element of lhs, element of rhs) that one result position multiplies, as row-major
/// spatial positions.
std::vector<std::pair<std::int64_t, std::int64_t>> taps(const std::vector<Axis>& axes,
                                                        const Extents& position) {
  std::vector<std::pair<std::int64_t, std::int64_t>> r;
  Extents window, kernel(axes.size(), 0);
  for (const Axis& a : axes) window.push_back(a.kernel);
  if (element_count(window) == 0) return r;
  do {
    std::int64_t from = 0, tap = 0;
    bool inside = true;
    for (std::size_t i = 0; i < axes.size() && inside; ++i) {
      const std::int64_t source = axes[i].source(position[i], kernel[i]);
      inside = source >= 0;
      from = from * axes[i].in + source;
      tap = tap * axes[i].kernel + axes[i].tap(kernel[i]);
    }
    if (inside) r.emplace_back(from, tap);
  } while (advance(kernel, window));
  return r;
}

}  // namespace

void Convolution::eval(EvalContext& c) {
  const ConvAttrs& a = c.as<ConvAttrs>();
  const ConvDims& d = a.dims;
  const HostArray &lhs = c.in[0], &rhs = c.in[1];
  HostArray y = c.make();
  if (y.size() == 0) {
    c.out.push_back(std::move(y));
    return;
  }
  std::vector<Axis> axes;
  Extents out_spatial;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    axes.push_back({.in = lhs.extents()[usize(d.lhs_spatial[i])],
                    .out = y.extents()[usize(d.out_spatial[i])],
                    .kernel = rhs.extents()[usize(d.rhs_spatial[i])],
                    .stride = a.strides[i],
                    .low = c.size_of(a.low[i]),
                    .lhs_dilation = a.lhs_dilation[i],
                    .rhs_dilation = a.rhs_dilation[i],
                    .reversed = a.reversed[i]});
    out_spatial.push_back(axes.back().out);
  }
  const std::int64_t features = rhs.extents()[usize(d.rhs_in)];  // of one group
  const std::int64_t out_features = y.extents()[usize(d.out_feature)];
  const std::int64_t batch = y.extents()[usize(d.out_batch)];
  const std::int64_t feature_groups = c.size_of(a.feature_groups);
  const std::int64_t batch_groups = c.size_of(a.batch_groups);
  const std::int64_t in_features = lhs.extents()[usize(d.lhs_feature)];
  const std::int64_t in_positions = product_of(lhs.extents(), d.lhs_spatial);
  const std::int64_t kernel_positions = product_of(rhs.extents(), d.rhs_spatial);
  const Extents out_step = row_major_strides(y.extents());
  if (y.size() == 0) {
    c.out.push_back(std::move(y));
    return;
  }
  dispatch(lhs.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (Number<C>) {
      const auto x = packed<C, T>(lhs, joined({{d.lhs_batch}, d.lhs_spatial, {d.lhs_feature}}));
      const auto k = packed<C, T>(rhs, joined({{d.rhs_out}, d.rhs_spatial, {d.rhs_in}}));
      T* out = static_cast<T*>(y.mutable_data());
      Extents position(axes.size(), 0);
      do {
        const auto pairs = taps(axes, position);
        std::int64_t at = 0;
        for (std::size_t i = 0; i < position.size(); ++i) {
          at += position[i] * out_step[usize(d.out_spatial[i])];
        }
        for (std::int64_t n = 0; n < batch; ++n) {
          for (std::int64_t o = 0; o < out_features; ++o) {
            const std::int64_t group = o / (out_features / feature_groups);
            const std::int64_t row = n + o / (out_features / batch_groups) * batch;
            C sum = 0;
            for (const auto& [from, tap] : pairs) {
              const C* left =
                  x.data() + (row * in_positions + from) * in_features + group * features;
              const C* right = k.data() + (o * kernel_positions + tap) * features;
              for (std::int64_t f = 0; f < features; ++f) {
                sum = Add::eval(sum, Mul::eval(left[f], right[f]));
              }
            }
            out[at + n * out_step[usize(d.out_batch)] + o * out_step[usize(d.out_feature)]] =
                static_cast<T>(sum);
          }
        }
      } while (advance(position, out_spatial));
    }
  });
  c.out.push_back(std::move(y));
}

}  // namespace tlaloc::ops
