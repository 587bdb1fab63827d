// Attention on the CPU back end: no matrix of scores, and the interpreter's results, forward and
// backward, for every shape, option, layout and kind of CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/arena.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using Arrays = std::vector<HostArray>;
using Names = std::vector<std::string>;

struct Case {
  std::vector<std::int64_t> lead;  ///< sizes in front of the heads
  std::int64_t kv_heads = 1, group = 1, queries = 5, keys = 5, width = 4, value_width = 4;
  bool heads = true;  ///< there is an axis of them
  ops::AttentionParams params;
  enum class Mask { none, keep, bias } mask = Mask::none;
  bool one_mask = false;   ///< for all heads
  bool sequences = false;  ///< q, k and v are [..., sequence, heads, width]
  bool symbolic = false;   ///< sizes of sequences
  std::vector<bool> active{true, true, true, true};  ///< q, k, v, mask
};

std::string text_of(const Case& c) {
  std::string s;
  for (std::int64_t n : c.lead) s += std::to_string(n) + ", ";
  s += c.heads ? std::to_string(c.kv_heads) + " x " + std::to_string(c.group) + " heads, " : "";
  s += std::to_string(c.queries) + " queries, " + std::to_string(c.keys) + " keys, widths " +
       std::to_string(c.width) + " and " + std::to_string(c.value_width);
  if (c.params.causal) s += ", causal";
  if (c.params.window) s += ", window " + std::to_string(c.params.window);
  if (c.params.scale != 0) s += ", scale";
  if (c.params.soft_cap > 0) s += ", soft cap";
  if (c.mask != Case::Mask::none) s += c.mask == Case::Mask::keep ? ", mask" : ", bias";
  if (c.one_mask) s += " for all heads";
  if (c.sequences) s += ", by sequences";
  if (c.symbolic) s += ", symbolic";
  for (bool a : c.active) s += a ? "" : ", partly constant";
  return s;
}

struct Built {
  GraphRef value, gradient;  ///< params: q, k, v, (mask), weights of the results
  Arrays args;
};

HostArray drawn(std::mt19937_64& random, DType t, Extents extents) {
  HostArray a = HostArray::uninitialized(t, std::move(extents));
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (t == DType::boolean) {
      static_cast<bool*>(a.mutable_data())[i] = random() % 4 != 0;
    } else {
      static_cast<float*>(a.mutable_data())[i] = normal(random);
    }
  }
  return a;
}

