// Tensor: an immutable handle whose type holds the element type and the axes. One type for concrete
// values and for values of a trace.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/index_operand.h"

namespace tlaloc {

/// The user's line, for errors at run time.
using core::Where;

namespace detail {

template <class A, class B>
struct FitRule;
template <auto... A, auto... B>
struct FitRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::convert(kSpecs<A...>, kSpecs<B...>);
  /// Whether the types leave something to check.
  static constexpr bool open = (spec_of(A).any || ...);
};

template <class T>
inline constexpr bool kIsElement = Element<T>;

/// Where a Tensor<T, Axes> is due, an X is given: a tensor, a number for rank 0, nothing else.
template <class X, class T, class Axes>
consteval auto conversion_verdict() {
  if constexpr (kKind<X> == Kind::array) {
    return mistake("TL-TYPE-003", "Array to Tensor: use tl::as");
  } else if constexpr (kKind<X> == Kind::number) {
    if constexpr (!std::is_same_v<Axes, Dims<>>) {
      return mistake("TL-RANK-001", "a number has rank 0: tl::full");
    } else {
      return number_verdict<T, X>();
    }
  } else if constexpr (kKind<X> != Kind::tensor) {
    return Fine{};
  } else if constexpr (!std::is_same_v<ElementOf<X>, T>) {
    return mistake("TL-DTYPE-001", "dtypes differ: use tl::cast");
  } else {
    return verdict_of<FitRule<AxesOf<X>, Axes>>();
  }
}
template <class X, class T, class Axes>
inline constexpr auto kConversion = conversion_verdict<X, T, Axes>();

/// What converts to another type's Tensor, or is refused with a verdict.
template <class X, class Target>
concept Foreign = !std::is_same_v<X, Target> &&
                  (kKind<X> == Kind::tensor || kKind<X> == Kind::array || kKind<X> == Kind::number);

template <class T, class X>
T element(const core::Ref& x, core::Where where) {
  if constexpr (std::is_same_v<T, bool>) {
    return core::item_int(x, where) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(core::item_int(x, where));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(core::item(x, where));
  } else {
    return T(static_cast<float>(core::item(x, where)));
  }
}

}  // namespace detail

/// A tensor of element type T. Each of D is an int, an Axis, a Bounded or `any`; none: a scalar. A
/// default-made tensor is empty: any use of its value is UserError TL-VALUE-001.
///
/// Tensors whose axes fit convert into each other without a word; what the types leave open (`any`)
/// is checked then, or recorded as a constraint of the trace, with the user's line.
/// Numbers convert to rank 0.
template <class T, auto... D>
class Tensor : operators::Found {
  static_assert(detail::kIsElement<T>,
                "TL-TYPE-005: T is float, double, an integer, bool, Half or BFloat16");
  static_assert(
      (detail::kIsDim<decltype(D)> && ...),
      "TL-TYPE-001: an axis is an int, Axis, Bounded or any; write int(n) for other sizes");
  static_assert(((spec_of(D).size >= -1 || spec_of(D).size == kNoAxis) && ...),
                "TL-TYPE-001: a size is at least 0");
  static_assert(sizeof...(D) <= kMaxRank, "TL-RANK-002: rank above 12");

 public:
  using element_type = T;
  static constexpr int rank = sizeof...(D);
  /// The axes as plain data.
  static constexpr core::AxesSpec axes() { return kSpecs<D...>; }

  Tensor() = default;
  /// Adopts a core value that is known to fit.
  explicit Tensor(core::Ref ref) noexcept : ref_(std::move(ref)) {}

  /// From a tensor that fits, or from a number (rank 0).
  /// Run-time errors: TL-SHAPE-002, TL-BOUND-001; TL-DTYPE-004 (number out of range).
  template <class X, class To = Tensor, auto Why = detail::kConversion<X, T, Dims<D...>>>
    requires detail::Foreign<X, Tensor>
  Tensor(const X& x, Where where = Where::current()) {  // NOLINT(google-explicit-constructor)
    if constexpr (Number<X>) {
      ref_ = detail::number_ref<T>(x);
    } else if constexpr (AnyTensor<X>) {
      ref_ = x.ref();
      if constexpr (detail::FitRule<AxesOf<X>, Dims<D...>>::open) {
        ref_ = core::check(ref_, dtype_of<T>, axes(), where);
      }
    }
  }
  template <class X, class To = Tensor, auto Why = detail::kConversion<X, T, Dims<D...>>>
    requires detail::Foreign<X, Tensor> && IsMistake<Why>
  Tensor(const X&, Where = Where::current()) = delete;

