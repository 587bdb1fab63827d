// Loops in loops: rectangular, triangular, with inner trip counts that the values decide.
#include "tests/transform/programs.h"

namespace tlaloc::testing {
namespace {

using namespace ops;  // NOLINT: the vocabulary

Val triangular(Val a) {
  return fori(size0(a), sum(a), [&](Val i, Val s) {
    return fori(i + integer(1), s, [&](Val j, Val t) { return t + sin(at(a, j) * t); });
  });
}
Val ragged(Val a) {
  return fori(size0(a), real(0.1), [&](Val i, Val s) {
    const Vals r =
        while_loop(
            {at(a, i), integer(0)},
            [](const Vals& c) { return Vals{(c[0] > 0.55) && (c[1] < integer(9))}; },
            [&](const Vals& c) { return Vals{sin(c[0]) * (1.0 + 0.02 * s), c[1] + integer(1)}; })
            .carries;
    return s + r[0] * r[0] * convert(r[1] + integer(1), DType::f64);
  });
}
Val ragged3(Val a) {
  auto mid = [&](Val j, Val i, Val s) {
    return while_loop(
               {s + 0.3 * at(a, i), integer(0)},
               [&](const Vals& c) { return Vals{(c[0] > 0.4) && (c[1] < j + integer(1))}; },
               [&](const Vals& c) { return Vals{sin(c[0]) * 0.9 + 0.01 * s, c[1] + integer(1)}; })
        .carries[0];
  };
  return fori(size0(a), real(0.4), [&](Val i, Val s) {
    return fori(i + integer(1), s, [&](Val j, Val t) { return mid(j, i, t) + 0.2 * t; });
  });
}
Val nested_scan(Val a) {
  return fors(3, real(0.2), [&](Val, Val s) {
    return fors(a.dim(0), s, [&](Val j, Val t) { return sin(t * at(a, j)) + at(a, j); });
  });
}
/// Inside a loop: a while with history, consumed by a scan over its run-time length.
Val inner_history(Val x) {
  return fori(4, x, [](Val i, Val y) {
    const LoopResult r = while_loop(
        {y, integer(0)}, [&](const Vals& c) { return Vals{c[1] < i + integer(1)}; },
        [](const Vals& c) { return Vals{sin(c[0]) * 1.1, c[1] + integer(1), c[0] * c[0]}; });
    return scan({r.carries[0]}, r.ys, [](const Vals& c) { return Vals{sin(c[0]) + 0.1 * c[1]}; })
        .carries[0];
  });
}
/// Array updates inside a branch inside a ragged nest.
Val array_if_nest(Val a0) {
  return sum(sin(fori(size0(a0), a0, [](Val i, Val a) {
    return cond(
        at(a, i) > 0.3, {a},
        [&](const Vals& p) {
          return Vals{fori(i + integer(1), p[0], [&](Val j, Val b) {
            return put(b, j, sin(at(b, j)) + 0.1 * at(b, i));
          })};
        },
        [&](const Vals& p) { return Vals{put(p[0], i, at(p[0], i) * 2.0)}; })[0];
  })));
}
Val scan_over_scan_ys(Val a) {
  const LoopResult outer = scan({real(0.3)}, {a}, [&](const Vals& c) {
    const LoopResult inner =
        scan({c[0]}, {a}, [](const Vals& d) { return Vals{sin(d[0] + d[1]), d[0] * d[1]}; });
    return Vals{inner.carries[0] * c[1], sum(inner.ys[0])};
  });
  return sum(outer.ys[0] * a) + outer.carries[0];
}

}  // namespace

void add_nest_programs(std::vector<Program>& to) {
  const Symbol n = Symbol::fresh("n");
  const HostArray a = reals({0.91, 0.47, 0.26, 0.85});
  auto add = [&](const char* name, Val (*f)(Val)) {
    to.push_back(
        {name, graph_of({f64({n})}, [&](const Vals& p) { return Vals{f(p[0])}; }, name), {a}});
  };
  add("triangular", triangular);
  add("ragged", ragged);
  add("ragged3", ragged3);
  add("nested_scan", nested_scan);
  add("array_if_nest", array_if_nest);
  add("scan_over_scan_ys", scan_over_scan_ys);
  to.push_back(
      {"inner_history",
       graph_of(
           {f64()}, [](const Vals& p) { return Vals{inner_history(p[0])}; }, "inner_history"),
       {HostArray::scalar(0.8)}});
}

}  // namespace tlaloc::testing
