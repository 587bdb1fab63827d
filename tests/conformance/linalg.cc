// Cases of products and linear algebra.
#include <array>
#include <cmath>

#include "tests/conformance/cases.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Vals;
using ops::DotDims;

struct Product {
  Extents lhs, rhs;
  DotDims dims;
};
const Product kProducts[] = {
    {{}, {}, {}},
    {{7}, {7}, {.lhs_contract = {0}, .rhs_contract = {0}}},
    {{0}, {0}, {.lhs_contract = {0}, .rhs_contract = {0}}},
    {{3}, {5}, {}},
    {{3, 5}, {5, 4}, {.lhs_contract = {1}, .rhs_contract = {0}}},
    {{5, 3}, {4, 5}, {.lhs_contract = {0}, .rhs_contract = {1}}},
    {{3, 0}, {0, 4}, {.lhs_contract = {1}, .rhs_contract = {0}}},
    {{0, 5}, {5, 4}, {.lhs_contract = {1}, .rhs_contract = {0}}},
    {{1, 67}, {67, 33}, {.lhs_contract = {1}, .rhs_contract = {0}}},
    {{65, 130}, {130, 17}, {.lhs_contract = {1}, .rhs_contract = {0}}},
    {{2, 3, 5}, {2, 5, 4}, {{0}, {0}, {2}, {1}}},
    {{3, 2, 5}, {5, 4, 2}, {{1}, {2}, {2}, {0}}},
    {{2, 3, 5}, {5, 2, 3}, {{}, {}, {0, 2}, {1, 0}}},
    {{2, 3}, {2, 3}, {.lhs_batch = {0, 1}, .rhs_batch = {0, 1}}},
    {{2, 1, 3, 2, 2, 3}, {3, 2, 2, 1, 2}, {{0, 2}, {1, 0}, {3, 4}, {2, 4}}},
};

void products(Cases& cases, const Row&) {
  bool few = false;
  for (DType t : dtypes()) {
    const std::vector<ir::Type> scalars(2, ir::Type::scalar(t));
    const Cases::Build outer = [](const Vals& p, Sizes&) -> Vals {
      return {ops::dot_general(p[0], p[1], {})};
    };
    if (!Cases::accepts(scalars, outer)) continue;
    for (const Product& e : kProducts) {
      if (few && e.lhs.size() > 2) continue;
      cases.add(shape_label(t, e.lhs) + shape_label(t, e.rhs),
                {cases.array(t, e.lhs), cases.array(t, e.rhs)}, [&](const Vals& p, Sizes&) -> Vals {
                  return {ops::dot_general(p[0], p[1], e.dims)};
                });
    }
    few = true;
  }
}

struct Windows {
  const char* label;
  Extents lhs, rhs;
  ops::ConvAttrs attrs;
};
std::vector<Windows> convolution_examples() {
  using ops::plain_convolution;
  std::vector<Windows> r;
  auto add = [&](const char* label, Extents lhs, Extents rhs) -> ops::ConvAttrs& {
    r.push_back({label, lhs, std::move(rhs), plain_convolution(static_cast<int>(lhs.size()) - 2)});
    return r.back().attrs;
  };
  add("pointwise", {3, 5}, {4, 5});
  add("line", {2, 3, 9}, {4, 3, 3});
  add("no batch", {0, 3, 9}, {4, 3, 3});
  add("no features", {2, 0, 9}, {4, 0, 3});
  add("too long a kernel", {1, 2, 3}, {2, 2, 5});
  add("image", {2, 3, 7, 6}, {5, 3, 3, 2});
  add("volume", {1, 2, 4, 3, 5}, {3, 2, 2, 3, 2});
  add("rank 6", {1, 1, 2, 3, 2, 3}, {2, 1, 1, 2, 2, 1});
  {
    auto& a = add("strided and padded", {2, 3, 8, 7}, {4, 3, 3, 3});
    a.strides = {2, 3};
    a.low = {1, 0};
    a.high = {1, 2};
  }
  {
    auto& a = add("dilated", {1, 2, 6, 5}, {3, 2, 2, 3});
    a.lhs_dilation = {2, 1};
    a.rhs_dilation = {1, 2};
    a.low = {1, 1};
    a.high = {0, 1};
  }
  {
    auto& a = add("cropped and reversed", {1, 2, 9, 8}, {3, 2, 2, 3});
    a.low = {-1, 1};
    a.high = {-2, 0};
    a.reversed = {true, false};
  }
  add("feature groups", {2, 6, 5}, {4, 3, 2}).feature_groups = 2;
  add("depthwise", {2, 3, 5, 5}, {6, 1, 2, 2}).feature_groups = 3;
  add("batch groups", {4, 3, 5}, {6, 3, 2}).batch_groups = 2;
  {
    // Channels last: lhs [batch, rows, columns, in], rhs [rows, columns, in, out].
    auto& a = add("channels last", {2, 5, 6, 3}, {3, 2, 3, 4});
    a.dims = {.lhs_batch = 0,
              .lhs_feature = 3,
              .lhs_spatial = {1, 2},
              .rhs_in = 2,
              .rhs_out = 3,
              .rhs_spatial = {0, 1},
              .out_batch = 0,
              .out_feature = 3,
              .out_spatial = {1, 2}};
  }
  return r;
}
void convolutions(Cases& cases, const Row&) {
  const auto examples = convolution_examples();
  for (DType t : dtypes()) {
    if (t == DType::boolean) continue;
    const bool few = t != DType::f32 && t != DType::i32 && t != DType::bf16;
    for (const Windows& e : examples) {
      if (few && e.lhs.size() != 3) continue;
      cases.add(std::string(e.label) + "/" + shape_label(t, e.lhs) + shape_label(t, e.rhs),
                {cases.array(t, e.lhs), cases.array(t, e.rhs)}, [&](const Vals& p, Sizes&) -> Vals {
                  return {ops::convolution(p[0], p[1], e.attrs)};
                });
    }
  }
}

