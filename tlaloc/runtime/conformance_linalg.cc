// Cases of products and linear algebra.
#include <array>

#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/runtime/conformance_cases.h"

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

namespace rows = ops::rows;
constexpr std::array kLinalg{
    // Sums of small integers are exact, so that any order of summation gives the same bits.
    Row{&rows::DotGeneral, products, Values::small},
    Row{&rows::Convolution, convolutions, Values::small},
};

}  // namespace

std::span<const Row> linalg_rows() { return kLinalg; }

}  // namespace tlaloc::runtime::conformance