Built build(const Case& c, std::uint64_t seed) {
  const Dim queries = c.symbolic ? Dim(Symbol::fresh("queries")) : Dim(c.queries);
  const Dim keys = c.symbolic ? Dim(Symbol::fresh("keys")) : Dim(c.keys);
  std::mt19937_64 random(seed);
  Built b;
  std::vector<Type> types;
  auto param = [&](DType t, std::int64_t heads, Dim rows, std::int64_t size, Dim columns,
                   std::int64_t count, bool swapped) {
    std::vector<Dim> shape(c.lead.begin(), c.lead.end());
    Extents extents(c.lead.begin(), c.lead.end());
    if (c.heads) shape.emplace_back(heads), extents.push_back(heads);
    shape.push_back(rows), extents.push_back(size);
    if (swapped) {
      std::iter_swap(shape.end() - 1, shape.end() - 2);
      std::iter_swap(extents.end() - 1, extents.end() - 2);
    }
    shape.push_back(columns), extents.push_back(count);
    types.push_back(Type::get(t, shape));
    b.args.push_back(drawn(random, t, extents));
  };
  const std::int64_t heads = c.kv_heads * c.group;
  const bool swapped = c.sequences && c.heads;
  param(DType::f32, heads, queries, c.queries, c.width, c.width, swapped);
  param(DType::f32, c.kv_heads, keys, c.keys, c.width, c.width, swapped);
  param(DType::f32, c.kv_heads, keys, c.keys, c.value_width, c.value_width, swapped);
  if (c.mask != Case::Mask::none) {
    const DType t = c.mask == Case::Mask::keep ? DType::boolean : DType::f32;
    param(t, c.one_mask ? 1 : heads, queries, c.queries, keys, c.keys, false);
  }
  param(DType::f32, heads, queries, c.queries, c.value_width, c.value_width, false);
  const Body attend = [&](const Vals& p) -> Vals {
    auto ready = [&](Val x) {
      if (!swapped) return x;
      std::vector<std::int64_t> order;
      for (int i = 0; i < x.rank(); ++i) order.push_back(i);
      std::iter_swap(order.end() - 2, order.end() - 3);
      return ops::transpose(x, order);
    };
    Val mask;
    if (c.mask != Case::Mask::none) {
      mask = p[3];
      std::vector<Dim> shape(mask.shape().begin(), mask.shape().end());
      if (c.heads) shape[shape.size() - 3] = heads;
      std::vector<std::int64_t> axes;
      for (int i = 0; i < mask.rank(); ++i) axes.push_back(i);
      if (c.one_mask) mask = ops::broadcast_in_dim(mask, shape, axes);
    }
    return {ops::attention(ready(p[0]), ready(p[1]), ready(p[2]), mask, c.params)};
  };
  b.value = graph_of(types, attend);
  const GraphRef loss =
      graph_of(types, [&](const Vals& p) -> Vals { return {sum(attend(p)[0] * p.back())}; });
  transform::Mask active(types.size(), false);
  for (std::size_t k = 0; k + 1 < types.size(); ++k) {
    active[k] = c.active[k] && types[k].dtype() == DType::f32;
  }
  b.gradient = transform::value_and_grad(loss, active);
  return b;
}

/// Gradients are products of the scores' errors and sums of them over queries: five times those of
/// results, which add up to some hundred products of f32 (and exp, off by two units) in another
/// order.
constexpr double kResults = 2e-5, kGradients = 1e-4;

/// Of both back ends, expects results of one size and gives the steps' names. The tolerance is
/// relative to a result's largest element.
Names expect_interpreters(const GraphRef& g, const Arrays& args, double tolerance = kResults) {
  const StepsOfRun got = run_by_steps(g, args);
  const Arrays want = interp::run(*g, args);
  for (std::size_t k = 0; k < want.size(); ++k) {
    const HostArray& a = got.results[k];
    EXPECT_EQ(a.extents(), want[k].extents());
    double size = 1;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const double y = std::abs(want[k].element(i));
      if (std::isfinite(y)) size = std::max(size, y);
    }
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const double x = a.element(i), y = want[k].element(i);
      const bool same = std::isfinite(y) ? std::abs(x - y) <= tolerance * size
                                         : (std::isnan(x) && std::isnan(y)) || x == y;
      if (same) continue;
      ADD_FAILURE() << "result " << k << ", element " << i << " is " << x << " where " << y
                    << " is expected";
      break;
    }
  }
  return got.names;
}

void check(const Case& c, std::uint64_t seed) {
  SCOPED_TRACE(text_of(c) + ", seed " + std::to_string(seed));
  const Built b = build(c, seed);
  EXPECT_EQ(expect_interpreters(b.value, b.args), Names{"attention"});
  const Names steps = expect_interpreters(b.gradient, b.args, kGradients);
  EXPECT_THAT(steps, Contains("attention"));
  EXPECT_THAT(steps, Contains("attention.bwd"));
  EXPECT_THAT(steps, Not(Contains("dot_general")));
}

