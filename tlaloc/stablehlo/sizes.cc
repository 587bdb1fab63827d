// Sizes while a graph is emitted: known ones are constants, those of a run have a bound and a
// value.
#include <algorithm>

#include "tlaloc/ir/dim_expr.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo {
namespace {

[[noreturn]] void refuse_size(const ir::Node* node, const std::string& why) {
  const std::string hint = "give the loop max_trips";
  if (node) refuse(*node, why, hint);
  throw UserError({"TL-BACKEND-001", "main", "StableHLO can't say it: " + why, hint, {}});
}

}  // namespace

bool Emitter::is_dynamic(const Frame& f, ir::Type t) const {
  if (!t.has_symbols()) return false;
  return std::ranges::any_of(t.shape(), [&](ir::Dim d) {
    return d.mentions([&](ir::Symbol s) { return f.sizes.at(s.id()).length.has_value(); });
  });
}

std::int64_t Emitter::extent(const Frame& f, ir::Dim d, const ir::Node* node) const {
  if (d.is_constant()) return d.constant();
  if (const auto symbol = d.as_symbol()) {
    const Size& s = f.sizes.at(symbol->id());
    if (s.bound < 0) refuse_size(node, "the trips of a loop that records them have no bound");
    return s.bound;
  }
  return d.evaluate([&](ir::Symbol symbol) {
    const Size& s = f.sizes.at(symbol.id());
    if (s.length) refuse_size(node, "the size " + d.to_string() + " is known only while it runs");
    return s.bound;
  });
}

Size Emitter::size(const Frame& f, ir::Dim d, const ir::Node* node) {
  if (const auto symbol = d.as_symbol()) return f.sizes.at(symbol->id());
  return {extent(f, d, node), {}};
}

TensorType Emitter::type(const Frame& f, ir::Type t, const ir::Node* node) const {
  const ir::Type stored = ops::storage_type(t);
  TensorType r{stored.dtype(), {}};
  for (int axis = 0; axis < stored.rank(); ++axis) {
    r.extents.push_back(extent(f, stored.dim(axis), node));
    if (r.extents.back() < 0) {
      runtime::throw_negative_size(t, axis, r.extents.back(), node ? node->op().name : "main");
    }
  }
  return r;
}

Extents Emitter::extents(const Op& op, std::span<const ir::Dim> dims) const {
  Extents r;
  for (ir::Dim d : dims) r.push_back(extent(op.frame, d, &op.node));
  return r;
}

Value Emitter::size_value(const Frame& f, ir::Dim d) {
  const bool known =
      !d.mentions([&](ir::Symbol s) { return f.sizes.at(s.id()).length.has_value(); });
  if (known) return index(extent(f, d));
  auto atom = [&](const ir::DimAtom& a) -> Value {
    using Kind = ir::DimAtomKind;
    if (a.kind == Kind::symbol) {
      const Size& s = f.sizes.at(a.symbol);
      return s.length ? *s.length : index(s.bound);
    }
    const Value x = size_value(f, a.a), y = size_value(f, a.b);
    if (a.kind == Kind::min) return binary("minimum", x, y);
    if (a.kind == Kind::max) return binary("maximum", x, y);
    // Rounded towards minus infinity: the remainder gets the divisor's sign.
    const Value rest = binary("remainder", x, y), zero = index(0);
    const Value other_sign =
        binary("and", compare("NE", rest, zero),
               compare("NE", compare("LT", rest, zero), compare("LT", y, zero)));
    const Value modulus = select(other_sign, binary("add", rest, y), rest);
    return a.kind == Kind::mod ? modulus : binary("divide", binary("subtract", x, modulus), y);
  };
  std::optional<Value> sum;
  for (const ir::DimTerm& term : ir::terms_of(d)) {
    Value product = index(term.coefficient);
    for (const ir::DimAtom& a : term.atoms) product = binary("multiply", product, atom(a));
    sum = sum ? binary("add", *sum, product) : product;
  }
  return sum ? *sum : index(0);
}

Frame Emitter::region_frame(const Op& op, std::size_t k) {
  const ir::Region& region = op.node.region(k);
  Frame f{*region.graph, {}};
  const auto symbols = region.graph->dims();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (!region.dims[i]) refuse(op.node, "its pieces have different lengths in each iteration");
    const ir::Dim d = *region.dims[i];
    const bool dynamic =
        d.mentions([&](ir::Symbol s) { return op.frame.sizes.at(s.id()).length.has_value(); });
    Size s =
        dynamic && !d.as_symbol() ? Size{-1, size_value(op.frame, d)} : size(op.frame, d, &op.node);
    f.sizes.emplace(symbols[i].id(), std::move(s));
  }
  return f;
}

/// What lies behind an axis's length is anything: only what computes each element by itself may
/// read it, and reductions, which mask it.
void Emitter::check_dynamic(const Frame& f, const ir::Node& n) const {
  if (n.region_kind() != ir::RegionKind::none || n.op().traits.elementwise) return;
  const auto id = static_cast<ops::OpId>(n.op().id);
  using ops::OpId;
  for (OpId safe :
       {OpId::BroadcastInDim, OpId::Transpose, OpId::Iota, OpId::DimValue,
        OpId::OptimizationBarrier, OpId::StopGradient, OpId::ReduceSum, OpId::ReduceProd,
        OpId::ReduceMax, OpId::ReduceMin, OpId::ReduceAnd, OpId::ReduceOr}) {
    if (id == safe) return;
  }
  for (ir::ValueId v : n.operands()) {
    const ir::Type t = f.graph.type(v);
    if (is_dynamic(f, t)) {
      refuse(n, "its operand " + t.to_string() + " has a size that is known only while it runs",
             "scan over it");
    }
  }
  for (ir::Type t : n.result_types()) {
    if (is_dynamic(f, t)) {
      refuse(n, "its result " + t.to_string() + " has a size that is known only while it runs");
    }
  }
}

void Emitter::check_constraints(const Frame& f, bool at_entry) const {
  for (const ir::Constraint& c : f.graph.constraints()) {
    auto computed = [&](ir::Symbol s) {
      return std::ranges::find(f.graph.dims(), s) == f.graph.dims().end();
    };
    if (at_entry == (c.a.mentions(computed) || c.b.mentions(computed))) continue;
    auto dynamic = [&](ir::Symbol s) { return f.sizes.at(s.id()).length.has_value(); };
    if (c.a.mentions(dynamic) || c.b.mentions(dynamic)) {
      throw UserError({"TL-BACKEND-001", c.what,
                       "StableHLO can't say it: " + c.a.to_string() + " and " + c.b.to_string() +
                           " must be compared while it runs",
                       "", c.place});
    }
    auto value = [&](ir::Dim d) {
      return d.evaluate([&](ir::Symbol s) { return f.sizes.at(s.id()).bound; });
    };
    const std::int64_t a = value(c.a), b = value(c.b);
    if (c.kind == ir::Constraint::Kind::equal ? a != b : a > b) {
      runtime::throw_constraint(f.graph, c, value);
    }
  }
}

}  // namespace tlaloc::stablehlo
