// What direct_conv.cc makes convolutions of few features of; internal to cpu. One set per element
// type and kind of CPU.
#pragma once

#include <cstdint>
#include <span>

namespace tlaloc::cpu {

/// Of products: how far x and w lie from where they begin.
struct ConvTerm {
  std::int64_t x, w;
};
/// Each row with each tap.
struct ConvTerms {
  std::span<const ConvTerm> rows, taps;
};
/// `count` positions, and the steps from one to the next.
struct ConvPositions {
  std::int64_t count, x, w, y;
};

template <class T>
struct DirectConvKernels {
  /// y at each position = the sum over all terms of x w, where w is the same for all positions, in
  /// the order of the terms. By vectors of positions where x has a step of 1 or 2.
  using Pixels = void (*)(const T* x, const T* w, const ConvTerms& terms, const ConvPositions& at,
                          T* y);
  Pixels pixels;
  /// The same for `lanes` neighbours of x, w and y each.
  using Channels = void (*)(const T* x, const T* w, const ConvTerms& terms, const ConvPositions& at,
                            std::int64_t lanes, T* y);
  Channels channels;

  /// sums[t] += the sum over all rows and positions of x w, for each tap t. w has a step of 1.
  Pixels pixel_sums;
  /// The same for neighbours: sums[t * at.y + lane].
  Channels channel_sums;
};

/// The set for the CPU this runs on.
template <class T>
const DirectConvKernels<T>& direct_conv_kernels();
extern template const DirectConvKernels<float>& direct_conv_kernels();
extern template const DirectConvKernels<double>& direct_conv_kernels();

}  // namespace tlaloc::cpu
