#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo {
namespace {

/// With its operations in the order in which its results need them.
ir::GraphRef in_order(const ir::Graph& g) {
  ir::Builder b;
  ir::Vals values(g.value_count());
  for (std::size_t k = 0; k < g.param_count(); ++k) values[k] = b.param(g.param_types()[k]);
  for (ir::ValueId result : g.results()) {
    std::vector<ir::ValueId> pending{result};
    while (!pending.empty()) {
      const ir::ValueId v = pending.back();
      if (values[v]) {
        pending.pop_back();
        continue;
      }
      const ir::Node n = g.node(g.producer(v));
      ir::Vals in;
      for (std::size_t k = n.operands().size(); k-- > 0;) {
        const ir::ValueId operand = n.operand(k);
        if (!values[operand]) pending.push_back(operand);
      }
      if (pending.back() != v) continue;
      for (ir::ValueId operand : n.operands()) in.push_back(values[operand]);
      b.emit_typed(n.op(), n.attr(), in, n.result_types(),
                   std::span(values).subspan(n.result(), n.result_count()));
      pending.pop_back();
    }
  }
  ir::Vals results;
  for (ir::ValueId v : g.results()) results.push_back(values[v]);
  return b.build(results);
}

}  // namespace

bool raising::same_scalar_graph(const ir::Graph& a, const ir::Graph& b) {
  return a.param_count() == b.param_count() && a.node_count() == b.node_count() &&
         a.results().size() == b.results().size() && same_graph(*in_order(a), *in_order(b));
}

RaiseFn find_raise(std::string_view operation) {
  using namespace raising;  // NOLINT: the families
  static const RaiseTable table = [] {
    RaiseTable t;
    for (auto add : {add_elementwise, add_shape, add_index, add_reduce, add_order, add_linalg,
                     add_regions, add_dynamic, add_collectives, add_mesh, add_custom_call}) {
      add(t);
    }
    return t;
  }();
  const auto known = table.find(operation);
  return known == table.end() ? nullptr : known->second;
}

}  // namespace tlaloc::stablehlo
