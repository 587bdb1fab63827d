#include "tlaloc/lang/random_bits.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc {
namespace random {
namespace {
thread_local Stream stream = Stream::partitionable;
}  // namespace

StreamScope::StreamScope(Stream s) : previous_(stream) { stream = s; }
StreamScope::~StreamScope() { stream = previous_; }
Stream current_stream() { return stream; }

}  // namespace random

namespace core {
namespace {

using ir::Dim;
using ir::Val;
using random::Stream;

Val u32(std::uint32_t x) { return ops::scalar_int(x, DType::u32); }
Val u64(std::uint64_t x) { return ops::scalar_int(static_cast<std::int64_t>(x), DType::u64); }
Val word(Val key, std::int64_t i) {
  return ops::reshape(ops::slice_axis(key, 0, Dim(i), Dim(i + 1)), {});
}

/// Counters 0, 1, … in row-major order of `shape`, as high and low words.
std::array<Val, 2> counters(std::span<const Dim> shape) {
  Dim n(1);
  for (Dim d : shape) n *= d;
  const bool small = n.is_constant() && n.constant() <= std::int64_t{1} << 32;
  Val high, low;
  if (small) {
    low = ops::iota(ir::Type::get(DType::u32, {n}), 0);
    high = ops::zeros_like(low);
  } else {
    const Val i = ops::iota(ir::Type::get(DType::u64, {n}), 0);
    low = ops::convert(i, DType::u32);
    const Val by = ops::broadcast_to(u64(32), i.shape());
    high = ops::convert(ops::shift_right_logical(i, by), DType::u32);
  }
  return {ops::reshape(high, shape), ops::reshape(low, shape)};
}

/// The two words of a key with each pair of counters.
std::pair<Val, Val> hash(Val key, Val x0, Val x1) {
  return ops::threefry2x32(word(key, 0), word(key, 1), x0, x1);
}

/// Words 0 … n-1 of the classic stream: counter i is hashed with counter i + half, where half is
/// ceil(n / 2) and the counter that an odd n lacks is 0.
Val classic_words(Val key, Dim n) {
  if (n == Dim(0)) return ops::zeros(ir::Type::get(DType::u32, {Dim(0)}));
  const Dim half = ceildiv(n, Dim(2));
  if (n.is_constant() && n.constant() >= (std::int64_t{1} << 32) - 1) {
    throw UserError({"TL-RANDOM-003",
                     "random",
                     n.to_string() + " words of the classic stream",
                     "draw fewer elements at once, or use the partitionable stream",
                     {}});
  }
  const Val first = ops::iota(ir::Type::get(DType::u32, {half}), 0);
  const Val size = ops::convert(ops::dim_value(n), DType::u32);
  const Val shifted = ops::add(first, ops::convert(ops::dim_value(half), DType::u32));
  const Val inside =
      ops::compare(ops::Comparison::lt, shifted, ops::broadcast_to(size, first.shape()));
  const Val second = ops::select(inside, shifted, ops::zeros_like(shifted));
  const auto [high, low] = hash(key, first, second);
  return ops::slice_axis(ops::concatenate(std::array{high, low}, 0), 0, Dim(0), n);
}

Val joined_words(Val high, Val low) {
  const Val wide = ops::convert(high, DType::u64);
  return ops::logical_or(ops::shift_left(wide, ops::broadcast_to(u64(32), wide.shape())),
                         ops::convert(low, DType::u64));
}

DType unsigned_of(int width) {
  return width == 8 ? DType::u8 : width == 16 ? DType::u16 : width == 32 ? DType::u32 : DType::u64;
}

Val classic_bits(Val key, int width, std::span<const Dim> shape) {
  Dim n(1);
  for (Dim d : shape) n *= d;
  if (width == 64) {
    const Val words = classic_words(key, n * Dim(2));
    return ops::reshape(joined_words(ops::slice_axis(words, 0, Dim(0), n),
                                     ops::slice_axis(words, 0, n, n * Dim(2))),
                        shape);
  }
  const Dim pieces(32 / width);
  const Dim count = ceildiv(n, pieces);
  const Val words = classic_words(key, count);
  if (width == 32) return ops::reshape(words, shape);
  // Each word gives its pieces from the low bits up.
  const std::vector<Dim> split{count, pieces};
  const std::array<std::int64_t, 1> rows{0};
  const Val spread = ops::broadcast_in_dim(words, split, rows);
  const Val index = ops::iota(ir::Type::get(DType::u32, split), 1);
  const Val by = ops::mul(index, ops::broadcast_to(u32(static_cast<std::uint32_t>(width)), split));
  const Val narrow = ops::convert(ops::shift_right_logical(spread, by), unsigned_of(width));
  const std::array flat{count * pieces};
  return ops::reshape(ops::slice_axis(ops::reshape(narrow, flat), 0, Dim(0), n), shape);
}

}  // namespace

Val random_bits(Val key, int width, std::span<const Dim> shape, Stream stream) {
  if (stream == Stream::classic) return classic_bits(key, width, shape);
  const auto [x0, x1] = counters(shape);
  const auto [high, low] = hash(key, x0, x1);
  if (width == 64) return joined_words(high, low);
  return ops::convert(ops::logical_xor(high, low), unsigned_of(width));
}

Val split_key(Val key, std::int64_t n, Stream stream) {
  const std::array pairs{Dim(n), Dim(2)};
  if (stream == Stream::classic) return ops::reshape(classic_words(key, Dim(2 * n)), pairs);
  const std::array shape{Dim(n)};
  const std::array column{Dim(n), Dim(1)};
  const auto [x0, x1] = counters(shape);
  const auto [high, low] = hash(key, x0, x1);
  const std::array columns{ops::reshape(high, column), ops::reshape(low, column)};
  return ops::concatenate(columns, 1);
}

Val fold_in_key(Val key, Val data) {
  const std::array one{Dim(1)};
  const Val x = ops::reshape(data, one);
  const auto [high, low] = hash(key, ops::zeros_like(x), x);
  return ops::concatenate(std::array{high, low}, 0);
}

}  // namespace core
}  // namespace tlaloc
