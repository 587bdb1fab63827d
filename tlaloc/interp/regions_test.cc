// if, while, scan and call, built by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/interp/testing.h"

namespace tlaloc::interp {
namespace {

using ir::Append;
using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT: short forms
using namespace ops;      // NOLINT: the operators

const Type kBool = Type::scalar(DType::boolean);

HostArray integer(std::int64_t i) { return HostArray::scalar(i); }

/// while (x < limit) { record x; x = 2 x }  over (limit; x).
ir::Builder::NodeResult doubling(Val limit, Val x, std::int64_t max_trips = 0) {
  const Type t = f64();
  return ir::emit_while(
      {.inv = {limit},
       .init = {x},
       .cond = graph({t, t}, [](const Vals& p) -> Vals { return {p[1] < p[0]}; }),
       .body = graph({t, t}, [](const Vals& p) -> Vals { return {p[1] * 2.0, p[1]}; }),
       .max_trips = max_trips});
}

TEST(Regions, WhileRecordsAndBindsItsTripCount) {
  const GraphRef g = graph_with_dims({f64(), f64()}, [](const Vals& p, std::vector<Dim>& dims) {
    auto r = doubling(p[0], p[1]);
    dims = {r.bound[0]};
    r.out.push_back(dim_value(Dim(r.bound[0]) + 1));
    return r.out;
  });
  Stats stats;
  auto r = evaluate(*g, {HostArray::scalar(10.0), HostArray::scalar(1.0)}, {.stats = &stats});
  EXPECT_THAT(texts(r.results),
              ElementsAre("f64[] {16}", "f64[4] {1, 2, 4, 8}", "i64[] {4}", "i64[] {5}"));
  EXPECT_THAT(r.result_dims, ElementsAre(4));
  EXPECT_EQ(stats.recorded, 4);
  EXPECT_EQ(stats.bodies, 4);
  r = evaluate(*g, {HostArray::scalar(0.0), HostArray::scalar(1.0)});
  EXPECT_THAT(texts(r.results), ElementsAre("f64[] {1}", "f64[0] {}", "i64[] {0}", "i64[] {1}"));
}

TEST(Regions, WhileStopsAtMaxTrips) {
  auto with = [](std::int64_t max_trips) {
    return error_of([&] {
      run(*graph({f64(), f64()},
                 [&](const Vals& p) { return doubling(p[0], p[1], max_trips).out; }),
          {HostArray::scalar(10.0), HostArray::scalar(1.0)});
    });
  };
  EXPECT_EQ(with(4), "");
  EXPECT_EQ(with(3),
            "TL-LOOP-001: while: the condition still holds after 3 trips; raise max_trips");
}

TEST(Regions, CarriesMoveThroughTheBody) {
  // Each body is the last owner of its carry, so the whole loop runs in the argument's buffer.
  const Type t = f64({3});
  const GraphRef g = graph({i64(), t}, [&](const Vals& p) {
    return ir::emit_while(
               {.inv = {},
                .init = p,
                .cond =
                    graph({i64(), t},
                          [](const Vals& c) -> Vals { return {c[0] > scalar_int(0, DType::i64)}; }),
                .body =
                    graph({i64(), t}, [](const Vals& c) -> Vals { return {c[0] - 1.0, -c[1]}; })})
        .out;
  });
  std::vector<HostArray> args{integer(5), f64s({1, 2, 3})};
  const void* buffer = args[1].data();
  const auto r = run(*g, std::move(args));
  EXPECT_EQ(to_string(r[1]), "f64[3] {-1, -2, -3}");
  EXPECT_EQ(r[1].data(), buffer);
}

/// scan over xs with carry s: s' = s + x, y = s'.
GraphRef running_sum(bool reverse) {
  const Symbol n = Symbol::fresh("n");
  return graph({f64({n}), f64()}, [&](const Vals& p) {
    return ir::emit_scan({.inv = {},
                          .init = {p[1]},
                          .xs = {p[0]},
                          .body = graph({f64(), f64()},
                                        [](const Vals& b) -> Vals {
                                          const Val s = b[0] + b[1];
                                          return {s, s};
                                        }),
                          .length = n,
                          .reverse = reverse})
        .out;
  });
}

TEST(Regions, ScanForwardsAndBackwards) {
  EXPECT_THAT(texts(run(*running_sum(false), {f64s({1, 2, 3}), HostArray::scalar(10.0)})),
              ElementsAre("f64[] {16}", "f64[3] {11, 13, 16}"));
  EXPECT_THAT(texts(run(*running_sum(true), {f64s({1, 2, 3}), HostArray::scalar(10.0)})),
              ElementsAre("f64[] {16}", "f64[3] {16, 15, 13}"));
  EXPECT_THAT(texts(run(*running_sum(false), {f64s({}), HostArray::scalar(10.0)})),
              ElementsAre("f64[] {10}", "f64[0] {}"));
}

TEST(Regions, ACounterThatOnlyScansReadIsNotMade) {
  // acc = acc + i for i in [0, n): the interpreter evaluates the body's node n times, and writes
  // nothing but sums.
  const Symbol n = Symbol::fresh("n");
  const auto sum_to = [&](bool used_elsewhere) {
    return graph({i64({n})}, [&](const Vals& p) -> Vals {
      const Val counter = iota(i64({n}), 0);
      Vals out = ir::emit_scan({.inv = {},
                                .init = {scalar_int(0, DType::i64)},
                                .xs = {counter, p[0]},
                                .body = graph({i64(), i64(), i64()},
                                              [](const Vals& b) -> Vals { return {b[0] + b[1]}; }),
                                .length = n})
                     .out;
      if (used_elsewhere) out.push_back(counter);
      return out;
    });
  };
  const HostArray xs(DType::i64, {1000});
  for (const bool used_elsewhere : {false, true}) {
    Stats stats;
    const GraphRef g = sum_to(used_elsewhere);
    const auto out = run(*g, {xs}, {.stats = &stats});
    EXPECT_EQ(out[0].element_int(0), 999 * 1000 / 2);
    EXPECT_EQ(stats.work, used_elsewhere ? 2000 : 1000);
  }
  // What a bound argument can't change is not made either, nor handed over.
  const auto bound = interp_backend().compile(sum_to(false))->bind({{0, runtime::Buffer(xs)}});
  EXPECT_EQ(bound->run({}).outputs[0].to_host().element_int(0), 999 * 1000 / 2);
}

TEST(Regions, ScanChecksItsLength) {
  const Symbol m = Symbol::fresh("m"), n = Symbol::fresh("n");
  const GraphRef g = graph({f64({m}), f64({n})}, [&](const Vals& p) {
    return ir::emit_scan(
               {.inv = {},
                .init = {},
                .xs = p,
                .body = graph({f64(), f64()}, [](const Vals& b) -> Vals { return {b[0] + b[1]}; }),
                .length = m})
        .out;
  });
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2}), f64s({1, 2, 3})}); }),
              HasSubstr("TL-SHAPE-001: scan: xs 1 has 3 elements where 2 are scanned"));
}

