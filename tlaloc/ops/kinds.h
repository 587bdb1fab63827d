// What ops of one kind share, so that a typical op stays under fifteen lines.
#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

/// True if O::eval accepts the compute type of `dtype`: the op's domain is what its `eval` is
/// constrained to (std::floating_point, std::integral, …), stated once. bool counts only where
/// eval takes exactly bool.
template <class O, class T>
concept EvaluatesUnary = requires(T x) { O::template eval<T>(x); };
template <class O, class T>
concept EvaluatesBinary = requires(T x) { O::template eval<T>(x, x); };

template <class T>
struct Storage {
  using Compute = ComputeType<T>;
  static Compute load(T x) { return static_cast<Compute>(x); }
  template <class R>
  static T store(R r) {
    return static_cast<T>(r);
  }
};

inline const char* const kDTypeError = "TL-DTYPE-004";
inline const char* const kAttrError = "TL-ATTR-001";

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept Integer = Number<T> && std::integral<T>;

/// Calls f with the storage type of a float dtype.
template <class F>
void dispatch_float(DType dtype, const F& f) {
  dispatch(dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) f(tag);
  });
}

/// y[i] = f(x[i]) for the compute types that f takes. A bool from f makes a bool array. In place
/// where nobody else holds x and the element type stays.
template <class F>
void map_elements(EvalContext& c, const F& f) {
  HostArray x = c.take(0);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (std::invocable<const F&, C>) {
      using Out =
          std::conditional_t<std::is_same_v<std::invoke_result_t<const F&, C>, bool>, bool, T>;
      const T* in = static_cast<const T*>(x.data());
      // When x becomes y, `in` stays valid: the storage does not move.
      HostArray y = std::is_same_v<Out, T> && x.unique() ? std::move(x) : c.make();
      Out* out = static_cast<Out*>(y.mutable_data());
      for (std::int64_t i = 0, n = y.size(); i < n; ++i) {
        out[i] = Storage<Out>::store(f(Storage<T>::load(in[i])));
      }
      c.out.push_back(std::move(y));
    }
  });
}

/// y = f(x), elementwise, with the operand's type. The op supplies
///   template <concept T> static T eval(T x);
///   static Val jvp(Val x, Val y, Val dx);          (or kNoJvp)
///   static Val transpose(Val ct);                  if linear (or kNoTranspose; see NotLinear)
struct Unary {
  static constexpr bool kElementwise = true;
  static constexpr bool kBatch = true;

  template <class O>
  static constexpr bool accepts(DType t) {
    if (is_complex(t)) return false;
    bool ok = false;
    dispatch(t, [&]<class T>(TypeTag<T>) { ok = EvaluatesUnary<O, ComputeType<T>>; });
    return ok;
  }
  template <class O>
  static void infer(InferContext& c) {
    check_operand(c);
    if (!accepts<O>(c.in[0].dtype())) {
      c.fail(kDTypeError, "does not accept this element type", "convert the operand first");
    }
    c.out.push_back(c.in[0]);
  }
  template <class O>
  static void eval(EvalContext& c) {
    map_elements(c, []<class C>(C x)
                   requires EvaluatesUnary<O, C>
                 { return O::template eval<C>(x); });
  }
  template <class O>
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
    dy[0] = O::jvp(c.in[0], c.out[0], dx[0]);
  }
  template <class O>
  static void transpose(const Call&, std::span<const Val> ct, CotangentSink& sink) {
    sink.add(0, O::transpose(ct[0]));
  }
  template <class O>
  static void batch(const Call& c, BatchContext& ctx) {
    emit_batched(c, ctx, {ctx.lifted(0)});
  }
  /// One operand, not quantized.
  static void check_operand(InferContext& c);
  /// Re-emits the op on batched operands: right for everything elementwise.
  static void emit_batched(const Call& c, BatchContext& ctx, std::initializer_list<Val> in);
};

/// For ops whose tangent is not a linear map of the op itself: transposition can't reach them.
inline constexpr Refusal kNotLinear{"it is not a linear function of its operands"};

/// z = f(x, y), elementwise on equal types. The op supplies
///   template <concept T> static T eval(T x, T y);
///   static Val jvp_x(Val x, Val y, Val z, Val dx);   static Val jvp_y(Val x, Val y, Val z, Val
///   dy);
struct Binary {
  static constexpr bool kElementwise = true;
  static constexpr bool kBatch = true;

  template <class O>
  static constexpr bool accepts(DType t) {
    if (is_complex(t)) return false;
    bool ok = false;
    dispatch(t, [&]<class T>(TypeTag<T>) { ok = EvaluatesBinary<O, ComputeType<T>>; });
    return ok;
  }
  /// Equal dtypes and ranks, dims required equal.
  static void infer_same(InferContext& c);
  template <class O>
  static void infer(InferContext& c) {
    infer_same(c);
    if (!accepts<O>(c.in[0].dtype())) {
      c.fail(kDTypeError, "does not accept this element type", "convert the operands first");
    }
  }
  template <class O>
  static void eval(EvalContext& c) {
    HostArray x = c.take(0), y = c.take(1);
    dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
      using C = ComputeType<T>;
      if constexpr (EvaluatesBinary<O, C>) {
        const T* a = static_cast<const T*>(x.data());
        const T* b = static_cast<const T*>(y.data());
        HostArray z = x.unique() ? std::move(x) : y.unique() ? std::move(y) : c.make();
        T* out = static_cast<T*>(z.mutable_data());
        for (std::int64_t i = 0, n = z.size(); i < n; ++i) {
          out[i] = Storage<T>::store(
              O::template eval<C>(Storage<T>::load(a[i]), Storage<T>::load(b[i])));
        }
        c.out.push_back(std::move(z));
      }
    });
  }
  template <class O>
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
    Val t;
    if (dx[0]) t = O::jvp_x(c.in[0], c.in[1], c.out[0], dx[0]);
    if (dx[1]) t = add_tangents(t, O::jvp_y(c.in[0], c.in[1], c.out[0], dx[1]));
    dy[0] = t;
  }
  template <class O>
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
    O::transpose(c, ct, sink);
  }
  template <class O>
  static void batch(const Call& c, BatchContext& ctx) {
    Unary::emit_batched(c, ctx, {ctx.lifted(0), ctx.lifted(1)});
  }
  /// The sum of two tangents of which either may be absent.
  static Val add_tangents(Val a, Val b);
};

// ---- the vocabulary ----

/// True if v is the scalar constant `wanted`, broadcast or not; the sign of zero counts.
bool is_scalar_value(Val v, double wanted);
/// Gives a rank-0 operand the other one's shape.
void match_ranks(Val& a, Val& b);
Val emit_unary(const ir::OpDef& op, Val x);
Val emit_binary(const ir::OpDef& op, Val a, Val b);

#define TLALOC_UNARY(function, Name) \
  Val function(Val x) { return emit_unary(rows::Name, x); }
#define TLALOC_BINARY(function, Name) \
  Val function(Val a, Val b) { return emit_binary(rows::Name, a, b); }

}  // namespace tlaloc::ops
