// Transposition by itself: <A x, y> = <x, Aᵀ y> for random linear programs. Derivatives alone don't
// reach every rule (no tangent is ever subtracted, for one).
#include <gtest/gtest.h>

#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

using namespace ops;  // NOLINT: the vocabulary

constexpr std::int64_t kSize = 6;

/// A statement: the next value of x, linear in x and y; w, p and i are given.
struct Given {
  Val w, p, i, indices;
};
using Statement = Val (*)(Val x, Val y, const Given& g);

Val fitted(Val x) {  // back to the common size
  const Val parts[] = {x, zeros(f64({kSize}))};
  return slice_axis(concatenate(parts, 0), 0, 0, kSize);
}
Val square(Val x) {
  const Dim shape[] = {2, 3};
  return reshape(x, shape);
}

const std::pair<const char*, Statement> kStatements[] = {
    {"neg", [](Val x, Val, const Given&) { return -x; }},
    {"add", [](Val x, Val y, const Given&) { return x + y; }},
    {"sub", [](Val x, Val y, const Given&) { return x - y; }},
    {"sub known", [](Val x, Val, const Given& g) { return (g.w - g.w) - x; }},
    {"mul left", [](Val x, Val, const Given& g) { return x * g.w; }},
    {"mul right", [](Val x, Val, const Given& g) { return g.w * x; }},
    {"div", [](Val x, Val, const Given& g) { return x / (g.w + 2.0); }},
    {"select", [](Val x, Val y, const Given& g) { return select(g.p, x, y); }},
    {"select one", [](Val x, Val, const Given& g) { return select(g.p, zeros_like(x), x); }},
    {"reverse",
     [](Val x, Val, const Given&) {
       const std::int64_t axis = 0;
       return reverse(x, std::span(&axis, 1));
     }},
    {"pad",
     [](Val x, Val, const Given&) {
       const Dim low[] = {1}, high[] = {-2}, interior[] = {1};
       return fitted(pad(x, real(0), low, high, interior));
     }},
    {"slice",
     [](Val x, Val, const Given&) {
       const Dim start[] = {1}, limit[] = {6}, stride[] = {2};
       return fitted(slice(x, start, limit, stride));
     }},
    {"concatenate",
     [](Val x, Val y, const Given&) {
       const Val parts[] = {slice_axis(x, 0, 2, 5), slice_axis(y, 0, 0, 3)};
       return concatenate(parts, 0);
     }},
    {"take", [](Val x, Val, const Given& g) { return take(x, g.indices, 0); }},
    {"take fill",
     [](Val x, Val, const Given& g) {
       const Val inside = (g.indices < double{kSize}) && (g.indices > -1.0);
       return select(inside, take(x, g.indices, 0, OutOfBounds::fill), zeros_like(x));
     }},
    {"scatter add",
     [](Val x, Val y, const Given& g) { return scatter_at(x, g.indices, y, 0, Update::add); }},
    {"scatter drop",
     [](Val x, Val y, const Given& g) {
       return scatter_at(x, g.indices, y, 0, Update::add, OutOfBounds::fill);
     }},
    {"dynamic_slice", [](Val x, Val, const Given& g) { return fitted(window(x, g.i, 4)); }},
    {"dynamic_update",
     [](Val x, Val y, const Given& g) {
       const Val starts[] = {g.i};
       return dynamic_update_slice(x, slice_axis(y, 0, 1, 4), starts);
     }},
    {"put", [](Val x, Val y, const Given& g) { return put(x, g.i, at(y, g.i) - at(x, g.i)); }},
    {"broadcast, reduce_sum",
     [](Val x, Val, const Given& g) {
       const Dim shape[] = {3, kSize};
       const std::int64_t axis = 0;
       return reduce_sum(broadcast_to(x, shape) * broadcast_to(g.w, shape), std::span(&axis, 1));
     }},
    {"transpose",
     [](Val x, Val, const Given&) {
       const std::int64_t p[] = {1, 0};
       const Dim flat[] = {kSize};
       return reshape(transpose(square(x), p), flat);
     }},
    {"barrier", [](Val x, Val, const Given&) { return optimization_barrier(x); }},
    {"scan",
     [](Val x, Val y, const Given& g) {
       return scan({real(0)}, {x, y, g.w},
                   [](const Vals& c) {
                     const Val s = c[0] * 0.5 - c[1] * c[3];
                     return Vals{s, s + c[2]};
                   })
           .ys[0];
     }},
    {"scan with invariants",
     [](Val x, Val y, const Given& g) {
       const Val start = zeros_like(x);
       return scan(
                  {start}, {g.w}, [&](const Vals& c) { return Vals{c[0] * 0.7 + x * c[1] - y}; },
                  std::nullopt, true)
           .carries[0];
     }},
    {"cond",
     [](Val x, Val y, const Given& g) {
       return cond(
           g.i < 3.0, {x, y}, [](const Vals& p) { return Vals{p[0] - p[1]}; },
           [&](const Vals& p) { return Vals{p[1] * g.w}; })[0];
     }},
    {"call",
     [](Val x, Val y, const Given& g) {
       const GraphRef callee = graph_of({x.type(), y.type(), x.type()},
                                        [](const Vals& p) { return Vals{p[0] * p[2] - p[1]}; });
       const Val args[] = {x, y, g.w};
       return ir::call_graph({.name = "f"}, callee, args)[0];
     }},
};