  /// From elements in row-major order. One axis without a size is inferred.
  /// Errors: TL-SHAPE-002 (the count does not fit), TL-SHAPE-005 (two sizes to infer).
  static Tensor from(std::span<const T> elements, Where where = Where::current()) {
    return Tensor(core::from_memory(dtype_of<T>, axes(), {}, elements.data(),
                                    static_cast<std::int64_t>(elements.size()), where));
  }
  static Tensor from(std::initializer_list<T> elements, Where where = Where::current()) {
    return from(std::span<const T>(elements.begin(), elements.size()), where);
  }
  /// The same with the size of every axis. Errors: TL-SHAPE-002, TL-BOUND-001.
  static Tensor from(std::span<const T> elements, std::initializer_list<std::int64_t> sizes,
                     Where where = Where::current()) {
    return Tensor(core::from_memory(dtype_of<T>, axes(), {sizes.begin(), sizes.size()},
                                    elements.data(), static_cast<std::int64_t>(elements.size()),
                                    where));
  }

  /// The untyped value.
  const core::Ref& ref() const { return ref_; }
  /// The size of an axis. Error: TL-TRACE-001 when it is not known while tracing.
  std::int64_t size(int axis, Where where = Where::current()) const {
    return core::extent(ref_, axis, where);
  }
  /// The elements in row-major order. Error: TL-TRACE-001 on a value of a trace.
  std::span<const T> data(Where where = Where::current()) const {
    return {static_cast<const T*>(core::data(ref_, where)),
            static_cast<std::size_t>(core::size(ref_, where))};
  }
  /// The element of a scalar. Error: TL-TRACE-001 on a value of a trace.
  T item(Where where = Where::current()) const
    requires(sizeof...(D) == 0)
  {
    return detail::element<T, Tensor>(ref_, where);
  }
  /// As item(), without the user's line.
  template <std::same_as<T> U>
    requires(sizeof...(D) == 0 && !std::same_as<T, bool>)
  explicit operator U() const {
    return item(Where{});
  }
  /// Along axis 0: an integer drops the axis, a tensor of integers puts its axes in the place. A
  /// negative index counts from the end; out of range: TL-INDEX-001, in a trace clamped.
  /// Errors: TL-AXIS-001 (rank 0), TL-DTYPE-003 (no integer).
  template <class I, class From = Tensor, auto Why = detail::kTake<From, detail::FirstAxis, I>>
  typename detail::TakeResult<Tensor, detail::FirstAxis, I>::type operator[](const I& i) const {
    using R = typename detail::TakeResult<Tensor, detail::FirstAxis, I>::type;
    return R(core::take(ref_, 0, detail::index_ref(i), R::axes(), Where{}, core::Outside::nearest));
  }
  template <class I, class From = Tensor, auto Why = detail::kTake<From, detail::FirstAxis, I>>
    requires IsMistake<Why>
  Refused operator[](const I&) const = delete;
  /// A tensor is no condition, not even a concrete one: what runs today would fail under jit.
  template <std::same_as<bool> B, auto Why = detail::mistake("TL-TRACE-002", "a tensor is no bool"),
            auto Hint = detail::mistake("hint", "tl::cond, tl::select or .item()")>
  explicit operator B() const = delete;

 private:
  core::Ref ref_;
};

template <class T>
using Scalar = Tensor<T>;

/// A tensor whose element type and shape are known at run time only, for programs whose shapes come
/// from files. It meets other Arrays and numbers; `as` makes a Tensor of it.
class Array : operators::Found {
 public:
  Array() = default;
  explicit Array(core::Ref ref) noexcept : ref_(std::move(ref)) {}

  /// From elements in row-major order. Error: TL-SHAPE-002 (the count does not fit).
  template <Element T>
  static Array from(std::span<const T> elements, std::initializer_list<std::int64_t> sizes,
                    Where where = Where::current()) {
    return Array(core::from_memory(dtype_of<T>, {sizes.begin(), sizes.size()}, elements.data(),
                                   static_cast<std::int64_t>(elements.size()), where));
  }