Case random_case(std::mt19937_64& random) {
  auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  Case c;
  for (std::int64_t n = one_of({0, 0, 1, 2}); n > 0; --n) c.lead.push_back(one_of({1, 2, 3}));
  c.heads = !c.lead.empty() || random() % 4 != 0;
  c.kv_heads = c.heads ? one_of({1, 1, 2, 3}) : 1;
  c.group = c.heads ? one_of({1, 1, 2, 3}) : 1;
  c.queries = one_of({1, 3, 17, 64, 65, 130});
  c.keys = one_of({1, 4, 31, 128, 129, 300});
  if (c.queries * c.keys > 10000) c.lead.clear();
  c.width = one_of({1, 4, 17, 32});
  c.value_width = one_of({1, 5, 16, 33});
  c.params.causal = random() % 2 == 0;
  c.params.window = one_of({0, 0, 1, 7, 100});
  c.params.scale = random() % 3 == 0 ? 0.3 : 0;
  c.params.soft_cap = random() % 3 == 0 ? 1.5 : 0;
  c.mask = static_cast<Case::Mask>(random() % 3);
  c.one_mask = random() % 2 == 0;
  c.sequences = random() % 2 == 0;
  c.symbolic = random() % 2 == 0;
  return c;
}

TEST(Attention, AsTheInterpreterHasIt) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 150; ++k) {
    check(random_case(random), random());
    if (HasFailure()) return;
  }
}

TEST(Attention, OnEveryKindOfCpu) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    std::mt19937_64 random(2);
    for (int k = 0; k < 25 && !HasFailure(); ++k) check(random_case(random), random());
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Attention, WithoutElements) {
  for (const bool causal : {false, true}) {
    for (Case c : {Case{.queries = 0}, Case{.keys = 0}, Case{.queries = 0, .keys = 0},
                   Case{.width = 0}, Case{.value_width = 0}, Case{.kv_heads = 0}, Case{.lead = {0}},
                   Case{.lead = {0, 2}}, Case{.kv_heads = 2, .group = 0}}) {
      c.params.causal = causal;
      c.symbolic = true;
      const Built b = build(c, 1);
      SCOPED_TRACE(text_of(c));
      expect_interpreters(b.value, b.args);
      expect_interpreters(b.gradient, b.args);
    }
  }
}

TEST(Attention, GradientsOfSomeOperands) {
  for (int k = 1; k < 16; ++k) {
    Case c{.group = 2, .mask = Case::Mask::bias};
    c.params.causal = true;
    for (std::size_t i = 0; i < 4; ++i) c.active[i] = (k >> i) & 1;
    check(c, static_cast<std::uint64_t>(k));
  }
}

/// A query that sees no key gives zeros, and has gradients of zero.
TEST(Attention, QueriesThatSeeNothing) {
  Case c{.queries = 200, .keys = 100};
  c.params.causal = true;
  check(c, 1);
  c.params.causal = false;
  c.mask = Case::Mask::keep;
  Built b = build(c, 2);
  for (std::int64_t i = 0; i < 5000; ++i) static_cast<bool*>(b.args[3].mutable_data())[i] = false;
  expect_interpreters(b.value, b.args);
  expect_interpreters(b.gradient, b.args);
}

/// What is not finite meets the same elements as in the composite's body, hidden ones included.
TEST(Attention, NumbersThatAreNot) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    Case c{.queries = 70, .keys = 300, .width = 3, .value_width = 3};
    c.params.causal = trial % 3 != 0;
    c.params.window = trial % 4 == 1 ? 20 : 0;
    c.params.soft_cap = trial % 5 == 0 ? 2 : 0;
    c.mask = trial % 2 ? Case::Mask::bias : Case::Mask::none;
    Built b = build(c, random());
    const float values[] = {infinity, -infinity, std::nanf("")};
    HostArray& a = b.args[random() % b.args.size()];
    for (int k = 0; k < 2; ++k) {
      static_cast<float*>(a.mutable_data())[random() % static_cast<std::uint64_t>(a.size())] =
          values[random() % 3];
    }
    SCOPED_TRACE(text_of(c) + ", trial " + std::to_string(trial));
    expect_interpreters(b.value, b.args);
    expect_interpreters(b.gradient, b.args, kGradients);
    if (HasFailure()) return;
  }
}