/// For each length: while (j < length) { record s; s = s + 1 } with s carried on; the histories
/// are flat, with their lengths beside them.
struct Nest {
  Vals out;  // s, flat f64[N], trips i64[n]
  Symbol flat;
};
Nest ragged_nest(Val lengths, Val s) {
  const GraphRef cond =
      graph({i64(), i64(), f64()}, [](const Vals& p) -> Vals { return {p[1] < p[0]}; });
  const GraphRef body = graph({i64(), i64(), f64()},
                              [](const Vals& p) -> Vals { return {p[1] + 1.0, p[2] + 1.0, p[2]}; });
  const GraphRef outer = graph({f64(), i64()}, [&](const Vals& p) -> Vals {
    const auto r = ir::emit_while(
        {.inv = {p[1]}, .init = {scalar_int(0, DType::i64), p[0]}, .cond = cond, .body = body});
    return {r.out[1], r.out[2], r.out[3]};
  });
  const auto r = ir::emit_scan({.inv = {},
                                .init = {s},
                                .xs = {lengths},
                                .body = outer,
                                .length = lengths.dim(0),
                                .append = {Append{.flat = true}, Append{}}});
  return {r.out, r.bound.at(0)};
}

TEST(Regions, RaggedHistoriesAreAppended) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = graph_with_dims({i64({n})}, [](const Vals& p, std::vector<Dim>& dims) {
    Nest nest = ragged_nest(p[0], scalar(0, DType::f64));
    dims = {nest.flat};
    return nest.out;
  });
  auto r = evaluate(*g, {i64s({3, 1, 0, 4})});
  EXPECT_THAT(texts(r.results),
              ElementsAre("f64[] {8}", "f64[8] {0, 1, 2, 3, 4, 5, 6, 7}", "i64[4] {3, 1, 0, 4}"));
  EXPECT_THAT(r.result_dims, ElementsAre(8));
  r = evaluate(*g, {i64s({})});
  EXPECT_THAT(texts(r.results), ElementsAre("f64[] {0}", "f64[0] {}", "i64[0] {}"));
}

