// Block-quantized weights, for inference: bytes as model files hold them, dequantized where they
// are read. Not part of tlaloc.h.
//
//   using Weights = tl::Quantized<tl::QuantFormat::q4_0, 4096, 4096>;
//   auto w = Weights::from_bytes(bytes);
//   auto y = tl::quant_matmul(x, w);                 // [batch, 4096] by [4096, 4096]
//
// In a tree a Quantized is one leaf; vmap shares it, scan runs over its leading axes. It carries no
// tangent: derivatives are taken with respect to other arguments (TL-GRAD-003).
#pragma once

#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tlaloc/lang/core_quantized.h"
#include "tlaloc/lang/peel.h"
#include "tlaloc/lang/rules_quantized.h"

namespace tlaloc {
namespace detail {
/// Whether a last axis may be blocks, as far as its type says.
constexpr bool whole_blocks(core::AxesSpec axes) {
  return axes.empty() || axes.back().size < 0 || axes.back().size % 32 == 0;
}
}  // namespace detail

/// Weights stored in a format, which stand for a Tensor<float, D...>. Blocks lie along the last
/// axis.
template <QuantFormat Format, auto... D>
class Quantized {
  static_assert((detail::kIsDim<decltype(D)> && ...),
                "TL-TYPE-001: an axis is an int, Axis, Bounded or any; write int(n) for others");
  static_assert(sizeof...(D) > 0, "TL-QUANT-001: blocks need an axis");
  static_assert(detail::whole_blocks(kSpecs<D...>),
                "TL-QUANT-001: the last axis is whole blocks of 32");

 public:
  /// What it stands for.
  using Dense = Tensor<float, D...>;
  static constexpr core::AxesSpec axes() { return kSpecs<D...>; }

  Quantized() = default;
  /// Adopts a core value that is known to fit.
  explicit Quantized(core::Ref ref) noexcept : ref_(std::move(ref)) {}

  /// From blocks in row-major order, which are copied. One axis without a size is inferred. Errors:
  /// TL-SHAPE-002 (the count does not fit), TL-SHAPE-005 (two sizes to infer), TL-QUANT-001.
  static Quantized from_bytes(std::span<const std::uint8_t> bytes, Where where = Where::current()) {
    return Quantized(core::quantized(Format, axes(), {}, bytes, {}, where));
  }
  /// The same with the size of every axis.
  static Quantized from_bytes(std::span<const std::uint8_t> bytes,
                              std::initializer_list<std::int64_t> sizes,
                              Where where = Where::current()) {
    return Quantized(
        core::quantized(Format, axes(), {sizes.begin(), sizes.size()}, bytes, {}, where));
  }
  /// The same without a copy, for files in memory: `owner` keeps the bytes alive.
  static Quantized view(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                        Where where = Where::current()) {
    return Quantized(core::quantized(Format, axes(), {}, bytes, std::move(owner), where));
  }
  /// The blocks. Error: TL-TRACE-001 on a value of a trace.
  std::span<const std::uint8_t> bytes(Where where = Where::current()) const {
    return core::quantized_bytes(ref_, where);
  }
  /// The size of an axis. Error: TL-TRACE-001 when it is not known while tracing.
  std::int64_t size(int axis, Where where = Where::current()) const {
    return core::extent(ref_, axis, where);
  }
  const core::Ref& ref() const { return ref_; }