TEST(Attention, UnderVmap) {
  for (int k = 0; k < 8; ++k) {
    Case c{.lead = {2}, .kv_heads = 2, .group = 2, .queries = 9, .keys = 70};
    c.params.causal = true;
    c.mask = k % 2 ? Case::Mask::keep : Case::Mask::none;
    c.heads = k % 4 < 2;
    if (!c.heads) c.lead.clear(), c.kv_heads = c.group = 1;
    const Built b = build(c, static_cast<std::uint64_t>(k));
    std::vector<std::optional<int>> axes(b.args.size(), 0);
    if (k >= 4) axes[1] = axes[axes.size() - 2] = std::nullopt;  // one k, and one v or mask
    Arrays lanes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const HostArray& a = b.args[i];
      Extents extents = a.extents();
      if (axes[i]) extents.insert(extents.begin(), 3);
      std::mt19937_64 random(i);
      lanes.push_back(drawn(random, a.dtype(), extents));
    }
    SCOPED_TRACE(text_of(c) + ", " + std::to_string(k));
    EXPECT_THAT(expect_interpreters(transform::vmap(b.value, axes, 3), lanes),
                Contains("attention"));
    EXPECT_THAT(expect_interpreters(transform::vmap(b.gradient, axes, 3), lanes, kGradients),
                Contains("attention.bwd"));
  }
}

HostArray as_type(const HostArray& a, DType t) {
  const std::vector<Dim> shape(a.extents().begin(), a.extents().end());
  const GraphRef g = graph_of({Type::get(a.dtype(), shape)},
                              [&](const Vals& p) -> Vals { return {ops::convert(p[0], t)}; });
  return interp::run(*g, {a})[0];
}

/// Computed in f32 and rounded once. Gradients come from results and a logarithm that were rounded.
TEST(Attention, HalvesAreComputedInF32) {
  std::mt19937_64 random(4);
  for (const DType t : {DType::f16, DType::bf16}) {
    const double unit = t == DType::f16 ? 0x1p-11 : 0x1p-9;  // of rounding, at most
    for (const bool masked : {false, true}) {
      // Queries, keys, values, weights of the results, a mask.
      Arrays args;
      for (const Extents& e : {Extents{2, 4, 70, 16},
                               {2, 2, 130, 16},
                               {2, 2, 130, 24},
                               {2, 4, 70, 24},
                               {2, 4, 70, 130}}) {
        args.push_back(as_type(drawn(random, DType::f32, e), t));
      }
      const auto graph = [&](DType type, bool gradient) {
        std::vector<Type> types;
        for (const HostArray& a : args) {
          types.push_back(
              Type::get(type, std::vector<Dim>(a.extents().begin(), a.extents().end())));
        }
        const GraphRef g = graph_of(types, [&](const Vals& p) -> Vals {
          const Val y = ops::attention(p[0], p[1], p[2], masked ? p[4] : Val(),
                                       {.causal = !masked, .soft_cap = masked ? 3.0 : 0.0});
          const std::int64_t all[] = {0, 1, 2, 3};
          return {gradient ? ops::reduce_sum(ops::convert(y * p[3], DType::f32), all) : y};
        });
        return gradient ? transform::value_and_grad(g, {true, true, true, false, masked}) : g;
      };
      Arrays wide;
      for (const HostArray& a : args) wide.push_back(as_type(a, DType::f32));
      for (const bool gradient : {false, true}) {
        const StepsOfRun got = run_by_steps(graph(t, gradient), args);
        EXPECT_THAT(got.names, Contains(gradient ? "attention.bwd" : "attention"));
        EXPECT_THAT(got.names, Not(Contains("dot_general")));
        const auto compiled = cpu::cpu_backend()
                                  .compile(graph(t, gradient))
                                  ->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
        const Arrays want = interp::run(*graph(DType::f32, gradient), wide);
        for (std::size_t k = gradient; k < want.size(); ++k) {
          double size = 0, off = 0;
          EXPECT_EQ(got.results[k].dtype(), t);
          EXPECT_TRUE(identical(compiled.outputs[k].to_host(), got.results[k]));
          for (std::int64_t i = 0; i < want[k].size(); ++i) {
            const double y = want[k].element(i);
            size = std::max(size, std::abs(y));
            off = std::max(off, std::abs(got.results[k].element(i) - y));
          }
          EXPECT_LE(off, (gradient ? 6 : 1.1) * unit * size) << name(t) << ", result " << k;
        }
      }
    }
  }
}

