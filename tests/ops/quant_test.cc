// Quantized weights in graphs: products against dequantized ones, derivatives of the dense operand,
// lanes, and layers of weights in a scan.
#include <gtest/gtest.h>

#include "tests/ops/case.h"
#include "tests/transform/derived.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/quant_testing.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_quant.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

Type quantized(const ir::Encoding& e, std::vector<Dim> shape, DType dtype = DType::f64) {
  return Type::get(dtype, shape, &e);
}
Type dense(std::vector<Dim> shape) { return Type::get(DType::f64, shape); }

void expect_near(const Arrays& got, const Arrays& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].extents(), want[k].extents());
    for (std::int64_t i = 0; i < got[k].size(); ++i) {
      EXPECT_NEAR(got[k].element(i), want[k].element(i),
                  tolerance * (1 + std::abs(want[k].element(i))));
    }
  }
}

Vals product(const Vals& p, bool transposed) { return {ops::quant_matmul(p[0], p[1], transposed)}; }
Vals product_of_dense(const Vals& p, bool transposed) {
  const int last = p[0].rank() - 1;
  return {ops::dot_general(p[0], ops::dequantize(p[1]),
                           {.lhs_contract = {last}, .rhs_contract = {transposed ? 0 : 1}})};
}

TEST(Quant, ProductsAndTheirDerivativesAreThoseOfDenseWeights) {
  for (const char* name : ops::testing::kEncodings) {
    const ir::Encoding& e = *ir::find_encoding(name);
    const std::int64_t k = ops::testing::whole_blocks(e, 64);
    const HostArray w = blocks(e, {3, k}, 1);
    for (bool transposed : {false, true}) {
      const HostArray x = noise(transposed ? Extents{2, 3} : Extents{1, k});
      const auto rows = x.extents()[0], width = x.extents()[1];
      const std::vector<Type> types{dense({rows, width}), quantized(e, {3, k})};
      const GraphRef g =
          checked(graph_of(types, [&](const Vals& p) { return product(p, transposed); }));
      const GraphRef d =
          checked(graph_of(types, [&](const Vals& p) { return product_of_dense(p, transposed); }));
      const Arrays y = interp::run(*g, {x, w});
      expect_near(y, interp::run(*d, {x, w}));
      EXPECT_EQ(transform::differentiable_params(*g), (transform::Mask{true, false}));
      const HostArray dx = noise(x.extents(), 2);
      expect_near(interp::run(*transform::jvp(g, {true, false}), {x, w, dx}),
                  interp::run(*transform::jvp(d, {true, false}), {x, w, dx}));
      Noise random(3);
      const HostArray ct = random.like(y[0], 1);
      const GraphRef back = transform::vjp(g, {true, false});
      expect_near(interp::run(*back, {x, w, ct}),
                  interp::run(*transform::vjp(d, {true, false}), {x, w, ct}));
      // Lanes.
      const HostArray xs = stacked({x, dx}), cts = stacked({ct, ct});
      const Arrays lanes =
          interp::run(*vmap_of(back, std::vector<bool>{true, false, true}), {xs, w, cts});
      for (std::int64_t l = 0; l < 2; ++l) {
        expect_near({lane(lanes[0], l), lane(lanes[1], l)},
                    interp::run(*back, {lane(xs, l), w, ct}));
      }
    }
  }
}

TEST(Quant, DequantizedLanes) {
  const ir::Encoding& e = *ir::find_encoding("q5_1");
  const HostArray w = blocks(e, {3, 2, 32});
  const GraphRef g =
      graph_of({quantized(e, {2, 32})}, [](const Vals& p) { return Vals{ops::dequantize(p[0])}; });
  const Arrays lanes = interp::run(*vmap_of(g), {w});
  for (std::int64_t l = 0; l < 3; ++l) {
    expect_near({lane(lanes[0], l)}, interp::run(*g, {lane(w, l)}), 0);
  }
}

