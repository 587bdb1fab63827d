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

namespace rows = ops::rows;
constexpr std::array kLinalg{
    // Sums of small integers are exact, so that any order of summation gives the same bits.
    Row{&rows::DotGeneral, products, Values::small},
};

}  // namespace

std::span<const Row> linalg_rows() { return kLinalg; }

}  // namespace tlaloc::runtime::conformance
