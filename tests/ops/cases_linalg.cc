// Products, convolutions, triangular factors and solves.
#include "tests/ops/case.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using ops::ConvAttrs;
using ops::DotDims;
using ops::TriangularAttrs;

/// Once linear in the first, once in the second operand.
void bilinear(Cases& cases, Case c) {
  c.linear = {true, false};
  cases.push_back(c);
  c.name += "/right";
  c.linear = {false, true};
  c.second = c.narrow = c.symbolic = false;
  cases.push_back(std::move(c));
}

void products(Cases& cases) {
  struct Example {
    const char* name;
    Extents lhs, rhs;
    DotDims dims;
  };
  const Example examples[] = {
      {"unlike orders",
       {3, 2, 5, 4},
       {6, 4, 2, 3},
       {.lhs_batch = {1}, .rhs_batch = {2}, .lhs_contract = {3, 0}, .rhs_contract = {1, 3}}},
      {"outer", {2}, {3}, {}},
      {"inner", {2, 3}, {3, 2}, {.lhs_contract = {0, 1}, .rhs_contract = {1, 0}}},
      {"batch only", {2, 3}, {3, 2}, {.lhs_batch = {0, 1}, .rhs_batch = {1, 0}}},
      {"empty", {2, 0}, {0, 3}, {.lhs_contract = {1}, .rhs_contract = {0}}}};
  for (const Example& e : examples) {
    bilinear(cases, {.name = std::string("dot_general ") + e.name,
                     .args = {noise(e.lhs), noise(e.rhs, 2)},
                     .build = [d = e.dims](const Vals& p) {
                       return Vals{ops::dot_general(p[0], p[1], d)};
                     }});
  }
  cases.push_back(
      {.name = "matmul/chain",
       .args = {noise({2, 3}), noise({3, 4}, 2), noise({4}, 3)},
       .build = [](const Vals& p) { return Vals{ops::matmul(ops::matmul(p[0], p[1]), p[2])}; }});
}

void convolutions(Cases& cases) {
  auto add = [&](const char* name, Extents lhs, Extents rhs, const ConvAttrs& a,
                 bool symbolic = true) {
    bilinear(cases, {.name = std::string("convolution ") + name,
                     .args = {noise(std::move(lhs)), noise(std::move(rhs), 2)},
                     .build = [a](const Vals& p) { return Vals{ops::convolution(p[0], p[1], a)}; },
                     .symbolic = symbolic});
  };
  ConvAttrs a = ops::plain_convolution(1);
  add("plain", {2, 3, 5}, {4, 3, 2}, a);
  a.strides = {2}, a.low = {1}, a.high = {2};
  add("strided", {2, 3, 5}, {4, 3, 2}, a);
  a.lhs_dilation = {3}, a.rhs_dilation = {2}, a.reversed = {true};
  add("dilated and reversed", {2, 4, 3}, {2, 4, 3}, a);
  a = ops::plain_convolution(1), a.low = {-1}, a.high = {-1};
  add("cropped", {2, 3, 6}, {2, 3, 2}, a);
  a = ops::plain_convolution(1);
  add("nothing fits", {2, 3, 1}, {4, 3, 2}, a, false);
  // Groups need sizes that they divide: numbers.
  a.feature_groups = 2, a.strides = {2}, a.reversed = {true};
  add("feature groups", {2, 4, 5}, {6, 2, 2}, a, false);
  a = ops::plain_convolution(1), a.batch_groups = 2, a.strides = {2}, a.low = {1};
  add("batch groups", {4, 3, 5}, {6, 3, 2}, a, false);
  a = ops::plain_convolution(2), a.strides = {1, 2}, a.reversed = {false, true}, a.low = {1, 0};
  a.dims = {.lhs_batch = 1,
            .lhs_feature = 3,
            .lhs_spatial = {0, 2},
            .rhs_in = 0,
            .rhs_out = 2,
            .rhs_spatial = {3, 1},
            .out_batch = 3,
            .out_feature = 0,
            .out_spatial = {2, 1}};
  add("plane in another layout", {4, 2, 5, 3}, {3, 2, 2, 2}, a, false);
  add("volume", {1, 2, 2, 3, 2}, {2, 2, 2, 2, 1}, ops::plain_convolution(3), false);
  add("no space", {2, 3}, {4, 3}, ops::plain_convolution(0));
}

/// Well away from singular; not symmetric, since only one triangle counts.
HostArray definite(Extents extents) {
  HostArray a = noise(std::move(extents), 5);
  const std::int64_t n = a.extents().back();
  auto v = a.as_mutable<double>();
  for (std::int64_t i = 0; i < a.size(); ++i) {
    v[static_cast<std::size_t>(i)] *= 0.3;
    if (i / n % n == i % n) v[static_cast<std::size_t>(i)] += 4;
  }
  return a;
}

void solves(Cases& cases) {
  cases.push_back({.name = "cholesky", .args = {definite({3, 3})}, .build = [](const Vals& p) {
                     return Vals{ops::cholesky(p[0])};
                   }});
  cases.push_back({.name = "cholesky/batch",
                   .args = {definite({3, 2, 2})},
                   .build = [](const Vals& p) { return Vals{ops::cholesky(p[0])}; }});
  for (int bits = 0; bits < 16; ++bits) {
    const TriangularAttrs t{.left = (bits & 1) != 0,
                            .lower = (bits & 2) != 0,
                            .unit = (bits & 4) != 0,
                            .transpose = (bits & 8) != 0};
    const std::string name = std::string("triangular_solve") + (t.left ? " left" : " right") +
                             (t.lower ? " lower" : " upper") + (t.unit ? " unit" : "") +
                             (t.transpose ? " transposed" : "");
    auto build = [t](const Vals& p) { return Vals{ops::triangular_solve(p[0], p[1], t)}; };
    cases.push_back({.name = name,
                     .args = {definite({3, 3}), noise(t.left ? Extents{3, 2} : Extents{2, 3})},
                     .build = build,
                     .linear = {false, true}});
    cases.push_back(
        {.name = name + "/batch",
         .args = {definite({4, 2, 2}), noise(t.left ? Extents{4, 2, 3} : Extents{4, 3, 2})},
         .build = build,
         .linear = {false, true},
         .second = false});
  }
}

}  // namespace

void linalg_cases(Cases& cases) {
  products(cases);
  convolutions(cases);
  solves(cases);
}

}  // namespace tlaloc::testing
