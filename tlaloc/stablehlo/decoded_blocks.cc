#include "tlaloc/stablehlo/decoded_blocks.h"

#include <array>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::stablehlo {
namespace {

using namespace ops;  // NOLINT: the vocabulary of rules
using ir::Dim;
using ir::Type;
using ir::Val;

/// Bytes [from, from + count) of each block of [rows, blocks, bytes].
Val block_bytes(Val blocks, std::int64_t from, std::int64_t count) {
  return slice_axis(blocks, 2, from, from + count);
}
/// A float that a block starts with, as f32 [rows, blocks, 1].
Val block_float(Val blocks, std::int64_t from, DType dtype) {
  const Val bytes = block_bytes(blocks, from, byte_size(dtype));
  Val x = bitcast_convert(bytes, dtype);  // [rows, blocks]
  x = convert(x, DType::f32);
  const std::array<Dim, 3> column{x.dim(0), x.dim(1), Dim(1)};
  return reshape(x, column);
}
Val over_block(Val column, Type to) {
  const std::int64_t axes[] = {0, 1, 2};
  return broadcast_in_dim(column, to.shape(), axes);
}

/// The axes behind those of rows and blocks.
Val with_inner(Val x, std::initializer_list<std::int64_t> inner) {
  std::vector<Dim> shape{x.dim(0), x.dim(1)};
  shape.insert(shape.end(), inner.begin(), inner.end());
  return reshape(x, shape);
}
Val masked(Val x, int bits) { return logical_and(x, full(bits, x.type())); }
Val right(Val x, int by) { return shift_right_logical(x, full(by, x.type())); }
Val left(Val x, int by) { return shift_left(x, full(by, x.type())); }
/// Side by side on the last axis: the lowest `width` bits of x, the next ones, ...
Val unpacked(Val x, int width) {
  std::vector<Val> pieces;
  for (int by = 0; by < 8; by += width) pieces.push_back(masked(right(x, by), (1 << width) - 1));
  return concatenate(pieces, x.rank() - 1);
}
/// Bit p of byte j of [rows, blocks, bytes] at [p, j].
Val bits_of(Val x) {
  const std::array<Dim, 4> shape{x.dim(0), x.dim(1), Dim(8), x.dim(2)};
  const std::int64_t axes[] = {0, 1, 3};
  const Val each = broadcast_in_dim(x, shape, axes);
  return masked(shift_right_logical(each, iota(each.type(), 2)), 1);
}
Val as_i8(Val bytes) { return bitcast_convert(bytes, DType::i8); }
Val as_f32(Val x) { return convert(x, DType::f32); }
/// [rows, blocks, 1] to as many columns.
Val across(Val column, Val like) { return over_block(column, like.type()); }

/// q[rows, blocks, elements] with what each part of a block has: [rows, blocks, parts].
struct Parts {
  Val q, scales, leasts = {};
};
Val multiplied(const Parts& p, std::int64_t elements) {
  const std::int64_t parts = p.scales.dim(2).constant();
  const Val q = with_inner(as_f32(p.q), {parts, elements / parts});
  const std::int64_t axes[] = {0, 1, 2};
  Val y = q * broadcast_in_dim(p.scales, q.shape(), axes);
  if (p.leasts) y = y - broadcast_in_dim(p.leasts, q.shape(), axes);
  return y;
}

/// Blocks of 32 that are read as they are.
Val of_plain(Val x, const std::string& name) {
  if (name == "q8_0" || name == "q8_32") {
    const DType scale = name == "q8_0" ? DType::f16 : DType::f32;
    return multiplied({as_i8(block_bytes(x, byte_size(scale), 32)), block_float(x, 0, scale)}, 32);
  }
  const bool minimum = name == "q4_1" || name == "q5_1";
  const bool fifth = name == "q5_0" || name == "q5_1";
  const std::int64_t high_at = minimum ? 4 : 2, low_at = high_at + (fifth ? 4 : 0);
  Val bits = unpacked(block_bytes(x, low_at, 16), 4);
  if (fifth) {
    // Byte j of the high bits has those of elements 8 j to 8 j + 7.
    const std::int64_t by_byte[] = {0, 1, 3, 2};
    const Val high = transpose(bits_of(block_bytes(x, high_at, 4)), by_byte);
    bits = logical_or(bits, left(with_inner(high, {32}), 4));
  }
  const double offset = minimum ? 0 : fifth ? 16 : 8;
  Val y = multiplied({as_f32(bits) - offset, block_float(x, 0, DType::f16)}, 32);
  if (minimum) y = y + over_block(block_float(x, 2, DType::f16), y.type());
  return y;
}

/// Eight scales and eight minima of six bits, from twelve bytes.
std::array<Val, 2> six_bits(Val bytes) {
  const Val a = block_bytes(bytes, 0, 4), b = block_bytes(bytes, 4, 4),
            c = block_bytes(bytes, 8, 4);
  const Val scales[] = {masked(a, 63), logical_or(masked(c, 15), left(right(a, 6), 4))};
  const Val leasts[] = {masked(b, 63), logical_or(right(c, 4), left(right(b, 6), 4))};
  return {concatenate(scales, 2), concatenate(leasts, 2)};
}
/// 64 bytes with four times two bits, in two halves.
Val two_bits(Val bytes) { return with_inner(unpacked(with_inner(bytes, {2, 32}), 2), {256}); }
Val scaled(Val d, Val integers) { return across(d, integers) * as_f32(integers); }

Parts of_q2_k(Val x) {
  const Val scales = block_bytes(x, 0, 16);
  return {two_bits(block_bytes(x, 16, 64)),
          scaled(block_float(x, 80, DType::f16), masked(scales, 15)),
          scaled(block_float(x, 82, DType::f16), right(scales, 4))};
}
Parts of_q3_k(Val x) {
  const Val high = with_inner(bits_of(block_bytes(x, 0, 32)), {256});
  const Val q = logical_or(two_bits(block_bytes(x, 32, 64)), left(high, 2));
  const Val low_bits = unpacked(block_bytes(x, 96, 8), 4);
  const Val high_bits = unpacked(block_bytes(x, 104, 4), 2);
  const Val scales = as_f32(logical_or(low_bits, left(high_bits, 4))) - 32.0;
  return {as_f32(q) - 4.0, scaled(block_float(x, 108, DType::f16), scales)};
}
Parts of_q4_k(Val x, bool fifth) {
  const auto [scales, leasts] = six_bits(block_bytes(x, 4, 12));
  const Val low = with_inner(block_bytes(x, fifth ? 48 : 16, 128), {4, 32});
  Val q = with_inner(unpacked(low, 4), {256});
  if (fifth) {
    q = logical_or(q, left(with_inner(bits_of(block_bytes(x, 16, 32)), {256}), 4));
  }
  return {q, scaled(block_float(x, 0, DType::f16), scales),
          scaled(block_float(x, 2, DType::f16), leasts)};
}
Parts of_q6_k(Val x) {
  const Val low = unpacked(with_inner(block_bytes(x, 0, 128), {2, 64}), 4);
  const Val high = two_bits(block_bytes(x, 128, 64));
  const Val q = logical_or(with_inner(low, {256}), left(high, 4));
  return {as_f32(q) - 32.0,
          scaled(block_float(x, 208, DType::f16), as_i8(block_bytes(x, 192, 16)))};
}
/// What the four bits of IQ4 stand for.
Val nonlinear(Val bits) {
  static const std::vector<float> kTable{-127, -104, -83, -65, -49, -35, -22, -10,
                                         1,    13,   25,  38,  53,  69,  89,  113};
  return take(constant(HostArray::from<float>(kTable, {16})), convert(bits, DType::i32), 0);
}
Parts of_iq4_xs(Val x) {
  const Val low_bits = with_inner(unpacked(with_inner(block_bytes(x, 4, 4), {4, 1}), 4), {8});
  const Val pairs = unpacked(block_bytes(x, 2, 2), 2);  // of two bytes: 0, 2, 4, 6 bits up
  const std::int64_t by_byte[] = {0, 1, 3, 2};
  const Val high_bits = with_inner(transpose(with_inner(pairs, {4, 2}), by_byte), {8});
  const Val scales = as_f32(logical_or(low_bits, left(high_bits, 4))) - 32.0;
  const Val q = nonlinear(unpacked(with_inner(block_bytes(x, 8, 128), {8, 16}), 4));
  return {with_inner(q, {256}), scaled(block_float(x, 0, DType::f16), scales)};
}
Parts of_parts(Val x, const std::string& name) {
  if (name == "q2_k") return of_q2_k(x);
  if (name == "q3_k") return of_q3_k(x);
  if (name == "q4_k") return of_q4_k(x, false);
  if (name == "q5_k") return of_q4_k(x, true);
  if (name == "q6_k") return of_q6_k(x);
  if (name == "iq4_xs") return of_iq4_xs(x);
  internal_check(name == "iq4_nl", "an encoding has no operations that decode it");
  return {nonlinear(unpacked(block_bytes(x, 2, 16), 4)), block_float(x, 0, DType::f16)};
}

}  // namespace

Val decoded_blocks(Val bytes, const ir::Encoding& encoding) {
  const Dim rows = bytes.dim(0);
  const Dim blocks = floordiv(bytes.dim(1), encoding.block_bytes);
  const std::array<Dim, 3> split{rows, blocks, Dim(encoding.block_bytes)};
  const Val x = reshape(bytes, split);
  const std::array<Dim, 2> flat{rows, blocks * encoding.block_elements};
  const bool plain = encoding.name.starts_with("q") && !encoding.name.ends_with("_k");
  return reshape(plain ? of_plain(x, encoding.name)
                       : multiplied(of_parts(x, encoding.name), encoding.block_elements),
                 flat);
}

}  // namespace tlaloc::stablehlo
