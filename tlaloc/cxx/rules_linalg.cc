// Triangular factors and solves, random bits: printed helper functions do the work.
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/linalg.h"
#include "tlaloc/ops/random_bits.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;

void lower_cholesky(Lowering& l, NodeCall& c) {
  const Type type = c.types[0];
  l.needs().helper(Helper::cholesky);
  const VarId y = l.declare(type);
  l.suggest(y, c.node.origin());
  l.assign(y, call(name_of(Helper::cholesky),
                   {variable(l.materialize(c.in[0])), l.size(type.dim(type.rank() - 1))}));
  c.out.push_back(l.in_vector(type, y));
}

void lower_triangular_solve(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::TriangularAttrs>();
  const Type type = c.types[0];
  // A system per column, or per row with the transpose of op(A).
  const bool transposed = a.transpose == a.left;
  const ExprRef n = l.size(c.in[0].type.dim(c.in[0].type.rank() - 1));
  const ExprRef m = l.size(type.dim(type.rank() - (a.left ? 1 : 2)));
  auto flag = [](const char* name, bool value) {
    return literal("/*" + std::string(name) + "=*/" + (value ? "true" : "false"));
  };
  l.needs().helper(Helper::triangular_solve);
  const VarId y = l.declare(type);
  l.suggest(y, c.node.origin());
  l.assign(y, call(name_of(Helper::triangular_solve),
                   {variable(l.materialize(c.in[0])), variable(l.materialize(c.in[1])), n, m,
                    flag("lower", a.lower != transposed), flag("transposed", transposed),
                    flag("unit", a.unit), flag("columns", a.left)}));
  c.out.push_back(l.in_vector(type, y));
}

/// Both words come out of one call, the second one in the upper half.
void lower_threefry(Lowering& l, NodeCall& c) {
  const Type type = c.types[0];
  const Values in(c.in.begin(), c.in.end());
  l.needs().helper(Helper::threefry);
  auto words = [&](const Indices& at) {
    Exprs args;
    for (const Value& v : in) args.push_back(v.scalar ? v.scalar : l.element(v, at));
    const VarId bits = l.declare(Type::scalar(DType::u64), "bits", NameRank::derived);
    l.assign(bits, call(name_of(Helper::threefry), std::move(args)));
    const std::string cast = "static_cast<std::uint32_t>";
    return std::pair(call(cast, {variable(bits)}),
                     call(cast, {infix(Level::shift, ">>", variable(bits), integer(32))}));
  };
  if (type.rank() == 0) {
    const auto [low, high] = words({});
    c.out.push_back(l.scalar(type, l.keep(low, DType::u32)));
    c.out.push_back(l.scalar(type, l.keep(high, DType::u32)));
    return;
  }
  const VarId y0 = l.new_vector(type, {}), y1 = l.new_vector(type, {});
  l.for_each(type, [&](const Indices& at) {
    const auto [low, high] = words(at);
    const ExprRef to = l.position(type, at).expr;
    l.store(y0, to, low);
    l.store(y1, to, high);
  });
  c.out.push_back(l.in_vector(type, y0));
  c.out.push_back(l.in_vector(type, y1));
}

const Rule kRules[] = {
    {.op = &ops::rows::Cholesky, .node = lower_cholesky},
    {.op = &ops::rows::TriangularSolve, .node = lower_triangular_solve},
    {.op = &ops::rows::Threefry2x32, .node = lower_threefry, .reads = Reads::once},
};

}  // namespace

std::span<const Rule> linalg_rules() { return kRules; }

}  // namespace tlaloc::cxx
