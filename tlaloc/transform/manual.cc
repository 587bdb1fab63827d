// Splitting, transposing and batching of manual computations, as JAX's shard_map does.
#include <algorithm>

#include "tlaloc/ops/collectives.h"
#include "tlaloc/transform/batch.h"
#include "tlaloc/transform/split.h"
#include "tlaloc/transform/transpose.h"

namespace tlaloc::transform {
namespace {

ShardSpec whole(std::size_t rank) { return {std::vector<std::vector<std::string>>(rank)}; }
/// One piece per device along a first dimension of its own.
ShardSpec stacked(const ManualAttrs& a, int rank) {
  ShardSpec s = whole(usize(rank) + 1);
  s.dims[0] = a.axes;
  return s;
}
void add_dimension(ShardSpec& s) { s.dims.emplace(s.dims.begin()); }
using ops::operator/;
std::vector<Dim> shape_of(Type t) { return {t.shape().begin(), t.shape().end()}; }

/// A graph around another one, with the same sizes.
struct Rebuilt {
  Builder builder;
  Vals params;
  Builder::Close close;
  explicit Rebuilt(const Graph& g) : builder(g.name()) {
    close.dims.assign(g.dims().begin(), g.dims().end());
  }
  Val param(Type t) { return params.emplace_back(builder.param(t)); }
  Vals run(const Graph& g, const Vals& args) {
    const std::vector<Dim> entry(g.dims().begin(), g.dims().end());
    return inline_graph(g, args, entry).results;
  }
  GraphRef done(const Vals& results) {
    close.params = params;
    return builder.build(results, std::move(close));
  }
};

}  // namespace

// What one device computes for its backward pass is a piece of a whole value, one piece per device.
Vals split_manual(Context& ctx, const Node& n, const Vals& x, const Mask& unknown,
                  const DimMap& dims, const Policy& policy) {
  const auto& a = n.as<ManualAttrs>();
  const DimMap map = region_map(n.region(0), dims);
  const Split& s = split_graph(ctx, n.region(0).graph, unknown, policy, {}, SplitPlace{});
  if (!s.res_dims.empty()) {
    refuse("TL-MESH-003", n.op(),
           "its backward pass needs values whose sizes each device finds out for itself",
           "give the loops inside of it lengths that are known, by scan", n.origin());
  }
  const Mask known = negated(unknown);
  const std::size_t n_known = count(negated(s.out_unknown));
  const auto known_types = s.known->result_types();

  ManualAttrs early{a.mesh, a.axes, pick(a.in, known), pick(a.out, negated(s.out_unknown))};
  GraphRef early_body;
  {
    Rebuilt r(*s.known);
    for (Type t : s.known->param_types()) r.param(t);
    Vals results = r.run(*s.known, r.params);
    for (std::size_t k = n_known; k < results.size(); ++k) {
      std::vector<Dim> shape = shape_of(known_types[k]);
      early.out.push_back(stacked(a, known_types[k].rank()));
      shape.insert(shape.begin(), 1);
      results[k] = ops::reshape(results[k], shape);
    }
    early_body = r.done(results);
  }
  const Vals first = emit_manual(std::move(early), pick(x, known), early_body, map);

  ManualAttrs late{a.mesh, a.axes, {}, pick(a.out, s.out_unknown)};
  Vals late_args;
  GraphRef late_body;
  {
    Rebuilt r(*s.unknown);
    Vals args;
    for (const Residual& residual : s.residuals) {
      const Type t = s.unknown->type(static_cast<ValueId>(args.size()));
      if (residual.is_param) {
        late.in.push_back(a.in[residual.index]);
        late_args.push_back(x[residual.index]);
        args.push_back(r.param(t));
        continue;
      }
      late.in.push_back(stacked(a, t.rank()));
      late_args.push_back(first[n_known + residual.index]);
      std::vector<Dim> shape = shape_of(t);
      shape.insert(shape.begin(), 1);
      args.push_back(ops::reshape(r.param(t.with_shape(shape)), t.shape()));
    }
    for (std::size_t k = args.size(); k < s.unknown->param_count(); ++k) {
      args.push_back(r.param(s.unknown->type(static_cast<ValueId>(k))));
    }
    late_body = r.done(r.run(*s.unknown, args));
  }
  late.in = join(late.in, pick(a.in, unknown));
  const Vals second =
      emit_manual(std::move(late), join(late_args, pick(x, unknown)), late_body, map);

  Vals out;
  std::size_t k0 = 0, k1 = 0;
  for (bool u : s.out_unknown) out.push_back(u ? second[k1++] : first[k0++]);
  return out;
}

// A result that several devices agree on is taken from one of them: its cotangent reaches each in
// equal shares. An operand that several devices have gets what all of them give.
void transpose_manual(const TransposeSite& site) {
  const auto& a = site.node.as<ManualAttrs>();
  const Mask ct = present(site.ct);
  const GraphRef& body = site.node.region(0).graph;
  const Masked& t = transpose_graph(site.ctx, body, site.linear, ct, {}, {});
  const Mask nonlinear = negated(site.linear);
  const auto ct_specs = pick(a.out, ct);
  std::vector<std::size_t> operands;
  for (std::size_t k = 0; k < site.linear.size(); ++k) {
    if (site.linear[k]) operands.push_back(k);
  }
  operands = pick(operands, t.out);

  ManualAttrs attrs{a.mesh, a.axes, join(pick(a.in, nonlinear), ct_specs), {}};
  GraphRef transposed;
  {
    Rebuilt r(*t.graph);
    const std::size_t n_nonlinear = count(nonlinear);
    Vals args;
    for (std::size_t k = 0; k < t.graph->param_count(); ++k) {
      Val v = r.param(t.graph->type(static_cast<ValueId>(k)));
      if (k >= n_nonlinear) {
        std::int64_t sharers = 1;
        for (const std::string& axis : a.axes) {
          if (!ct_specs[k - n_nonlinear].mentions(axis)) sharers *= a.mesh.size_of(axis);
        }
        if (sharers > 1) v = v / static_cast<double>(sharers);
      }
      args.push_back(v);
    }
    Vals results = r.run(*t.graph, args);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ShardSpec& spec = a.in[operands[i]];
      for (const std::string& axis : a.axes) {
        const std::int64_t size = a.mesh.size_of(axis);
        if (size == 1 || spec.mentions(axis)) continue;
        results[i] = ops::all_reduce(results[i], ops::Collective::sum, {axis, size});
      }
      attrs.out.push_back(spec);
    }
    transposed = r.done(results);
  }
  const Vals out =
      emit_manual(std::move(attrs), join(pick(site.x, nonlinear), present_only(site.ct)),
                  transposed, region_map(site.node.region(0), site.dims));
  for (std::size_t i = 0; i < out.size(); ++i) site.put(operands[i], out[i]);
}

