// Random bits, collectives and quantized weights.
#include <array>

#include "tlaloc/ops/collectives.h"
#include "tlaloc/ops/quant.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

using ir::Dim;
using ir::Type;
using ir::Val;
using ir::Vals;

/// Replicas 0, 1, … as one group; the channel says that replicas of one module meet.
std::string groups(std::int64_t devices) {
  Extents all;
  for (std::int64_t i = 0; i < devices; ++i) all.push_back(i);
  return "replica_groups = dense<[" + list_text(all) + "]> : tensor<1x" + std::to_string(devices) +
         "xi64>";
}
std::int64_t devices_of(Emitter& e, const Op& op, const ops::MeshAxis& over) {
  const std::int64_t devices = e.extent(op.frame, over.devices, &op.node);
  if (devices > 1) e.use_devices(op.node, over.name, devices);
  return devices;
}
Region reducer(Emitter& e, DType t, const char* name) {
  return {{{t, {}}, {t, {}}},
          [&e, name](const Values& v) -> Values { return {e.binary(name, v[0], v[1])}; }};
}

// ---- quantized weights: bytes, taken apart by bit operations ----

/// Bytes [from, from + count) of each block of [rows, blocks, bytes].
Val block_bytes(Val blocks, std::int64_t from, std::int64_t count) {
  return ops::slice_axis(blocks, 2, from, from + count);
}
/// A float that a block starts with, as f32 [rows, blocks, 1].
Val block_float(Val blocks, std::int64_t from, DType dtype) {
  const Val bytes = block_bytes(blocks, from, byte_size(dtype));
  Val x = ops::bitcast_convert(bytes, dtype);  // [rows, blocks]
  x = ops::convert(x, DType::f32);
  const std::array<Dim, 3> column{x.dim(0), x.dim(1), Dim(1)};
  return ops::reshape(x, column);
}
Val over_block(Val column, Type to) {
  const std::int64_t axes[] = {0, 1, 2};
  return ops::broadcast_in_dim(column, to.shape(), axes);
}

/// f32 [rows, blocks * 32] from bytes [rows, blocks * block_bytes].
Val decoded(Val bytes, const ir::Encoding& encoding) {
  using namespace ops;  // NOLINT: the vocabulary of rules
  const Dim rows = bytes.dim(0);
  const Dim blocks = floordiv(bytes.dim(1), encoding.block_bytes);
  const std::array<Dim, 3> split{rows, blocks, Dim(encoding.block_bytes)};
  const Val x = reshape(bytes, split);
  const std::string& name = encoding.name;
  const Type values = Type::get(DType::f32, {rows, blocks, Dim(kBlockElements)});
  Val y;
  if (name == "q8_0" || name == "q8_32") {
    const DType scale = name == "q8_0" ? DType::f16 : DType::f32;
    const Val q = bitcast_convert(block_bytes(x, byte_size(scale), 32), DType::i8);
    y = over_block(block_float(x, 0, scale), values) * convert(q, DType::f32);
  } else {
    const bool minimum = name == "q4_1" || name == "q5_1";
    const bool fifth = name == "q5_0" || name == "q5_1";
    const std::int64_t high_at = minimum ? 4 : 2, low_at = high_at + (fifth ? 4 : 0);
    const Val q = block_bytes(x, low_at, 16);
    const Val halves[] = {logical_and(q, full(15, q.type())),
                          shift_right_logical(q, full(4, q.type()))};
    Val bits = concatenate(halves, 2);
    if (fifth) {
      // Byte j of the high bits has those of elements 8 j to 8 j + 7.
      const std::array<Dim, 4> by_byte{rows, blocks, Dim(4), Dim(8)};
      const std::int64_t axes[] = {0, 1, 2};
      const Val each = broadcast_in_dim(block_bytes(x, high_at, 4), by_byte, axes);
      const Val bit =
          logical_and(shift_right_logical(each, iota(each.type(), 3)), full(1, each.type()));
      const Val high = reshape(bit, bits.shape());
      bits = logical_or(bits, shift_left(high, full(4, high.type())));
    }
    const double offset = minimum ? 0 : fifth ? 16 : 8;
    y = (convert(bits, DType::f32) - offset) * over_block(block_float(x, 0, DType::f16), values);
    if (minimum) y = y + over_block(block_float(x, 2, DType::f16), values);
  }
  const std::array<Dim, 2> flat{rows, blocks * kBlockElements};
  return reshape(y, flat);
}

/// Weights as rows of bytes, whatever axes stand in front.
Value byte_rows(Emitter& e, const Value& w) {
  const std::int64_t width = w.type.extents.back();
  return e.reshape(w, {width ? element_count(w.type.extents) / width : 0, width});
}
Value dense_rows(Emitter& e, const Value& bytes, const std::string& encoding) {
  const Value in[] = {bytes};
  return e.decompose(
      in, [&](const Vals& v) -> Vals { return {decoded(v[0], *ir::find_encoding(encoding))}; })[0];
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
Values CustomCall(Emitter&, const Op& op) { refuse(op.node, "its code is on the host"); }

Values AllReduce(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::AllReduceAttrs>();
  const std::int64_t devices = devices_of(e, op, a.over);
  if (devices == 1) return {op.in[0]};
  constexpr const char* kNames[] = {"add", "maximum", "minimum"};
  const Region region[] = {
      reducer(e, op.out[0].dtype, kNames[static_cast<std::size_t>(a.reduction)])};
  return e.op("stablehlo.all_reduce", op.in, op.out, groups(devices), region);
}
Values AllGather(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ExchangeAttrs>();
  const std::int64_t devices = devices_of(e, op, a.over);
  if (devices == 1) return {op.in[0]};
  return {e.op("stablehlo.all_gather", op.in, op.out[0],
               "all_gather_dim = " + std::to_string(a.axis) + " : i64, " + groups(devices))};
}
Values ReduceScatter(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ExchangeAttrs>();
  const std::int64_t devices = devices_of(e, op, a.over);
  if (devices == 1) return {op.in[0]};
  const Region region[] = {reducer(e, op.out[0].dtype, "add")};
  return e.op("stablehlo.reduce_scatter", op.in, op.out,
              "scatter_dimension = " + std::to_string(a.axis) + " : i64, " + groups(devices),
              region);
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
