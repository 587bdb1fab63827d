// How windows of a convolution meet elements; internal to cpu.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/dtype.h"
#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cpu {

struct Convolution {
  DType dtype;
  std::vector<std::int64_t> strides, lhs_dilation, rhs_dilation;
  std::vector<bool> reversed;
};

/// The step's integers, spatial axes behind them.
struct ConvolutionInts {
  std::int64_t batch, features, out_features;  // of the result, of one group, of the result
  std::int64_t feature_groups, batch_groups;
  std::int64_t a, b, c;                          // offsets of lhs, rhs, result
  std::int64_t a_batch, a_feature, b_in, b_out;  // strides
  std::int64_t c_batch, c_feature;

  std::int64_t groups() const { return feature_groups * batch_groups; }  // one of them is 1
  /// Of lhs, from group to group.
  std::int64_t a_group() const {
    return feature_groups > 1 ? features * a_feature : batch * a_batch;
  }
};
struct SpatialInts {
  std::int64_t in, out, kernel, low, a, b, c;  // sizes, padding, strides
};

/// A step's integers and attributes.
struct ConvolutionCall {
  ConvolutionCall(const void* data, const std::int64_t* ints)
      : conv(*static_cast<const Convolution*>(data)),
        n(*reinterpret_cast<const ConvolutionInts*>(ints)),
        spatial(reinterpret_cast<const SpatialInts*>(ints + sizeof(ConvolutionInts) / 8)),
        rank(conv.strides.size()) {}
  const Convolution& conv;
  const ConvolutionInts& n;
  const SpatialInts* spatial;
  std::size_t rank;

  // Another size, or a stride, may be too large for 64 bits where one is 0.
  bool has_results() const {
    return n.batch > 0 && n.out_features > 0 &&
           std::all_of(spatial, spatial + rank, [](const SpatialInts& s) { return s.out > 0; });
  }
  /// Those that are no sums are 0.
  bool has_sums() const {
    return n.features > 0 && std::all_of(spatial, spatial + rank, [](const SpatialInts& s) {
             return s.in > 0 && s.kernel > 0;
           });
  }
};

/// The step over operands that lie somewhere, without what runs it.
Step convolution_step(Emitter& e, const Value& a, const Value& b, const ops::ConvAttrs& attrs,
                      const Target& target, ir::Type type);
Cost convolution_cost(const void* data, const std::int64_t* ints);

/// Where one position of the kernel meets elements: `count` results, each `out_step` behind the
/// one before, and what they read.
struct Meeting {
  std::int64_t count = 0, out = 0, out_step = 1, in = 0, in_step = 1;
};
Meeting meet(const SpatialInts& s, std::int64_t stride, std::int64_t lhs_dilation,
             std::int64_t rhs_dilation, std::int64_t tap);

}  // namespace tlaloc::cpu