// Every device has all lanes of its part.
MappedVals batch_manual(Batcher& s, const Node& n, const MappedVals& x, const DimMap& dims) {
  const Region& region = n.region(0);
  for (const auto& d : region.dims) {
    if (d && s.ragged(d->substitute(dims))) {
      refuse("TL-VMAP-002", n.op(), "a manual computation reads a size that differs between lanes",
             "pass inputs of one length", n.origin());
    }
  }
  ManualAttrs attrs = n.as<ManualAttrs>();
  Mask batched;
  Vals args;
  for (std::size_t k = 0; k < x.size(); ++k) {
    batched.push_back(x[k].batched);
    args.push_back(x[k].v);
    if (x[k].batched) add_dimension(attrs.in[k]);
  }
  const Batched& b = batch_graph(s.ctx, region.graph,
                                 {batched, s.lanes, static_cast<bool>(s.mask), {}, {}, false});
  if (s.mask) {
    args.insert(args.begin(), s.mask);
    attrs.in.insert(attrs.in.begin(), whole(1));
  }
  for (std::size_t k = 0; k < b.out.size(); ++k) {
    if (b.out[k]) add_dimension(attrs.out[k]);
  }
  const Vals out = emit_manual(std::move(attrs), args, b.graph, region_map(region, dims));
  MappedVals r;
  for (std::size_t k = 0; k < out.size(); ++k) r.push_back({out[k], b.out[k]});
  return r;
}

}  // namespace tlaloc::transform
