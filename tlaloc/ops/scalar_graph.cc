#include "tlaloc/ops/scalar_graph.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {
namespace {

std::string list(const std::vector<DType>& dtypes) {
  std::string s;
  for (DType t : dtypes) s += (s.empty() ? "" : ", ") + std::string(name(t)) + "[]";
  return "(" + s + ")";
}
bool are_scalars(std::span<const Type> types, const std::vector<DType>& wanted) {
  return std::ranges::equal(types, wanted, [](Type t, DType want) {
    return t.rank() == 0 && t.dtype() == want && !t.encoding();
  });
}
Vals emit_with_tangents(const ir::Graph& g, const Vals& args, const Vals& tangents, Vals& dot) {
  Vals env(args);
  env.resize(g.value_count());
  dot = tangents;
  dot.resize(g.value_count());
  const Type shape = args.at(0).type();
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    Vals in, d;
    bool moves = false;
    for (ir::ValueId v : n.operands()) {
      in.push_back(env[v]);
      d.push_back(dot[v]);
      moves = moves || dot[v];
    }
    Val y = ir::Builder::current().emit(n.op(), n.attr(), in);
    if (in.empty() && shape.rank()) y = broadcast_in_dim(y, shape.shape(), {});
    env[n.result()] = y;
    if (!moves || !is_differentiable(y.dtype())) continue;
    if (!n.op().jvp) {
      throw UserError({"TL-GRAD-003", n.op().name,
                       std::string("has no derivative: ") + n.op().jvp.refusal,
                       "use another reducer", ir::OriginScope::current()->place});
    }
    std::vector<Type> types;
    for (Val v : in) types.push_back(v.type());
    const Type out = y.type();
    n.op().jvp.fn({&n.op(), n.attr().get(), in, std::span(&y, 1), types, std::span(&out, 1)}, d,
                  std::span(&dot[n.result()], 1));
  }
  return env;
}
Vals results_of(const ir::Graph& g, const Vals& env) {
  Vals r;
  for (ir::ValueId v : g.results()) r.push_back(env[v]);
  return r;
}

}  // namespace

void check_scalar_graph(const InferContext& c, const ir::GraphAttr& g,
                        const std::vector<DType>& params, const std::vector<DType>& results) {
  if (!g.graph) c.fail("TL-REGION-001", "the graph is missing");
  ir::verify(*g.graph);
  for (std::uint32_t i = 0; i < g.graph->node_count(); ++i) {
    const ir::OpDef& op = g.graph->node(i).op();
    if (op.traits.elementwise || &op == &rows::Constant) continue;
    c.fail("TL-REGION-001",
           "its graph may hold elementwise ops and constants only, not " + std::string(op.name));
  }
  if (!are_scalars(g.graph->param_types(), params) ||
      !are_scalars(g.graph->result_types(), results)) {
    c.fail("TL-REGION-001", "its graph must be " + list(params) + " -> " + list(results));
  }
}

std::vector<HostArray> eval_scalar_graph(const ir::Graph& g, std::vector<HostArray> args) {
  const Extents extents = args.at(0).extents();
  const std::vector<Extents> out_extents{extents};
  std::vector<HostArray> env = std::move(args);
  env.resize(g.value_count());
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    std::vector<HostArray> in;
    for (ir::ValueId v : n.operands()) in.push_back(env[v]);
    const DType dtype = n.result_types()[0].dtype();
    EvalContext c;
    c.op = &n.op();
    c.attr = n.attr().get();
    c.in = in;
    c.out_dtypes = std::span(&dtype, 1);
    c.out_extents = out_extents;
    n.op().eval(c);
    HostArray y = std::move(c.out.at(0));
    if (y.extents() != extents) {
      HostArray wide = HostArray::uninitialized(dtype, extents);
      gather_strided(y, 0, Extents(extents.size(), 0), wide);
      y = std::move(wide);
    }
    env[n.result()] = std::move(y);
  }
  std::vector<HostArray> r;
  for (ir::ValueId v : g.results()) r.push_back(env[v]);
  return r;
}

Vals emit_scalar_graph(const ir::Graph& g, const Vals& args) {
  Vals none;
  return results_of(g, emit_with_tangents(g, args, Vals(args.size()), none));
}
Vals emit_scalar_graph_tangents(const ir::Graph& g, const Vals& args, const Vals& tangents) {
  Vals dot;
  emit_with_tangents(g, args, tangents, dot);
  return results_of(g, dot);
}

}  // namespace tlaloc::ops
