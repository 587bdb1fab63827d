// Splitting `if` and `call`: the known node hands each branch's residuals to the unknown one.
#include <algorithm>

#include "tlaloc/transform/split.h"

namespace tlaloc::transform {
namespace {

/// A value every branch must return though only one has it.
Val filler(Type t) { return t.dtype() == DType::boolean ? ops::full(1, t) : ops::ones(t); }

}  // namespace

Vals split_branches(Context& ctx, const Node& n, const Vals& x, const Mask& unknown, DimMap& dims,
                    Policy policy) {
  const bool is_if = n.region_kind() == RegionKind::branch;
  const std::size_t off = is_if ? 1 : 0;
  if (is_if && unknown[0]) {
    refuse("TL-GRAD-005", n.op(), "the predicate depends on a value that is not known yet",
           "compute the predicate from values that carry no tangent", n.origin());
  }
  const Vals args = slice_of(x, off, x.size() - off);
  const Mask ua = slice_of(unknown, off, unknown.size() - off);
  const std::size_t branches = is_if ? 2 : 1;
  SplitPlace place;
  if (!is_if && n.as<CallAttrs>().kind == CallKind::remat) {
    const std::string& kept = n.as<CallAttrs>().policy;
    if (kept == "everything")
      policy.residuals = Policy::Residuals::save;
    else
      place.remat = kept.empty() ? "nothing" : kept;
  }
  Mask out(n.result_count(), false);
  std::vector<const Split*> parts;
  for (;;) {
    parts.clear();
    Mask next(out.size(), false);
    for (std::size_t k = 0; k < branches; ++k) {
      parts.push_back(&split_graph(ctx, n.region(k).graph, ua, policy, out, place));
      next = either(next, parts.back()->out_unknown);
    }
    if (next == out) break;
    out = next;
  }
  const std::size_t n_known = out.size() - count(out), n_bound = n.bound().size();
  const Vals known_args = pick(args, negated(ua)), unknown_args = pick(args, ua);
  std::vector<std::int64_t> arg_owner(args.size(), -1), out_owner(out.size(), -1);
  if (is_if) {
    arg_owner = n.as<IfAttrs>().arg_owner;
    out_owner = n.as<IfAttrs>().out_owner;
  }

  // Dims are residuals too: each branch binds its own, and 0 for the other's.
  std::vector<DimMap> maps, residual_maps(branches);
  std::vector<std::vector<Symbol>> fresh(branches);
  DimMap outer = dims;
  std::vector<Symbol> bound = fresh_bound(n.bound(), outer);
  for (std::size_t k = 0; k < branches; ++k) {
    maps.push_back(region_map(n.region(k), dims));
    residual_maps[k] = maps[k];
    const auto result_dims = parts[k]->known->result_dims();
    for (std::size_t q = 0; q < parts[k]->res_dims.size(); ++q) {
      fresh[k].push_back(Symbol::like(parts[k]->res_dims[q]));
      bound.push_back(fresh[k].back());
      if (auto s = result_dims[n_bound + q].as_symbol()) residual_maps[k].set(*s, fresh[k].back());
    }
  }
  std::vector<std::vector<Type>> residual_types(branches);
  for (std::size_t k = 0; k < branches; ++k) {
    const auto types = parts[k]->known->result_types();
    for (std::size_t i = n_known; i < types.size(); ++i) {
      residual_types[k].push_back(types[i].substitute(residual_maps[k]));
    }
  }
  std::vector<Region> known_regions;
  for (std::size_t k = 0; k < branches; ++k) {
    Builder b(parts[k]->known->name());
    Vals params;
    for (Type t : parts[k]->known->param_types()) params.push_back(b.param(t));
    std::vector<Dim> entry(parts[k]->known->dims().begin(), parts[k]->known->dims().end());
    const ir::Inlined in = inline_graph(*parts[k]->known, params, entry);
    const auto own_dims = substitute(parts[k]->known->result_dims(), in.dims);
    Vals results = slice_of(in.results, 0, n_known);
    Builder::Close close;
    close.params = params;
    close.result_dims.assign(own_dims.begin(),
                             own_dims.begin() + static_cast<std::ptrdiff_t>(n_bound));
    // The other branch's residual types are in the caller's dims. They get entry dims of their own:
    // a symbol may be the caller's and this region's at once, with different meanings.
    DimMap entry_of, map = maps[k];
    auto as_entry = [&](Type t) {
      for (Dim d : t.shape()) {
        for (Symbol s : d.symbols()) {
          if (entry_of.find(s)) continue;
          const Symbol e = Symbol::like(s);
          entry_of.set(s, e);
          map.set(e, s);
        }
      }
      return t.substitute(entry_of);
    };
    for (std::size_t q = 0; q < branches; ++q) {
      if (q == k) {
        results.insert(results.end(), in.results.begin() + static_cast<std::ptrdiff_t>(n_known),
                       in.results.end());
        close.result_dims.insert(close.result_dims.end(),
                                 own_dims.begin() + static_cast<std::ptrdiff_t>(n_bound),
                                 own_dims.end());
        continue;
      }
      DimMap zero;
      for (Symbol s : fresh[q]) zero.set(s, Dim(0));
      for (Type t : residual_types[q]) results.push_back(filler(as_entry(t.substitute(zero))));
      close.result_dims.insert(close.result_dims.end(), fresh[q].size(), Dim(0));
    }
    GraphRef g = b.build(results, std::move(close));
    known_regions.push_back(make_region(g, map));
  }
  std::vector<Type> types;
  std::vector<std::int64_t> owners;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k]) continue;
    types.push_back(n.result_types()[k].substitute(outer));
    owners.push_back(out_owner[k]);
  }
  for (std::size_t k = 0; k < branches; ++k) {
    types = join(types, residual_types[k]);
    owners.insert(owners.end(), residual_types[k].size(),
                  is_if ? static_cast<std::int64_t>(k) : -1);
  }
  Builder::NodeResult known;
  if (is_if) {
    known = emit_if(x[0], known_args, std::move(known_regions), types, bound,
                    pick(arg_owner, negated(ua)), owners);
  } else {
    known = emit_call(plain_call(n.as<CallAttrs>(), ".known"), known_args, std::move(known_regions),
                      types, bound);
  }
  DimMap renamed;  // interning may have answered with an older node
  bind_dims(bound, known.bound, renamed);
  bind_dims(n.bound(), known.bound, dims);

  Vals residual_args;
  std::vector<std::int64_t> residual_owner;
  std::vector<std::size_t> residual_branch;
  std::size_t position = n_known;
  for (std::size_t k = 0; k < branches; ++k) {
    for (const Residual& r : parts[k]->residuals) {
      residual_args.push_back(r.is_param ? args[r.index] : known.out[position + r.index]);
      residual_owner.push_back(r.is_param ? arg_owner[r.index] : static_cast<std::int64_t>(k));
      residual_branch.push_back(k);
    }
    position += residual_types[k].size();
  }
  if (!place.remat.empty()) {
    // Distinct from the forward values: what is computed from them again is not merged with the
    // forward pass, and is scheduled late.
    for (Val& v : residual_args) v = ops::optimization_barrier(v);
  }
  std::vector<Region> unknown_regions;
  for (std::size_t k = 0; k < branches; ++k) {
    std::vector<ParamSpec> params;
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < residual_args.size(); ++i) {
      if (residual_branch[i] == k)
        params.push_back({next++, {}});
      else
        params.push_back({ir::kNoNode, residual_args[i].type()});
    }
    const Graph& u = *parts[k]->unknown;
    params = join(params, same_params(next, u.param_count() - next));
    DimMap map = maps[k];
    for (std::size_t q = 0; q < fresh[k].size(); ++q) {
      map.set(parts[k]->res_dims[q], Dim(fresh[k][q]).substitute(renamed));
    }
    unknown_regions.push_back(make_region(with_signature(u, params, results_of(u)), map));
  }
  std::vector<Type> unknown_types;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k]) unknown_types.push_back(n.result_types()[k].substitute(dims));
  }
  const Vals all_args = join(residual_args, unknown_args);
  Builder::NodeResult late;
  if (is_if) {
    late = emit_if(x[0], all_args, std::move(unknown_regions), unknown_types, {},
                   join(residual_owner, pick(arg_owner, ua)), pick(out_owner, out));
  } else {
    late = emit_call(plain_call(n.as<CallAttrs>(), ".unknown"), all_args,
                     std::move(unknown_regions), unknown_types);
  }
  Vals r;
  std::size_t k0 = 0, k1 = 0;
  for (bool o : out) r.push_back(o ? late.out[k1++] : known.out[k0++]);
  return r;
}

}  // namespace tlaloc::transform