  const core::Ref& ref() const { return ref_; }
  DType dtype() const { return core::dtype(ref_); }
  int rank() const { return core::rank(ref_); }
  /// Errors as in Tensor.
  std::int64_t size(int axis, Where where = Where::current()) const {
    return core::extent(ref_, axis, where);
  }
  double item(Where where = Where::current()) const { return core::item(ref_, where); }
  /// As in Tensor.
  template <class I, auto Why = detail::kTake<Array, detail::FirstAxis, I>>
  Array operator[](const I& i) const {
    return Array(core::take(ref_, 0, detail::index_ref(i), {}, Where{}, core::Outside::nearest));
  }
  template <class I, auto Why = detail::kTake<Array, detail::FirstAxis, I>>
    requires IsMistake<Why>
  Refused operator[](const I&) const = delete;
  template <std::same_as<bool> B, auto Why = detail::mistake("TL-TRACE-002", "an Array is no bool"),
            auto Hint = detail::mistake("hint", "tl::cond, tl::select or .item()")>
  explicit operator B() const = delete;

 private:
  core::Ref ref_;
};

namespace detail {

/// An operand as a core value; numbers take the element type of the other one.
template <class T, class X>
decltype(auto) operand_ref(const X& x) {
  if constexpr (Number<X>) {
    return number_ref<T>(x);
  } else {
    return x.ref();
  }
}
/// A number beside an Array takes its dtype at run time.
template <class X, class Y>
decltype(auto) array_ref(const X& x, const Y& like) {
  if constexpr (!Number<X>) {
    return x.ref();
  } else if constexpr (std::is_floating_point_v<X>) {
    return core::scalar_like(like.ref(), static_cast<double>(x));
  } else {
    return core::scalar_like_int(like.ref(), static_cast<std::int64_t>(x));
  }
}

/// The labels of a result; an Array's are not known.
template <class R>
constexpr core::AxesSpec labels() {
  if constexpr (kByShape<R>)
    return {};
  else
    return R::axes();
}

template <class A, class B>
struct RecastRule;
template <auto... A, auto... B>
struct RecastRule<Dims<A...>, Dims<B...>> {
  static constexpr rules::Plan plan = rules::recast(kSpecs<A...>, kSpecs<B...>);
};
template <class R, class X>
consteval auto as_verdict() {
  if constexpr (!AnyTensor<R>) {
    return mistake("TL-TYPE-004", "as<Tensor<...>> is due");
  } else if constexpr (kKind<X> == Kind::array || kKind<X> == Kind::refused) {
    return Fine{};
  } else if constexpr (!AnyTensor<X>) {
    return mistake("TL-TYPE-002", "not a tensor");
  } else if constexpr (!std::is_same_v<ElementOf<X>, ElementOf<R>>) {
    return mistake("TL-DTYPE-001", "dtypes differ: use tl::cast");
  } else {
    return verdict_of<RecastRule<AxesOf<X>, AxesOf<R>>>();
  }
}
template <class R, class X>
inline constexpr auto kAs = as_verdict<R, X>();
}  // namespace detail

/// The same value as a Tensor of type R: from an Array, or from a Tensor whose axes R names,
/// renames or bounds: as<Tensor<float, batch, 784>>(x). Sizes that types don't know are checked.
/// Errors: TL-DTYPE-001, TL-RANK-001, TL-SHAPE-001, TL-BOUND-001; at run time also TL-SHAPE-002.
template <class R, class X, auto Why = detail::kAs<R, X>>
R as(const X& x, Where where = Where::current()) {
  if constexpr (kKind<X> != Kind::refused) {
    return R(core::check(x.ref(), dtype_of<typename R::element_type>, R::axes(), where));
  } else {
    return x;
  }
}
template <class R, class X, auto Why = detail::kAs<R, X>>
  requires IsMistake<Why>
Refused as(const X&, Where = Where::current()) = delete;

/// A Tensor without its static type.
template <class T, auto... D>
Array untyped(const Tensor<T, D...>& x) {
  return Array(x.ref());
}

}  // namespace tlaloc
