#include "tlaloc/cpu/conv.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/contraction.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;

struct Convolution {
  DType dtype;
  std::vector<std::int64_t> strides, lhs_dilation, rhs_dilation;
  std::vector<bool> reversed;
};

/// The step's integers, spatial axes behind them.
struct Ints {
  std::int64_t batch, features, out_features;  // of the result, of one group, of the result
  std::int64_t feature_groups, batch_groups;
  std::int64_t a, b, c;                          // offsets of lhs, rhs, result
  std::int64_t a_batch, a_feature, b_in, b_out;  // strides
  std::int64_t c_batch, c_feature;
};
struct Spatial {
  std::int64_t in, out, kernel, low, a, b, c;  // sizes, padding, strides
};

/// Where one position of the kernel meets elements: `count` results, each `out_step` behind the
/// one before, and what they read.
struct Meeting {
  std::int64_t count = 0, out = 0, out_step = 0, in = 0, in_step = 0;
};
Meeting meet(const Spatial& s, std::int64_t stride, std::int64_t lhs_dilation,
             std::int64_t position) {
  // Result o reads the dilated position o * stride + shift, if that is an element.
  const std::int64_t shift = position - s.low;
  Meeting m;
  // Which residues are elements repeats after so many results.
  m.out_step = lhs_dilation / std::gcd(stride, lhs_dilation);
  m.in_step = m.out_step * stride / lhs_dilation;
  if (shift < 0) m.out = (-shift + stride - 1) / stride;
  const std::int64_t end = std::min(s.out, m.out + m.out_step);
  while (m.out < end && (m.out * stride + shift) % lhs_dilation != 0) ++m.out;
  if (m.out >= end) return {};
  m.in = (m.out * stride + shift) / lhs_dilation;
  if (m.in >= s.in) return {};
  m.count = std::min((s.out - 1 - m.out) / m.out_step, (s.in - 1 - m.in) / m.in_step) + 1;
  return m;
}

/// Whether every position of the kernel is an element in every window.
bool is_full(const Spatial& s, std::int64_t stride, std::int64_t lhs_dilation,
             std::int64_t rhs_dilation) {
  return lhs_dilation == 1 && s.low <= 0 &&
         meet(s, stride, 1, (s.kernel - 1) * rhs_dilation).count == s.out;
}

/// How many pairs of a result and a position of the kernel meet elements along an axis; nullopt
/// where counting them takes long: a report may be asked for on any sizes.
std::optional<double> meetings(const Spatial& s, std::int64_t stride, std::int64_t lhs_dilation,
                               std::int64_t rhs_dilation) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 31, kMost = std::int64_t{1} << 20;
  for (std::int64_t n : {s.in, s.out, s.kernel, s.low, stride, lhs_dilation, rhs_dilation}) {
    if (n <= -kLarge || n >= kLarge) return std::nullopt;
  }
  if (s.kernel * std::min(s.out, lhs_dilation) > kMost) return std::nullopt;
  double count = 0;
  for (std::int64_t k = 0; s.out > 0 && s.in > 0 && k < s.kernel; ++k) {
    count += static_cast<double>(meet(s, stride, lhs_dilation, k * rhs_dilation).count);
  }
  return count;
}

Cost convolution_cost(const void* data, const std::int64_t* ints) {
  const Convolution& conv = *static_cast<const Convolution*>(data);
  const Ints& n = *reinterpret_cast<const Ints*>(ints);
  const auto* spatial = reinterpret_cast<const Spatial*>(ints + sizeof(Ints) / 8);
  Cost c;
  c.updates = true;
  // Padding is never multiplied.
  std::optional<double> products = static_cast<double>(n.batch) *
                                   static_cast<double>(n.out_features) *
                                   static_cast<double>(n.features);
  c.space = std::to_string(n.batch) + " times";
  for (std::size_t i = 0; i < conv.strides.size(); ++i) {
    const Spatial& s = spatial[i];
    const auto here = meetings(s, conv.strides[i], conv.lhs_dilation[i], conv.rhs_dilation[i]);
    products = products && here ? std::optional(*products * *here) : std::nullopt;
    c.space += (i == 0 ? " " : "x") + std::to_string(s.out);
  }
  if (products) c.flops = 2 * *products;
  return c;
}

