#include "tlaloc/cpu/loop.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/math_ops.h"
#include "tlaloc/cpu/scratch.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::cpu {
namespace {

/// Bytes of a tile of the widest elements.
constexpr std::size_t kPlaceBytes = usize(kTile) * 8;
/// Streams of positions that one loop moves through: loads, counted positions, the result.
constexpr std::size_t kMaxStreams = 2 * Loop::kMaxOps;

void fill(void* to, DType t, const void* value, std::int64_t n) {
  ops::by_size(t, [&]<class U>(TypeTag<U>) {
    U x;
    std::memcpy(&x, value, sizeof x);
    std::fill_n(static_cast<U*>(to), n, x);
  });
}
void gather(void* to, DType t, const std::byte* from, std::int64_t stride, std::int64_t n) {
  ops::by_size(t, [&]<class U>(TypeTag<U>) {
    const U* x = reinterpret_cast<const U*>(from);
    U* y = static_cast<U*>(to);
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i * stride];
  });
}
void scatter(std::byte* to, DType t, const void* from, std::int64_t stride, std::int64_t n) {
  ops::by_size(t, [&]<class U>(TypeTag<U>) {
    U* y = reinterpret_cast<U*>(to);
    const U* x = static_cast<const U*>(from);
    for (std::int64_t i = 0; i < n; ++i) y[i * stride] = x[i];
  });
}
void count(void* to, DType t, std::int64_t first, std::int64_t step, std::int64_t n) {
  dispatch(t, [&]<class T>(TypeTag<T>) {
    T* y = static_cast<T*>(to);
    for (std::int64_t i = 0; i < n; ++i) y[i] = ops::convert_element<T>(first + i * step);
  });
}

/// One run of a loop over concrete sizes.
class Runner {
 public:
  Runner(const Loop& loop, const KernelCall& call) : loop_(loop), call_(call) {
    for (std::size_t i = 0; i < loop.ops.size(); ++i) {
      if (has_stream(loop.ops[i])) add_stream(loop.ops[i].ints);
    }
    result_ = streams_;
    for (const Loop::Output& o : loop.outputs) add_stream(o.ints);
    collapse();
  }

  void run() {
    for (std::size_t k = 0; k < rank_; ++k) {
      if (extents_[k] == 0 && !folded_[k]) return;
    }
    const std::optional<std::size_t> axis = shared_axis();
    if (!axis) return run_alone();
    double nanoseconds = element_nanoseconds();
    for (std::size_t k = 0; k < rank_; ++k) {
      if (k != *axis) nanoseconds *= static_cast<double>(extents_[k]);
    }
    const Ranges ranges = share(extents_[*axis], nanoseconds, *axis == inner_ ? kTile : 1);
    if (ranges.count() <= 1) return run_alone();
    folded_[*axis] ? run_blocks(*axis, ranges) : run_ranges(*axis, ranges);
  }

 private:
  // ---- by the gang ----

