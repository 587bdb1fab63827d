// What a loop reads, writes and computes.
#include <map>
#include <set>
#include <utility>

#include "tlaloc/cpu/loop.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using Kind = Loop::Op::Kind;

/// Whether an operation counts as arithmetic on floating-point numbers.
bool is_arithmetic(const Loop::Op& op) {
  if (op.kind != Kind::op || !is_float(op.dtype)) return false;
  switch (static_cast<ops::OpId>(op.def->id)) {
    case ops::OpId::Select:
    case ops::OpId::Convert:
    case ops::OpId::BitcastConvert:
    case ops::OpId::StopGradient:
    case ops::OpId::OptimizationBarrier:
    case ops::OpId::Neg:
    case ops::OpId::Abs:
      return false;
    default:
      return true;
  }
}

}  // namespace

Cost loop_cost(const void* data, const std::int64_t* ints) {
  const Loop& loop = *static_cast<const Loop*>(data);
  double all = 1;
  Cost c;
  c.space = "[";
  for (std::size_t k = 0; k < loop.rank; ++k) {
    all *= static_cast<double>(ints[k]);
    c.space += (k ? ", " : "") + std::to_string(ints[k]);
  }
  c.space += "]";
  // Elements along axes on which a position does not depend are the same.
  auto distinct = [&](std::size_t first) {
    double n = 1;
    for (std::size_t k = 0; k < loop.rank; ++k) {
      if (ints[first + 1 + k] != 0) n *= static_cast<double>(ints[k]);
    }
    return n;
  };
  std::map<std::size_t, double> elements;
  std::set<std::vector<std::int64_t>> seen;  // an array and where it is read
  double per_element = 0;
  for (const Loop::Op& op : loop.ops) {
    per_element += is_arithmetic(op) ? 1 : 0;
    if (op.kind != Kind::load) continue;
    std::vector<std::int64_t> where{op.array, op.first_index * (op.index_count ? 1 : 0)};
    where.insert(where.end(), ints + op.ints, ints + op.ints + loop.rank + 1);
    if (seen.insert(std::move(where)).second) {
      elements[op.array] += op.index_count ? all : distinct(op.ints);
    }
  }
  for (const Loop::Output& o : loop.outputs) {
    elements[o.array] += loop.result_index_count ? all : distinct(o.ints);
  }
  if (loop.fold && is_float(loop.fold->accumulator)) ++per_element;
  if (loop.combine && is_float(loop.ops[loop.outputs[0].reg].dtype)) ++per_element;
  c.flops = per_element * all;
  c.updates = loop.combine != nullptr;
  if (!elements.empty()) c.elements.resize(elements.rbegin()->first + 1);
  for (const auto& [array, n] : elements) c.elements[array] = n;
  return c;
}

}  // namespace tlaloc::cpu
