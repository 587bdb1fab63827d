// Trees: tensors, numbers, and what is made of trees: aggregates, std::pair, std::tuple, std::array
// (here), std::vector, std::optional (tree_std.h). Transforms take and return them.
//
// Tensors and Arrays are leaves. Numbers are part of the program: they are not traced, and their
// place in a gradient holds 0. An aggregate is taken apart by its fields, up to 32; paths read
// "in.w", "blocks[1].b", "pair.0". A type of other kinds specializes Tree.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>

#include "tlaloc/lang/fields.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {

/// Why a type is no tree: a code and "path: reason". No code: it is one.
struct TreeFault {
  const char* code = nullptr;
  rules::Text text;
};
constexpr TreeFault tree_fault(const char* code, const char* reason) {
  TreeFault fault{.code = code, .text = {}};
  fault.text << reason;
  return fault;
}
/// The fault of a part, with its name in front.
constexpr TreeFault fault_in(const char* name, const TreeFault& part) {
  TreeFault fault{.code = part.code, .text = {}};
  // A '|' parts path and reason: "w|a pointer", then "in.w|a pointer".
  bool bare = true;
  for (int i = 0; i < part.text.size; ++i) bare = bare && part.text.chars[i] != '|';
  fault.text << name << (bare ? "|" : part.text.chars[0] == '[' ? "" : ".") << part.text.chars;
  return fault;
}

template <class X>
consteval TreeFault aggregate_fault();
template <class X>
consteval TreeFault fault_of();

}  // namespace detail

/// How a type is laid out as leaves. A specialization has:
///   fault()            why X is no tree after all
///   each(f, x)         f.leaf(leaf) in order, with f.enter(name or index) and f.leave() around
///                      parts, f.note(n) for what else its structure has
///   map(f, x, more…)   a new X with f.leaf(leaf, more…) in the place of each leaf
///   With<B...>         the tree whose leaves have axes B... in front
///   with<B...>(raw)    such a tree from an X whose handles are of the longer shapes
template <class X>
struct Tree {
  static consteval detail::TreeFault fault() { return detail::aggregate_fault<X>(); }

  template <class F>
  static void each(F& f, const X& x) {
    const auto refs = detail::fields(x);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (one<I>(f, std::get<I>(refs)), ...);
    }(std::make_index_sequence<detail::kFieldCount<X>>{});
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    return mapped(f, std::make_index_sequence<detail::kFieldCount<X>>{}, detail::fields(x),
                  detail::fields(more)...);
  }

 private:
  template <std::size_t I, class F, class P>
  static void one(F& f, const P& part) {
    f.enter(detail::field_name<X, I>());
    Tree<P>::each(f, part);
    f.leave();
  }
  template <std::size_t I, class F, class P, class... Q>
  static P part(F& f, const P& x, const Q&... more) {
    return Tree<P>::map(f, x, more...);
  }
  template <class F, std::size_t... I, class... R>
  static X mapped(F& f, std::index_sequence<I...>, const R&... refs) {
    return X{nth<I>(f, refs...)...};  // braces keep the order
  }
  template <std::size_t I, class F, class... R>
  static auto nth(F& f, const R&... refs) {
    return part<I>(f, std::get<I>(refs)...);
  }
};

template <class T, auto... D>
struct Tree<Tensor<T, D...>> {
  using X = Tensor<T, D...>;
  static consteval detail::TreeFault fault() { return {}; }
  template <class F>
  static void each(F& f, const X& x) {
    f.leaf(x);
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    return f.leaf(x, more...);
  }
};
template <>
struct Tree<Array> {
  static consteval detail::TreeFault fault() { return {}; }
  template <class F>
  static void each(F& f, const Array& x) {
    f.leaf(x);
  }
  template <class F, class... Y>
  static Array map(F& f, const Array& x, const Y&... more) {
    return f.leaf(x, more...);
  }
};
template <>
struct Tree<Refused> {
  static consteval detail::TreeFault fault() { return {}; }
  template <class F>
  static void each(F&, const Refused&) {}
  template <class F, class... Y>
  static Refused map(F&, const Refused&, const Y&...) {
    return {};
  }
};
template <Number N>
struct Tree<N> {
  static consteval detail::TreeFault fault() { return {}; }
  template <class F>
  static void each(F& f, const N& x) {
    f.leaf(x);
  }
  template <class F, class... Y>
  static N map(F& f, const N& x, const Y&... more) {
    return f.leaf(x, more...);
  }
};

namespace detail {

inline constexpr const char* kDigits[]{"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                       "8", "9", "10", "11", "12", "13", "14", "15"};

/// std::pair and std::tuple: parts named "0", "1", ….
template <class X, class... P>
struct TupleTree {
  static_assert(sizeof...(P) <= 16, "TL-TREE-005: a tuple of more than 16 parts");
  static consteval TreeFault fault() {
    TreeFault first;
    int i = 0;
    [[maybe_unused]] auto look = [&](const TreeFault& part) {
      if (first.code == nullptr && part.code != nullptr) first = fault_in(kDigits[i], part);
      ++i;
    };
    (look(fault_of<P>()), ...);
    return first;
  }
  template <class F>
  static void each(F& f, const X& x) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((f.enter(kDigits[I]), Tree<P>::each(f, std::get<I>(x)), f.leave()), ...);
    }(std::index_sequence_for<P...>{});
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    return mapped(f, std::index_sequence_for<P...>{}, x, more...);
  }