  /// An axis whose ranges are computed apart: the first one with results that is long enough for
  /// many parts, or the first one of a fold to one number, or the longest one with results.
  std::optional<std::size_t> shared_axis() const {
    if (loop_.result_index_count || loop_.combine) return std::nullopt;
    constexpr std::int64_t kLong = 32;
    std::optional<std::size_t> best, first_folded;
    std::int64_t longest = 1, kept = 1;
    for (std::size_t k = 0; k < rank_; ++k) {
      if (folded_[k]) {
        if (!first_folded) first_folded = k;
        continue;
      }
      kept *= extents_[k];
      bool apart = true;
      for (std::size_t s = result_; s < streams_; ++s) apart = apart && stride_[k][s] != 0;
      if (!apart || extents_[k] <= longest || longest >= kLong) continue;
      best = k;
      longest = extents_[k];
    }
    // Results of 16 bits round what they are folded in.
    const bool by_blocks = first_folded && kept == 1 && loop_.fold->accumulator == element(0);
    return by_blocks ? first_folded : best;
  }
  /// What an element takes, roughly.
  double element_nanoseconds() const {
    double sum = 0;
    for (const Loop::Op& op : loop_.ops) {
      if (op.kind == Loop::Op::Kind::load) sum += op.index_count ? 2 : 0.2;
      if (op.kind == Loop::Op::Kind::op) sum += math_index(*op.def) ? 1 : 0.4;
    }
    return sum + 0.2 * static_cast<double>(loop_.outputs.size());
  }
  void run_range(const KernelCall& call, std::size_t axis, std::int64_t begin,
                 std::int64_t end) const {
    const Scratch scratch(loop_.scratch_bytes());
    Runner part(loop_, {call.storages, call.ints, call.data, scratch.get()});
    part.extents_[axis] = end - begin;
    for (std::size_t s = 0; s < streams_; ++s) part.base_[s] += begin * stride_[axis][s];
    part.run_alone();
  }
  void run_ranges(std::size_t axis, const Ranges& ranges) const {
    parallel(ranges,
             [&](std::int64_t begin, std::int64_t end) { run_range(call_, axis, begin, end); });
  }
  /// One number of each range, folded in order.
  void run_blocks(std::size_t axis, const Ranges& ranges) const {
    const std::size_t size = usize(byte_size(element(0))), output = loop_.outputs[0].array;
    const Scratch results(usize(ranges.count()) * size);
    const std::int64_t at = base_[result_] * static_cast<std::int64_t>(size);
    parallel(ranges, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::byte*> storages(call_.storages, call_.storages + output + 1);
      storages[output] = results.get() + usize(begin / ranges.each) * size - at;
      run_range({storages.data(), call_.ints, call_.data, nullptr}, axis, begin, end);
    });
    std::byte* const to = call_.storages[output] + at;
    std::memcpy(to, results.get(), size);
    for (std::int64_t i = 1; i < ranges.count(); ++i)
      loop_.fold->across(to, results.get() + usize(i) * size, 1);
  }

  // ---- alone ----

  void run_alone() {
    prepare();
    if (loop_.fold) {
      run_fold();
    } else {
      run_map();
    }
  }

  static bool has_stream(const Loop::Op& op) {
    return op.kind == Loop::Op::Kind::load || op.kind == Loop::Op::Kind::position;
  }
  void add_stream(std::uint16_t ints) {
    base_[streams_] = call_.ints[ints];
    source_[streams_++] = call_.ints + ints + 1;
  }

  /// Axes of size 1 vanish; neighbours that all streams walk as one axis become one.
  void collapse() {
    for (std::size_t k = 0; k < loop_.rank; ++k) {
      const std::int64_t extent = call_.ints[k];
      const bool folded = (loop_.folded >> k) & 1;
      if (extent == 1) continue;
      bool merges = rank_ > 0 && folded_[rank_ - 1] == folded;
      for (std::size_t s = 0; s < streams_ && merges; ++s) {
        merges = stride_[rank_ - 1][s] == source_[s][k] * extent;
      }
      if (!merges) {
        extents_[rank_] = 1;
        folded_[rank_++] = folded;
      }
      extents_[rank_ - 1] *= extent;
      for (std::size_t s = 0; s < streams_; ++s) stride_[rank_ - 1][s] = source_[s][k];
    }
    if (rank_ == 0) {
      extents_[0] = 1;
      folded_[0] = false;
      for (std::size_t s = 0; s < streams_; ++s) stride_[0][s] = 0;
      rank_ = 1;
    }
    inner_ = rank_ - 1;
  }

  DType element(std::size_t output) const { return loop_.ops[loop_.outputs[output].reg].dtype; }
  std::byte* place(std::size_t op) const { return call_.scratch + loop_.places[op] * kPlaceBytes; }
  std::byte* accumulator() const { return call_.scratch + loop_.place_count * kPlaceBytes; }

  /// What is the same in all tiles.
  void prepare() {
    const std::int64_t n = std::min(kTile, extents_[inner_]);
    for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
      const Loop::Op& op = loop_.ops[i];
      reg_[i] = place(i);
      if (op.kind == Loop::Op::Kind::literal) fill(place(i), op.dtype, &op.bits, n);
    }
  }

  /// Computes one tile; returns where its result lies. `at`: positions of the tile's first element.
  const void* tile(const std::int64_t* at, std::int64_t n, std::byte* out) {
    std::size_t stream = 0;
    const std::size_t last = loop_.ops.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
      const Loop::Op& op = loop_.ops[i];
      switch (op.kind) {
        case Loop::Op::Kind::load: {
          const std::int64_t step = stride_[inner_][stream];
          const std::byte* from = call_.storages[op.array] + at[stream] * byte_size(op.dtype);
          if (op.index_count) {
            gather_indirect(place(i), op, call_.storages[op.array], at[stream], step, n);
            reg_[i] = place(i);
          } else if (step == 1 || n == 1) {
            reg_[i] = from;
          } else if (step == 0) {
            fill(place(i), op.dtype, from, n);
            reg_[i] = place(i);
          } else {
            gather(place(i), op.dtype, from, step, n);
            reg_[i] = place(i);
          }
          ++stream;
          break;
        }
        case Loop::Op::Kind::position:
          count(place(i), op.dtype, at[stream], stride_[inner_][stream], n);
          ++stream;
          break;
        case Loop::Op::Kind::literal:
          break;
        case Loop::Op::Kind::op: {
          const void* in[3] = {reg_[op.args[0]], reg_[op.args[1]], reg_[op.args[2]]};
          void* to = i == last && out ? out : place(i);
          op.run(to, in, n, op.data);
          reg_[i] = to;
          break;
        }
      }
    }
    return reg_[loop_.outputs[0].reg];
  }

  /// Adds to positions what `index` says: at[i] for i < n. Marks in `fits` what was moved.
  void add_index(const Loop::Index& index, std::int64_t* at, bool* fits, std::int64_t n) const {
    const auto* value = static_cast<const std::int64_t*>(reg_[index.reg]);
    const std::int64_t stride = call_.ints[index.stride];
    const std::int64_t last = std::max<std::int64_t>(call_.ints[index.last], 0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t inside = std::clamp<std::int64_t>(value[i], 0, last);
      at[i] += inside * stride;
      if (fits) fits[i] = fits[i] && inside == value[i];
    }
  }
  void gather_indirect(void* to, const Loop::Op& op, const std::byte* from, std::int64_t first,
                       std::int64_t step, std::int64_t n) const {
    std::array<std::int64_t, kTile> at;
    for (std::int64_t i = 0; i < n; ++i) at[usize(i)] = first + i * step;
    for (std::size_t k = 0; k < op.index_count; ++k) {
      if (call_.ints[loop_.indices[op.first_index + k].last] < 0) {
        // Nothing fits into an empty array: whoever reads looks at that.
        std::memset(to, 0, usize(n) * usize(byte_size(op.dtype)));
        return;
      }
      add_index(loop_.indices[op.first_index + k], at.data(), nullptr, n);
    }
    ops::by_size(op.dtype, [&]<class U>(TypeTag<U>) {
      const U* x = reinterpret_cast<const U*>(from);
      U* y = static_cast<U*>(to);
      for (std::int64_t i = 0; i < n; ++i) y[i] = x[at[usize(i)]];
    });
  }
  /// Writes a tile's elements one after the other, so that each sees those before it.
  void scatter_indirect(const void* values, std::int64_t first, std::int64_t step,
                        std::int64_t n) const {
    std::array<std::int64_t, kTile> at;
    std::array<bool, kTile> fits;
    for (std::int64_t i = 0; i < n; ++i) {
      at[usize(i)] = first + i * step;
      fits[usize(i)] = true;
    }
    for (std::size_t k = 0; k < loop_.result_index_count; ++k) {
      add_index(loop_.indices[loop_.result_first_index + k], at.data(), fits.data(), n);
    }
    const auto size = usize(byte_size(element(0)));
    std::byte* base = call_.storages[loop_.outputs[0].array];
    const auto* from = static_cast<const std::byte*>(values);
    for (std::size_t i = 0; i < usize(n); ++i) {
      if (loop_.drop && !fits[i]) continue;
      std::byte* to = base + at[i] * static_cast<std::int64_t>(size);
      if (loop_.combine) {
        const void* in[3] = {to, from + i * size, nullptr};
        loop_.combine(to, in, 1, nullptr);
      } else {
        std::memcpy(to, from + i * size, size);
      }
    }
  }

  /// Calls visit(at) for all indices of the axes that `wanted` says, from `at` on.
  template <class W, class F>
  void walk(std::size_t axis, std::int64_t* at, const W& wanted, const F& visit) {
    while (axis < rank_ && !wanted(axis)) ++axis;
    if (axis == rank_) return visit(at);
    std::array<std::int64_t, kMaxStreams> here;
    std::copy_n(at, streams_, here.begin());
    for (std::int64_t i = 0; i < extents_[axis]; ++i) {
      walk(axis + 1, here.data(), wanted, visit);
      for (std::size_t s = 0; s < streams_; ++s) here[s] += stride_[axis][s];
    }
  }
  /// Calls visit(at, n) for the tiles of the innermost axis.
  template <class F>
  void tiles(const std::int64_t* at, const F& visit) {
    std::array<std::int64_t, kMaxStreams> here;
    std::copy_n(at, streams_, here.begin());
    for (std::int64_t i = 0; i < extents_[inner_]; i += kTile) {
      const std::int64_t n = std::min(kTile, extents_[inner_] - i);
      visit(here.data(), n);
      for (std::size_t s = 0; s < streams_; ++s) here[s] += n * stride_[inner_][s];
    }
  }

  void run_map() {
    // One output is computed where it belongs; several are written once all is read, since what is
    // read may lie where one of them goes.
    const bool alone = loop_.outputs.size() == 1 && loop_.outputs[0].reg + 1U == loop_.ops.size();
    const std::int64_t step = stride_[inner_][result_];
    auto visit = [&](const std::int64_t* at, std::int64_t n) {
      if (loop_.result_index_count || loop_.combine) {
        return scatter_indirect(tile(at, n, nullptr), at[result_], step, n);
      }
      const bool direct = alone && (step == 1 || n == 1);
      tile(at, n, direct ? output(0, at) : nullptr);
      for (std::size_t k = 0; k < loop_.outputs.size(); ++k) write(k, at, n);
    };
    walk(
        0, base_.data(), [&](std::size_t axis) { return axis != inner_; },
        [&](std::int64_t* outer) { tiles(outer, visit); });
  }
  std::byte* output(std::size_t k, const std::int64_t* at) const {
    return call_.storages[loop_.outputs[k].array] + at[result_ + k] * byte_size(element(k));
  }
  void write(std::size_t k, const std::int64_t* at, std::int64_t n) const {
    const void* from = reg_[loop_.outputs[k].reg];
    std::byte* to = output(k, at);
    if (from == to) return;
    const std::int64_t step = stride_[inner_][result_ + k];
    if (step == 1 || n == 1) {
      std::memcpy(to, from, usize(n) * usize(byte_size(element(k))));
    } else {
      scatter(to, element(k), from, step, n);
    }
  }

  void run_fold() {
    const Fold& fold = *loop_.fold;
    const DType t = element(0);
    const bool along = folded_[inner_];
    auto kept = [&](std::size_t axis) { return axis != inner_ && !folded_[axis]; };
    auto reduced = [&](std::size_t axis) { return axis != inner_ && folded_[axis]; };
    auto store = [&](const std::int64_t* at, std::int64_t n) {
      std::byte* to = call_.storages[loop_.outputs[0].array] + at[result_] * byte_size(t);
      const std::int64_t step = along ? 1 : stride_[inner_][result_];
      if (step == 1 || n == 1) return fold.finish(to, accumulator(), n);
      // The tile's register is free by now: all of it is folded.
      std::byte* rounded = accumulator() + kPlaceBytes;
      fold.finish(rounded, accumulator(), n);
      scatter(to, t, rounded, step, n);
    };
    walk(0, base_.data(), kept, [&](std::int64_t* outer) {
      if (along) {
        fold.start(accumulator(), 1);
        walk(0, outer, reduced, [&](std::int64_t* line) {
          tiles(line, [&](const std::int64_t* at, std::int64_t n) {
            fold.along(accumulator(), tile(at, n, nullptr), n);
          });
        });
        return store(outer, 1);
      }
      tiles(outer, [&](const std::int64_t* first, std::int64_t n) {
        fold.start(accumulator(), n);
        std::array<std::int64_t, kMaxStreams> from;
        std::copy_n(first, streams_, from.begin());
        walk(0, from.data(), reduced,
             [&](std::int64_t* at) { fold.across(accumulator(), tile(at, n, nullptr), n); });
        store(first, n);
      });
    });
  }

  const Loop& loop_;
  const KernelCall call_;
  std::size_t rank_ = 0, inner_ = 0, streams_ = 0, result_ = 0;
  std::array<std::int64_t, Loop::kMaxRank + 1> extents_{};
  std::array<bool, Loop::kMaxRank + 1> folded_{};
  std::array<std::int64_t, kMaxStreams> base_{};
  std::array<const std::int64_t*, kMaxStreams> source_{};
  std::array<std::array<std::int64_t, kMaxStreams>, Loop::kMaxRank + 1> stride_;
  std::array<const void*, Loop::kMaxOps> reg_{};
};

}  // namespace

std::size_t Loop::scratch_bytes() const {
  return (usize(place_count) + (fold ? 2 : 0)) * kPlaceBytes;
}

void run_loop(const KernelCall& call) {
  const Loop& loop = *static_cast<const Loop*>(call.data);
  if (loop.stays([&](std::uint32_t array) { return call.storages[array]; })) return;
  Runner(loop, call).run();
}

}  // namespace tlaloc::cpu
