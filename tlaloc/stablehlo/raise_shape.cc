// Constants and operations that move elements without computing.
#include "tlaloc/ops/val_index.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Dim;
using ir::Vals;

std::vector<Dim> dims_of(const ops::AxisList& numbers) { return {numbers.begin(), numbers.end()}; }

Vals constant(const Site& s) {
  DenseValue v = dense_value(s.importer().source(), s.attribute({"value"}));
  if (s.attribute({"value"}).type != s.result_type()) s.fail("its value is of another type");
  const ir::Val x = ops::constant(std::move(v.value));
  return {v.splat ? ops::broadcast_in_dim(x, s.result_shape(), {}) : x};
}
Vals iota(const Site& s) {
  s.expect_operands(0);
  return {ops::iota(ir::Type::get(s.result_dtype(), s.result_shape()),
                    s.axis({"dim", "iota_dimension"}, s.result_type()->extents.size()))};
}
Vals broadcast_in_dim(const Site& s) {
  s.expect_operands(1);
  return {ops::broadcast_in_dim(s.in(0), s.result_shape(),
                                s.integers({"dims", "broadcast_dimensions"}))};
}
Vals reshape(const Site& s) {
  s.expect_operands(1);
  return {ops::reshape(s.in(0), s.result_shape())};
}
Vals transpose(const Site& s) {
  s.expect_operands(1);
  return {ops::transpose(s.in(0), s.integers({"dims", "permutation"}))};
}
Vals slice(const Site& s) {
  s.expect_operands(1);
  return {ops::slice(s.in(0), dims_of(s.integers({"start_indices"})),
                     dims_of(s.integers({"limit_indices"})), dims_of(s.integers({"strides"})))};
}
Vals pad(const Site& s) {
  s.expect_operands(2);
  return {ops::pad(s.in(0), s.in(1), dims_of(s.integers({"low", "edge_padding_low"})),
                   dims_of(s.integers({"high", "edge_padding_high"})),
                   dims_of(s.integers({"interior", "interior_padding"})))};
}
Vals concatenate(const Site& s) {
  if (s.count() == 0) s.fail("expected operands");
  return {ops::concatenate(s.in(), s.axis({"dim", "dimension"}, usize(s.in(0).rank())))};
}
Vals reverse(const Site& s) {
  s.expect_operands(1);
  ops::AxisList axes = s.integers({"dims", "dimensions"});
  std::ranges::sort(axes);
  return {ops::reverse(s.in(0), axes)};
}

}  // namespace

void add_shape(RaiseTable& t) {
  t["stablehlo.constant"] = constant;
  t["chlo.constant"] = constant;
  t["stablehlo.iota"] = iota;
  t["stablehlo.broadcast_in_dim"] = broadcast_in_dim;
  t["stablehlo.reshape"] = reshape;
  t["stablehlo.transpose"] = transpose;
  t["stablehlo.slice"] = slice;
  t["stablehlo.pad"] = pad;
  t["stablehlo.concatenate"] = concatenate;
  t["stablehlo.reverse"] = reverse;
}

}  // namespace tlaloc::stablehlo::raising
