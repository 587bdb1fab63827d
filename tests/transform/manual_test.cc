// Programs over meshes on one device: values, and derivatives and maps that stay on the mesh,
// against the same functions without one.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/interp/testing.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/transform/api.h"
#include "tlaloc/transform/one_device.h"

namespace tlaloc {
namespace {

using namespace ops;  // NOLINT: the vocabulary
using interp::testing::error_of;
using interp::testing::f64;
using interp::testing::graph;
using ir::Graph;
using ir::GraphRef;
using ir::ManualAttrs;
using ir::ShardSpec;

using Arrays = std::vector<HostArray>;

const MeshAxis kX{"x", 2}, kY{"y", 3};
ManualAttrs on_mesh(std::vector<ShardSpec> in, std::vector<ShardSpec> out,
                    std::vector<std::string> axes = {"x", "y"}) {
  return {{"mesh", {{"x", 2}, {"y", 3}}, {}}, std::move(axes), std::move(in), std::move(out)};
}
Val matmul(Val a, Val b) { return dot_general(a, b, {.lhs_contract = {1}, .rhs_contract = {0}}); }

HostArray waves(Extents extents, double phase) {
  HostArray a = HostArray::uninitialized(DType::f64, std::move(extents));
  double i = 0;
  for (double& v : a.as_mutable<double>()) v = std::sin(phase + i++);
  return a;
}
void expect_near(const Arrays& got, const Arrays& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].extents(), wanted[k].extents());
    for (std::int64_t i = 0; i < got[k].size(); ++i) {
      EXPECT_NEAR(got[k].element(i), wanted[k].element(i), 1e-12) << k << " at " << i;
    }
  }
}

/// A function with and without a mesh.
struct Pair {
  const char* name;
  std::vector<ir::Type> types;
  Vals (*meshed)(const Vals&);
  Vals (*plain)(const Vals&);
};
const Pair kPairs[] = {
    {"product of parts",
     {f64({4, 6}), f64({6, 5})},
     [](const Vals& p) {
       return manual(on_mesh({{{{"x"}, {"y"}}}, {{{"y"}, {}}}}, {{{{"x"}, {}}}}), p,
                     [](const Vals& v) -> Vals {
                       return {all_reduce(tanh(matmul(v[0], v[1])), Collective::sum, kY)};
                     });
     },
     [](const Vals& p) -> Vals {
       Val sum;
       for (int k = 0; k < 3; ++k) {
         const Val part = tanh(
             matmul(slice_axis(p[0], 1, 2 * k, 2 * k + 2), slice_axis(p[1], 0, 2 * k, 2 * k + 2)));
         sum = sum ? sum + part : part;
       }
       return {sum};
     }},
    {"two axes along one dimension, and a captured value",
     {f64({12}), f64({2})},
     [](const Vals& p) {
       return manual(
           on_mesh({{{{"y", "x"}}}}, {{{{"y", "x"}}}, {{{}}}}), {p[0]}, [&](const Vals& v) -> Vals {
             const Val y = sin(v[0] * p[1]);
             return {y * y, all_reduce(all_reduce(y, Collective::sum, kX), Collective::sum, kY)};
           });
     },
     [](const Vals& p) -> Vals {
       const Dim rows[] = {6, 2};
       const std::int64_t lead = 0, last = 1;
       const Val x = reshape(p[0], rows);
       const Val y = sin(x * broadcast_in_dim(p[1], rows, std::span(&last, 1)));
       const Dim flat[] = {12};
       return {reshape(y * y, flat), reduce_sum(y, std::span(&lead, 1))};
     }},
    {"gathered and scattered",
     {f64({6, 4})},
     [](const Vals& p) {
       return manual(on_mesh({{{{"y"}, {"x"}}}}, {{{{"y"}, {"x"}}}}), p, [](const Vals& v) -> Vals {
         const Val all = all_gather(v[0], 0, kY);  // [6, 2]
         return {reduce_scatter(all * all * v[0].type().dim(1).constant(), 0, kY)};
       });
     },
     [](const Vals& p) -> Vals { return {p[0] * p[0] * 2.0 * 3.0}; }},
    {"extremes, and an axis that is not manual",
     {f64({4, 3})},
     [](const Vals& p) {
       return manual(on_mesh({{{{"x"}, {}}}}, {{{{}, {}}}}, {"x"}), p, [](const Vals& v) -> Vals {
         return {all_reduce(v[0], Collective::max, kX) - all_reduce(v[0], Collective::min, kX)};
       });
     },
     [](const Vals& p) -> Vals {
       const Val a = slice_axis(p[0], 0, 0, 2), b = slice_axis(p[0], 0, 2, 4);
       return {max(a, b) - min(a, b)};
     }},
    {"a loop in each device",
     {f64({6, 2})},
     [](const Vals& p) {
       return manual(on_mesh({{{{"x", "y"}, {}}}}, {{{{"x", "y"}, {}}}}), p,
                     [](const Vals& v) -> Vals {
                       return scan(
                                  {v[0]}, {},
                                  [](const Vals& c) -> Vals {
                                    return {sin(c[0]) + all_reduce(c[0], Collective::sum, kX)};
                                  },
                                  Dim(3))
                           .carries;
                     });
     },
     [](const Vals& p) -> Vals {
       return scan(
                  {p[0]}, {},
                  [](const Vals& c) -> Vals {
                    const Val sum = slice_axis(c[0], 0, 0, 3) + slice_axis(c[0], 0, 3, 6);
                    const Val both[] = {sum, sum};
                    return {sin(c[0]) + concatenate(both, 0)};
                  },
                  Dim(3))
           .carries;
     }},
};

