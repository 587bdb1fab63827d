// Transposed convolutions: what conv1d, conv2d and conv3d do, from the result back to the operand.
//
// The kernel is that of the convolution, [spatial..., features, c], for an x with c channels, as in
// TensorFlow. Template arguments as in window.h: Stride, Padding, Dilation. Along a spatial axis of
// size n the result has (n - 1) Stride + Dilation (size - 1) + 1 - 2 Padding elements, n Stride
// under `same_padding`: the least that the convolution takes to n. With Dilation 1 and the kernel's
// spatial axes reversed and its last two axes swapped, this is the convolution of x with Stride - 1
// zeros between its elements. Errors: those of conv1d.
#pragma once

#include "tlaloc/lang/window.h"

namespace tlaloc {
namespace detail {

template <class A, class B, class N>
struct ConvTransposedRule;
template <auto... A, auto... B, int Spatial, int Stride, int Padding, int Dilation>
struct ConvTransposedRule<Dims<A...>, Dims<B...>, Ints<Spatial, Stride, Padding, Dilation>> {
  static constexpr rules::Plan plan =
      rules::conv_transposed(kSpecs<A...>, kSpecs<B...>, Spatial,
                             {.stride = Stride, .padding = Padding, .dilation = Dilation});
  template <class T>
  using Result = Pick<T, ConvTransposedRule, A..., B...>;
};
template <class A, class B, int... N>
inline constexpr auto kConvTransposed =
    pair_verdict<ConvTransposedRule, A, B, Domain::floating, true, Ints<N...>>();
template <class A, class B, int... N>
using ConvTransposed = Paired<ConvTransposedRule, A, B, Ints<N...>>;

template <class R, int Spatial, int Stride, int Padding, int Dilation, class A, class B>
R conv_transposed(const A& x, const B& kernel, Where where) {
  const ConvWindows<Spatial, Stride, Padding, Dilation> windows;
  return R(core::conv_transposed(x.ref(), kernel.ref(), windows.list, labels<R>(), where));
}

}  // namespace detail

/// x: [n, w, c], kernel: [kw, f, c] -> [n, w', f].
template <int Stride = 1, int Padding = 0, int Dilation = 1, class A, class B,
          auto Why = detail::kConvTransposed<A, B, 1, Stride, Padding, Dilation>>
detail::ConvTransposed<A, B, 1, Stride, Padding, Dilation> conv1d_transposed(
    const A& x, const B& kernel, Where where = Where::current()) {
  using R = detail::ConvTransposed<A, B, 1, Stride, Padding, Dilation>;
  return detail::conv_transposed<R, 1, Stride, Padding, Dilation>(x, kernel, where);
}
template <int Stride = 1, int Padding = 0, int Dilation = 1, class A, class B,
          auto Why = detail::kConvTransposed<A, B, 1, Stride, Padding, Dilation>>
  requires IsMistake<Why>
Refused conv1d_transposed(const A&, const B&, Where = Where::current()) = delete;

/// x: [n, h, w, c], kernel: [kh, kw, f, c] -> [n, h', w', f].
template <int Stride = 1, int Padding = 0, int Dilation = 1, class A, class B,
          auto Why = detail::kConvTransposed<A, B, 2, Stride, Padding, Dilation>>
detail::ConvTransposed<A, B, 2, Stride, Padding, Dilation> conv2d_transposed(
    const A& x, const B& kernel, Where where = Where::current()) {
  using R = detail::ConvTransposed<A, B, 2, Stride, Padding, Dilation>;
  return detail::conv_transposed<R, 2, Stride, Padding, Dilation>(x, kernel, where);
}
template <int Stride = 1, int Padding = 0, int Dilation = 1, class A, class B,
          auto Why = detail::kConvTransposed<A, B, 2, Stride, Padding, Dilation>>
  requires IsMistake<Why>
Refused conv2d_transposed(const A&, const B&, Where = Where::current()) = delete;

/// x: [n, d, h, w, c], kernel: [kd, kh, kw, f, c] -> [n, d', h', w', f].
template <int Stride = 1, int Padding = 0, int Dilation = 1, class A, class B,
          auto Why = detail::kConvTransposed<A, B, 3, Stride, Padding, Dilation>>
detail::ConvTransposed<A, B, 3, Stride, Padding, Dilation> conv3d_transposed(
    const A& x, const B& kernel, Where where = Where::current()) {
  using R = detail::ConvTransposed<A, B, 3, Stride, Padding, Dilation>;
  return detail::conv_transposed<R, 3, Stride, Padding, Dilation>(x, kernel, where);
}
template <int Stride = 1, int Padding = 0, int Dilation = 1, class A, class B,
          auto Why = detail::kConvTransposed<A, B, 3, Stride, Padding, Dilation>>
  requires IsMistake<Why>
Refused conv3d_transposed(const A&, const B&, Where = Where::current()) = delete;

}  // namespace tlaloc
