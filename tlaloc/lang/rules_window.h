// Shape rules of convolutions and pooling. Layouts: inputs [n, spatial..., c], kernels
// [spatial..., c / groups, features], as in TensorFlow and Flax.
#pragma once

#include "tlaloc/lang/rules_layout.h"

namespace tlaloc::rules {

/// A window along one spatial axis.
struct Window {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;  ///< on both sides; kSame: as much as keeps ceil(size / stride)
  std::int64_t dilation = 1;
};
inline constexpr std::int64_t kSame = -1;

/// floor((n + 2 padding - dilation (size - 1) - 1) / stride) + 1, at least 0; with kSame
/// ceil(n / stride). Source: the StableHLO specification of `convolution`.
constexpr Source window(const AxisSpec& axis, int position, const Window& w) {
  if (w.padding == kSame && w.stride == 1) return {.axis = position};
  if (axis.size < 0) return {};
  if (w.padding == kSame) return {.size = (axis.size + w.stride - 1) / w.stride};
  const std::int64_t room = axis.size + 2 * w.padding - w.dilation * (w.size - 1) - 1;
  return {.size = room < 0 ? 0 : room / w.stride + 1};
}

/// x: [n, spatial..., c], kernel: [spatial..., c / groups, features] -> [n, spatial'..., features].
/// Sources count x's axes, then the kernel's. Errors: TL-RANK-001, TL-SHAPE-003 (channels),
/// TL-SHAPE-008 (groups do not divide), TL-SHAPE-009 (a kernel axis without a size).
constexpr Plan conv(Axes x, Axes kernel, int spatial, Window w, std::int64_t groups) {
  Plan plan;
  if (length(x) != spatial + 2 || length(kernel) != spatial + 2) {
    plan.refuse({"TL-RANK-001", "x: [n, spatial, c]; kernel: [spatial, c, f]"});
    return plan;
  }
  if (w.stride < 1 || w.dilation < 1 || w.padding < kSame || groups < 1) {
    plan.refuse({"TL-SHAPE-007", "stride, dilation, groups >= 1"});
    return plan;
  }
  const AxisSpec &channels = x.back(), &in = at(kernel, spatial), &features = kernel.back();
  const bool known = channels.size >= 0 && in.size >= 0;
  if (groups == 1 ? !fits(channels, in) : known && channels.size != in.size * groups) {
    plan.refuse({"TL-SHAPE-003", "", &channels, &in});
    return plan;
  }
  if (features.size >= 0 && features.size % groups != 0) {
    plan.refuse({"TL-SHAPE-008", "no equal groups of", &features});
    return plan;
  }
  plan.keep(0);
  for (int i = 0; i < spatial; ++i) {
    w.size = at(kernel, i).size;
    if (w.size < 0 && w.padding != kSame) {
      plan.refuse({"TL-SHAPE-009", "no size in the type", &at(kernel, i)});
      return plan;
    }
    plan.push(window(at(x, 1 + i), 1 + i, w));
  }
  plan.keep(length(x) + spatial + 1);
  return plan;
}

/// (n - 1) stride + dilation (size - 1) + 1 - 2 padding, at least 0; with kSame n stride.
constexpr Source window_transposed(const AxisSpec& axis, int position, const Window& w) {
  if (w.padding == kSame && w.stride == 1) return {.axis = position};
  if (axis.size < 0) return {};
  if (w.padding == kSame) return {.size = axis.size * w.stride};
  const std::int64_t spread = axis.size == 0 ? 0 : (axis.size - 1) * w.stride + 1;
  const std::int64_t size = spread + w.dilation * (w.size - 1) - 2 * w.padding;
  return {.size = size < 0 ? 0 : size};
}

/// x: [n, spatial..., c], kernel: [spatial..., features, c] -> [n, spatial'..., features]. Sources
/// count x's axes, then the kernel's. Errors: as conv.
constexpr Plan conv_transposed(Axes x, Axes kernel, int spatial, Window w) {
  Plan plan;
  if (length(x) != spatial + 2 || length(kernel) != spatial + 2) {
    return plan.refuse({"TL-RANK-001", "x: [n, spatial, c]; kernel: [spatial, f, c]"});
  }
  if (w.stride < 1 || w.dilation < 1 || w.padding < kSame) {
    return plan.refuse({"TL-SHAPE-007", "stride, dilation >= 1"});
  }
  if (!fits(x.back(), kernel.back())) {
    return plan.refuse({"TL-SHAPE-003", "", &x.back(), &kernel.back()});
  }
  plan.keep(0);
  for (int i = 0; i < spatial; ++i) {
    w.size = at(kernel, i).size;
    if (w.size < 0 && w.padding != kSame) {
      return plan.refuse({"TL-SHAPE-009", "no size in the type", &at(kernel, i)});
    }
    plan.push(window_transposed(at(x, 1 + i), 1 + i, w));
  }
  plan.keep(length(x) + spatial);
  return plan;
}

/// x: [n, spatial..., c]; the window moves over every spatial axis. Errors: TL-RANK-001,
/// TL-SHAPE-007.
constexpr Plan pool(Axes x, Window w) {
  Plan plan;
  if (length(x) < 3) {
    plan.refuse({"TL-RANK-001", "x: [n, spatial, c]"});
    return plan;
  }
  if (w.size < 1 || w.stride < 1 || w.padding < kSame || w.dilation < 1) {
    plan.refuse({"TL-SHAPE-007", "window, stride, dilation >= 1"});
    return plan;
  }
  plan.keep(0);
  for (int i = 1; i + 1 < length(x); ++i) plan.push(window(at(x, i), i, w));
  plan.keep(length(x) - 1);
  return plan;
}

}  // namespace tlaloc::rules
