// Graphs with each kind of region, for tests.
#pragma once

#include <utility>
#include <vector>

#include "tlaloc/ir/testdata/test_ops.h"

namespace tlaloc::ir::test {

/// A region's graph built by `body` from params of the given types.
template <class Body>
GraphRef region(std::initializer_list<Type> params, const Body& body) {
  Builder b;
  Vals in;
  for (Type t : params) in.push_back(b.param(t));
  const Vals out = body(in);
  return b.build(out);
}

/// while (x < y) { record x; x = x + y }, with y an invariant; returns x, the history and trips.
inline Builder::NodeResult counting_loop(Val x, Val y, std::vector<Append> append = {}) {
  WhileParts p;
  p.inv = {y};
  p.init = {x};
  p.cond = region({y.type(), x.type()}, [](const Vals& v) { return Vals{less(v[1], v[0])}; });
  p.body =
      region({y.type(), x.type()}, [](const Vals& v) { return Vals{add(v[1], v[0]), sin(v[1])}; });
  p.append = std::move(append);
  return emit_while(std::move(p));
}

/// f(x: [n], y: []) with a while whose history is summed: a computed dim that leaves the graph.
inline GraphRef graph_with_while() {
  Builder b("with_while");
  const Val x = b.param(f32({}), {"x", {}}), y = b.param(f32({}), {"y", {}});
  const auto loop = counting_loop(x, y);
  const Vals results{loop.out[0], sin(loop.out[1]), loop.out[2]};
  return b.build(results, {.result_dims = {Dim(loop.bound[0])}});
}

/// if (x < y) sin(x[0:n/2]) else x[0:n/2].
inline GraphRef graph_with_if() {
  const Symbol n = Symbol::fresh(SymbolFacts{.name = "n", .lower = 2, .multiple_of = 2});
  Builder b("with_if");
  const Val p = b.param(f32({})), x = b.param(f32({n}), {"x", {"batch"}});
  const Symbol m = Symbol::like(n);
  const Type t = f32({m});
  const Dim half = floordiv(Dim(m), 2);
  DimMap map;
  map.set(m, n);
  std::vector<Region> regions;
  regions.push_back(
      make_region(region({t}, [&](const Vals& v) { return Vals{sin(slice(v[0], half))}; }), map));
  regions.push_back(
      make_region(region({t}, [&](const Vals& v) { return Vals{slice(v[0], half)}; }), map));
  const auto r = emit_if(less(p, p), Vals{x}, std::move(regions),
                         std::vector<Type>{f32({floordiv(Dim(n), 2)})});
  return b.build(r.out);
}

/// A loop whose body runs a loop: its history is appended, and a scan cuts it into rows again.
inline GraphRef graph_with_ragged_scan() {
  Builder b("ragged");
  const Val x = b.param(f32({})), y = b.param(f32({}));
  // Outer body: (y, x) -> (x', lengths, appended history).
  GraphRef body;
  {
    Builder inner;
    const Val iy = inner.param(f32({})), ix = inner.param(f32({}));
    const auto loop = counting_loop(ix, iy);
    body = inner.build(Vals{loop.out[0], loop.out[2], loop.out[1]});
  }
  WhileParts p;
  p.inv = {y};
  p.init = {x};
  p.cond = region({f32({}), f32({})}, [](const Vals& v) { return Vals{less(v[1], v[0])}; });
  p.body = body;
  p.append = {Append{}, Append{.flat = true, .length = {}}};
  const auto outer = emit_while(std::move(p));
  const Symbol trips = outer.bound[0], flat = outer.bound[1];

  const Symbol row = Symbol::fresh("L");
  ScanParts s;
  s.init = {x};
  s.xs = {outer.out[1], outer.out[2]};
  s.body = region({f32({}), Type::scalar(DType::i64), f32({row})},
                  [](const Vals& v) { return Vals{add(v[0], sum(v[2])), sin(v[2])}; });
  s.length = Dim(trips);
  s.reverse = true;
  s.ragged = {{row, 0}};
  s.xrag = {false, true};
  s.append = {Append{.flat = true, .length = Dim(flat)}};
  const auto scan = emit_scan(std::move(s));
  return b.build(scan.out, {.result_dims = {Dim(flat)}});
}

/// Calls of each kind.
inline GraphRef graph_with_calls() {
  const Symbol n = Symbol::fresh("n");
  const Type t = f32({n});
  const GraphRef f = region({t}, [](const Vals& v) { return Vals{sin(v[0])}; });
  const GraphRef jvp =
      region({t, t}, [](const Vals& v) { return Vals{sin(v[0]), add(v[1], v[0])}; });
  const GraphRef fwd = region({t}, [](const Vals& v) { return Vals{sin(v[0]), v[0]}; });
  const GraphRef bwd = region({t, t}, [](const Vals& v) { return Vals{add(v[0], v[1])}; });
  Builder b("with_calls");
  const Symbol m = Symbol::fresh("m");
  const Type u = f32({m});
  const Val x = b.param(u);
  DimMap map;
  map.set(n, m);
  auto call = [&](CallAttrs attrs, Vals in, std::vector<GraphRef> graphs) {
    std::vector<Region> regions;
    for (GraphRef& g : graphs) regions.push_back(make_region(g, map));
    return emit_call(std::move(attrs), in, std::move(regions), std::vector<Type>{u}).out[0];
  };
  CallAttrs softmax{.name = "softmax"};
  softmax.params = {CallParam{"axis", {-1, 2}, {0.5, -0.0}}};
  softmax.version = 3;
  Val y = call(softmax, {x}, {f});
  y = call({.name = "f", .kind = CallKind::custom_jvp}, {y}, {f, jvp});
  y = call({.name = "f", .kind = CallKind::custom_vjp}, {y}, {f, fwd, bwd});
  y = call({.name = "f", .kind = CallKind::linear, .n_residuals = 1}, {x, y}, {bwd, bwd});
  y = call({.name = "", .kind = CallKind::remat, .policy = "names:a,\"b\""}, {y}, {f});
  return b.build(Vals{y});
}

}  // namespace tlaloc::ir::test
