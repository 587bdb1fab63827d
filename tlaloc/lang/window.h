// Convolutions and pooling. Layouts as in TensorFlow and Flax: x [n, spatial..., c], kernels
// [spatial..., c / groups, features].
//
// Template arguments: Stride, Padding (elements on both sides, or `same_padding`: as much as keeps
// ceil(size / Stride)), Dilation, Groups: conv2d<2, 1>(x, w), conv2d<1, same_padding>(x, w). Along
// a spatial axis of size n the result has floor((n + 2 Padding - Dilation (size - 1) - 1) / Stride)
// + 1; an axis without a size becomes `any`, but keeps its name under `same_padding` and Stride 1.
// Errors: TL-RANK-001, TL-SHAPE-003 (channels), TL-SHAPE-007 (an argument below 1), TL-SHAPE-008
// (Groups do not divide), TL-SHAPE-009 (a kernel axis without a size), TL-DTYPE-001, TL-DTYPE-003.
#pragma once

#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/rules_window.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// Padding that keeps ceil(size / stride) elements.
inline constexpr int same_padding = static_cast<int>(rules::kSame);

namespace detail {

template <int... V>
struct Ints {};
template <class A, class B, class N>
struct ConvRule;
template <auto... A, auto... B, int Spatial, int Stride, int Padding, int Dilation, int Groups>
struct ConvRule<Dims<A...>, Dims<B...>, Ints<Spatial, Stride, Padding, Dilation, Groups>> {
  static constexpr rules::Plan plan =
      rules::conv(kSpecs<A...>, kSpecs<B...>, Spatial,
                  {.stride = Stride, .padding = Padding, .dilation = Dilation}, Groups);
  template <class T>
  using Result = Pick<T, ConvRule, A..., B...>;
};
template <class A, class B, int... N>
inline constexpr auto kConv = pair_verdict<ConvRule, A, B, Domain::floating, true, Ints<N...>>();
template <class A, class B, int... N>
using Convolved = Paired<ConvRule, A, B, Ints<N...>>;

/// One window per spatial axis. The kernel's sizes are those of its axes.
template <int Spatial, int Stride, int Padding, int Dilation>
struct ConvWindows {
  core::WindowSpec list[Spatial];
  constexpr ConvWindows() {
    for (core::WindowSpec& w : list) {
      w = {.stride = Stride,
           .padding = Padding == same_padding ? 0 : Padding,
           .dilation = Dilation,
           .same = Padding == same_padding};
    }
  }
};

template <class R, int Spatial, int Stride, int Padding, int Dilation, int Groups, class A, class B>
R conv(const A& x, const B& kernel, Where where) {
  const ConvWindows<Spatial, Stride, Padding, Dilation> windows;
  return R(core::conv(x.ref(), kernel.ref(), windows.list, Groups, labels<R>(), where));
}

template <class A, class N>
struct PoolRule;
template <auto... A, int Size, int Stride, int Padding>
struct PoolRule<Dims<A...>, Ints<Size, Stride, Padding>> {
  static constexpr rules::Plan plan =
      rules::pool(kSpecs<A...>, {.size = Size, .stride = Stride, .padding = Padding});
  template <class T>
  using Result = Pick<T, PoolRule, A...>;
};
template <class A, Domain D, int... N>
inline constexpr auto kPool = rule_verdict<PoolRule, A, D, true, Ints<N...>>();
template <class A, int... N>
using Pooled = Ruled<PoolRule, void, A, Ints<N...>>;

template <class R, int Size, int Stride, int Padding, class A>
R pool(core::Pooling op, const A& x, Where where) {
  const core::WindowSpec window{.size = Size,
                                .stride = Stride,
                                .padding = Padding == same_padding ? 0 : Padding,
                                .same = Padding == same_padding};
  return R(core::pool(op, x.ref(), window, labels<R>(), where));
}

}  // namespace detail

/// x: [n, w, c], kernel: [kw, c / Groups, f] -> [n, w', f].
template <int Stride = 1, int Padding = 0, int Dilation = 1, int Groups = 1, class A, class B,
          auto Why = detail::kConv<A, B, 1, Stride, Padding, Dilation, Groups>>
