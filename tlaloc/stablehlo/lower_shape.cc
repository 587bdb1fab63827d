// Values from nothing, and ops that move elements without computing.
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/joining.h"
#include "tlaloc/ops/shape_ops.h"
#include "tlaloc/ops/slice.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {

Values Constant(Emitter& e, const Op& op) {
  return {e.constant(op.as<ops::ConstantAttrs>().value.value)};
}
Values Iota(Emitter& e, const Op& op) { return {e.iota(op.out[0], op.as<ops::IotaAttrs>().axis)}; }
Values DimValue(Emitter& e, const Op& op) {
  return {e.size_value(op.frame, op.as<ops::DimValueAttrs>().dim)};
}
Values BroadcastInDim(Emitter& e, const Op& op) {
  return {e.broadcast(op.in[0], op.out[0], op.as<ops::BroadcastInDimAttrs>().axes)};
}
Values Reshape(Emitter& e, const Op& op) { return {e.reshape(op.in[0], op.out[0].extents)}; }
Values Transpose(Emitter& e, const Op& op) {
  return {e.op("stablehlo.transpose", op.in, op.out[0],
               "permutation = " + array_attr(op.as<ops::TransposeAttrs>().permutation))};
}
Values Slice(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::SliceAttrs>();
  return {
      e.slice(op.in[0], e.extents(op, a.start), e.extents(op, a.limit), e.extents(op, a.strides))};
}
Values Pad(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::PadAttrs>();
  return {e.pad(op.in[0], op.in[1], e.extents(op, a.low), e.extents(op, a.high),
                e.extents(op, a.interior))};
}
Values Concatenate(Emitter& e, const Op& op) {
  return {e.concatenate(op.in, op.as<ops::ConcatenateAttrs>().axis)};
}
Values Reverse(Emitter& e, const Op& op) {
  return {e.op("stablehlo.reverse", op.in, op.out[0],
               "dimensions = " + array_attr(op.as<ops::ReverseAttrs>().axes))};
}

}  // namespace tlaloc::stablehlo::lowering