TEST(Attention, OtherTypesAreWhatTheCompositeSays) {
  const Type x = f64({2, 3, 4});
  const GraphRef g = graph_of(
      {x, x, x}, [](const Vals& p) -> Vals { return {ops::attention(p[0], p[1], p[2], {}, {})}; });
  std::mt19937_64 random(1);
  Arrays args;
  for (int k = 0; k < 3; ++k) {
    args.push_back(HostArray(DType::f64, {2, 3, 4}));
    for (double& e : args.back().as_mutable<double>()) e = static_cast<double>(random() % 100) / 64;
  }
  EXPECT_THAT(expect_interpreters(g, args, 1e-12), Contains("dot_general"));
}

TEST(Attention, SizesThatDoNotFitAreRefused) {
  const Dim n = Symbol::fresh("n"), width = Symbol::fresh("a"), other = Symbol::fresh("b");
  const Type q = Type::get(DType::f32, {n, width}), k = Type::get(DType::f32, {n, other});
  const GraphRef g = graph_of(
      {q, k, k}, [](const Vals& p) -> Vals { return {ops::attention(p[0], p[1], p[2], {}, {})}; });
  std::mt19937_64 random(1);
  const HostArray narrow = drawn(random, DType::f32, {3, 2}),
                  wide = drawn(random, DType::f32, {3, 4});
  const Arrays args{narrow, wide, wide};
  EXPECT_EQ(expect_interpreters(g, {wide, wide, wide}), Names{"attention"});
  std::string message;
  try {
    interp::run(*g, args);
  } catch (const Error& e) {
    message = e.what();
  }
  EXPECT_THAT(message, ::testing::HasSubstr("TL-"));
  try {
    cpu::cpu_backend()
        .compile(g, {.run_once = true})
        ->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), message);
  }
}

/// A module says what it likes: what has not got the sizes of an attention is what its body says.
TEST(Attention, ACallOfThatNameIsBelievedNothing) {
  const auto module = [](const char* q, const char* k, const char* v, const char* rank) {
    const std::string params =
        std::string("(%q: f32[") + q + "], %k: f32[" + k + "], %v: f32[" + v + "])";
    const std::string type = std::string("f32[") + q + "]";
    return ir::parse_graph(
        "graph @g " + params + " -> (" + type +
            ") {\n  %3 = call(%q, %k, %v) {name=\"attention\", " +
            "kind=plain, n_residuals=0, policy=\"\", params=[{name=\"causal\", ints=[0], "
            "reals=[]}, " +
            "{name=\"window\", ints=[0], reals=[]}, {name=\"scale\", ints=[], reals=[1]}, " +
            "{name=\"soft_cap\", ints=[], reals=[0]}, {name=\"rank\", ints=[" + rank +
            "], reals=[]}, {name=\"masked\", ints=[0], reals=[]}], version=0} : " + type +
            "\n    callee graph " + params + " -> (" + type + ") {\n      %3 = neg(%q) : " + type +
            "\n      return %3\n    }\n  return %3\n}\n",
        ops::find);
  };
  const auto claimed = [](const GraphRef& g) {
    const auto p = cpu::plan(g);
    return std::ranges::any_of(
        p->steps, [](const auto& s) { return std::string_view(s.name) == "attention"; });
  };
  EXPECT_TRUE(claimed(module("8, 64", "16, 64", "16, 64", "2")));
  EXPECT_TRUE(claimed(module("6, 8, 64", "2, 16, 64", "2, 16, 64", "3")));
  EXPECT_TRUE(claimed(module("6, 8, 64", "6, 16, 64", "6, 16, 64", "2")));  // lanes in front
  EXPECT_FALSE(claimed(module("8, 64", "16, 1", "16, 64", "2")));           // widths
  EXPECT_FALSE(claimed(module("8, 64", "16, 64", "15, 64", "2")));          // keys
  EXPECT_FALSE(claimed(module("8, 64", "16, 64", "16, 4", "2")));           // the result's width
  EXPECT_FALSE(claimed(module("8, 64", "16, 64", "16, 64", "5")));   // more axes than there are
  EXPECT_FALSE(claimed(module("8, 64", "16, 64", "16, 64", "-3")));  // fewer than any
  EXPECT_FALSE(claimed(module("6, 8, 64", "4, 16, 64", "4, 16, 64", "3")));  // heads
  EXPECT_FALSE(claimed(module("2, 8, 64", "6, 16, 64", "6, 16, 64", "3")));
  EXPECT_FALSE(claimed(module("6, 8, 64", "3, 16, 64", "3, 16, 64", "2")));  // lanes
}

