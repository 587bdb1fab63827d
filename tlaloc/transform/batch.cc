#include "tlaloc/transform/batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tlaloc/ir/dim_expr.h"
#include "tlaloc/transform/dce.h"
#include "tlaloc/transform/device_lanes.h"

namespace tlaloc::transform {

Val Batcher::lift(const Mapped& x) const {
  if (x.batched) return x.v;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.v.rank()));
  std::iota(axes.begin(), axes.end(), 1);
  return ops::broadcast_in_dim(x.v, lifted(x.v.type()).shape(), axes);
}

bool Batcher::ragged(Dim d) const {
  return !lengths_.empty() && d.mentions([&](Symbol s) { return lengths_.contains(s.id()); });
}

namespace {

[[noreturn]] void refuse_arithmetic(Dim d) {
  throw UserError({"TL-VMAP-002",
                   "vmap",
                   "arithmetic on a size that differs between lanes: " + d.to_string(),
                   "use the size itself, or map over inputs of one length",
                   {}});
}

}  // namespace

Val Batcher::lengths_of(Dim d) const {
  if (!ragged(d)) return {};
  const auto s = d.as_symbol();
  if (!s) refuse_arithmetic(d);
  return lengths_.at(s->id());
}

Val Batcher::value_of(Dim d) const {
  using ops::operator+, ops::operator-, ops::operator*, ops::operator/;
  if (!ragged(d)) return lift({ops::dim_value(d)});
  if (const auto s = d.as_symbol()) return lengths_.at(s->id());
  if (d.expr()->deep()) refuse_arithmetic(d);
  auto full = [&](std::int64_t n) { return lift({ops::scalar_int(n, DType::i64)}); };
  auto atom = [&](const ir::DimAtom& a) -> Val {
    if (a.kind == ir::DimAtomKind::symbol) return value_of(Dim(Symbol::from_id(a.symbol)));
    const Val x = value_of(a.a), y = value_of(a.b);
    if (a.kind == ir::DimAtomKind::min) return ops::min(x, y);
    if (a.kind == ir::DimAtomKind::max) return ops::max(x, y);
    // A lane may divide by zero, which a size refuses when it is computed and arithmetic doesn't.
    const ir::Interval divisor = ir::bounds(a.b);
    if (divisor.lower <= 0 && divisor.upper >= 0) refuse_arithmetic(d);
    // The remainder of the divisor's sign; what is left has no remainder.
    const Val r = ops::rem(x, y), zero = ops::zeros_like(r);
    const Val other_sign =
        ops::compare(ops::Comparison::ne, ops::compare(ops::Comparison::lt, r, zero),
                     ops::compare(ops::Comparison::lt, y, zero));
    const Val m = ops::select(
        ops::logical_and(ops::compare(ops::Comparison::ne, r, zero), other_sign), r + y, r);
    return a.kind == ir::DimAtomKind::mod ? m : (x - m) / y;
  };
  Val sum;
  for (const ir::DimTerm& t : ir::terms_of(d)) {
    Val product = full(t.coefficient);
    for (const ir::DimAtom& a : t.atoms) product = product * atom(a);
    sum = sum ? sum + product : product;
  }
  return sum;
}

Val Batcher::mask_ragged(Val x, int axis, ir::Identity identity) const {
  const Val lengths = lengths_of(x.dim(axis));
  if (!lengths) return x;
  const Type index = x.type().with_dtype(DType::i64);
  const std::int64_t zero = 0;
  const Val inside =
      ops::compare(ops::Comparison::lt, ops::iota(index, axis),
                   ops::broadcast_in_dim(lengths, index.shape(), std::span(&zero, 1)));
  const DType t = x.dtype();
  double fill = 0;
  switch (identity) {
    case ir::Identity::zero:
      fill = 0;
      break;
    case ir::Identity::one:
      fill = 1;
      break;
    // Conversion saturates, so infinity is the extreme of integers and true/false of bool.
    case ir::Identity::lowest:
      fill = t == DType::boolean ? 0 : -std::numeric_limits<double>::infinity();
      break;
    case ir::Identity::highest:
      fill = std::numeric_limits<double>::infinity();
      break;
    case ir::Identity::all_ones:
      fill = is_signed_integer(t) ? -1 : std::numeric_limits<double>::infinity();
      break;
  }
  return ops::select(inside, x, ops::full(fill, x.type()));
}

