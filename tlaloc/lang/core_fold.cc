#include "tlaloc/lang/core_fold.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/lang/closure.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/rules_fold.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::core {
namespace {

using Labels = std::vector<std::vector<AxisLabel>>;

/// The function on scalars.
ir::GraphRef scalar_graph(const OpCall& call, const Function& f, const Leaves& elements) {
  Signature signature;
  for (const LeafInfo& i : elements.data().info) {
    signature.types.push_back(ir::Type::scalar(i.dtype));
    signature.labels.emplace_back();
  }
  const Closure c = trace_closure(f, elements, std::move(signature));
  if (c.extra_count() == 0) return c.graph;
  throw UserError({"TL-REGION-001", call.name,
                   c.captures.lifted.empty() ? "the function reads a tensor from outside"
                                             : "the function reads a traced value from outside",
                   "pass it as one more tensor of a tuple, broadcast to the shape of the others",
                   user_place(call.where)});
}

void require_one_shape(const OpCall& call, const Leaves& xs) {
  for (int k = 1; k < xs.size(); ++k) {
    for (int i = 0; i < rank(xs[0]); ++i) require_same(call, "TL-SHAPE-001", xs[0], i, xs[k], i);
  }
}
Labels labels_of(const Leaves& xs) {
  Labels labels;
  for (const LeafInfo& i : xs.data().info) labels.push_back(core::labels_of(i.axes));
  return labels;
}
Leaves sorted(const OpCall& call, const Leaves& xs, const EmitAll& emit) {
  return with_place(call.where, [&] {
    require_one_shape(call, xs);
    return with_values(xs, apply_all(call, xs.data().values, labels_of(xs), emit));
  });
}

/// Emits with the values of xs and of the starts. A concrete start is a constant, by which known
/// reducers are told.
Leaves folded(
    const OpCall& call, const Leaves& init, const Leaves& xs, Labels labels,
    const std::function<ir::Vals(std::span<const ir::Val> xs, const ir::Vals& starts)>& emit) {
  require_one_shape(call, xs);
  const std::size_t n = xs.data().values.size();
  std::vector<Ref> operands = xs.data().values;
  for (const Ref& start : init.data().values) {
    if (is_traced(start)) operands.push_back(start);
  }
  return with_values(
      xs, apply_all(call, operands, std::move(labels), [&](std::span<const ir::Val> in) {
        ir::Vals starts;
        std::size_t next = n;
        for (const Ref& start : init.data().values) {
          starts.push_back(is_traced(start) ? in[next++] : ops::constant(node(start).array()));
        }
        return emit(in.first(n), starts);
      }));
}

}  // namespace

Leaves sort_together(const Leaves& xs, int axis, int keys, Where where) {
  return sorted({"sort_together", where}, xs,
                [&](std::span<const ir::Val> in) { return ops::sort(in, axis, keys); });
}

Leaves sort_by(const Function& before, const Leaves& elements, const Leaves& xs, int axis,
               Where where) {
  const OpCall call{"sort_by", where};
  return with_place(where, [&] {
    const ir::GraphRef g = scalar_graph(call, before, elements);
    // The op's comparator takes a0, b0, a1, b1, ….
    const auto n = static_cast<std::uint32_t>(xs.size());
    std::vector<ir::ParamSpec> params;
    for (std::uint32_t k = 0; k < n; ++k) params.insert(params.end(), {{k, {}}, {n + k, {}}});
    const ir::GraphRef comparator = ir::with_signature(*g, params, g->results());
    return sorted(call, xs,
                  [&](std::span<const ir::Val> in) { return ops::sort(in, axis, comparator); });
  });
}

Leaves fold(const Function& f, const Leaves& elements, const Leaves& init, const Leaves& xs,
            std::span<const int> over, Where where) {
  const OpCall call{"reduce", where};
  return with_place(where, [&] {
    const ir::GraphRef g = scalar_graph(call, f, elements);
    std::vector<std::int64_t> axes(over.begin(), over.end());
    std::ranges::sort(axes);
    Labels labels = labels_of(xs);
    for (auto& l : labels) {
      for (std::size_t k = l.empty() ? 0 : axes.size(); k-- > 0;) l.erase(l.begin() + axes[k]);
    }
    return folded(call, init, xs, std::move(labels),
                  [&](std::span<const ir::Val> in, const ir::Vals& starts) {
                    return ops::reduce(in, starts, axes, g);
                  });
  });
}

Leaves fold_windows(const Function& f, const Leaves& elements, const Leaves& init, const Leaves& xs,
                    std::span<const Window> windows, Where where) {
  const OpCall call{"reduce_window", where};
  return with_place(where, [&] {
    const ir::GraphRef g = scalar_graph(call, f, elements);
    Labels labels = labels_of(xs);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      // An axis of another size is no longer the one of that name.
      if (rules::fold_window({}, 0, windows[i]).axis == 0) continue;
      for (auto& l : labels) {
        if (!l.empty()) l[i] = {};
      }
    }
    return folded(call, init, xs, std::move(labels),
                  [&](std::span<const ir::Val> in, const ir::Vals& starts) {
                    ops::Window all = ops::plain_window({});
                    for (std::size_t i = 0; i < windows.size(); ++i) {
                      const Window& w = windows[i];
                      const ir::Dim n = in[0].dim(static_cast<int>(i));
                      const auto [low, high] =
                          w.same ? window_padding(
                                       {.stride = w.stride, .dilation = w.dilation, .same = true},
                                       n, ir::Dim(w.size))
                                 : std::pair(ir::Dim(w.low), ir::Dim(w.high));
                      all.size.emplace_back(w.size);
                      all.strides.push_back(w.stride);
                      all.low.push_back(low);
                      all.high.push_back(high);
                      all.base_dilation.push_back(w.base_dilation);
                      all.window_dilation.push_back(w.dilation);
                    }
                    return ops::reduce_window(in, starts, all, g);
                  });
  });
}

}  // namespace tlaloc::core
