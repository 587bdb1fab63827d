// The run-time half of random.h: draws with their types erased.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/lang/core.h"

namespace tlaloc {
namespace random {

/// How the bits of an array are laid out over counters. Both are JAX's, bit for bit.
enum class Stream : std::uint8_t {
  /// Each element hashes its own position, so a prefix or a shard can be drawn alone. JAX's default
  /// (jax_threefry_partitionable = True).
  partitionable,
  /// Each element depends on the number of elements (jax_threefry_partitionable = False).
  classic,
};
/// While alive, draws in this thread use `stream`. A traced function keeps the stream it was traced
/// with.
class StreamScope {
 public:
  explicit StreamScope(Stream stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream previous_;
};
Stream current_stream();

}  // namespace random

namespace core {

/// u32[2] of a seed. JAX without x64 takes 32 bits, which for such seeds is the same key.
Ref random_key(std::uint64_t seed);
/// u32[n, 2].
Ref random_split(const Ref& key, std::int64_t n, AxesSpec axes, Where where);
/// `data`: an integer scalar, taken modulo 2^32.
Ref random_fold_in(const Ref& key, const Ref& data, Where where);

/// Draws of dtype and axes; an axis without a size takes it from `size_like`, as in broadcast.
/// UserError TL-RANDOM-001 (not a key), TL-RANDOM-002 (an element type that is not drawn).
struct Draw {
  DType dtype;
  std::span<const Ref> size_like;
  AxesSpec axes;
  Where where;
};
/// Unsigned integers, all bits random.
Ref random_bits(const Ref& key, const Draw& draw);
/// In [low, high); scalars of the dtype.
Ref random_uniform(const Ref& key, const Ref& low, const Ref& high, const Draw& draw);
/// Mean 0, variance 1.
Ref random_normal(const Ref& key, const Draw& draw);
/// Normal, conditioned on lying in (lower, upper); scalars.
Ref random_truncated_normal(const Ref& key, const Ref& lower, const Ref& upper, const Draw& draw);
/// Density exp(-x) on x >= 0.
Ref random_exponential(const Ref& key, const Draw& draw);
/// Distribution exp(-exp(-x)).
Ref random_gumbel(const Ref& key, const Draw& draw);
/// Density exp(-|x|) / 2.
Ref random_laplace(const Ref& key, const Draw& draw);
/// True with probability p (a floating value that broadcasts to the axes: `axis_of_p` as in
/// binary).
Ref random_bernoulli(const Ref& key, const Ref& p, std::span<const int> axis_of_p,
                     const Draw& draw);
/// Integers in [low, high); integer scalars. An empty range gives low.
Ref random_randint(const Ref& key, const Ref& low, const Ref& high, const Draw& draw);
/// i32 indices along `axis` of the logits, which vanishes; drawn with probability softmax(logits).
Ref random_categorical(const Ref& key, const Ref& logits, int axis, AxesSpec axes, Where where);
/// x with an axis in random order. UserError TL-TRACE-001 when its size is not known.
Ref random_permutation(const Ref& key, const Ref& x, int axis, AxesSpec axes, Where where);

}  // namespace core
}  // namespace tlaloc
