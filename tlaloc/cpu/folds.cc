#include <array>
#include <limits>

#include "tlaloc/cpu/tiles.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using ops::Storage;

/// Independent accumulators of a fold along a tile; what fits two vector registers of floats.
constexpr int kLanes = 16;

template <class T, class R>
struct FoldKernels {
  using C = ComputeType<T>;
  static void start(void* acc, std::int64_t n) {
    auto* a = static_cast<C*>(acc);
    for (std::int64_t i = 0; i < n; ++i) a[i] = R::template start<C>();
  }
  static void across(void* acc, const void* in, std::int64_t n) {
    auto* a = static_cast<C*>(acc);
    const auto* x = static_cast<const T*>(in);
    for (std::int64_t i = 0; i < n; ++i) a[i] = R::fold(a[i], Storage<T>::load(x[i]));
  }
  static void along(void* acc, const void* in, std::int64_t n) {
    auto& a = *static_cast<C*>(acc);
    const auto* x = static_cast<const T*>(in);
    std::int64_t i = 0;
    if (n >= 2 * kLanes) {
      std::array<C, kLanes> lanes;
      for (int k = 0; k < kLanes; ++k) lanes[usize(k)] = Storage<T>::load(x[k]);
      for (i = kLanes; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
          lanes[usize(k)] = R::fold(lanes[usize(k)], Storage<T>::load(x[i + k]));
        }
      }
      for (int half = kLanes / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; ++k) {
          lanes[usize(k)] = R::fold(lanes[usize(k)], lanes[usize(k + half)]);
        }
      }
      a = R::fold(a, lanes[0]);
    }
    for (; i < n; ++i) a = R::fold(a, Storage<T>::load(x[i]));
  }
  static void finish(void* out, const void* acc, std::int64_t n) {
    auto* y = static_cast<T*>(out);
    const auto* a = static_cast<const C*>(acc);
    for (std::int64_t i = 0; i < n; ++i) y[i] = Storage<T>::store(a[i]);
  }
  static constexpr Fold kFold{dtype_of<C>, start, across, along, finish};
};

struct SumFold {
  template <class C>
  static C start() {
    return C(0);
  }
  template <class C>
  static C fold(C a, C b) {
    return ops::Add::eval(a, b);
  }
  template <class C>
  static constexpr bool kTakes = !std::is_same_v<C, bool>;
};
struct ProdFold {
  template <class C>
  static C start() {
    return C(1);
  }
  template <class C>
  static C fold(C a, C b) {
    return ops::Mul::eval(a, b);
  }
  template <class C>
  static constexpr bool kTakes = !std::is_same_v<C, bool>;
};
struct MaxFold {
  template <class C>
  static C start() {
    if constexpr (std::is_floating_point_v<C>) return -std::numeric_limits<C>::infinity();
    return std::numeric_limits<C>::lowest();
  }
  template <class C>
  static C fold(C a, C b) {
    return ops::Max::eval(a, b);
  }
  template <class C>
  static constexpr bool kTakes = true;
};
struct MinFold {
  template <class C>
  static C start() {
    if constexpr (std::is_floating_point_v<C>) return std::numeric_limits<C>::infinity();
    return std::numeric_limits<C>::max();
  }
  template <class C>
  static C fold(C a, C b) {
    return ops::Min::eval(a, b);
  }
  template <class C>
  static constexpr bool kTakes = true;
};
struct OrFold {
  template <class C>
  static C start() {
    return C(0);
  }
  template <class C>
  static C fold(C a, C b) {
    return static_cast<C>(a | b);
  }
  template <class C>
  static constexpr bool kTakes = std::is_integral_v<C>;
};
struct AndFold {
  template <class C>
  static C start() {
    return static_cast<C>(-1);
  }
  template <class C>
  static C fold(C a, C b) {
    return static_cast<C>(a & b);
  }
  template <class C>
  static constexpr bool kTakes = std::is_integral_v<C>;
};

template <class R>
const Fold* fold_of(DType t) {
  const Fold* fold = nullptr;
  if (is_complex(t)) return fold;
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (R::template kTakes<ComputeType<T>>) fold = &FoldKernels<T, R>::kFold;
  });
  return fold;
}

}  // namespace

const Fold* find_fold(const ir::OpDef& op, DType dtype) {
  switch (static_cast<ops::OpId>(op.id)) {
    case ops::OpId::ReduceSum:
      return fold_of<SumFold>(dtype);
    case ops::OpId::ReduceProd:
      return fold_of<ProdFold>(dtype);
    case ops::OpId::ReduceMax:
      return fold_of<MaxFold>(dtype);
    case ops::OpId::ReduceMin:
      return fold_of<MinFold>(dtype);
    case ops::OpId::ReduceOr:
      return fold_of<OrFold>(dtype);
    case ops::OpId::ReduceAnd:
      return fold_of<AndFold>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace tlaloc::cpu