/// Consumes the nest's histories: per piece its sum, and the piece times the iteration's carry.
GraphRef consume(bool reverse, bool known_length) {
  const Symbol n = Symbol::fresh("n");
  return graph({i64({n})}, [&](const Vals& p) -> Vals {
    const Nest nest = ragged_nest(p[0], scalar(0, DType::f64));
    const Symbol piece = Symbol::fresh("L");
    const GraphRef body = graph({f64(), f64({piece}), i64()}, [](const Vals& b) -> Vals {
      const std::int64_t all[] = {0};
      return {b[0] + 1.0, reduce_sum(b[1], all), b[1] * b[0]};
    });
    Append flat{.flat = true};
    if (known_length) flat.length = Dim(nest.flat);
    auto r = ir::emit_scan({.inv = {},
                            .init = {scalar(1, DType::f64)},
                            .xs = {nest.out[1], nest.out[2]},
                            .body = body,
                            .length = p[0].dim(0),
                            .reverse = reverse,
                            .ragged = {{piece, 1}},
                            .xrag = {true, false},
                            .append = {Append{}, flat}});
    if (known_length) r.out.push_back(r.out[2] + nest.out[1]);  // provably of one length
    return r.out;
  });
}

TEST(Regions, RaggedXsAreCut) {
  for (bool known : {false, true}) {
    auto r = run(*consume(false, known), {i64s({3, 1, 0, 2})});
    EXPECT_EQ(to_string(r[0]), "f64[] {5}");
    EXPECT_EQ(to_string(r[1]), "f64[4] {3, 3, 0, 9}");
    EXPECT_EQ(to_string(r[2]), "f64[6] {0, 1, 2, 6, 16, 20}");
    r = run(*consume(true, known), {i64s({3, 1, 0, 2})});
    EXPECT_EQ(to_string(r[1]), "f64[4] {3, 3, 0, 9}");
    EXPECT_EQ(to_string(r[2]), "f64[6] {0, 4, 8, 9, 4, 5}");
    if (known) {
      EXPECT_EQ(to_string(r[3]), "f64[6] {0, 5, 10, 12, 8, 10}");
    }
  }
}

TEST(Regions, RaggedLengthsThatOverflowAreRefused) {
  const Symbol n = Symbol::fresh("n"), all = Symbol::fresh("all"), piece = Symbol::fresh("L");
  const GraphRef g = graph({f64({all}), i64({n})}, [&](const Vals& p) {
    return ir::emit_scan({.inv = {},
                          .init = {scalar(1, DType::f64)},
                          .xs = p,
                          .body = graph({f64(), f64({piece}), i64()},
                                        [](const Vals& b) -> Vals { return {b[0]}; }),
                          .length = n,
                          .ragged = {{piece, 1}},
                          .xrag = {true, false}})
        .out;
  });
  const std::int64_t half = std::numeric_limits<std::int64_t>::max() / 2 + 1;
  EXPECT_THAT(error_of([&] { run(*g, {f64s({}), i64s({half, half})}); }),
              HasSubstr("TL-SIZE-001: size: size arithmetic overflows 64 bits"));
}