void expect_adjoint(const std::vector<const std::pair<const char*, Statement>*>& statements,
                    std::uint64_t seed) {
  const std::vector<Type> types{f64({kSize}), f64({kSize}),
                                f64({kSize}), Type::get(DType::boolean, {kSize}),
                                i64(),        i64({kSize})};
  const GraphRef g = graph_of(types, [&](const Vals& p) {
    Val x = p[0], y = p[1];
    for (const auto* s : statements) {
      const Val next = s->second(x, y, {p[2], p[3], p[4], p[5]});
      y = x;
      x = next;
    }
    return Vals{x, y};
  });
  const GraphRef t =
      checked(transform::linear_transpose(g, {true, true, false, false, false, false}));
  Noise noise(seed);
  const HostArray like(DType::f64, {kSize});
  HostArray p(DType::boolean, {kSize}), indices(DType::i64, {kSize});
  for (bool& b : p.as_mutable<bool>()) b = noise.uniform() < 0.5;
  for (std::int64_t& i : indices.as_mutable<std::int64_t>()) i = noise.below(9) - 1;
  const Arrays given{noise.like(like, 1), p, HostArray::scalar(std::int64_t{noise.below(7)}),
                     indices};
  const Arrays x{noise.like(like, 1), noise.like(like, 1)},
      u{noise.like(like, 1), noise.like(like, 1)};
  const double forward = inner(interp::run(*g, x + given), u);
  const double backward = inner(x, interp::run(*t, given + u));
  std::string names;
  for (const auto* s : statements) names += std::string(s->first) + "; ";
  EXPECT_NEAR(forward, backward, 1e-10 * (1 + std::abs(forward))) << names;
}

TEST(Linear, EachStatementHasItsAdjoint) {
  for (const auto& s : kStatements) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) expect_adjoint({&s}, seed);
  }
}
TEST(Linear, RandomSequencesHaveTheirAdjoint) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Noise noise(seed + 1000);
    std::vector<const std::pair<const char*, Statement>*> statements;
    for (int k = 2 + noise.below(5); k > 0; --k) {
      statements.push_back(&kStatements[noise.below(static_cast<int>(std::size(kStatements)))]);
    }
    expect_adjoint(statements, seed);
  }
}
TEST(Linear, WhatIsNotLinearIsRefused) {
  const GraphRef g = graph_of({f64({kSize})}, [](const Vals& p) { return Vals{ops::sin(p[0])}; });
  try {
    transform::linear_transpose(g, {true});
    FAIL() << "sin was transposed";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-GRAD-002");
  }
}

}  // namespace
}  // namespace tlaloc::testing
