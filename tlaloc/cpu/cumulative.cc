#include "tlaloc/cpu/cumulative.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cumulative_kernels.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;

// Lines side by side from which on they are taken by vectors.
constexpr std::int64_t kLeastLanes = 16;
// Totals that stay in the first-level cache from row to row.
constexpr std::int64_t kMostLanes = 1024;
// A line waits for each of its totals: so many lines wait together. More of them, a power of two
// apart, would drive each other out of the first-level cache.
constexpr std::int64_t kTogether = 4;

/// A step's integers: what is in front of the axis, the axis, what is behind it.
struct Running {
  const ir::OpDef* op;
  DType dtype;
  bool reverse, exclusive;
};

/// f with the struct of the op.
template <class F>
void with_op(const ir::OpDef& op, const F& f) {
  switch (static_cast<ops::OpId>(op.id)) {
    case ops::OpId::CumSum:
      return f(ops::CumSum{});
    case ops::OpId::CumProd:
      return f(ops::CumProd{});
    case ops::OpId::CumMax:
      return f(ops::CumMax{});
    case ops::OpId::CumMin:
      return f(ops::CumMin{});
    case ops::OpId::CumLogSumExp:
      return f(ops::CumLogSumExp{});
    default:
      throw InternalError(std::string(op.name) + " is no running reduction");
  }
}

template <class O>
std::optional<ops::Monoid> monoid_of() {
  if (std::is_same_v<O, ops::CumSum>) return ops::Monoid::sum;
  if (std::is_same_v<O, ops::CumProd>) return ops::Monoid::prod;
  if (std::is_same_v<O, ops::CumMax>) return ops::Monoid::max;
  if (std::is_same_v<O, ops::CumMin>) return ops::Monoid::min;
  return std::nullopt;
}

/// As CumulativeKernels has it.
template <class O, bool kExclusive, class T>
void rows(const T* x, T* y, std::int64_t count, std::int64_t step, std::int64_t lanes,
          ComputeType<T>* totals) {
  using C = ComputeType<T>;
  for (std::int64_t i = 0; i < count; ++i, x += step, y += step) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const C before = totals[l];
      totals[l] = O::template combine<C>(before, ops::Storage<T>::load(x[l]));
      y[l] = ops::Storage<T>::store(kExclusive ? before : totals[l]);
    }
  }
}

/// Lines by where they begin.
template <class O, bool kExclusive, std::int64_t kLines, class T>
void lines(const T* x, T* y, const std::int64_t* first, std::int64_t count, std::int64_t step) {
  using C = ComputeType<T>;
  std::int64_t at[kLines];
  C totals[kLines], next[kLines];
  std::copy_n(first, kLines, at);
  std::fill_n(totals, kLines, O::template start<C>());
  for (std::int64_t i = 0; i < count; ++i) {
    // All are loaded before any is stored: the processor can't tell a load from a store that is
    // 4 KiB away.
#pragma GCC unroll 4
    for (std::int64_t l = 0; l < kLines; ++l) next[l] = ops::Storage<T>::load(x[at[l]]);
#pragma GCC unroll 4
    for (std::int64_t l = 0; l < kLines; ++l) {
      const C before = totals[l];
      totals[l] = O::template combine<C>(before, next[l]);
      y[at[l]] = ops::Storage<T>::store(kExclusive ? before : totals[l]);
      at[l] += step;
    }
  }
}

template <class O, bool kExclusive, class T>
auto rows_of() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (const auto monoid = monoid_of<O>()) {
      const auto& pair = cumulative_kernels<T>().rows[static_cast<std::size_t>(*monoid)];
      return kExclusive ? pair.exclusive : pair.inclusive;
    }
  }
  return &rows<O, kExclusive, T>;
}

/// The lines of an array.
struct Shape {
  std::int64_t outer, length, inner;
  bool reverse;
  /// Where element i in the order of combining lies, of the line that begins a row or a column.
  std::int64_t start() const { return reverse ? (length - 1) * inner : 0; }
  std::int64_t step() const { return reverse ? -inner : inner; }
};