 private:
  template <class F, std::size_t... I, class... Y>
  static X mapped(F& f, std::index_sequence<I...>, const Y&... xs) {
    return X{nth<I, P>(f, xs...)...};
  }
  template <std::size_t I, class Q, class F, class... Y>
  static Q nth(F& f, const Y&... xs) {
    return Tree<Q>::map(f, std::get<I>(xs)...);
  }
};

}  // namespace detail

template <class... P>
struct Tree<std::tuple<P...>> : detail::TupleTree<std::tuple<P...>, P...> {};
template <class A, class B>
struct Tree<std::pair<A, B>> : detail::TupleTree<std::pair<A, B>, A, B> {};

template <class P, std::size_t N>
struct Tree<std::array<P, N>> {
  using X = std::array<P, N>;
  static consteval detail::TreeFault fault() {
    const detail::TreeFault part = detail::fault_of<P>();
    return part.code == nullptr ? part : detail::fault_in("[]", part);
  }
  template <class F>
  static void each(F& f, const X& x) {
    for (std::size_t i = 0; i < N; ++i) {
      f.enter(static_cast<std::int64_t>(i));
      Tree<P>::each(f, x[i]);
      f.leave();
    }
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return X{nth<I>(f, x, more...)...};
    }(std::make_index_sequence<N>{});
  }

 private:
  template <std::size_t I, class F, class... Y>
  static P nth(F& f, const Y&... xs) {
    return Tree<P>::map(f, xs[I]...);
  }
};

namespace detail {

/// Types that no specialization can stand for have no Tree.
template <class X>
consteval TreeFault fault_of() {
  if constexpr (std::is_class_v<X> || Number<X>)
    return Tree<X>::fault();
  else
    return aggregate_fault<X>();
}
template <class X, std::size_t I>
consteval TreeFault field_fault() {
  const TreeFault part = fault_of<FieldOf<X, I>>();
  return part.code == nullptr ? part : fault_in(field_name<X, I>(), part);
}
template <class X>
consteval TreeFault aggregate_fault() {
  if constexpr (std::is_pointer_v<X> || std::is_member_pointer_v<X> || std::is_null_pointer_v<X>) {
    return tree_fault("TL-TREE-001", "a pointer is no tree");
  } else if constexpr (std::is_array_v<X>) {
    return tree_fault("TL-TREE-004", "a C array: use std::array");
  } else if constexpr (std::is_union_v<X>) {
    return tree_fault("TL-TREE-004", "a union is no tree");
  } else if constexpr (!std::is_class_v<X> || !std::is_aggregate_v<X>) {
    return tree_fault("TL-TREE-001", "not a tree");
  } else if constexpr (kHasBase<X>) {
    return tree_fault("TL-TREE-003", "has a base: make it a member");
  } else if constexpr (kFieldCount<X> > kMaxFields) {
    return tree_fault("TL-TREE-005", "more than 32 fields");
  } else if constexpr (kHasCArray<X>) {
    return tree_fault("TL-TREE-004", "has a C array: use std::array");
  } else {
    TreeFault first;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto look = [&](const TreeFault& part) {
        if (first.code == nullptr) first = part;
      };
      (look(field_fault<X, I>()), ...);
    }(std::make_index_sequence<kFieldCount<X>>{});
    return first;
  }
}

constexpr rules::Text readable(const TreeFault& fault) {
  rules::Text text;
  for (int i = 0; i < fault.text.size; ++i) {
    const char c[2]{fault.text.chars[i], '\0'};
    text << (c[0] == '|' ? ": " : c);
  }
  return text;
}
template <class X>
consteval auto tree_verdict() {
  constexpr TreeFault kFault = fault_of<X>();
  if constexpr (kFault.code == nullptr) {
    return Fine{};
  } else {
    constexpr rules::Text kReason = readable(kFault);
    return copy_verdict<length(kFault.code) + 1, kReason.size + 1>(kFault.code, kReason.chars);
  }
}
/// The verdict on a type as a tree.
template <class X>
inline constexpr auto kTree = tree_verdict<X>();
/// The first mistake among several types.
template <class X, class... Y>
consteval auto first_verdict() {
  if constexpr (IsMistake<kTree<X>>) {
    return kTree<X>;
  } else if constexpr (sizeof...(Y) > 0) {
    return first_verdict<Y...>();
  } else {
    return Fine{};
  }
}
template <class... X>
inline constexpr auto kTrees = first_verdict<X...>();
template <>
inline constexpr auto kTrees<> = Fine{};

}  // namespace detail
}  // namespace tlaloc
