#include <optional>
#include <string>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure.h"

namespace tlaloc::core {
namespace {

template <class T>
std::vector<T> without(std::vector<T> xs, int at) {
  if (!xs.empty()) xs.erase(xs.begin() + at);
  return xs;
}

/// The signature of one lane.
Signature peeled(Signature s, std::span<const int> in_axes) {
  for (std::size_t i = 0; i < s.types.size(); ++i) {
    if (in_axes[i] < 0) continue;
    const ir::Type t = s.types[i];
    s.types[i] = ir::Type::get(t.dtype(),
                               without(std::vector(t.shape().begin(), t.shape().end()), in_axes[i]),
                               t.encoding());
    s.labels[i] = without(std::move(s.labels[i]), in_axes[i]);
  }
  return s;
}

}  // namespace

Leaves vmap(const Function& f, const Leaves& args, std::span<const int> in_axes,
            const AxisSpec& axis, Where where) {
  const OpCall call{"vmap", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    internal_check(static_cast<int>(in_axes.size()) == args.size(), "vmap: one axis per leaf");
    const Signature whole = signature_of(args);
    std::optional<ir::Dim> lanes;
    int first = -1;
    std::vector<std::optional<int>> axes;
    for (int i = 0; i < args.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int k = in_axes[at];
      if (k < 0) {
        axes.emplace_back(std::nullopt);
        continue;
      }
      if (k >= rank(args[i])) {
        throw UserError({"TL-AXIS-001", call.name,
                         "axis " + std::to_string(k) + " of " + args.data().path(at) +
                             " is out of range for " + describe(args[i]),
                         "", user_place(where)});
      }
      axes.emplace_back(k);
      if (lanes) {
        require_same(call, "TL-SHAPE-001", args[first], in_axes[static_cast<std::size_t>(first)],
                     args[i], k);
      } else {
        lanes = whole.types[at].dim(k);
        first = i;
      }
    }
    if (!lanes) {
      throw UserError({"TL-VMAP-001", call.name,
                       "no argument carries the axis" +
                           (axis.name ? " " + std::string(axis.name) : std::string()),
                       "map an axis that an argument has", user_place(where)});
    }
    // What f differentiates will be mapped.
    const transform::MappedScope mapped;
    const Closure c = trace_closure(f, args, peeled(whole, in_axes));
    axes.resize(c.graph->param_count());
    const ir::GraphRef g = transform::vmap(c.graph, axes, *lanes);
    std::vector<std::vector<AxisLabel>> labels = c.result_labels;
    for (std::size_t k = 0; k < labels.size(); ++k) {
      if (labels[k].empty() && !axis.name) continue;
      const ir::Type t = c.graph->type(c.graph->results()[k]);
      labels[k].resize(static_cast<std::size_t>(t.rank()));
      labels[k].insert(labels[k].begin(), AxisLabel{axis.name, axis.tag});
    }
    const auto& values = args.data().values;
    return with_values(
        c.results,
        call_graph(call, g, values, c.captures, DimBinding(whole, values), labels).values);
  });
}

}  // namespace tlaloc::core