template <class O, bool kExclusive, class T>
void by_rows(const Shape& s, const T* x, T* y, double nanoseconds) {
  using C = ComputeType<T>;
  const auto run = rows_of<O, kExclusive, T>();
  const std::int64_t chunks = (s.inner - 1) / kMostLanes + 1;
  const double chunk = nanoseconds * static_cast<double>(s.length) *
                       static_cast<double>(std::min(s.inner, kMostLanes));
  parallel(share(s.outer * chunks, chunk), [&](std::int64_t begin, std::int64_t end) {
    std::array<C, kMostLanes> totals;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t lane = k % chunks * kMostLanes;
      const std::int64_t lanes = std::min(kMostLanes, s.inner - lane);
      const std::int64_t first = k / chunks * s.length * s.inner + lane + s.start();
      std::fill_n(totals.begin(), lanes, O::template start<C>());
      run(x + first, y + first, s.length, s.step(), lanes, totals.data());
    }
  });
}

template <class O, bool kExclusive, class T>
void by_lines(const Shape& s, const T* x, T* y, double nanoseconds) {
  const double each = nanoseconds * static_cast<double>(s.length);
  const auto ranges = share(s.outer * s.inner, each, kTogether);
  parallel(ranges, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end;) {
      const bool together = end - line >= kTogether;
      const std::int64_t some = together ? kTogether : 1;
      std::int64_t first[kTogether];
      for (std::int64_t l = 0; l < some; ++l) {
        first[l] = (line + l) / s.inner * s.length * s.inner + (line + l) % s.inner + s.start();
      }
      const auto run = together ? lines<O, kExclusive, kTogether, T> : lines<O, kExclusive, 1, T>;
      run(x, y, first, s.length, s.step());
      line += some;
    }
  });
}

void run_cumulative(const KernelCall& call) {
  const Running& r = *static_cast<const Running*>(call.data);
  const Shape s{call.ints[0], call.ints[1], call.ints[2], r.reverse};
  // Another size may be too large for 64 bits where one is 0.
  if (s.outer == 0 || s.length == 0 || s.inner == 0) return;
  with_op(*r.op, [&]<class O>(O) {
    dispatch(r.dtype, [&]<class T>(TypeTag<T>) {
      using C = ComputeType<T>;
      if constexpr (std::is_arithmetic_v<C> && requires { O::template start<C>(); }) {
        const auto* x = reinterpret_cast<const T*>(call.storages[0]);
        auto* y = reinterpret_cast<T*>(call.storages[1]);
        const double nanoseconds = monoid_of<O>() ? 0.5 : 20;
        const auto run = [&]<bool kExclusive>(std::bool_constant<kExclusive>) {
          if (s.inner < kLeastLanes) return by_lines<O, kExclusive>(s, x, y, nanoseconds);
          by_rows<O, kExclusive>(s, x, y, nanoseconds);
        };
        r.exclusive ? run(std::true_type{}) : run(std::false_type{});
      }
    });
  });
}

Cost cumulative_cost(const void*, const std::int64_t* ints) {
  Cost c;
  for (int k = 0; k < 3; ++k) c.space += (k == 0 ? "[" : ", ") + std::to_string(ints[k]);
  c.space += "]";
  c.flops =
      static_cast<double>(ints[0]) * static_cast<double>(ints[1]) * static_cast<double>(ints[2]);
  return c;
}

}  // namespace

Value emit_cumulative(Emitter& e, const ir::OpDef& op, const Value& x,
                      const ops::CumulativeAttrs& attrs) {
  Step s;
  s.name = op.name;
  s.run = run_cumulative;
  s.cost = cumulative_cost;
  const Value y = dense_value(x.type, e.storage(x.type));
  s.storages = {e.dense(x, op.name), *whole_storage(y)};
  s.reads = 1;
  s.in_place = 1;
  Dim outer = 1, inner = 1;
  for (int i = 0; i < x.type.rank(); ++i) {
    if (i != attrs.axis) (i < attrs.axis ? outer : inner) *= x.type.dim(i);
  }
  for (Dim d : {outer, x.type.dim(static_cast<int>(attrs.axis)), inner}) {
    s.ints.push_back(e.sizes.of(d));
  }
  s.data =
      std::make_shared<const Running>(Running{&op, x.type.dtype(), attrs.reverse, attrs.exclusive});
  e.emit_step(std::move(s));
  e.updates.push_back(e.here() - 1);
  return y;
}

}  // namespace tlaloc::cpu
