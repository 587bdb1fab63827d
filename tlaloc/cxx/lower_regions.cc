// if and call.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/cxx/usage.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;

void Lowering::region_node(Scope& s, const ir::Node& n, NodeCall& call) {
  fresh_bound(s, n);
  std::vector<Type> types;
  for (Type t : n.result_types()) types.push_back(t.substitute(s.dims));
  call.types = types;
  switch (n.region_kind()) {
    case ir::RegionKind::branch:
      if (call.in[0].array) return lane_branch(n, call, s);
      return branch(n, call, s);
    case ir::RegionKind::loop:
      return while_loop(n, call, s);
    case ir::RegionKind::scan:
      return scan(n, call, s);
    case ir::RegionKind::manual:
      refuse_op(n.op(), "several devices run it", "print the function that each of them runs",
                n.origin());
    default:
      return call_node(n, call, s);
  }
}

void Lowering::branch(const ir::Node& n, NodeCall& call, Scope& s) {
  const Values args(call.in.begin() + 1, call.in.end());
  Stmt test{Stmt::Kind::branch};
  test.value = call.in[0].scalar;
  // Sizes that a branch binds, where they are read.
  std::vector<std::optional<VarId>> sizes(n.bound().size());
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (!reads_symbol(s.graph, n.bound()[k])) continue;
    sizes[k] = declare(Type::scalar(DType::i64), n.bound()[k].name() == "T" ? "trips" : "length",
                       NameRank::value);
    define(*s.dims.get(n.bound()[k]).as_symbol(), variable(*sizes[k]));
  }
  std::vector<VarId> targets;
  for (Type t : call.types) {
    targets.push_back(declare(t));
    if (call.types.size() == 1) suggest(targets.back(), n.origin());
  }
  std::vector<Values> results(2);
  for (std::size_t b = 0; b < 2; ++b) {
    (b == 0 ? test.body : test.other) = block([&] {
      results[b] = graph(*n.region(b).graph, args, ir::region_map(n.region(b), s.dims));
      const std::vector<Dim> dims = result_dims();
      Stmt move{Stmt::Kind::parallel};
      for (std::size_t k = 0; k < targets.size(); ++k) {
        move.moves.push_back({targets[k], whole(results[b][k])});
      }
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        if (sizes[k]) move.moves.push_back({*sizes[k], size(dims[k])});
      }
      if (!move.moves.empty()) emit(std::move(move));
    });
  }
  emit(std::move(test));
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const Type t = call.types[k];
    if (t.rank() > 0)
      call.out.push_back(in_vector(t, targets[k]));
    else
      call.out.push_back(
          scalar(t, variable(targets[k]), united(results[0][k].range, results[1][k].range)));
  }
}

void Lowering::lane_branch(const ir::Node& n, NodeCall& call, Scope& s) {
  const Values args(call.in.begin() + 1, call.in.end());
  const Value p = call.in[0];
  if (!n.bound().empty()) {
    refuse_op(n.op(), "lanes that ran for different times are padded to one length",
              "print the function before vmap", n.origin());
  }
  const auto& owner = n.as<ir::IfAttrs>().out_owner;
  std::vector<Values> results;
  for (std::size_t b = 0; b < 2; ++b) {
    results.push_back(graph(*n.region(b).graph, args, ir::region_map(n.region(b), s.dims)));
  }
  const auto lanes = static_cast<std::ptrdiff_t>(p.type.rank());
  for (std::size_t k = 0; k < call.types.size(); ++k) {
    const Value a = results[0][k], b = results[1][k];
    if (owner[k] >= 0) {
      call.out.push_back(owner[k] == 0 ? a : b);
      continue;
    }
    ArrayValue chosen;
    chosen.element = [p, a, b, lanes](Lowering& l, const Indices& at) {
      const ExprRef which = l.element(p, {at.begin(), at.begin() + lanes});
      return ternary(which, l.element(a, at), l.element(b, at));
    };
    call.out.push_back(lazy(call.types[k], std::move(chosen)));
  }
}

void Lowering::call_node(const ir::Node& n, NodeCall& call, Scope& s) {
  const ir::Region& r = n.region(0);
  const Values args(call.in.begin(), call.in.end());
  call.out = graph(*r.graph, args, ir::region_map(r, s.dims));
  const std::vector<Dim> dims = result_dims();
  for (std::size_t k = 0; k < n.bound().size(); ++k) s.dims.set(n.bound()[k], dims[k]);
  // The callee's sizes took the place of the symbols that the call binds.
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    call.out[k].type = n.result_types()[k].substitute(s.dims);
  }
}

}  // namespace tlaloc::cxx
