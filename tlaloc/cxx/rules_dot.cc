// Contractions: one accumulator per result, over the contracted axes in row-major order, as the
// interpreter sums.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;

std::vector<std::size_t> free_axes(int rank, const ops::AxisList& batch,
                                   const ops::AxisList& contract) {
  std::vector<std::size_t> r;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(batch, i) == batch.end() &&
        std::ranges::find(contract, i) == contract.end()) {
      r.push_back(static_cast<std::size_t>(i));
    }
  }
  return r;
}

void lower_dot(Lowering& l, NodeCall& c) {
  const ops::DotDims& d = c.node.as<ops::DotDims>();
  const Value &a = c.in[0], &b = c.in[1];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  if (!is_float(dtype)) {
    throw UserError({"TL-CXX-002", c.node.op().name, "a product of integers has no printed form",
                     "", c.node.origin().place});
  }
  const auto a_free = free_axes(a.type.rank(), d.lhs_batch, d.lhs_contract);
  const auto b_free = free_axes(b.type.rank(), d.rhs_batch, d.rhs_contract);
  std::vector<ir::Dim> contracted;
  for (std::int64_t axis : d.lhs_contract) contracted.push_back(a.type.dim(static_cast<int>(axis)));
  const Type inner = Type::get(dtype, contracted);

  auto sum = [&](const Indices& at) {
    Indices in_a(static_cast<std::size_t>(a.type.rank())),
        in_b(static_cast<std::size_t>(b.type.rank()));
    std::size_t next = 0;
    for (std::size_t k = 0; k < d.lhs_batch.size(); ++k, ++next) {
      in_a[static_cast<std::size_t>(d.lhs_batch[k])] = at[next];
      in_b[static_cast<std::size_t>(d.rhs_batch[k])] = at[next];
    }
    for (std::size_t axis : a_free) in_a[axis] = at[next++];
    for (std::size_t axis : b_free) in_b[axis] = at[next++];
    const VarId acc = l.declare(Type::scalar(dtype), "sum", NameRank::derived);
    if (type.rank() == 0) l.suggest(acc, c.node.origin());
    l.assign(acc, l.constant(dispatch(dtype, []<class T>(TypeTag<T>) {
                     return HostArray::scalar(T{});
                   })).scalar);
    l.for_each(inner, [&](const Indices& i) {
      for (std::size_t k = 0; k < i.size(); ++k) {
        in_a[static_cast<std::size_t>(d.lhs_contract[k])] = i[k];
        in_b[static_cast<std::size_t>(d.rhs_contract[k])] = i[k];
      }
      l.assign(acc, add(variable(acc), multiply(l.element(a, in_a), l.element(b, in_b))));
    });
    return variable(acc);
  };
  if (type.rank() == 0) {
    c.out.push_back(l.scalar(type, sum({})));
    return;
  }
  const VarId y = l.declare(type);
  l.suggest(y, c.node.origin());
  l.assign(y, call(l.var(y).type, {l.size(type.elements())}));
  l.for_each(type, [&](const Indices& at) { l.store(y, l.position(type, at).expr, sum(at)); });
  c.out.push_back(l.in_vector(type, y));
}

const Rule kRules[] = {
    {.op = &ops::rows::DotGeneral, .node = lower_dot, .reads = Reads::often},
};

}  // namespace

std::span<const Rule> dot_rules() { return kRules; }

}  // namespace tlaloc::cxx
