#include "tlaloc/cpu/conv_shape.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace tlaloc::cpu {

using ir::Dim;

Meeting meet(const SpatialInts& s, std::int64_t stride, std::int64_t lhs_dilation,
             std::int64_t rhs_dilation, std::int64_t tap) {
  // Strides and dilations may be as large as 64 bits allow where a size is 1.
  __extension__ using Wide = __int128;
  // Result o reads the dilated position o * stride + shift, if that is an element.
  const Wide shift = Wide{tap} * rhs_dilation - s.low;
  // Which residues are elements repeats after so many results.
  const std::int64_t common = std::gcd(stride, lhs_dilation);
  const Wide period = lhs_dilation / common, hop = stride / common;
  Wide out = shift < 0 ? (-shift + stride - 1) / stride : 0;
  const Wide end = std::min<Wide>(s.out, out + period);
  while (out < end && (out * stride + shift) % lhs_dilation != 0) ++out;
  if (out >= end) return {};
  const Wide in = (out * stride + shift) / lhs_dilation;
  if (in >= s.in) return {};
  Meeting m;
  const Wide count = std::min((s.out - 1 - out) / period, (s.in - 1 - in) / hop) + 1;
  m.count = static_cast<std::int64_t>(count);
  m.out = static_cast<std::int64_t>(out);
  m.in = static_cast<std::int64_t>(in);
  if (count > 1) {
    m.out_step = static_cast<std::int64_t>(period);
    m.in_step = static_cast<std::int64_t>(hop);
  }
  return m;
}

namespace {

/// How many pairs of a result and a position of the kernel meet elements along an axis; nullopt
/// where counting them takes long: a report may be asked for on any sizes.
std::optional<double> meetings(const SpatialInts& s, std::int64_t stride, std::int64_t lhs_dilation,
                               std::int64_t rhs_dilation) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const std::int64_t residues = std::min(s.out, lhs_dilation);
  if (residues > kMost || s.kernel > kMost / std::max<std::int64_t>(residues, 1)) {
    return std::nullopt;
  }
  double count = 0;
  for (std::int64_t k = 0; s.out > 0 && s.in > 0 && k < s.kernel; ++k) {
    count += static_cast<double>(meet(s, stride, lhs_dilation, rhs_dilation, k).count);
  }
  return count;
}

}  // namespace

Cost convolution_cost(const void* data, const std::int64_t* ints) {
  const ConvolutionCall call(data, ints);
  const auto& [conv, n, spatial, rank] = call;
  Cost c;
  // Padding is never multiplied.
  std::optional<double> products = static_cast<double>(n.batch) *
                                   static_cast<double>(n.out_features) *
                                   static_cast<double>(n.features);
  c.space = std::to_string(n.batch) + " times";
  for (std::size_t i = 0; i < rank; ++i) {
    const SpatialInts& s = spatial[i];
    const auto here = meetings(s, conv.strides[i], conv.lhs_dilation[i], conv.rhs_dilation[i]);
    products = products && here ? std::optional(*products * *here) : std::nullopt;
    c.space += (i == 0 ? " " : "x") + std::to_string(s.out);
  }
  if (products) c.flops = 2 * *products;
  return c;
}

Step convolution_step(Emitter& e, const Value& a, const Value& b, const ops::ConvAttrs& attrs,
                      const Target& target, ir::Type type) {
  const Affine &at_a = a.expr->at, &at_b = b.expr->at, &at_c = target.at;
  const ops::ConvDims& d = attrs.dims;
  auto size = [](ir::Type t, std::int64_t axis) { return t.dim(static_cast<int>(axis)); };
  auto stride = [](const Affine& at, std::int64_t axis) { return at.strides[usize(axis)]; };
  Step s;
  s.name = "convolution";
  s.storages = {a.expr->storage, b.expr->storage, target.storage};
  s.reads = 2;
  auto add = [&](std::initializer_list<Dim> list) {
    for (Dim x : list) s.ints.push_back(e.sizes.of(x));
  };
  add({size(type, d.out_batch), size(b.type, d.rhs_in), size(type, d.out_feature),
       attrs.feature_groups, attrs.batch_groups});
  add({at_a.offset, at_b.offset, at_c.offset});
  add({stride(at_a, d.lhs_batch), stride(at_a, d.lhs_feature), stride(at_b, d.rhs_in),
       stride(at_b, d.rhs_out), stride(at_c, d.out_batch), stride(at_c, d.out_feature)});
  for (std::size_t i = 0; i < attrs.strides.size(); ++i) {
    const std::int64_t in = d.lhs_spatial[i], kernel = d.rhs_spatial[i], out = d.out_spatial[i];
    add({size(a.type, in), size(type, out), size(b.type, kernel), attrs.low[i], stride(at_a, in),
         stride(at_b, kernel), stride(at_c, out)});
  }
  s.data = std::make_shared<const Convolution>(Convolution{
      type.dtype(), attrs.strides, attrs.lhs_dilation, attrs.rhs_dilation, attrs.reversed});
  return s;
}

}  // namespace tlaloc::cpu
