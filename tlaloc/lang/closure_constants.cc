#include "tlaloc/lang/closure_constants.h"

#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/transform/dce.h"

namespace tlaloc::core {

ir::GraphRef with_constants(const Closure& c, std::int64_t largest) {
  const ir::Graph& g = *c.graph;
  ir::Builder b(g.name());
  ir::Copier copier(g);
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const std::size_t captured = k - c.argument_count();
    const bool known = k >= c.argument_count() && captured < c.captures.captured.size();
    const HostArray* array = known ? &node(c.captures.captured[captured]).array() : nullptr;
    const bool small = array && array->size() <= largest;
    copier.env[k] = small ? ops::constant(*array) : copier.declare(k);
  }
  for (std::uint32_t i = 0; i < g.node_count(); ++i) copier.copy(g.node(i));
  copier.copy_constraints();
  ir::Builder::Close close;
  close.result_dims = copier.result_dims();
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    close.result_labels.push_back(g.result_label(k));
  }
  return b.build(copier.results(), std::move(close));
}

ir::GraphRef whole_graph(const OpCall& call, const Function& f, const Leaves& args) {
  require_values(args, call.name);
  require_agreement(call, args);
  const Closure c = trace_closure(f, args, signature_of(args));
  if (!c.captures.lifted.empty()) {
    throw UserError({"TL-BACKEND-001", call.name,
                     "the function reads values of the trace around it", "pass them as arguments",
                     user_place(call.where)});
  }
  return transform::dce(with_constants(c, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace tlaloc::core