TEST(Regions, RaggedLengthsMustFit) {
  const Symbol n = Symbol::fresh("n"), flat = Symbol::fresh("N"), piece = Symbol::fresh("L");
  const GraphRef g = graph({f64({flat}), i64({n})}, [&](const Vals& p) {
    return ir::emit_scan({.inv = {},
                          .init = {},
                          .xs = p,
                          .body = graph({f64({piece}), i64()},
                                        [](const Vals& b) -> Vals {
                                          const std::int64_t all[] = {0};
                                          return {reduce_sum(b[0], all)};
                                        }),
                          .length = n,
                          .ragged = {{piece, 1}},
                          .xrag = {true, false}})
        .out;
  });
  EXPECT_THAT(texts(run(*g, {f64s({1, 2, 3}), i64s({2, 1})})), ElementsAre("f64[2] {3, 3}"));
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2, 3}), i64s({2, 2})}); }),
              HasSubstr("TL-SHAPE-001: scan: xs 0 has 3 elements where 4 are scanned"));
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2, 3}), i64s({4, -1})}); }),
              HasSubstr("TL-SIZE-001: scan: a ragged length is -1"));
}

// ---- branches ----

TEST(Regions, IfRunsOneBranch) {
  const GraphRef then = graph({f64()}, [](const Vals& p) -> Vals { return {p[0] + 1.0}; });
  const GraphRef other = graph({f64()}, [](const Vals& p) -> Vals { return {sin(p[0]) * 2.0}; });
  const GraphRef g = graph({kBool, f64()}, [&](const Vals& p) {
    const Type types[] = {f64()};
    return ir::emit_if(p[0], std::span(p).subspan(1), {{then, {}}, {other, {}}}, types).out;
  });
  Stats stats;
  EXPECT_THAT(texts(run(*g, {HostArray::scalar(true), HostArray::scalar(1.0)}, {.stats = &stats})),
              ElementsAre("f64[] {2}"));
  EXPECT_EQ(stats.nodes, 3);  // if, constant, add
  EXPECT_THAT(texts(run(*g, {HostArray::scalar(false), HostArray::scalar(0.0)})),
              ElementsAre("f64[] {0}"));
}

/// Doubles `x` (lanes in front) `trips` times, recording: f64[2, T]. The branches of a batched if.
GraphRef history_branch(std::int64_t trips) {
  return graph_with_dims({f64({2})}, [&](const Vals& p, std::vector<Dim>& dims) -> Vals {
    const GraphRef cond = graph({i64(), f64({2})}, [&](const Vals& c) -> Vals {
      return {c[0] < scalar_int(trips, DType::i64)};
    });
    const GraphRef body = graph(
        {i64(), f64({2})}, [](const Vals& c) -> Vals { return {c[0] + 1.0, c[1] * 2.0, c[1]}; });
    const auto r = ir::emit_while(
        {.inv = {}, .init = {scalar_int(0, DType::i64), p[0]}, .cond = cond, .body = body});
    dims = {r.bound[0]};
    const std::int64_t swap[] = {1, 0};
    const Val history = transpose(r.out[2], swap);
    return {r.out[1], history, history};
  });
}

TEST(Regions, BatchedIfSelectsLanesAndPads) {
  const Symbol longest = Symbol::fresh("M");
  const GraphRef then = history_branch(1), other = history_branch(3);
  const GraphRef g = graph({Type::get(DType::boolean, {2}), f64({2})}, [&](const Vals& p) {
    const Type types[] = {f64({2}), f64({2, longest}), f64({2, longest})};
    return ir::emit_if(p[0], std::span(p).subspan(1), {{then, {}}, {other, {}}}, types, {longest},
                       {}, {-1, -1, 1})
        .out;
  });
  // Lane 0 took the short branch: its history is padded. Result 2 belongs to the other branch.
  EXPECT_THAT(texts(run(*g, {vec<bool>({true, false}), f64s({5, 7})})),
              ElementsAre("f64[2] {10, 56}", "f64[2, 3] {5, 1, 1, 7, 14, 28}",
                          "f64[2, 3] {5, 10, 20, 7, 14, 28}"));
}