namespace {

class OpContext final : public ir::BatchContext {
 public:
  OpContext(const Batcher& s, const MappedVals& x, std::size_t results)
      : s_(s), x_(x), out(results) {}
  Dim lanes() const override { return s_.lanes; }
  bool batched(int k) const override { return x_[static_cast<std::size_t>(k)].batched; }
  Val lifted(int k) override { return s_.lift(x_[static_cast<std::size_t>(k)]); }
  Val lengths(Dim size) override { return s_.lengths_of(size); }
  Val mask_ragged(Val x, int axis, ir::Identity identity) override {
    return s_.mask_ragged(x, axis, identity);
  }
  void set(int k, Val v) override { out[static_cast<std::size_t>(k)] = {v, true}; }

 private:
  const Batcher& s_;
  const MappedVals& x_;

 public:
  MappedVals out;
};

/// `batched`: by ValueId.
void batch_node(Batcher& s, const Node& n, ir::Copier& copier, Mask& batched) {
  DimMap& dims = copier.dims;
  MappedVals x;
  for (ValueId v : n.operands()) x.push_back({copier.env[v], batched[v]});
  auto set = [&](const MappedVals& out) {
    for (std::size_t k = 0; k < out.size(); ++k) {
      copier.env[n.result(k)] = out[k].v;
      batched[n.result(k)] = out[k].batched;
    }
  };
  if (n.region_kind() != RegionKind::none) {
    set(batch_region(s, n, x, dims));
    return;
  }
  if (&n.op() == ops::find("dim_value")) {
    Dim d(0);
    n.attr()->each_dim([&](Dim e) { d = e.substitute(dims); });
    if (s.ragged(d)) {
      set({{s.value_of(d), true}});
    } else {
      copier.copy(n);
    }
    return;
  }
  if (s.ctx.devices && s.ctx.devices->meet(n)) {
    const ir::OriginScope origin(n.origin_ref());
    set({{s.ctx.devices->collective(n, s.lift(x[0])), true}});
    return;
  }
  auto has_ragged_attr = [&] {
    bool r = false;
    if (n.attr()) n.attr()->each_dim([&](Dim d) { r = r || s.ragged(d.substitute(dims)); });
    return r;
  };
  // Sizes of the op itself, such as a window's, differ between lanes even where the operands are
  // shared; only those of a broadcast say nothing but where its result ends.
  bool moves = !x.empty() && &n.op() != ops::find("broadcast_in_dim") && has_ragged_attr();
  for (const auto& [v, has_lanes] : x) {
    moves = moves || has_lanes;
    // Positions beyond a lane's own size are padding, which only its own lane can tell: a sum over
    // them differs between lanes even if the values are shared.
    if (!n.op().traits.elementwise) {
      for (Dim d : v.type().shape()) moves = moves || s.ragged(d);
    }
  }
  if (!moves) {
    copier.copy(n);
    return;
  }
  if (!n.op().batch) {
    refuse("TL-VMAP-001", n.op(), std::string("can't be mapped: ") + n.op().batch.refusal,
           "map over a function without it", n.origin());
  }
  ir::OriginScope origin(n.origin_ref());
  ir::AttrRef attr = n.attr();
  if (attr && attr->has_dims() && !dims.empty()) attr = attr->substitute(dims);
  std::vector<Type> in_types;
  Vals in;
  for (const auto& [v, has_lanes] : x) {
    in.push_back(v);
    in_types.push_back(has_lanes ? v.type().without_leading() : v.type());
  }
  const auto out_types = substitute(n.result_types(), dims);
  OpContext op(s, x, n.result_count());
  n.op().batch.fn({&n.op(), attr.get(), in, {}, in_types, out_types}, op);
  for (const Mapped& y : op.out) {
    internal_check(static_cast<bool>(y.v), "a batching rule gave no result");
  }
  set(op.out);
}

/// Whether d never falls where a ragged size grows: an axis of the longest lane's sizes then has
/// room for what every lane has on it.
bool grows(const Batcher& s, Dim d) {
  if (!s.ragged(d)) return true;
  if (d.expr()->deep()) return false;
  auto atom_grows = [&](const ir::DimAtom& a) {
    switch (a.kind) {
      case ir::DimAtomKind::symbol:
        return true;
      case ir::DimAtomKind::floordiv:
        return grows(s, a.a) && !s.ragged(a.b) && ir::bounds(a.b).lower > 0;
      case ir::DimAtomKind::mod:
        return !s.ragged(a.a) && !s.ragged(a.b);
      default:
        return grows(s, a.a) && grows(s, a.b);
    }
  };
  return std::ranges::all_of(ir::terms_of(d), [&](const ir::DimTerm& t) {
    if (!s.ragged(ir::make_dim({t}))) return true;
    return t.coefficient > 0 && std::ranges::all_of(t.atoms, [&](const ir::DimAtom& a) {
             const bool factor = t.atoms.size() > 1;
             return atom_grows(a) && (!factor || ir::bounds(ir::make_dim({{{a}, 1}})).lower >= 0);
           });
  });
}

}  // namespace