TEST(Quant, SymbolicSizesComeFromBytes) {
  const ir::Encoding& e = *ir::find_encoding("q8_0");
  const Dim n = Symbol::fresh("n"), k = Symbol::fresh("k");
  const GraphRef g = checked(graph_of({quantized(e, {n, k})}, [&](const Vals& p) {
    return Vals{ops::dequantize(p[0]), ops::dim_value(k)};
  }));
  const Arrays y = interp::run(*g, {blocks(e, {2, 96}, 4)});
  EXPECT_EQ(y[0].extents(), (Extents{2, 96}));
  EXPECT_EQ(y[1].element_int(0), 96);
  auto code = [&](HostArray bytes) {
    try {
      interp::run(*g, {std::move(bytes)});
      return std::string();
    } catch (const UserError& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code(HostArray(DType::u8, {2, 35})), "TL-SHAPE-002");
  EXPECT_EQ(code(HostArray(DType::f64, {2, 34})), "TL-SHAPE-002");
}

TEST(Quant, GatheredRowsInLanes) {
  const ir::Encoding& e = *ir::find_encoding("q4_0");
  const HostArray w = blocks(e, {5, 32}, 1), at = ints({3}, {4, 0, 2});
  const GraphRef g = graph_of({quantized(e, {5, 32}), Type::scalar(DType::i64)},
                              [](const Vals& p) { return Vals{ops::quant_gather(p[0], p[1])}; });
  const GraphRef d =
      graph_of({quantized(e, {5, 32}), Type::get(DType::i64, {3})},
               [](const Vals& p) { return Vals{ops::take(ops::dequantize(p[0]), p[1], 0)}; });
  expect_near(interp::run(*vmap_of(g, std::vector<bool>{false, true}), {w, at}),
              interp::run(*d, {w, at}), 0);
}

TEST(Quant, LayersOfWeightsInAScan) {
  const ir::Encoding& e = *ir::find_encoding("q8_0");
  const std::vector<Type> types{dense({32}), quantized(e, {3, 32, 32})};
  const GraphRef g = checked(graph_of(types, [](const Vals& p) {
    return ops::scan({p[0]}, {p[1]},
                     [](const Vals& v) { return Vals{ops::quant_matmul(v[0], v[1]) * 0.01}; })
        .carries;
  }));
  const HostArray x = noise({32}), w = blocks(e, {3, 32, 32}, 5);
  Arrays y{x};
  const GraphRef one = graph_of({types[0], quantized(e, {32, 32})}, [](const Vals& p) {
    return Vals{ops::quant_matmul(p[0], p[1]) * 0.01};
  });
  for (std::int64_t l = 0; l < 3; ++l) y = interp::run(*one, {y[0], lane(w, l)});
  expect_near(interp::run(*g, {x, w}), y);
  const GraphRef back = transform::vjp(g, {true, false});
  EXPECT_EQ(interp::run(*back, {x, w, x})[1].extents(), (Extents{32}));
}

TEST(Quant, WhatHasNoDerivativeIsRefusedByName) {
  const ir::Encoding& e = *ir::find_encoding("q8_0");
  const GraphRef rounded =
      graph_of({Type::get(DType::f32, {32}), quantized(e, {2, 32}, DType::f32)}, [](const Vals& p) {
        return Vals{ops::quant_matmul(p[0], p[1], false, ops::Activation::q8_32)};
      });
  auto code = [](auto f) {
    try {
      f();
      return std::string();
    } catch (const UserError& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code([&] { transform::jvp(rounded, {true, false}); }), "TL-GRAD-003");
  const GraphRef g = graph_of({dense({32}), quantized(e, {2, 32})},
                              [](const Vals& p) { return product(p, false); });
  EXPECT_EQ(code([&] { vmap_of(g, std::vector<bool>{false, true}); }), "TL-VMAP-001");
}

}  // namespace
}  // namespace tlaloc::testing
