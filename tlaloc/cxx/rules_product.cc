// dot_general as loops.
#include <algorithm>

#include "tlaloc/cxx/identities.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/dot.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;
using ops::AxisList;

AxisList free_axes(int rank, const AxisList& batch, const AxisList& contract) {
  AxisList r;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (!ops::contains(batch, i) && !ops::contains(contract, i)) r.push_back(i);
  }
  return r;
}

void lower_dot(Lowering& l, NodeCall& c) {
  const auto& d = c.node.as<ops::DotDims>();
  const Value &a = c.in[0], &b = c.in[1];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  const AxisList a_free = free_axes(a.type.rank(), d.lhs_batch, d.lhs_contract);
  const AxisList b_free = free_axes(b.type.rank(), d.rhs_batch, d.rhs_contract);
  std::vector<ir::Dim> depth;
  for (std::int64_t axis : d.lhs_contract) depth.push_back(a.type.dim(static_cast<int>(axis)));
  const Type inner = Type::get(dtype, depth);

  auto dot = [&](const Indices& at) {
    const VarId sum = l.declare(Type::scalar(dtype), "sum", NameRank::derived);
    l.assign(sum, l.constant(identity(dtype, ir::Identity::zero)).scalar);
    l.for_each(inner, [&](const Indices& k) {
      Indices left(static_cast<std::size_t>(a.type.rank())),
          right(static_cast<std::size_t>(b.type.rank()));
      std::size_t next = 0;
      auto put = [](Indices& to, std::int64_t axis, const Index& i) {
        to[static_cast<std::size_t>(axis)] = i;
      };
      for (std::size_t i = 0; i < d.lhs_batch.size(); ++i) {
        put(left, d.lhs_batch[i], at[next]);
        put(right, d.rhs_batch[i], at[next++]);
      }
      for (std::int64_t axis : a_free) put(left, axis, at[next++]);
      for (std::int64_t axis : b_free) put(right, axis, at[next++]);
      for (std::size_t i = 0; i < k.size(); ++i) {
        put(left, d.lhs_contract[i], k[i]);
        put(right, d.rhs_contract[i], k[i]);
      }
      const ExprRef product =
          l.combine(ops::rows::Mul, c.node, dtype, l.element(a, left), l.element(b, right));
      l.assign(sum, l.combine(ops::rows::Add, c.node, dtype, variable(sum), product));
    });
    return variable(sum);
  };
  c.out.push_back(l.written(type, c.node.origin(), dot));
}

const Rule kRules[] = {
    {.op = &ops::rows::DotGeneral, .node = lower_dot, .reads = Reads::often},
};

}  // namespace

std::span<const Rule> product_rules() { return kRules; }

}  // namespace tlaloc::cxx
