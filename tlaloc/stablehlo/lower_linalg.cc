// Products, convolutions and triangular systems. f16 and bf16 are computed in f32.
#include "tlaloc/ops/conv.h"
#include "tlaloc/ops/dot.h"
#include "tlaloc/ops/linalg.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

DType accumulated(DType t) { return t == DType::f16 || t == DType::bf16 ? DType::f32 : t; }

/// No shortcut that a device has for f32.
constexpr char kPrecision[] =
    "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]";

/// "[b, f, 0, 1]": what each axis is.
std::string axes_text(std::size_t rank, std::int64_t first, const char* first_name,
                      std::int64_t second, const char* second_name, const ops::AxisList& spatial) {
  std::vector<std::string> names(rank);
  names[usize(first)] = first_name;
  names[usize(second)] = second_name;
  for (std::size_t i = 0; i < spatial.size(); ++i) names[usize(spatial[i])] = std::to_string(i);
  std::string s = "[";
  for (std::size_t i = 0; i < rank; ++i) s += (i ? ", " : "") + names[i];
  return s + "]";
}

}  // namespace

Values DotGeneral(Emitter& e, const Op& op) {
  const auto& d = op.as<ops::DotDims>();
  if (op.in[0].type.empty() || op.in[1].type.empty()) return {e.splat(0, op.out[0])};
  const DType wide = accumulated(op.out[0].dtype);
  const Value y = e.op(
      "stablehlo.dot_general", op.in, op.out[0].with(wide),
      "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = " + list_text(d.lhs_batch) +
          ", rhs_batching_dimensions = " + list_text(d.rhs_batch) +
          ", lhs_contracting_dimensions = " + list_text(d.lhs_contract) +
          ", rhs_contracting_dimensions = " + list_text(d.rhs_contract) + ">, " + kPrecision);
  return {e.convert(y, op.out[0].dtype)};
}

Values Convolution(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ConvAttrs>();
  const ops::ConvDims& d = a.dims;
  if (op.in[0].type.empty() || op.in[1].type.empty()) return {e.splat(0, op.out[0])};
  const DType wide = accumulated(op.out[0].dtype);
  const std::size_t rank = op.out[0].rank();
  const Extents low = e.extents(op, a.low), high = e.extents(op, a.high);
  std::string padding, reversed;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const std::int64_t pair[] = {low[i], high[i]};
    padding += (i ? ", " : "") + list_text(pair);
    reversed += std::string(i ? ", " : "array<i1: ") + (a.reversed[i] ? "true" : "false");
  }
  const std::string count = std::to_string(low.size());
  padding =
      (low.empty() ? "dense<>" : "dense<[" + padding + "]>") + " : tensor<" + count + "x2xi64>";
  reversed = low.empty() ? "array<i1>" : reversed + ">";
  const Value y = e.op(
      "stablehlo.convolution", op.in, op.out[0].with(wide),
      "dimension_numbers = #stablehlo.conv<" +
          axes_text(rank, d.lhs_batch, "b", d.lhs_feature, "f", d.lhs_spatial) + "x" +
          axes_text(rank, d.rhs_out, "o", d.rhs_in, "i", d.rhs_spatial) + "->" +
          axes_text(rank, d.out_batch, "b", d.out_feature, "f", d.out_spatial) +
          ">, window_strides = " + array_attr(a.strides) + ", padding = " + padding +
          ", lhs_dilation = " + array_attr(a.lhs_dilation) +
          ", rhs_dilation = " + array_attr(a.rhs_dilation) + ", window_reversal = " + reversed +
          ", feature_group_count = " +
          std::to_string(e.extent(op.frame, a.feature_groups, &op.node)) +
          " : i64, batch_group_count = " +
          std::to_string(e.extent(op.frame, a.batch_groups, &op.node)) + " : i64, " + kPrecision);
  return {e.convert(y, op.out[0].dtype)};
}

Values Cholesky(Emitter& e, const Op& op) {
  const Value x = e.convert(op.in[0], accumulated(op.out[0].dtype));
  const Value y = e.op("stablehlo.cholesky", {x}, x.type, "lower = true");
  // What stands above the diagonal is not defined.
  const Value in[] = {y};
  const Value lower =
      e.decompose(in, [](const ir::Vals& v) -> ir::Vals { return {ops::triangle(v[0], true)}; })[0];
  return {e.convert(lower, op.out[0].dtype)};
}

Values TriangularSolve(Emitter& e, const Op& op) {
  const auto& t = op.as<ops::TriangularAttrs>();
  const DType wide = accumulated(op.out[0].dtype);
  auto flag = [](bool b) { return b ? "true" : "false"; };
  const Value y =
      e.op("stablehlo.triangular_solve", {e.convert(op.in[0], wide), e.convert(op.in[1], wide)},
           op.out[0].with(wide),
           std::string("left_side = ") + flag(t.left) + ", lower = " + flag(t.lower) +
               ", unit_diagonal = " + flag(t.unit) + ", transpose_a = #stablehlo<transpose " +
               (t.transpose ? "TRANSPOSE" : "NO_TRANSPOSE") + ">");
  return {e.convert(y, op.out[0].dtype)};
}

}  // namespace tlaloc::stablehlo::lowering
