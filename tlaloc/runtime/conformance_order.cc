// Cases of ops that work along one axis: positions of extremes, running reductions.
#include <array>

#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/sort.h"
#include "tlaloc/runtime/conformance_cases.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Vals;

/// `make(params, axis)` along every axis of every shape, over the element types it accepts.
void along_axes(Cases& cases, const std::string& label, bool empty_axes,
                const std::function<Vals(const Vals&, int)>& make) {
  bool first = true;
  for (DType t : dtypes()) {
    const std::vector<ir::Type> probe{ir::Type::get(t, {ir::Dim(2)})};
    if (!Cases::accepts(probe, [&](const Vals& p, Sizes&) { return make(p, 0); })) continue;
    for (const Extents& shape : shapes(!first)) {
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        if (shape[static_cast<std::size_t>(axis)] == 0 && !empty_axes) continue;
        cases.add(label + "axis" + std::to_string(axis) + "/" + shape_label(t, shape),
                  {cases.array(t, shape)}, [&](const Vals& p, Sizes&) { return make(p, axis); });
      }
    }
    first = false;
  }
}

void positions(Cases& cases, const Row& row) {
  for (DType t : {DType::i32, DType::i64}) {
    along_axes(cases, std::string(name(t)) + "/", false, [&](const Vals& p, int axis) {
      return ir::Builder::current().emit_all(*row.op, ir::make_attr(ops::ArgReduceAttrs{axis, t}),
                                             p);
    });
  }
}
void running(Cases& cases, const Row& row) {
  for (int mode = 0; mode < 4; ++mode) {
    const bool reverse = mode & 1, exclusive = mode & 2;
    const std::string label =
        (reverse ? "reverse/" : "") + std::string(exclusive ? "exclusive/" : "");
    along_axes(cases, label, true, [&](const Vals& p, int axis) {
      return ir::Builder::current().emit_all(
          *row.op, ir::make_attr(ops::CumulativeAttrs{axis, reverse, exclusive}), p);
    });
  }
}

void sorting(Cases& cases, const Row& row) {
  for (bool descending : {false, true}) {
    along_axes(cases, descending ? "descending/" : "ascending/", true,
               [&](const Vals& p, int axis) {
                 return ir::Builder::current().emit_all(
                     *row.op, ir::make_attr(ops::SortAttrs{axis, descending}), p);
               });
  }
}

namespace rows = ops::rows;
constexpr std::array kOrders{
    Row{&rows::Sort, sorting},
    Row{&rows::ArgMax, positions},
    Row{&rows::ArgMin, positions},
    Row{&rows::CumSum, running, Values::small},
    Row{&rows::CumProd, running, Values::small},
    Row{&rows::CumMax, running},
    Row{&rows::CumMin, running},
    // Each step may be off by a few units of the last place.
    Row{&rows::CumLogSumExp, running, Values::small, 64},
};

}  // namespace

std::span<const Row> order_rows() { return kOrders; }

}  // namespace tlaloc::runtime::conformance