GraphRef meshed(const Pair& p) {
  GraphRef g = graph(p.types, p.meshed);
  ir::verify(*g);
  return g;
}
Arrays arguments(const Graph& g, double phase = 0.3) {
  Arrays r;
  for (ir::Type t : g.param_types()) {
    Extents e;
    for (Dim d : t.shape()) e.push_back(d.constant());
    r.push_back(waves(e, phase += 1));
  }
  return r;
}
bool has_manual(const Graph& g) {
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    if (g.node(i).region_kind() == ir::RegionKind::manual) return true;
    for (const ir::Region& r : g.node(i).regions()) {
      if (has_manual(*r.graph)) return true;
    }
  }
  return false;
}

class OnOneDevice : public ::testing::TestWithParam<Pair> {
 protected:
  const transform::VerifiedScope verified_;
  const GraphRef f_ = meshed(GetParam()), plain_ = graph(GetParam().types, GetParam().plain);
  void same(const GraphRef& got, const GraphRef& wanted) {
    EXPECT_TRUE(has_manual(*got));
    const Arrays args = arguments(*got);
    expect_near(interp::run(*got, args), interp::run(*wanted, args));
  }
};

TEST_P(OnOneDevice, Values) { same(f_, plain_); }
TEST_P(OnOneDevice, Text) {
  const GraphRef again = ir::parse_graph(f_->to_string(), ops::find, "text");
  EXPECT_TRUE(same_graph(*f_, *again)) << f_->to_string();
  EXPECT_EQ(f_->content_hash(), again->content_hash());
}
TEST_P(OnOneDevice, Jvp) {
  const transform::Mask all(f_->param_count(), true);
  same(transform::jvp(f_, all), transform::jvp(plain_, all));
}
TEST_P(OnOneDevice, Vjp) {
  const transform::Mask all(f_->param_count(), true);
  same(transform::vjp(f_, all), transform::vjp(plain_, all));
  for (std::size_t k = 0; k < f_->param_count(); ++k) {
    transform::Mask one(f_->param_count());
    one[k] = true;
    same(transform::vjp(f_, one), transform::vjp(plain_, one));
  }
}
TEST_P(OnOneDevice, SecondOrder) {
  const transform::Mask all(f_->param_count(), true);
  const GraphRef a = transform::vjp(f_, all), b = transform::vjp(plain_, all);
  const transform::Mask more(a->param_count(), true);
  same(transform::jvp(a, more), transform::jvp(b, more));
  same(transform::vjp(a, more), transform::vjp(b, more));
}
TEST_P(OnOneDevice, Mapped) {
  std::vector<std::optional<int>> axes(f_->param_count(), 0);
  same(transform::vmap(f_, axes, 2), transform::vmap(plain_, axes, 2));
  const transform::Mask all(f_->param_count(), true);
  const GraphRef a = transform::vjp(f_, all), b = transform::vjp(plain_, all);
  std::vector<std::optional<int>> more(a->param_count(), 0);
  same(transform::vmap(a, more, 2), transform::vmap(b, more, 2));
  if (f_->param_count() < 2) return;
  axes[0] = std::nullopt;
  same(transform::vmap(f_, axes, 2), transform::vmap(plain_, axes, 2));
}
INSTANTIATE_TEST_SUITE_P(Pairs, OnOneDevice, ::testing::ValuesIn(kPairs), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(Manual, DeclaredDerivativesOfWhatDevicesExchange) {
  // y = Σ x·x over the devices, of a value that all have; its rule says 5.
  const auto types = std::vector{f64({})};
  const auto total = [](Val v) { return all_reduce(v * v, Collective::sum, kX); };
  const GraphRef callee = graph(types, [&](const Vals& p) { return Vals{total(p[0])}; });
  const GraphRef fwd = graph(types, [&](const Vals& p) { return Vals{total(p[0]), p[0]}; });
  const GraphRef bwd = graph({f64({}), f64({})}, [](const Vals& p) { return Vals{p[1] * 5.0}; });
  const GraphRef f = graph(types, [&](const Vals& p) {
    return manual(on_mesh({{{}}}, {{{}}}, {"x"}), p, [&](const Vals& v) -> Vals {
      return ir::emit_call({.name = "total", .kind = ir::CallKind::custom_vjp}, v,
                           {{callee, {}}, {fwd, {}}, {bwd, {}}}, types)
          .out;
    });
  });
  const GraphRef plain = graph(types, [](const Vals& p) { return Vals{p[0] * p[0] * 2.0}; });
  const HostArray x = HostArray::scalar(3.0);
  expect_near(interp::run(*f, {x}), interp::run(*plain, {x}));
  const Arrays d = interp::run(*transform::vjp(f, {true}), {x, HostArray::scalar(1.0)});
  EXPECT_DOUBLE_EQ(d.back().element(0), 5.0);
}

TEST(Manual, AxesOfOneDeviceCostNothing) {
  ManualAttrs attrs{{"mesh", {}, {}}, {}, {{{{}}}}, {{{{}}}}};
  for (int k = 0; k < 40; ++k) {
    attrs.mesh.axes.push_back({"a" + std::to_string(k), k == 20 ? 2 : 1});
    attrs.axes.push_back(attrs.mesh.axes.back().name);
    attrs.in[0].dims[0].push_back(attrs.axes.back());
    attrs.out[0].dims[0].push_back(attrs.axes.back());
  }
  const GraphRef f = graph({f64({4})}, [&](const Vals& p) {
    return manual(attrs, p, [](const Vals& v) -> Vals {
      return {
          all_reduce(all_reduce(v[0], Collective::sum, {"a20", 2}), Collective::sum, {"a3", 1})};
    });
  });
  const Arrays y = interp::run(*f, {interp::testing::f64s({1, 2, 30, 40})});
  expect_near(y, {interp::testing::f64s({31, 42, 31, 42})});
}

TEST(Manual, ASymbolicSizeIsCutAndChecked) {
  const ir::Symbol n = ir::Symbol::fresh("n");
  const GraphRef f = graph({f64({Dim(n)})}, [](const Vals& p) {
    return manual(on_mesh({{{{"x"}}}}, {{{{"x"}}}}), p,
                  [](const Vals& v) -> Vals { return {v[0] * 2.0}; });
  });
  ir::verify(*f);
  expect_near(interp::run(*f, {waves({6}, 0)}),
              interp::run(*graph({f64({6})}, [](const Vals& p) { return Vals{p[0] * 2.0}; }),
                          {waves({6}, 0)}));
  const std::string odd = error_of([&] { interp::run(*f, {waves({7}, 0)}); });
  EXPECT_NE(odd.find("TL-SHAPE-001"), std::string::npos) << odd;
}

TEST(Manual, LanesOfRepeatedValuesAreNotCut) {
  // What every device has as a whole stays one value, and nothing is left of the mesh.
  const GraphRef f = graph({f64({4}), f64({3})}, [](const Vals& p) {
    return manual(on_mesh({{{{"x"}}}, {{{}}}}, {{{{"x"}}}, {{{}}}}), p,
                  [](const Vals& v) -> Vals { return {v[0], sin(v[1])}; });
  });
  const GraphRef local = transform::on_one_device(*f);
  ASSERT_TRUE(local);
  for (std::uint32_t i = 0; i < local->node_count(); ++i) {
    if (&local->node(i).op() != &rows::Sin) continue;
    EXPECT_EQ(local->node(i).result_types()[0], f64({3}));
  }
  EXPECT_EQ(transform::on_one_device(*local), nullptr);
}

TEST(Manual, Refusals) {
  const auto build = [](ManualAttrs attrs, ir::Type t) {
    return error_of([&] {
      graph({t}, [&](const Vals& p) { return manual(attrs, p, [](const Vals& v) { return v; }); });
    });
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(build(on_mesh({{{{"x"}}}}, {{{{"x"}}}}), f64({5})),
      "TL-MESH-002: manual_computation: operand 0: dimension 0 has 5 elements, which 2 devices "
      "can't "
      "share equally");
  has(build(on_mesh({{{{"z"}}}}, {{{{"x"}}}}), f64({6})), "has no axis 'z'");
  has(build(on_mesh({{{{"x"}}}}, {{{{"x", "x"}}}}), f64({6})), "result 0: axis 'x' is used twice");
  has(build(on_mesh({{{{"y"}}}}, {{{{"y"}}}}, {"x"}), f64({6})), "axis 'y' is not manual");
  has(build(on_mesh({{{{"x"}, {}}}}, {{{{"x"}}}}), f64({6})),
      "is of 2 dimensions, the value has 1");
  has(build(on_mesh({}, {{{{"x"}}}}), f64({6})), "there are 0 shardings for 1 operands");
  has(build(on_mesh({{{{"x"}}}}, {}), f64({6})), "there are 0 shardings for 1 results");
  const GraphRef other = graph({f64({4})}, [](const Vals& p) {
    return manual(on_mesh({{{{"x"}}}}, {{{{"x"}}}}), p, [](const Vals& v) -> Vals {
      return {all_reduce(v[0], Collective::sum, {"x", 4})};
    });
  });
  has(error_of([&] { interp::run(*other, {waves({4}, 0)}); }), "TL-MESH-001");
  const GraphRef free = graph({f64({4})}, [](const Vals& p) {
    return manual(on_mesh({{{{"x"}}}}, {{{{"x"}}}}, {"x"}), p,
                  [](const Vals& v) -> Vals { return {all_reduce(v[0], Collective::sum, kY)}; });
  });
  has(error_of([&] { interp::run(*free, {waves({4}, 0)}); }), "TL-MESH-001");
}

TEST(Manual, RecordsOfLoopsThatEachDeviceEndsForItself) {
  const GraphRef f = graph({f64({2})}, [](const Vals& p) {
    return manual(on_mesh({{{{"x"}}}}, {{{{"x"}}}}), p, [](const Vals& v) {
      const std::int64_t first = 0;
      return while_loop(
                 v,
                 [&](const Vals& c) {
                   return Vals{reduce_max(c[0], std::span(&first, 1)) < scalar(4, DType::f64)};
                 },
                 [](const Vals& c) { return Vals{c[0] * c[0] + 1.0}; })
          .carries;
    });
  });
  const Arrays y = interp::run(*f, {interp::testing::f64s({0.5, 3})});
  EXPECT_EQ(interp::testing::texts(y)[0],
            interp::testing::texts(
                {interp::testing::f64s({(1.25 * 1.25 + 1) * (1.25 * 1.25 + 1) + 1, 10})})[0]);
  EXPECT_NE(error_of([&] { transform::vjp(f, {true}); }).find("TL-MESH-003"), std::string::npos);
}

TEST(ShardingConstraint, OnceIsEnough) {
  const ir::Sharding s{{"mesh", {{"x", 2}}, {}}, {{.axes = {{"x"}}}}, {}};
  const GraphRef f = graph({f64({4})}, [&](const Vals& p) {
    return Vals{sharding_constraint(sharding_constraint(p[0], s), s)};
  });
  EXPECT_EQ(f->node_count(), 1u);
  ir::Sharding open = s;
  open.dims[0].open = true;
  const GraphRef two = graph({f64({4})}, [&](const Vals& p) {
    return Vals{sharding_constraint(sharding_constraint(p[0], s), open)};
  });
  EXPECT_EQ(two->node_count(), 2u);
  // Tangents and cotangents lie as the value does; lanes are left open.
  const auto d = transform::vjp(f, {true});
  EXPECT_EQ(d->node_count(), 2u);
  const auto mapped = transform::vmap(f, {0}, 3)->to_string();
  EXPECT_NE(mapped.find("dims=[{axes=[], open=true, priority=none}, {axes=[{axis=\"x\""),
            std::string::npos)
      << mapped;
}

TEST(ShardingConstraint, Refusals) {
  const auto build = [](const ir::Sharding& s) {
    return error_of([&] {
      graph({f64({6, 5})}, [&](const Vals& p) { return Vals{sharding_constraint(p[0], s)}; });
    });
  };
  const ir::Mesh mesh{"mesh", {{"x", 2}, {"y", 4}}, {}};
  const auto refused = [&](ir::Sharding s, const char* part) {
    const std::string text = build(s);
    EXPECT_NE(text.find("TL-MESH-002"), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  refused({mesh, {{.axes = {{"x"}}}}, {}}, "is of 1 dimensions, the value has 2");
  refused({mesh, {{}, {.axes = {{"x"}}}}, {}}, "dimension 1 has 5 elements");
  refused({mesh, {{.axes = {{"x"}}}, {.axes = {{"x"}}}}, {}}, "axis 'x' is used twice");
  refused({mesh, {{.axes = {{"x"}}}, {}}, {{"x"}}}, "axis 'x' is used twice");
  refused({mesh, {{.axes = {{"y", 1, 2}}}, {}}, {{"y"}}}, "axis 'y' is used twice");
  refused({mesh, {{.axes = {{"y", 2, 4}}}, {}}, {}}, "has no part (2)4");
  refused({mesh, {{.axes = {}, .priority = -1}, {}}, {}}, "a priority is negative");
  refused({{"mesh", {{"x", 0}}, {}}, {{}, {}}, {}}, "axis 'x' has no devices");
  refused({{"mesh", {{"x", 1 << 16}, {"y", 1 << 16}}, {}}, {{}, {}}, {}}, "more than 2^20");
  refused({{"mesh", {{"x", 2}}, {0, 0}}, {{}, {}}, {}}, "are not 0, 1, …");
  EXPECT_EQ(build({mesh, {{.axes = {{"x"}, {"y", 4, 1}}}, {}}, {}}).empty(), false);
  EXPECT_EQ(build({mesh, {{.axes = {{"y", 2, 2}}, .priority = 1}, {.open = true}}, {{"y", 1, 2}}}),
            "");
}

}  // namespace
}  // namespace tlaloc