/// A convolution over some of the batch's elements.
void convolve(const KernelCall& call, std::int64_t begin, std::int64_t end, bool shared,
              std::byte* scratch) {
  const Convolution& conv = *static_cast<const Convolution*>(call.data);
  const Ints& n = *reinterpret_cast<const Ints*>(call.ints);
  const auto* spatial = reinterpret_cast<const Spatial*>(call.ints + sizeof(Ints) / 8);
  const std::size_t rank = conv.strides.size();
  const std::int64_t groups = n.feature_groups * n.batch_groups;  // one of them is 1
  const std::int64_t columns = n.out_features / groups, bytes = byte_size(conv.dtype);
  Contraction c;
  c.dtype = conv.dtype;
  c.accumulate = true;
  c.shared = shared;
  std::vector<std::size_t> clipped;  // axes whose positions are taken one by one
  std::vector<ContractionAxis> depth, rows{{end - begin, n.a_batch, 0, n.c_batch}};
  std::int64_t from = n.a + begin * n.a_batch, kernel = n.b;
  for (std::size_t i = 0; i < rank; ++i) {
    const Spatial& s = spatial[i];
    const std::int64_t step = conv.reversed[i] ? -s.b : s.b;
    if (conv.reversed[i]) kernel += (s.kernel - 1) * s.b;
    if (!is_full(s, conv.strides[i], conv.lhs_dilation[i], conv.rhs_dilation[i])) {
      clipped.push_back(i);
      continue;
    }
    depth.push_back({s.kernel, conv.rhs_dilation[i] * s.a, step, 0});
    rows.push_back({s.out, conv.strides[i] * s.a, 0, s.c});
    from -= s.low * s.a;
  }
  depth.push_back({n.features, n.a_feature, n.b_in, 0});
  c.batch = {{groups, n.feature_groups > 1 ? n.features * n.a_feature : n.batch * n.a_batch,
              columns * n.b_out, columns * n.c_feature}};
  c.columns = {{columns, 0, n.b_out, n.c_feature}};
  std::vector<std::int64_t> tap(clipped.size(), 0);
  while (true) {
    c.rows = rows;
    c.depth = depth;
    std::int64_t a = from, b = kernel, to = n.c + begin * n.c_batch;
    bool meets = true;
    for (std::size_t q = 0; q < clipped.size() && meets; ++q) {
      const std::size_t i = clipped[q];
      const Spatial& s = spatial[i];
      const Meeting m =
          meet(s, conv.strides[i], conv.lhs_dilation[i], tap[q] * conv.rhs_dilation[i]);
      meets = m.count > 0;
      c.rows.push_back({m.count, m.in_step * s.a, 0, m.out_step * s.c});
      a += m.in * s.a;
      b += tap[q] * (conv.reversed[i] ? -s.b : s.b);
      to += m.out * s.c;
    }
    if (meets) {
      contract(c, call.storages[0] + a * bytes, call.storages[1] + b * bytes,
               call.storages[2] + to * bytes, scratch);
    }
    std::size_t q = clipped.size();
    for (; q > 0 && ++tap[q - 1] == spatial[clipped[q - 1]].kernel; --q) tap[q - 1] = 0;
    if (q == 0) return;
  }
}

void run_convolution(const KernelCall& call) {
  const Convolution& conv = *static_cast<const Convolution*>(call.data);
  const Ints& n = *reinterpret_cast<const Ints*>(call.ints);
  const auto* spatial = reinterpret_cast<const Spatial*>(call.ints + sizeof(Ints) / 8);
  // Another size, or a stride, may be too large for 64 bits where one is 0.
  if (n.batch == 0 || n.out_features == 0 || n.features == 0) return;
  double out = 1, depth = static_cast<double>(n.features);
  for (std::size_t i = 0; i < conv.strides.size(); ++i) {
    const Spatial& s = spatial[i];
    if (s.out == 0 || s.in == 0 || s.kernel == 0) return;
    out *= static_cast<double>(s.out);
    depth *= static_cast<double>(s.kernel);
  }
  // Parts of the batch stay in the caches from one position of the kernel to the next. Where there
  // are few, the products of each position are shared.
  const double each = gemm_nanoseconds(conv.dtype, out, static_cast<double>(n.out_features), depth);
  const Ranges parts = share(n.batch, each);
  if (parts.count() < 4) return convolve(call, 0, n.batch, parts.count() > 1, call.scratch);
  parallel(parts, [&](std::int64_t begin, std::int64_t end) {
    const Scratch scratch(contraction_scratch_bytes(conv.dtype));
    convolve(call, begin, end, false, scratch.get());
  });
}

}  // namespace

void emit_convolution(Emitter& e, const Value& lhs, const Value& rhs, const ops::ConvAttrs& attrs,
                      const Target& target, ir::Type type) {
  const Value a = e.lying(lhs, "convolution"), b = e.lying(rhs, "convolution");
  const Affine &at_a = a.expr->at, &at_b = b.expr->at, &at_c = target.at;
  const ops::ConvDims& d = attrs.dims;
  auto size = [](ir::Type t, std::int64_t axis) { return t.dim(static_cast<int>(axis)); };
  auto stride = [](const Affine& at, std::int64_t axis) { return at.strides[usize(axis)]; };

  Step s;
  s.name = "convolution";
  s.run = run_convolution;
  s.cost = convolution_cost;
  s.runs_on = "matrix kernel";
  s.storages = {a.expr->storage, b.expr->storage, target.storage};
  s.reads = 2;
  s.scratch = contraction_scratch_bytes(type.dtype());
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
  e.emit_step(std::move(s));
}

}  // namespace tlaloc::cpu
