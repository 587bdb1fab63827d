// Reductions, running reductions and positions: one accumulator, in row-major order, as the
// interpreter folds.
#include <algorithm>

#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/identities.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/reduce.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;
namespace rows = ops::rows;

struct Fold {
  const ir::OpDef* op;       ///< the reduction
  const ir::OpDef* combine;  ///< the binary op; null for log_add_exp
  ir::Identity start;
  const char* name;
};
constexpr Fold kFolds[] = {
    {&rows::ReduceSum, &rows::Add, ir::Identity::zero, "sum"},
    {&rows::ReduceProd, &rows::Mul, ir::Identity::one, "product"},
    {&rows::ReduceMax, &rows::Max, ir::Identity::lowest, "largest"},
    {&rows::ReduceMin, &rows::Min, ir::Identity::highest, "smallest"},
    {&rows::ReduceOr, &rows::Or, ir::Identity::zero, "any"},
    {&rows::ReduceAnd, &rows::And, ir::Identity::all_ones, "all"},
    {&rows::CumSum, &rows::Add, ir::Identity::zero, "sum"},
    {&rows::CumProd, &rows::Mul, ir::Identity::one, "product"},
    {&rows::CumMax, &rows::Max, ir::Identity::lowest, "largest"},
    {&rows::CumMin, &rows::Min, ir::Identity::highest, "smallest"},
    {&rows::CumLogSumExp, nullptr, ir::Identity::lowest, "total"},
};
const Fold& fold_of(const ir::OpDef& op) { return *std::ranges::find(kFolds, &op, &Fold::op); }

ExprRef combined(Lowering& l, const Fold& f, const ir::Node& n, DType t, ExprRef acc, ExprRef x) {
  if (f.combine) return l.combine(*f.combine, n, t, std::move(acc), std::move(x));
  l.needs().helper(Helper::log_add_exp);
  return call(name_of(Helper::log_add_exp), {std::move(acc), std::move(x)});
}

void lower_reduction(Lowering& l, NodeCall& c) {
  const Fold& f = fold_of(c.node.op());
  const auto& axes = c.node.as<ops::ReduceAttrs>().axes;
  const Value& x = c.in[0];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  const auto outer = ops::other_axes(x.type.rank(), axes);
  std::vector<ir::Dim> reduced;
  for (std::int64_t a : axes) reduced.push_back(x.type.dim(static_cast<int>(a)));
  const Type inner = Type::get(dtype, reduced);

  auto fold = [&](const Indices& at) {
    const VarId acc = l.declare(Type::scalar(dtype), f.name, NameRank::derived);
    l.assign(acc, l.constant(identity(dtype, f.start)).scalar);
    l.for_each(inner, [&](const Indices& i) {
      Indices all(static_cast<std::size_t>(x.type.rank()));
      for (std::size_t k = 0; k < outer.size(); ++k)
        all[static_cast<std::size_t>(outer[k])] = at[k];
      for (std::size_t k = 0; k < axes.size(); ++k) all[static_cast<std::size_t>(axes[k])] = i[k];
      l.assign(acc, combined(l, f, c.node, dtype, variable(acc), l.element(x, all)));
    });
    return variable(acc);
  };
  c.out.push_back(l.written(type, c.node.origin(), fold));
}

/// The type of the lines along other axes than `axis`.
Type without_axis(Type t, std::int64_t axis) {
  std::vector<ir::Dim> shape(t.shape().begin(), t.shape().end());
  shape.erase(shape.begin() + axis);
  return Type::get(t.dtype(), shape);
}
Indices with_axis(Indices at, std::int64_t axis, Index i) {
  at.insert(at.begin() + axis, std::move(i));
  return at;
}

void lower_cumulative(Lowering& l, NodeCall& c) {
  const Fold& f = fold_of(c.node.op());
  const auto& a = c.node.as<ops::CumulativeAttrs>();
  const Value& x = c.in[0];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  const ir::Dim n = type.dim(static_cast<int>(a.axis));
  const VarId y = l.new_vector(type, c.node.origin());
  l.for_each(without_axis(type, a.axis), [&](const Indices& line) {
    const VarId acc = l.declare(Type::scalar(dtype), f.name, NameRank::derived);
    l.assign(acc, l.constant(identity(dtype, f.start)).scalar);
    const VarId i = l.declare_counter();
    const ExprRef from = a.reverse ? l.size(n - 1) : integer(0);
    const ExprRef more =
        a.reverse ? compare(">=", variable(i), integer(0)) : compare("<", variable(i), l.size(n));
    l.emit(l.count_loop(i, from, more, a.reverse ? -1 : 1, [&] {
      const Indices at = with_axis(line, a.axis, {variable(i), Range::below(n)});
      const ExprRef to = l.position(type, at).expr;
      if (a.exclusive) l.store(y, to, variable(acc));
      l.assign(acc, combined(l, f, c.node, dtype, variable(acc), l.element(x, at)));
      if (!a.exclusive) l.store(y, to, variable(acc));
    }));
  });
  c.out.push_back(l.in_vector(type, y));
}

void lower_position(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::ArgReduceAttrs>();
  const Value& x = c.in[0];
  const Type type = c.types[0];
  const ir::Dim n = x.type.dim(static_cast<int>(a.axis));
  const bool largest = &c.node.op() == &rows::ArgMax;
  auto find = [&](const Indices& line) {
    const VarId best = l.declare(Type::scalar(DType::i64), "best", NameRank::derived);
    l.assign(best, integer(0));
    const VarId i = l.declare_counter();
    l.emit(l.count_loop(i, integer(1), compare("<", variable(i), l.size(n)), 1, [&] {
      const ExprRef v = l.element(x, with_axis(line, a.axis, {variable(i), Range::below(n)}));
      const ExprRef b = l.element(x, with_axis(line, a.axis, {variable(best), Range::below(n)}));
      ExprRef better = compare(largest ? ">" : "<", v, b);
      if (is_float(x.type.dtype())) {
        const ExprRef first_nan = call("std::isnan", {v});
        better = logical_and(logical_not(call("std::isnan", {b})),
                             infix(Level::logical_or, "||", first_nan, better));
      }
      Stmt test{Stmt::Kind::branch};
      test.value = better;
      test.body = l.block([&] { l.assign(best, variable(i)); });
      l.emit(std::move(test));
    }));
    const ExprRef position = variable(best);
    return a.dtype == DType::i64 ? position
                                 : call("static_cast<" + type_name(a.dtype) + ">", {position});
  };
  c.out.push_back(l.written(type, c.node.origin(), find));
}

std::vector<Rule> make_rules() {
  std::vector<Rule> r;
  for (const ir::OpDef* op : {&rows::ReduceSum, &rows::ReduceProd, &rows::ReduceMax,
                              &rows::ReduceMin, &rows::ReduceOr, &rows::ReduceAnd}) {
    r.push_back({.op = op, .node = lower_reduction, .reads = Reads::once});
  }
  for (const ir::OpDef* op :
       {&rows::CumSum, &rows::CumProd, &rows::CumMax, &rows::CumMin, &rows::CumLogSumExp}) {
    r.push_back({.op = op, .node = lower_cumulative, .reads = Reads::once});
  }
  for (const ir::OpDef* op : {&rows::ArgMax, &rows::ArgMin}) {
    r.push_back({.op = op, .node = lower_position, .reads = Reads::often});
  }
  return r;
}

}  // namespace

std::span<const Rule> reduce_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

}  // namespace tlaloc::cxx
