#include "tlaloc/transform/batch.h"

#include <limits>
#include <numeric>

#include "tlaloc/transform/dce.h"

namespace tlaloc::transform {

Val Batcher::lift(Val v) {
  if (batched(v)) return v;
  const Type t = lifted(v.type());
  std::vector<std::int64_t> axes(static_cast<std::size_t>(v.rank()));
  std::iota(axes.begin(), axes.end(), 1);
  const Val r = ops::broadcast_in_dim(v, t.shape(), axes);
  mark(r);
  return r;
}

bool Batcher::ragged(Dim d) const {
  return !lengths_.empty() && d.mentions([&](Symbol s) { return lengths_.contains(s.id()); });
}

Val Batcher::lengths_of(Dim d) const {
  if (!ragged(d)) return {};
  const auto s = d.as_symbol();
  if (!s) {
    throw UserError({"TL-VMAP-002",
                     "vmap",
                     "arithmetic on a size that differs between lanes: " + d.to_string(),
                     "use the size itself, or map over inputs of one length",
                     {}});
  }
  return lengths_.at(s->id());
}

Val Batcher::mask_ragged(Val x, int axis, ir::Identity identity) {
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
  const Val r = ops::select(inside, x, ops::full(fill, x.type()));
  mark(r);
  return r;
}

namespace {

class OpContext final : public ir::BatchContext {
 public:
  OpContext(Batcher& s, const Vals& x, std::size_t results) : s_(s), x_(x), out(results) {}
  Dim lanes() const override { return s_.lanes; }
  bool batched(int k) const override { return s_.batched(x_[static_cast<std::size_t>(k)]); }
  Val lifted(int k) override { return s_.lift(x_[static_cast<std::size_t>(k)]); }
  Val lengths(Dim size) override { return s_.lengths_of(size); }
  Val mask_ragged(Val x, int axis, ir::Identity identity) override {
    return s_.mask_ragged(x, axis, identity);
  }
  void set(int k, Val v) override {
    s_.mark(v);
    out[static_cast<std::size_t>(k)] = v;
  }
  void set_shared(int k, Val v) override { out[static_cast<std::size_t>(k)] = v; }

 private:
  Batcher& s_;
  const Vals& x_;

 public:
  Vals out;
};

void batch_node(Batcher& s, const Node& n, ir::Copier& copier) {
  DimMap& dims = copier.dims;
  const Vals x = copier.operands(n);
  if (n.region_kind() != RegionKind::none) {
    copier.set(n, batch_region(s, n, x, dims));
    return;
  }
  if (&n.op() == ops::find("dim_value")) {
    Dim d(0);
    n.attr()->each_dim([&](Dim e) { d = e.substitute(dims); });
    if (Val lengths = s.lengths_of(d))
      copier.set(n, {lengths});
    else
      copier.copy(n);
    return;
  }
  bool moves = false;
  for (Val v : x) {
    moves = moves || s.batched(v);
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
  for (Val v : x) in_types.push_back(s.batched(v) ? v.type().without_leading() : v.type());
  const auto out_types = substitute(n.result_types(), dims);
  OpContext op(s, x, n.result_count());
  n.op().batch.fn({&n.op(), attr.get(), x, {}, in_types, out_types}, op);
  for (Val v : op.out) internal_check(static_cast<bool>(v), "a batching rule gave no result");
  copier.set(n, op.out);
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
    s.mark(s.mask);
  }
  for (Symbol r : q.ragged) {
    const Val v = b.param(Type::get(DType::i64, {q.lanes}));
    s.mark(v);
    s.set_lengths(r, v);
  }
  ir::Copier copier(*g);
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    const Type t = g->type(static_cast<ValueId>(k));
    copier.env[k] = b.param(q.in[k] ? s.lifted(t) : t, g->param_label(k));
    if (q.in[k]) s.mark(copier.env[k]);
  }
  for (std::uint32_t i = 0; i < g->node_count(); ++i) batch_node(s, g->node(i), copier);
  const DimMap& dims = copier.dims;
  for (const ir::Constraint& c : g->constraints()) {
    const Dim a = c.a.substitute(dims), e = c.b.substitute(dims);
    if (s.ragged(a) || s.ragged(e)) continue;  // per lane: checked by the lanes' own code
    b.require({c.kind, a, e, c.what, c.place});
  }
  Batched r;
  Vals results;
  for (std::size_t k = 0; k < g->results().size(); ++k) {
    Val v = copier.env[g->results()[k]];
    if (!q.force.empty() && q.force[k]) v = s.lift(v);
    r.out.push_back(s.batched(v));
    results.push_back(v);
  }
  Builder::Close close;
  close.result_dims = copier.result_dims();
  for (Dim d : close.result_dims) {
    Val lengths = s.lengths_of(d);
    if (!lengths && q.force_lengths) lengths = s.lift(ops::dim_value(d));
    r.lengths.push_back(static_cast<bool>(lengths));
    if (lengths) results.push_back(lengths);
  }
  r.graph = dce_graph(ctx, b.build(results, std::move(close)));
  return ctx.batch.put(key, g, std::move(r));
}

}  // namespace tlaloc::transform
