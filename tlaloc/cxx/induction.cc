#include "tlaloc/cxx/induction.h"

#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::cxx {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

std::optional<Node> node_of(const Graph& g, ValueId v, const ir::OpDef& op) {
  if (g.is_param(v)) return std::nullopt;
  const Node n = g.node(g.producer(v));
  return &n.op() == &op ? std::optional(n) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> constant_of(const Graph& g, ValueId v) {
  const auto n = node_of(g, v, ops::rows::Constant);
  if (!n || !is_integer(g.type(v).dtype()) || g.type(v).rank() != 0) return std::nullopt;
  return n->as<ops::ConstantAttrs>().value.value.element_int(0);
}

std::vector<std::optional<std::int64_t>> steps(const Graph& body, std::size_t first,
                                               std::size_t n_carry,
                                               const ConstantOf& param_constant) {
  auto known = [&](ValueId v) {
    return body.is_param(v) ? param_constant(v) : constant_of(body, v);
  };
  // trips * step is a position, which 64 bits hold for up to 2^47 trips.
  constexpr std::int64_t kLargestStep = 1 << 16;
  auto small = [](std::optional<std::int64_t> c) {
    return c && *c >= -kLargestStep && *c <= kLargestStep ? c : std::nullopt;
  };
  std::vector<std::optional<std::int64_t>> r(n_carry);
  for (std::size_t k = 0; k < n_carry; ++k) {
    const auto param = static_cast<ValueId>(first + k);
    const ValueId next = body.results()[k];
    if (!is_integer(body.type(param).dtype()) || body.type(param).rank() != 0) continue;
    if (const auto n = node_of(body, next, ops::rows::Add)) {
      if (n->operand(0) == param)
        r[k] = small(known(n->operand(1)));
      else if (n->operand(1) == param)
        r[k] = small(known(n->operand(0)));
    } else if (const auto m = node_of(body, next, ops::rows::Sub)) {
      if (const auto c = small(known(m->operand(1))); c && m->operand(0) == param) r[k] = -*c;
    }
  }
  return r;
}

namespace {

/// Range of an integer scalar that no carry enters.
class FixedRange {
 public:
  FixedRange(const Graph& g, std::size_t first, std::size_t n_carry, const RangeOf& range_of,
             const ir::DimMap& dims)
      : g_(g), first_(first), end_(first + n_carry), range_of_(range_of), dims_(dims) {}

  std::optional<Range> operator()(ValueId v) const { return find(v, 0); }

 private:
  std::optional<Range> find(ValueId v, int depth) const {
    if (g_.is_param(v)) {
      return v >= first_ && v < end_ ? std::nullopt : std::optional(range_of_(v));
    }
    if (const auto c = constant_of(g_, v)) return Range::exactly(*c);
    if (const auto n = node_of(g_, v, ops::rows::DimValue)) {
      return Range::exactly(n->as<ops::DimValueAttrs>().dim.substitute(dims_));
    }
    // A bound is n, n - 1, or the like.
    constexpr int kDepth = 4;
    const auto plus = node_of(g_, v, ops::rows::Add), minus = node_of(g_, v, ops::rows::Sub);
    if ((!plus && !minus) || depth == kDepth) return std::nullopt;
    const Node n = plus ? *plus : *minus;
    const auto a = find(n.operand(0), depth + 1), b = find(n.operand(1), depth + 1);
    if (!a || !b) return std::nullopt;
    const DType t = g_.type(v).dtype();
    const auto r = plus ? sum(*a, *b, t) : difference(*a, *b, t);
    return r ? *r : Range::of(t);
  }

  const Graph& g_;
  std::size_t first_, end_;
  const RangeOf& range_of_;
  const ir::DimMap& dims_;
};

}  // namespace

Limits limits(const Graph& condition, std::size_t first, std::size_t n_carry,
              const RangeOf& range_of, const ir::DimMap& dims) {
  const FixedRange fixed(condition, first, n_carry, range_of, dims);
  auto carry_of = [&](ValueId v) -> std::optional<std::size_t> {
    if (!condition.is_param(v) || v < first || v >= first + n_carry) return std::nullopt;
    return v - first;
  };
  Limits r;
  r.exact = true;
  std::vector<ValueId> pending{condition.results()[0]};
  while (!pending.empty()) {
    const ValueId v = pending.back();
    pending.pop_back();
    if (const auto both = node_of(condition, v, ops::rows::And)) {
      pending.push_back(both->operand(1));
      pending.push_back(both->operand(0));
      continue;
    }
    const std::size_t known = r.all.size();
    const auto n = node_of(condition, v, ops::rows::Compare);
    if (n && is_integer(condition.type(n->operand(0)).dtype())) {
      using ops::Comparison;
      const Comparison c = n->as<ops::CompareAttrs>().direction;
      const bool less = c == Comparison::lt || c == Comparison::le;
      const bool ordered = less || c == Comparison::gt || c == Comparison::ge;
      const bool inclusive = c == Comparison::le || c == Comparison::ge;
      for (std::size_t side = 0; ordered && side < 2; ++side) {
        const auto carry = carry_of(n->operand(side));
        const auto bound = fixed(n->operand(1 - side));
        if (!carry || !bound) continue;
        r.all.push_back({*carry, less == (side == 0), inclusive, n->operand(1 - side), *bound});
      }
    }
    r.exact = r.exact && r.all.size() == known + 1;
  }
  return r;
}

}  // namespace tlaloc::cxx
