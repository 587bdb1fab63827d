// reduce: folds with any reducer.
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/reduce_general.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;

void lower_fold(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::FoldAttrs>();
  const std::size_t n = c.types.size();
  const Values in(c.in.begin(), c.in.end());
  const Type type = c.types[0];
  const auto outer = ops::other_axes(in[0].type.rank(), a.axes);
  std::vector<ir::Dim> reduced;
  for (std::int64_t axis : a.axes) reduced.push_back(in[0].type.dim(static_cast<int>(axis)));

  // One accumulator per result, all moved on at once.
  auto fold = [&](const Indices& at) {
    std::vector<VarId> acc;
    for (std::size_t k = 0; k < n; ++k) {
      const DType t = c.types[k].dtype();
      acc.push_back(l.declare(Type::scalar(t), n == 1 ? "total" : "", NameRank::derived));
      const Value& start = in[n + k];
      l.assign(acc[k], start.scalar ? start.scalar : l.element(start, at));
    }
    l.for_each(Type::get(DType::i64, reduced), [&](const Indices& i) {
      Indices all(static_cast<std::size_t>(in[0].type.rank()));
      for (std::size_t k = 0; k < outer.size(); ++k)
        all[static_cast<std::size_t>(outer[k])] = at[k];
      for (std::size_t k = 0; k < a.axes.size(); ++k)
        all[static_cast<std::size_t>(a.axes[k])] = i[k];
      Values args;
      for (std::size_t k = 0; k < n; ++k) {
        args.push_back(l.scalar(Type::scalar(c.types[k].dtype()), variable(acc[k])));
      }
      for (std::size_t k = 0; k < n; ++k) {
        Value x = l.element_value(in[k], all);
        x.scalar = l.keep(x.scalar, c.types[k].dtype());
        args.push_back(std::move(x));
      }
      const Values next = l.graph(*a.reducer.graph, args, {});
      Stmt move{Stmt::Kind::parallel};
      for (std::size_t k = 0; k < n; ++k) move.moves.push_back({acc[k], next[k].scalar});
      l.emit(std::move(move));
    });
    return acc;
  };
  if (type.rank() == 0) {
    for (VarId v : fold({})) {
      c.out.push_back(l.scalar(c.types[c.out.size()], variable(v)));
    }
    return;
  }
  std::vector<VarId> y;
  for (Type t : c.types) y.push_back(l.new_vector(t, n == 1 ? c.node.origin() : ir::Origin{}));
  l.for_each(type, [&](const Indices& at) {
    const auto acc = fold(at);
    const ExprRef to = l.position(type, at).expr;
    for (std::size_t k = 0; k < n; ++k) l.store(y[k], to, variable(acc[k]));
  });
  for (std::size_t k = 0; k < n; ++k) c.out.push_back(l.in_vector(c.types[k], y[k]));
}

const Rule kRules[] = {{.op = &ops::rows::Reduce, .node = lower_fold}};

}  // namespace

std::span<const Rule> fold_rules() { return kRules; }

}  // namespace tlaloc::cxx
