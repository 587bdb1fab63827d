// Functions over the leaves of trees: tree_map, tree_each.
#pragma once

#include "tlaloc/lang/tree.h"

namespace tlaloc {
namespace detail {

template <class F>
struct LeafMap {
  F& f;
  template <class X, class... Y>
    requires(!Number<X>)
  X leaf(const X& x, const Y&... more) {
    return f(x, more...);
  }
  template <Number N, class... Y>
  N leaf(const N& x, const Y&...) {
    return x;
  }
};

/// Keeps the path of the leaf at hand as text: "blocks[1].b".
template <class F>
struct PathVisitor {
  F& f;
  char path[256]{};
  int size = 0;
  int starts[64]{};
  int depth = 0;

  template <class X>
  void leaf(const X& x) {
    f(static_cast<const char*>(path), x);
  }
  void enter(const char* field) {
    starts[depth++] = size;
    if (size > 0) append(".");
    append(field);
  }
  void enter(std::int64_t index) {
    starts[depth++] = size;
    rules::Text text;
    text << "[" << index << "]";
    append(text.chars);
  }
  void leave() {
    size = starts[--depth];
    path[size] = '\0';
  }
  void note(std::int64_t) {}
  void append(const char* text) {
    for (; *text != '\0' && size < 255; ++text) path[size++] = *text;
    path[size] = '\0';
  }
};

template <class X, class... Y>
consteval auto map_verdict() {
  constexpr auto kWhy = kTree<X>;
  if constexpr (IsMistake<kWhy>)
    return kWhy;
  else if constexpr (!(std::is_same_v<X, Y> && ...))
    return mistake("TL-TREE-007", "trees of different types");
  else
    return Fine{};
}
template <class X, class... Y>
inline constexpr auto kMap = map_verdict<X, Y...>();

}  // namespace detail

/// A tree of f(leaf, leaf of each more...) in the place of each leaf; numbers are copied from x:
/// tree_map([&](auto p, auto g) { return p - rate * g; }, model, gradient).
/// f returns the type of its first argument, or what converts to it.
/// Errors: TL-TREE-001 to 005 (not a tree), TL-TREE-007 (trees of different types); at run time
/// TL-TREE-006 (structures differ).
template <class F, class X, class... Y, auto Why = detail::kMap<X, Y...>>
X tree_map(F&& f, const X& x, const Y&... more) {
  detail::LeafMap<std::remove_reference_t<F>> mapper{f};
  return Tree<X>::map(mapper, x, more...);
}
template <class F, class X, class... Y, auto Why = detail::kMap<X, Y...>>
  requires IsMistake<Why>
Refused tree_map(F&&, const X&, const Y&...) = delete;

/// Calls f(path, leaf) for each tensor, Array and number in order; the path is a const char*.
/// Errors: TL-TREE-001 to 005.
template <class F, class X, auto Why = detail::kTree<X>>
void tree_each(F&& f, const X& x) {
  detail::PathVisitor<std::remove_reference_t<F>> visitor{f};
  Tree<X>::each(visitor, x);
}
template <class F, class X, auto Why = detail::kTree<X>>
  requires IsMistake<Why>
void tree_each(F&&, const X&) = delete;

}  // namespace tlaloc
