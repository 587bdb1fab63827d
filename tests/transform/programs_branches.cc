// Branches: of scalars, around loops, inside loops; early exits; a declared derivative.
#include "tests/transform/programs.h"

namespace tlaloc::testing {
namespace {

using namespace ops;  // NOLINT: the vocabulary

Val if_while(Val x, Val y) {
  return cond(
      x > y, {x, y},
      [](const Vals& p) {
        return Vals{
            while_one(p[0], [](Val z) { return z > 0.6; }, [&](Val z) { return sin(z) * p[1]; })};
      },
      [](const Vals& p) { return Vals{p[0] * p[1] * sin(p[0])}; })[0];
}
Val while_if_while(Val x) {
  return fori(5, x, [](Val, Val y) {
    return cond(
        y > 0.7, {y},
        [](const Vals& p) {
          return Vals{while_one(
                          p[0], [](Val z) { return z > 0.5; }, [](Val z) { return sin(z) * 0.9; }) +
                      p[0]};
        },
        [](const Vals& p) { return Vals{exp(p[0]) * 0.6}; })[0];
  });
}
/// For each element: s += sin(a) s; stop once s > 1.2.
Val break_flag(Val a) {
  return while_loop(
             {integer(0), real(0.5), constant(HostArray::scalar(false))},
             [&](const Vals& c) { return Vals{(c[0] < size0(a)) && !c[2]}; },
             [&](const Vals& c) {
               const Val s = c[1] + sin(at(a, c[0])) * c[1];
               return Vals{c[0] + integer(1), select(c[2], c[1], s), c[2] || (s > 1.2)};
             })
      .carries[1];
}
Val scalar_cond(Val x, Val y) {
  return cond(
      x > 0.0, {x}, [&](const Vals& p) { return Vals{log(p[0]) * y}; },
      [](const Vals& p) { return Vals{p[0] * 2.0}; })[0];
}
Val if_in_loop(Val a) {
  return fori(size0(a), real(0.3), [&](Val i, Val s) {
    return cond(
        at(a, i) > 0.5, {s}, [&](const Vals& p) { return Vals{exp(sin(p[0]) * at(a, i))}; },
        [](const Vals& p) { return p; })[0];
  });
}
/// y = x·x·x by a declared derivative, in a loop.
Val declared_cube(Val x) {
  auto cube = [](Val v) { return v * v * v; };
  const GraphRef callee = graph_of({f64()}, [&](const Vals& p) { return Vals{cube(p[0])}; });
  const GraphRef fwd = graph_of({f64()}, [&](const Vals& p) { return Vals{cube(p[0]), p[0]}; });
  const GraphRef bwd =
      graph_of({f64(), f64()}, [](const Vals& p) { return Vals{3.0 * p[0] * p[0] * p[1]}; });
  return fori(2, x, [&](Val, Val y) {
    const Val args[] = {y};
    const Type types[] = {f64()};
    return sin(ir::emit_call({.name = "cube", .kind = ir::CallKind::custom_vjp}, args,
                             {{callee, {}}, {fwd, {}}, {bwd, {}}}, types)
                   .out[0]);
  });
}

}  // namespace

void add_branch_programs(std::vector<Program>& to) {
  const Symbol n = Symbol::fresh("n");
  const HostArray a = reals({0.91, 0.47, 0.26, 0.85});
  auto s = [](double x) { return HostArray::scalar(x); };
  auto one = [&](const char* name, Val (*f)(Val), Type t, HostArray x) {
    to.push_back(
        {name, graph_of({t}, [&](const Vals& p) { return Vals{f(p[0])}; }, name), {std::move(x)}});
  };
  auto two = [&](const char* name, Val (*f)(Val, Val), double x, double y) {
    to.push_back({name,
                  graph_of(
                      {f64(), f64()}, [&](const Vals& p) { return Vals{f(p[0], p[1])}; }, name),
                  {s(x), s(y)}});
  };
  two("if_while_then", if_while, 1.1, 0.9);
  two("if_while_else", if_while, 0.5, 0.9);
  one("while_if_while", while_if_while, f64(), s(0.8));
  one("break_flag", break_flag, f64({n}), a);
  two("cond_pos", scalar_cond, 0.7, 1.3);
  two("cond_neg", scalar_cond, -0.7, 1.3);
  one("if_in_loop", if_in_loop, f64({n}), a);
  one("declared", declared_cube, f64(), s(0.7));
}

}  // namespace tlaloc::testing