 private:
  core::Ref ref_;
};

/// A leaf under the type that it stands for; whoever reads its elements there gets TL-QUANT-001.
template <QuantFormat Format, auto... D>
struct Tree<Quantized<Format, D...>> {
  using X = Quantized<Format, D...>;
  static consteval detail::TreeFault fault() { return {}; }
  template <class F>
  static void each(F& f, const X& x) {
    f.leaf(typename X::Dense(x.ref()));
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    return X(f.leaf(typename X::Dense(x.ref()), typename X::Dense(more.ref())...).ref());
  }
};

namespace detail {

/// A tensor type as weights of a format.
template <QuantFormat Format, class Dense>
struct Requantized {
  using type = Refused;
};
template <QuantFormat Format, class T, auto... D>
  requires(sizeof...(D) > 0)
struct Requantized<Format, Tensor<T, D...>> {
  using type = Quantized<Format, D...>;
};
template <QuantFormat Format, auto... D, class S>
inline constexpr bool kCarries<Quantized<Format, D...>, S> = kCarries<Tensor<float, D...>, S>;
template <QuantFormat Format, auto... D, class S>
  requires(!std::is_same_v<S, NotMapped>)
struct Peel<Quantized<Format, D...>, S> {
  using X = Quantized<Format, D...>;
  using OfDense = Peel<typename X::Dense, S>;
  static constexpr bool blocked = OfDense::place > 0 || (OfDense::place == 0 && sizeof...(D) == 1);
  using type =
      std::conditional_t<blocked, X, typename Requantized<Format, typename OfDense::type>::type>;
  static type of(const X& x) { return type(x.ref()); }
  static constexpr auto axis = OfDense::axis;
  static constexpr PeelFault fault =
      blocked ? PeelFault{"TL-VMAP-001", "weights are mapped along axis 0"} : OfDense::fault;
  static void places(std::vector<int>& out, const X&) { out.push_back(OfDense::place); }
};

template <class W>
inline constexpr bool kQuantized = false;
template <QuantFormat Format, auto... D>
inline constexpr bool kQuantized<Quantized<Format, D...>> = true;
/// The tensor that weights stand for, or Refused.
template <class W>
struct DenseOfImpl {
  using type = Refused;
};
template <class W>
  requires kQuantized<W>
struct DenseOfImpl<W> {
  using type = typename W::Dense;
};
template <class W>
using DenseOf = typename DenseOfImpl<W>::type;

template <class W>
consteval auto weights_verdict() {
  if constexpr (!kQuantized<W> && !std::is_same_v<W, Refused>)
    return mistake("TL-TYPE-002", "a Quantized is due");
  else
    return Fine{};
}

template <class A, class W, class Transposed>
struct QuantMatmulRule;
template <auto... A, auto... W, class Transposed>
struct QuantMatmulRule<Dims<A...>, Dims<W...>, Transposed> {
  static constexpr rules::Plan plan =
      rules::quant_matmul(kSpecs<A...>, kSpecs<W...>, Transposed::value);
  template <class T>
  using Result = Pick<T, QuantMatmulRule, A..., W...>;
};
template <class A, class W, bool Transposed>
consteval auto quant_matmul_verdict() {
  using Dense = DenseOf<W>;
  constexpr auto kOperand = one_verdict<A, Domain::floating, false>();
  if constexpr (IsMistake<weights_verdict<W>()>)
    return weights_verdict<W>();
  else if constexpr (IsMistake<kOperand>)
    return kOperand;
  else if constexpr (kKind<A> == Kind::array)
    return mistake("TL-TYPE-004", "not for Array: use tl::as");
  else if constexpr (AnyTensor<A> && AnyTensor<Dense>)
    return verdict_of<QuantMatmulRule<AxesOf<A>, AxesOf<Dense>, std::bool_constant<Transposed>>>();
  else
    return Fine{};
}
template <class A, class W, bool Transposed>
inline constexpr auto kQuantMatmul = quant_matmul_verdict<A, W, Transposed>();
template <class A, class W, bool Transposed>
struct QuantProduct {
  using type = Refused;
};
template <AnyTensor A, class W, bool Transposed>
  requires kQuantized<W>
struct QuantProduct<A, W, Transposed> {
  using type =
      typename QuantMatmulRule<AxesOf<A>, AxesOf<DenseOf<W>>,
                               std::bool_constant<Transposed>>::template Result<ElementOf<A>>;
};

template <class W, class I>
consteval auto quant_gather_verdict() {
  if constexpr (IsMistake<weights_verdict<W>()>) {
    return weights_verdict<W>();
  } else if constexpr (std::is_same_v<W, Refused>) {
    return Fine{};
  } else if constexpr (kSpecsOf<AxesOf<DenseOf<W>>>.size() != 2) {
    return mistake("TL-RANK-001", "the weights: [n, k]");
  } else {
    return take_verdict<DenseOf<W>, FirstAxis, I>();
  }
}
template <class W, class I>
inline constexpr auto kQuantGather = quant_gather_verdict<W, I>();

}  // namespace detail

/// The weights as a dense tensor. Error: TL-TYPE-002.
template <class W, auto Why = detail::weights_verdict<W>()>
detail::DenseOf<W> dequantize(const W& w, Where where = Where::current()) {
  using R = detail::DenseOf<W>;
  return R(core::dequantize(w.ref(), detail::labels<R>(), where));
}
template <class W, auto Why = detail::weights_verdict<W>()>
  requires IsMistake<Why>
Refused dequantize(const W&, Where = Where::current()) = delete;

/// The product with weights that have a row per output: x [..., k], w [n, k] -> [..., n], without
/// dequantizing all of w at once. Transposed: x [..., n] -> [..., k]. Sums run in f32 (f64 for
/// doubles), in order. With an activation of q8_32, x is rounded first; that has no derivative and
/// takes f32 or narrower. Errors: TL-SHAPE-003 (k), TL-RANK-001, TL-DTYPE-003, TL-TYPE-002,
/// TL-TYPE-004; at run time TL-QUANT-001 (an activation that does not fit).
template <bool Transposed = false, class A, class W,
          auto Why = detail::kQuantMatmul<A, W, Transposed>>
typename detail::QuantProduct<A, W, Transposed>::type quant_matmul(
    const A& x, const W& w, QuantActivation activation = QuantActivation::f32,
    Where where = Where::current()) {
  using R = typename detail::QuantProduct<A, W, Transposed>::type;
  return R(
      core::quant_matmul(x.ref(), w.ref(), Transposed, activation, detail::labels<R>(), where));
}
template <bool Transposed = false, class A, class W,
          auto Why = detail::kQuantMatmul<A, W, Transposed>>
  requires IsMistake<Why>
Refused quant_matmul(const A&, const W&, QuantActivation = QuantActivation::f32,
                     Where = Where::current()) = delete;

/// Rows of the weights: w [n, k], ids [d...] -> [d..., k], dense. An index outside reads the
/// nearest row. Errors: TL-RANK-001, TL-DTYPE-003 (no integers), TL-TYPE-002.
template <class W, class I, auto Why = detail::kQuantGather<W, I>>
typename detail::TakeResult<detail::DenseOf<W>, detail::FirstAxis, I>::type quant_gather(
    const W& w, const I& ids, Where where = Where::current()) {
  using R = typename detail::TakeResult<detail::DenseOf<W>, detail::FirstAxis, I>::type;
  return R(core::quant_gather(w.ref(), detail::index_ref(ids), detail::labels<R>(), where));
}
template <class W, class I, auto Why = detail::kQuantGather<W, I>>
  requires IsMistake<Why>
Refused quant_gather(const W&, const I&, Where = Where::current()) = delete;

}  // namespace tlaloc
