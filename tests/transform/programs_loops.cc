// One loop at a time: scalars, arrays updated in place, reads by index.
#include "tests/transform/programs.h"

namespace tlaloc::testing {
namespace {

using namespace ops;  // NOLINT: the vocabulary

const HostArray kA = reals({0.91, 0.47, 0.26, 0.85});

Val newton(Val a) {
  const LoopResult r = while_loop(
      {a * 0.7 + 1.0, integer(0)},
      [&](const Vals& c) {
        const Val e = c[0] * c[0] - a;
        return Vals{(e * e > 1e-9) && (c[1] < integer(20))};
      },
      [&](const Vals& c) {
        return Vals{c[0] - (c[0] * c[0] - a) / (2.0 * c[0]), c[1] + integer(1)};
      });
  return r.carries[0];
}

/// a[i] - a[j] for all pairs.
Val pairwise(Val a) {
  const Dim shape[] = {a.dim(0), a.dim(0)};
  const std::int64_t row = 0, column = 1;
  return broadcast_in_dim(a, shape, std::span(&row, 1)) -
         broadcast_in_dim(a, shape, std::span(&column, 1));
}
Val transposed(Val x) {
  const std::int64_t p[] = {1, 0};
  return transpose(x, p);
}
Val column(Val x, std::int64_t k) { return at(transposed(x), integer(k)); }
Val n_body(Val q0, Val p0) {
  const Vals r = fori(integer(4), {q0, p0}, [](Val, const Vals& c) {
    const Val q = c[0], p = c[1];
    const Val dx = pairwise(column(q, 0)), dy = pairwise(column(q, 1));
    const Val r2 = dx * dx + dy * dy + 0.3, f = 1.0 / (r2 * r2);
    const std::int64_t axis = 0;
    Val force = zeros(f64({2, q.dim(0)}));
    force = put(force, integer(0), reduce_sum(f * dx, std::span(&axis, 1)));
    force = put(force, integer(1), reduce_sum(f * dy, std::span(&axis, 1)));
    const Val next = p + transposed(force) * 0.05;
    return Vals{q + next * 0.05, next};
  });
  return sum(r[0] * r[0]) + sum(sin(r[1]));
}

Val array_sin(Val a) {
  return sum(fori(size0(a), a, [](Val i, Val x) { return put(x, i, sin(at(x, i))); }) * 1.5);
}
Val array_sin_scan(Val a) {
  return sum(fors(a.dim(0), a, [](Val i, Val x) { return put(x, i, sin(at(x, i))); }) * 1.5);
}
Val recurrence(Val a) {
  return sum(sin(fors(a.dim(0) - 1, a, [](Val i, Val x) {
    const Val next = i + integer(1);
    return put(x, next, sin(at(x, i)) * at(x, next));
  })));
}
Val gather_acc(Val a, Val idx) {
  return fori(size0(idx), real(0.3), [&](Val i, Val s) { return s + sin(at(a, at(idx, i)) * s); });
}
/// A while with recorded values, consumed afterwards.
Val history(Val x) {
  const LoopResult r = while_loop(
      {x}, [](const Vals& c) { return Vals{c[0] > 0.5}; },
      [](const Vals& c) { return Vals{sin(c[0]) * 0.95, c[0] * c[0]}; });
  return r.carries[0] * sum(sin(r.ys[0])) * convert(r.trips, DType::f64) + r.carries[0];
}
Val zero_trips(Val x, Val y) {
  return while_loop(
             {x, y}, [](const Vals& c) { return Vals{c[0] > 100.0}; },
             [](const Vals& c) { return Vals{log(c[0] - 200.0), c[0] * c[1]}; })
             .carries[1] *
         x;
}
Val call_loop(Val x) {
  const GraphRef pair =
      graph_of({f64(), f64()}, [](const Vals& p) { return Vals{sin(p[0]) * p[1], p[0] * p[0]}; });
  auto call = [&](Val y, double k) {
    const Val args[] = {y, real(k)};
    return ir::call_graph({.name = "pair"}, pair, args);
  };
  return fori(4, x, [&](Val, Val y) { return call(y, 0.9)[0] + 0.1 * call(y, 0.3)[1]; });
}
Val power(Val w, Val v) {
  return sum(sin(fori(5, v, [&](Val, Val u) {
    const Val y = matvec(w, u);
    return y / (dot(y, y) + 0.5);
  })));
}
Val swap_carries(Val x, Val y) {
  return fori(integer(5), {x, y, real(0.7)},
              [](Val, const Vals& c) { return Vals{c[1], c[2], sin(c[0]) * c[1]}; })[2];
}
Val inactive(Val x) {
  return fori(integer(4), {x, real(0.8)},
              [](Val, const Vals& c) { return Vals{sin(c[0]) * c[1], c[1] * 0.9 + 0.1}; })[0];
}

}  // namespace

void add_loop_programs(std::vector<Program>& to) {
  const Symbol n = Symbol::fresh("n"), k = Symbol::fresh("k");
  const HostArray w = reals({0.1, -0.5, 0.7, 0.6, 0.2, -0.3, -0.2, 0.8, 0.4}, {3, 3});
  auto add = [&](const char* name, const std::vector<Type>& types, std::vector<HostArray> args,
                 const Body& f) {
    to.push_back({name, graph_of(types, f, name), std::move(args)});
  };
  auto s = [](double x) { return HostArray::scalar(x); };
  add("sin5", {f64()}, {s(1.1)},
      [](const Vals& p) { return Vals{fori(5, p[0], [](Val, Val x) { return sin(x); })}; });
  add("sin_until", {f64()}, {s(1.1)}, [](const Vals& p) {
    return Vals{while_one(p[0], [](Val x) { return x > 0.6; }, [](Val x) { return sin(x); })};
  });
  add("newton", {f64()}, {s(2.3)}, [](const Vals& p) { return Vals{newton(p[0])}; });
  add("n_body", {f64({n, 2}), f64({n, 2})},
      {reals({0.3, -0.1, 0.9, 0.4, -0.5, 0.6}, {3, 2}),
       reals({-0.2, 0.5, 0.1, -0.7, 0.4, 0.2}, {3, 2})},
      [](const Vals& p) { return Vals{n_body(p[0], p[1])}; });
  add("array_sin", {f64({n})}, {kA}, [](const Vals& p) { return Vals{array_sin(p[0])}; });
  add("array_sin_scan", {f64({n})}, {kA}, [](const Vals& p) { return Vals{array_sin_scan(p[0])}; });
  add("recurrence", {f64({n})}, {kA}, [](const Vals& p) { return Vals{recurrence(p[0])}; });
  add("gather_acc", {f64({n}), i64({k})}, {kA, integers({2, 0, 2, 1, 2})},
      [](const Vals& p) { return Vals{gather_acc(p[0], p[1])}; });
  add("history", {f64()}, {s(1.2)}, [](const Vals& p) { return Vals{history(p[0])}; });
  add("history_short", {f64()}, {s(0.52)}, [](const Vals& p) { return Vals{history(p[0])}; });
  add("zero_trips", {f64(), f64()}, {s(0.7), s(1.3)},
      [](const Vals& p) { return Vals{zero_trips(p[0], p[1])}; });
  add("call_loop", {f64()}, {s(0.7)}, [](const Vals& p) { return Vals{call_loop(p[0])}; });
  add("invariant", {f64(), f64()}, {s(0.3), s(0.8)}, [](const Vals& p) {
    return Vals{
        fori(6, p[1], [&](Val, Val x) { return sin(x * exp(p[0])) + x * exp(p[0]) * 0.1; })};
  });
  add("power", {f64({3, 3}), f64({3})}, {w, reals({0.6, 0.2, -0.3})},
      [](const Vals& p) { return Vals{power(p[0], p[1])}; });
  add("swap_carries", {f64(), f64()}, {s(0.4), s(0.9)},
      [](const Vals& p) { return Vals{swap_carries(p[0], p[1])}; });
  add("inactive", {f64()}, {s(0.6)}, [](const Vals& p) { return Vals{inactive(p[0])}; });
}

}  // namespace tlaloc::testing