constexpr std::array kFloats{DType::f16, DType::bf16, DType::f32, DType::f64};

/// Small integers, with powers of two on the diagonal: solving stays exact for small sizes.
HostArray matrices(Cases& cases, DType t, const Extents& extents, double diagonal) {
  HostArray a = cases.array(t, extents, Values::small);
  const std::int64_t n = extents.back();
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      auto v = a.as_mutable<T>();
      for (std::int64_t i = 0; i < a.size(); ++i) {
        if (i / n % n != i % n) continue;
        const double power = std::ldexp(1.0, static_cast<int>(cases.integer(-1, 1)));
        v[static_cast<std::size_t>(i)] = T(static_cast<ComputeType<T>>(diagonal * power));
      }
    }
  });
  return a;
}
void factors(Cases& cases, const Row&) {
  for (DType t : kFloats) {
    for (const Extents& e : {Extents{0, 0}, Extents{1, 1}, Extents{5, 5}, Extents{2, 3, 3},
                             Extents{0, 2, 2}, Extents{2, 1, 7, 7}}) {
      // 32 dominates a row of at most six entries of 4; 1 does not: no factor, NaN.
      for (double diagonal : {32.0, 1.0}) {
        cases.add(shape_label(t, e) + (diagonal == 1 ? " indefinite" : ""),
                  {matrices(cases, t, e, diagonal)},
                  [](const Vals& p, Sizes&) -> Vals { return {ops::cholesky(p[0])}; });
      }
    }
  }
}
void solves(Cases& cases, const Row&) {
  struct Example {
    Extents a, left, right;
  };
  const Example examples[] = {{{4, 4}, {4, 3}, {3, 4}},
                              {{1, 1}, {1, 5}, {5, 1}},
                              {{3, 3}, {3, 0}, {0, 3}},
                              {{0, 0}, {0, 2}, {2, 0}},
                              {{2, 3, 3}, {2, 3, 2}, {2, 2, 3}}};
  for (DType t : kFloats) {
    for (const Example& e : examples) {
      for (int bits = 0; bits < 16; ++bits) {
        const ops::TriangularAttrs attrs{.left = (bits & 1) != 0,
                                         .lower = (bits & 2) != 0,
                                         .unit = (bits & 4) != 0,
                                         .transpose = (bits & 8) != 0};
        const Extents& b = attrs.left ? e.left : e.right;
        cases.add(shape_label(t, e.a) + shape_label(t, b) + "/" + std::to_string(bits),
                  {matrices(cases, t, e.a, 1), cases.array(t, b)},
                  [=](const Vals& p, Sizes&) -> Vals {
                    return {ops::triangular_solve(p[0], p[1], attrs)};
                  });
      }
    }
  }
}

namespace rows = ops::rows;
constexpr std::array kLinalg{
    // Sums of small integers are exact, so that any order of summation gives the same bits.
    Row{&rows::DotGeneral, products, Values::small},
    Row{&rows::Convolution, convolutions, Values::small},
    // Square roots and quotients round, and the order of the sums is free: errors of a few places
    // per step, seven steps at most.
    Row{&rows::Cholesky, factors, Values::small, 64},
    Row{&rows::TriangularSolve, solves, Values::small, 64},
};

}  // namespace

std::span<const Row> linalg_rows() { return kLinalg; }

}  // namespace tlaloc::runtime::conformance