/// Plans for so many queries and keys and says what the arena takes.
std::size_t arena_bytes(std::int64_t n, bool gradient) {
  Case c{.queries = n, .keys = n, .width = 8, .value_width = 8};
  c.params.causal = true;
  const Built b = build(c, 1);
  const auto p = cpu::plan(gradient ? b.gradient : b.value);
  std::vector<std::int64_t> slots = p->slots;
  cpu::evaluate(p->points[0], slots.data());
  return cpu::plan_arena(*p, slots).bytes;
}
TEST(Attention, TakesMemoryByQueriesNotByScores) {
  for (const bool gradient : {false, true}) {
    EXPECT_LE(arena_bytes(4096, gradient), 4096 * 8 * 4 * 6);
    // Scores alone would take 64 MiB.
    EXPECT_LE(arena_bytes(4096, gradient), 4 * arena_bytes(1024, gradient) + 4096);
  }
}

TEST(Attention, SaysWhatItCosts) {
  Case c{.lead = {2},
         .kv_heads = 2,
         .group = 3,
         .queries = 10,
         .keys = 20,
         .width = 8,
         .value_width = 4};
  const auto p = cpu::plan(build(c, 1).gradient);
  std::vector<std::int64_t> slots = p->slots;
  cpu::evaluate(p->points[0], slots.data());
  for (const cpu::Step& s : p->steps) {
    const bool forward = s.name == std::string("attention");
    if (!forward && s.name != std::string("attention.bwd")) continue;
    std::vector<std::int64_t> ints;
    for (cpu::Slot k : s.ints) ints.push_back(slots[k]);
    const cpu::Cost cost = s.cost(s.data.get(), ints.data());
    EXPECT_EQ(cost.flops, 2. * 12 * 10 * 20 * (forward ? 8 + 4 : 3 * 8 + 2 * 4));
    EXPECT_EQ(cost.space, "12 heads of 10x20");
  }
}

TEST(Attention, HasTheSameBitsForAnyNumberOfThreads) {
  Case c{.lead = {2}, .kv_heads = 2, .group = 2, .queries = 600, .keys = 600, .width = 16};
  c.params.causal = true;
  const Built b = build(c, 1);
  const std::int64_t before = cpu::num_threads();
  std::vector<Arrays> results;
  for (const std::int64_t threads : {1, 2, 3}) {
    cpu::set_num_threads(threads);
    const auto out = cpu::cpu_backend()
                         .compile(b.gradient, {.run_once = true})
                         ->run(std::vector<runtime::Buffer>(b.args.begin(), b.args.end()));
    Arrays& r = results.emplace_back();
    for (const runtime::Buffer& o : out.outputs) r.push_back(o.to_host());
  }
  cpu::set_num_threads(before);
  for (std::size_t k = 0; k < results[0].size(); ++k) {
    EXPECT_TRUE(identical(results[0][k], results[1][k]));
    EXPECT_TRUE(identical(results[0][k], results[2][k]));
  }
}

}  // namespace
}  // namespace tlaloc::testing
