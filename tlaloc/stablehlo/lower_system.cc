// Random bits and quantized weights.
#include <array>
#include <numeric>

#include "tlaloc/ops/effects.h"
#include "tlaloc/ops/quant.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/stablehlo/decoded_blocks.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

using ir::Dim;
using ir::Type;
using ir::Val;
using ir::Vals;

// ---- quantized weights ----

/// Weights as rows of bytes, whatever axes stand in front.
Value byte_rows(Emitter& e, const Value& w) {
  const std::int64_t width = w.type.extents.back();
  return e.reshape(w, {width ? element_count(w.type.extents) / width : 0, width});
}
Value dense_rows(Emitter& e, const Value& bytes, const std::string& encoding) {
  const Value in[] = {bytes};
  return e.decompose(in, [&](const Vals& v) -> Vals {
    return {decoded_blocks(v[0], *ir::find_encoding(encoding))};
  })[0];
}

/// To multiples of max|x| / 127 by blocks of 32, halves away from zero.
Val rounded_to_q8_32(Val x) {
  using namespace ops;  // NOLINT: the vocabulary of rules
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  const Dim width = shape.back();
  shape.back() = floordiv(width, kBlockElements);
  shape.push_back(kBlockElements);
  const Val blocks = reshape(x, shape);
  const std::int64_t last[] = {blocks.rank() - 1};
  const Val largest = reduce_max(abs(blocks), last);
  const Val d = broadcast_in_dim(largest / 127.0, shape, axis_range(0, blocks.rank() - 1));
  const Val zero = zeros_like(d);
  return reshape(select(d > zero, round(blocks / d) * d, zero), x.shape());
}

}  // namespace

Values Threefry2x32(Emitter& e, const Op& op) {
  return e.decompose(op.in, [](const Vals& v) -> Vals {
    using namespace ops;  // NOLINT: the vocabulary of rules
    const Type t = v[0].type();
    const Val parity = full(0x1bd11bda, t);
    const Val keys[] = {v[0], v[1], logical_xor(logical_xor(v[0], v[1]), parity)};
    constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    Val x0 = v[2] + keys[0], x1 = v[3] + keys[1];
    for (int group = 0; group < 5; ++group) {
      for (int r : kRotations[group % 2]) {
        x0 = x0 + x1;
        const Val rotated =
            logical_or(shift_left(x1, full(r, t)), shift_right_logical(x1, full(32 - r, t)));
        x1 = logical_xor(rotated, x0);
      }
      x0 = x0 + keys[(group + 1) % 3];
      x1 = x1 + keys[(group + 2) % 3] + full(group + 1, t);
    }
    return {x0, x1};
  });
}

Values DebugPrint(Emitter&, const Op& op) { refuse(op.node, "nothing prints on a device"); }
Values CustomCall(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::CustomCallAttrs>();
  // Arrays arrive row by row.
  const auto layouts = [](auto&& types) {
    std::string list;
    for (const TensorType& t : types) {
      Extents order(t.extents.size());
      std::iota(order.rbegin(), order.rend(), 0);
      list += (list.empty() ? "dense<" : ", dense<") + (order.empty() ? "" : list_text(order)) +
              "> : tensor<" + std::to_string(order.size()) + "xindex>";
    }
    return "[" + list + "]";
  };
  std::vector<TensorType> in;
  for (const Value& v : op.in) in.push_back(v.type);
  return e.op("stablehlo.custom_call", op.in, op.out,
              "api_version = 4 : i32, backend_config = {config = " + quoted(a.config) +
                  ", name = " + quoted(a.name) + "}, call_target_name = " + quoted(kHostCall) +
                  ", operand_layouts = " + layouts(in) + ", result_layouts = " + layouts(op.out),
              {});
}

Values Dequantize(Emitter& e, const Op& op) {
  const Value rows = dense_rows(e, byte_rows(e, op.in[0]), op.as<ops::QuantAttrs>().encoding);
  return {e.convert(e.reshape(rows, op.out[0].extents), op.out[0].dtype)};
}

Values QuantGather(Emitter& e, const Op& op) {
  const Value in[] = {op.in[0], op.in[1]};
  const Value bytes =
      e.decompose(in, [](const Vals& v) -> Vals { return {ops::take(v[0], v[1], 0)}; })[0];
  const Value rows = dense_rows(e, byte_rows(e, bytes), op.as<ops::QuantAttrs>().encoding);
  return {e.convert(e.reshape(rows, op.out[0].extents), op.out[0].dtype)};
}

Values QuantMatmul(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::QuantMatmulAttrs>();
  const DType stored = op.out[0].dtype;
  const DType wide = stored == DType::f64 ? DType::f64 : DType::f32;
  const Value in[] = {e.convert(op.in[0], wide),
                      e.convert(dense_rows(e, op.in[1], a.encoding), wide)};
  const Value y = e.decompose(in, [&](const Vals& v) -> Vals {
    const Val x = a.activation == ops::Activation::q8_32 ? rounded_to_q8_32(v[0]) : v[0];
    return {ops::dot_general(
        x, v[1], {.lhs_contract = {x.rank() - 1}, .rhs_contract = {a.transposed ? 0 : 1}})};
  })[0];
  return {e.convert(y, stored)};
}

}  // namespace tlaloc::stablehlo::lowering
