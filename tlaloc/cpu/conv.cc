#include "tlaloc/cpu/conv.h"

#include <algorithm>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/contraction.h"
#include "tlaloc/cpu/conv_shape.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {
namespace {

/// Whether every position of the kernel is an element in every window.
bool is_full(const SpatialInts& s, std::int64_t stride, std::int64_t lhs_dilation,
             std::int64_t rhs_dilation) {
  return lhs_dilation == 1 && s.low <= 0 &&
         meet(s, stride, 1, rhs_dilation, s.kernel - 1).count == s.out;
}

/// Rows that fill tiles of the matrix kernel.
constexpr std::int64_t kEnoughRows = 16;

/// A convolution over some of the batch's elements.
void convolve(const KernelCall& call, std::int64_t begin, std::int64_t end, bool shared,
              std::byte* scratch) {
  const ConvolutionCall whole(call.data, call.ints);
  const auto& [conv, n, spatial, rank] = whole;
  const std::int64_t groups = n.groups();
  const std::int64_t columns = n.out_features / groups, bytes = byte_size(conv.dtype);
  Contraction c;
  c.dtype = conv.dtype;
  c.accumulate = true;
  c.shared = shared;
  std::vector<std::size_t> clipped;  // axes whose positions are taken one by one
  std::vector<ContractionAxis> depth, rows{{end - begin, n.a_batch, 0, n.c_batch}};
  std::int64_t from = n.a + begin * n.a_batch, kernel = n.b;
  for (std::size_t i = 0; i < rank; ++i) {
    const SpatialInts& s = spatial[i];
    const std::int64_t step = conv.reversed[i] ? -s.b : s.b;
    if (conv.reversed[i]) kernel += (s.kernel - 1) * s.b;
    if (!is_full(s, conv.strides[i], conv.lhs_dilation[i], conv.rhs_dilation[i])) {
      clipped.push_back(i);
      continue;
    }
    // What is stepped over once only may be as large as 64 bits allow.
    const std::int64_t along = s.kernel == 1 ? 0 : conv.rhs_dilation[i] * s.a;
    depth.push_back({s.kernel, along, step, 0});
    rows.push_back({s.out, s.out == 1 ? 0 : conv.strides[i] * s.a, 0, s.c});
    from -= s.low * s.a;
  }
  depth.push_back({n.features, n.a_feature, n.b_in, 0});
  c.batch = {{groups, n.a_group(), columns * n.b_out, columns * n.c_feature}};
  c.columns = {{columns, 0, n.b_out, n.c_feature}};
  std::vector<std::int64_t> tap(clipped.size(), 0);
  while (true) {
    c.rows = rows;
    c.depth = depth;
    std::int64_t a = from, b = kernel, to = n.c + begin * n.c_batch;
    bool meets = true;
    for (std::size_t q = 0; q < clipped.size() && meets; ++q) {
      const std::size_t i = clipped[q];
      const SpatialInts& s = spatial[i];
      const Meeting m =
          meet(s, conv.strides[i], conv.lhs_dilation[i], conv.rhs_dilation[i], tap[q]);
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
  const ConvolutionCall whole(call.data, call.ints);
  const auto& [conv, n, spatial, rank] = whole;
  if (!whole.has_results() || !whole.has_sums()) return;
  double out = 1, depth = static_cast<double>(n.features);
  bool few_places = true;
  for (std::size_t i = 0; i < rank; ++i) {
    few_places = few_places && spatial[i].out < kEnoughRows;
    out *= static_cast<double>(spatial[i].out);
    depth *= static_cast<double>(spatial[i].kernel);
  }
  // Parts of the batch stay in the caches from one position of the kernel to the next. Where there
  // are few, the products of each position are shared.
  const double each = gemm_nanoseconds(conv.dtype, out, static_cast<double>(n.out_features), depth);
  // Where results have few places, as in a kernel's gradient, the batch has the products' rows.
  const Ranges parts = share(n.batch, each, few_places ? kEnoughRows : 1);
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
  Step s = convolution_step(e, a, b, attrs, target, type);
  s.run = run_convolution;
  s.cost = [](const void* data, const std::int64_t* ints) {
    Cost c = convolution_cost(data, ints);
    c.updates = true;
    return c;
  };
  s.runs_on = "matrix kernel";
  s.scratch = contraction_scratch_bytes(type.dtype());
  e.emit_step(std::move(s));
}

}  // namespace tlaloc::cpu