const Batched& batch_graph(Context& ctx, const GraphRef& g, const BatchRequest& q) {
  Key key = Key() << g << q.in << q.lanes << static_cast<int>(q.masked) << q.force
                  << static_cast<int>(q.force_lengths);
  for (Symbol s : q.ragged) key << Dim(s);
  if (const Batched* known = ctx.batch.find(key)) return *known;

  Builder b(g->name());
  Batcher s(ctx, q.lanes);
  if (q.masked) {
    s.mask = b.param(Type::get(DType::boolean, {q.lanes}));
  }
  for (Symbol r : q.ragged) {
    s.set_lengths(r, b.param(Type::get(DType::i64, {q.lanes})));
  }
  ir::Copier copier(*g);
  Mask batched(g->value_count(), false);
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    const Type t = g->type(static_cast<ValueId>(k));
    copier.env[k] = b.param(q.in[k] ? s.lifted(t) : t, g->param_label(k));
    batched[k] = q.in[k];
  }
  for (std::uint32_t i = 0; i < g->node_count(); ++i) batch_node(s, g->node(i), copier, batched);
  const DimMap& dims = copier.dims;
  for (const ir::Constraint& c : g->constraints()) {
    const Dim a = c.a.substitute(dims), e = c.b.substitute(dims);
    if (s.ragged(a) || s.ragged(e)) continue;  // per lane: checked by the lanes' own code
    b.require({c.kind, a, e, c.what, c.place});
  }
  Batched r;
  Vals results;
  for (std::size_t k = 0; k < g->results().size(); ++k) {
    const ValueId id = g->results()[k];
    const Mapped y{copier.env[id], batched[id]};
    for (Dim d : y.v.type().shape()) {
      if (!grows(s, d)) refuse_arithmetic(d);
    }
    const bool lift = !q.force.empty() && q.force[k];
    r.out.push_back(lift || y.batched);
    results.push_back(lift ? s.lift(y) : y.v);
  }
  Builder::Close close;
  close.result_dims = copier.result_dims();
  for (Dim d : close.result_dims) {
    Val lengths = s.lengths_of(d);
    if (!lengths && q.force_lengths) lengths = s.lift({ops::dim_value(d)});
    r.lengths.push_back(static_cast<bool>(lengths));
    if (lengths) results.push_back(lengths);
  }
  r.graph = dce_graph(ctx, b.build(results, std::move(close)));
  return ctx.batch.put(key, g, std::move(r));
}

}  // namespace tlaloc::transform
