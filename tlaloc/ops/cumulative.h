// Running reductions along one axis. Attribute `reverse` starts at the last element, `exclusive`
// leaves the element itself out.
#pragma once

#include <limits>
#include <tuple>

#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/lines.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {

struct CumulativeAttrs {
  std::int64_t axis = 0;
  bool reverse = false, exclusive = false;
  static constexpr auto fields() {
    return std::tuple(ir::field("axis", &CumulativeAttrs::axis),
                      ir::field("reverse", &CumulativeAttrs::reverse),
                      ir::field("exclusive", &CumulativeAttrs::exclusive));
  }
};

/// The op supplies
///   static constexpr Identity kIdentity;
///   template <concept T> static T start();   template <concept T> static T combine(T acc, T x);
/// f16 and bf16 accumulate in f32 and round each result once.
struct Cumulative : Custom {
  static constexpr bool kBatch = true;
  template <class O>
  static constexpr bool accepts(DType t) {
    if (is_complex(t)) return false;
    bool ok = false;
    dispatch(t,
             [&]<class T>(TypeTag<T>) { ok = requires { O::template start<ComputeType<T>>(); }; });
    return ok;
  }
  static void infer_axis(InferContext& c);
  template <class O>
  static void infer(InferContext& c) {
    infer_axis(c);
    if (!accepts<O>(c.in[0].dtype())) c.fail(kDTypeError, "does not accept this element type");
  }
  template <class O>
  static void eval(EvalContext& c) {
    const auto& a = c.as<CumulativeAttrs>();
    HostArray x = c.take(0);
    const Lines lines(x.extents(), a.axis);
    dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
      using C = ComputeType<T>;
      if constexpr (requires { O::template start<C>(); }) {
        T* data = x.as_mutable<T>().data();
        lines.each([&](std::int64_t, std::int64_t first) {
          C total = O::template start<C>();
          for (std::int64_t i = 0; i < lines.length; ++i) {
            T& v = data[first + (a.reverse ? lines.length - 1 - i : i) * lines.step];
            const C before = total;
            total = O::template combine<C>(total, Storage<T>::load(v));
            v = Storage<T>::store(a.exclusive ? before : total);
          }
        });
      }
    });
    c.out.push_back(std::move(x));
  }
  template <class O>
  static void batch(const Call& c, BatchContext& ctx) {
    batch_axis(c, ctx, O::kIdentity);
  }
  static void batch_axis(const Call& c, BatchContext& ctx, ir::Identity identity);
};

struct CumSum {
  using Kind = Cumulative;
  using Attrs = CumulativeAttrs;
  static constexpr OpInfo kInfo{"cumsum", "Running sum."};
  static constexpr ir::Identity kIdentity = ir::Identity::zero;
  template <Number T>
  static T start() {
    return 0;
  }
  template <Number T>
  static T combine(T sum, T x) {
    return Add::eval(sum, x);
  }
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
    dy[0] = emit_like(c, {dx[0]});
  }
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};
/// The derivative is a recurrence without division, so zeros are exact to every order.
struct CumProd {
  using Kind = Cumulative;
  using Attrs = CumulativeAttrs;
  static constexpr OpInfo kInfo{"cumprod", "Running product."};
  static constexpr ir::Identity kIdentity = ir::Identity::one;
  template <Number T>
  static T start() {
    return 1;
  }
  template <Number T>
  static T combine(T product, T x) {
    return Mul::eval(product, x);
  }
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};
/// The tangent is that of the first of equals, and of the first NaN.
struct CumMax {
  using Kind = Cumulative;
  using Attrs = CumulativeAttrs;
  static constexpr OpInfo kInfo{"cummax", "Running maximum; NaN from the first NaN on."};
  static constexpr ir::Identity kIdentity = ir::Identity::lowest;
  template <class T>
  static T start() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T combine(T best, T x) {
    return Max::eval(best, x);
  }
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};
struct CumMin {
  using Kind = Cumulative;
  using Attrs = CumulativeAttrs;
  static constexpr OpInfo kInfo{"cummin", "Running minimum; NaN from the first NaN on."};
  static constexpr ir::Identity kIdentity = ir::Identity::highest;
  template <class T>
  static T start() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::max();
  }
  template <class T>
  static T combine(T best, T x) {
    return Min::eval(best, x);
  }
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};
/// Of nothing but -inf it is -inf with derivative 0 (JAX has NaN).
struct CumLogSumExp {
  using Kind = Cumulative;
  using Attrs = CumulativeAttrs;
  static constexpr OpInfo kInfo{"cumlogsumexp", "Running log of the sum of exponentials."};
  static constexpr ir::Identity kIdentity = ir::Identity::lowest;
  template <std::floating_point T>
  static T start() {
    return -std::numeric_limits<T>::infinity();
  }
  template <std::floating_point T>
  static T combine(T total, T x) {
    const T high = Max::eval(total, x), low = Min::eval(total, x);
    return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  }
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

}  // namespace tlaloc::ops