TEST(Regions, BatchedIfWithTwoLaneAxes) {
  const Type lanes = f64({2, 2});
  const GraphRef then = graph({lanes}, [](const Vals& p) -> Vals { return {-p[0]}; });
  const GraphRef other = graph({lanes}, [](const Vals& p) -> Vals { return {p[0] * 10.0}; });
  const GraphRef g = graph({Type::get(DType::boolean, {2, 2}), lanes}, [&](const Vals& p) {
    const Type types[] = {lanes};
    return ir::emit_if(p[0], std::span(p).subspan(1), {{then, {}}, {other, {}}}, types).out;
  });
  EXPECT_THAT(texts(run(*g, {array<bool>({2, 2}, {true, false, false, true}),
                             array<double>({2, 2}, {1, 2, 3, 4})})),
              ElementsAre("f64[2, 2] {-1, 20, 30, -4}"));
}

TEST(Regions, IfBindsTheDimsOfTheBranchTaken) {
  const Symbol length = Symbol::fresh("R");
  const GraphRef then = history_branch(1), other = history_branch(3);
  const GraphRef g = graph({kBool, f64({2})}, [&](const Vals& p) -> Vals {
    const Type types[] = {f64({2}), f64({2, length}), f64({2, length})};
    const auto r =
        ir::emit_if(p[0], std::span(p).subspan(1), {{then, {}}, {other, {}}}, types, {length});
    return {r.out[1], dim_value(r.bound[0])};
  });
  EXPECT_THAT(texts(run(*g, {HostArray::scalar(true), f64s({5, 7})})),
              ElementsAre("f64[2, 1] {5, 7}", "i64[] {1}"));
  EXPECT_THAT(texts(run(*g, {HostArray::scalar(false), f64s({5, 7})})),
              ElementsAre("f64[2, 3] {5, 10, 20, 7, 14, 28}", "i64[] {3}"));
}

// ---- calls ----

TEST(Regions, CallsOfEveryKindEvaluateTheirFirstRegion) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const GraphRef callee = graph({f64({n})}, [](const Vals& p) -> Vals { return {sin(p[0])}; });
  const GraphRef never = graph({f64({n})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  for (auto kind : {ir::CallKind::plain, ir::CallKind::custom_jvp, ir::CallKind::custom_vjp,
                    ir::CallKind::linear, ir::CallKind::remat}) {
    const GraphRef g = graph({f64({m})}, [&](const Vals& p) {
      ir::DimMap map;
      map.set(n, m);
      const Type types[] = {f64({m})};
      return ir::emit_call({.name = "f", .kind = kind}, p,
                           {ir::make_region(callee, map), ir::make_region(never, map)}, types)
          .out;
    });
    EXPECT_THAT(texts(run(*g, {f64s({0, 0})})), ElementsAre("f64[2] {0, 0}"));
  }
}

TEST(Regions, CallsMoveTheirArguments) {
  GraphRef f = graph({f64({3})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  for (int depth = 0; depth < 50; ++depth) {
    f = graph({f64({3})}, [&](const Vals& p) { return ir::call_graph({.name = "f"}, f, p); });
  }
  std::vector<HostArray> args{f64s({1, 2, 3})};
  const void* buffer = args[0].data();
  const auto r = run(*f, std::move(args));
  EXPECT_EQ(to_string(r[0]), "f64[3] {-1, -2, -3}");
  EXPECT_EQ(r[0].data(), buffer);
}

TEST(Regions, PlaceOfTheInnermostNodeThatHasOne) {
  GraphRef body;
  {
    ir::Builder b;
    const Val x = b.param(f64()), y = b.param(f64({Symbol::fresh("n")}));
    ir::OriginScope origin(ir::Origin{.place = {"inner.cc", 3}});
    body = b.build(Vals{log(x), y});
  }
  const Symbol n = body->dims()[0];
  const GraphRef g = graph({f64(), f64({n})}, [&](const Vals& p) {
    ir::OriginScope origin(ir::Origin{.place = {"outer.cc", 9}});
    return ir::call_graph({.name = "f"}, body, p);
  });
  EXPECT_THAT(error_of([&] { run(*g, {HostArray::scalar(-1.0), f64s({1})}, {.check_nan = true}); }),
              HasSubstr("inner.cc:3: TL-NAN-001: log"));
}

}  // namespace
}  // namespace tlaloc::interp