detail::Convolved<A, B, 1, Stride, Padding, Dilation, Groups> conv1d(
    const A& x, const B& kernel, Where where = Where::current()) {
  using R = detail::Convolved<A, B, 1, Stride, Padding, Dilation, Groups>;
  return detail::conv<R, 1, Stride, Padding, Dilation, Groups>(x, kernel, where);
}
template <int Stride = 1, int Padding = 0, int Dilation = 1, int Groups = 1, class A, class B,
          auto Why = detail::kConv<A, B, 1, Stride, Padding, Dilation, Groups>>
  requires IsMistake<Why>
Refused conv1d(const A&, const B&, Where = Where::current()) = delete;

/// x: [n, h, w, c], kernel: [kh, kw, c / Groups, f] -> [n, h', w', f].
template <int Stride = 1, int Padding = 0, int Dilation = 1, int Groups = 1, class A, class B,
          auto Why = detail::kConv<A, B, 2, Stride, Padding, Dilation, Groups>>
detail::Convolved<A, B, 2, Stride, Padding, Dilation, Groups> conv2d(
    const A& x, const B& kernel, Where where = Where::current()) {
  using R = detail::Convolved<A, B, 2, Stride, Padding, Dilation, Groups>;
  return detail::conv<R, 2, Stride, Padding, Dilation, Groups>(x, kernel, where);
}
template <int Stride = 1, int Padding = 0, int Dilation = 1, int Groups = 1, class A, class B,
          auto Why = detail::kConv<A, B, 2, Stride, Padding, Dilation, Groups>>
  requires IsMistake<Why>
Refused conv2d(const A&, const B&, Where = Where::current()) = delete;

/// x: [n, d, h, w, c], kernel: [kd, kh, kw, c / Groups, f] -> [n, d', h', w', f].
template <int Stride = 1, int Padding = 0, int Dilation = 1, int Groups = 1, class A, class B,
          auto Why = detail::kConv<A, B, 3, Stride, Padding, Dilation, Groups>>
detail::Convolved<A, B, 3, Stride, Padding, Dilation, Groups> conv3d(
    const A& x, const B& kernel, Where where = Where::current()) {
  using R = detail::Convolved<A, B, 3, Stride, Padding, Dilation, Groups>;
  return detail::conv<R, 3, Stride, Padding, Dilation, Groups>(x, kernel, where);
}
template <int Stride = 1, int Padding = 0, int Dilation = 1, int Groups = 1, class A, class B,
          auto Why = detail::kConv<A, B, 3, Stride, Padding, Dilation, Groups>>
  requires IsMistake<Why>
Refused conv3d(const A&, const B&, Where = Where::current()) = delete;

/// The largest element of each window of Size along every spatial axis: max_pool<2>(x), max_pool<3,
/// 2, same_padding>(x). Padding counts as the lowest value.
template <int Size, int Stride = Size, int Padding = 0, class A,
          auto Why = detail::kPool<A, Domain::number, Size, Stride, Padding>>
detail::Pooled<A, Size, Stride, Padding> max_pool(const A& x, Where where = Where::current()) {
  using R = detail::Pooled<A, Size, Stride, Padding>;
  return detail::pool<R, Size, Stride, Padding>(core::Pooling::max, x, where);
}
template <int Size, int Stride = Size, int Padding = 0, class A,
          auto Why = detail::kPool<A, Domain::number, Size, Stride, Padding>>
  requires IsMistake<Why>
Refused max_pool(const A&, Where = Where::current()) = delete;

/// The mean of the elements of x in each window; padding does not count.
template <int Size, int Stride = Size, int Padding = 0, class A,
          auto Why = detail::kPool<A, Domain::floating, Size, Stride, Padding>>
detail::Pooled<A, Size, Stride, Padding> avg_pool(const A& x, Where where = Where::current()) {
  using R = detail::Pooled<A, Size, Stride, Padding>;
  return detail::pool<R, Size, Stride, Padding>(core::Pooling::mean, x, where);
}
template <int Size, int Stride = Size, int Padding = 0, class A,
          auto Why = detail::kPool<A, Domain::floating, Size, Stride, Padding>>
  requires IsMistake<Why>
Refused avg_pool(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
