// Trees to leaves of the untyped core and back.
#pragma once

#include <bit>

#include "tlaloc/lang/trace.h"
#include "tlaloc/lang/tree.h"

namespace tlaloc::detail {

/// Adds a tree's leaves, with axes B... in front of what their types say.
template <auto... B>
struct Flattener {
  core::Leaves& out;

  template <class T, auto... D>
  void leaf(const Tensor<T, D...>& x) {
    out.add(x.ref(), dtype_of<T>, kSpecs<B..., D...>);
  }
  void leaf(const Array& x) { out.add(x.ref()); }
  template <Number N>
  void leaf(N x) {
    out.note(std::bit_cast<std::int64_t>(static_cast<double>(x)));
  }
  void enter(const char* field) { out.enter(field); }
  void enter(std::int64_t index) { out.enter(index); }
  void leave() { out.leave(); }
  void note(std::int64_t structure) { out.note(structure); }
};
template <class X>
void flatten(const X& x, core::Leaves& out) {
  Flattener<> f{out};
  Tree<X>::each(f, x);
}
/// The arguments of a call.
template <class... X>
core::Leaves flatten_arguments(const X&... xs) {
  core::Leaves out;
  ((out.argument(), flatten(xs, out)), ...);
  return out;
}
/// Which arguments of a call the callee has to itself.
template <bool... Own>
struct Owned {};
template <bool... Own, class... X>
core::Leaves flatten_arguments(Owned<Own...>, const X&... xs) {
  core::Leaves out;
  ((out.argument(), Own ? out.use_up() : void(), flatten(xs, out)), ...);
  return out;
}

/// Takes leaves one after another in the place of a prototype's.
struct Rebuilder {
  const core::Leaves& in;
  int next = 0;
  bool zero_numbers = false;

  template <class T, auto... D>
  Tensor<T, D...> leaf(const Tensor<T, D...>&) {
    return Tensor<T, D...>(in[next++]);
  }
  Array leaf(const Array&) { return Array(in[next++]); }
  template <Number N>
  N leaf(N x) {
    return zero_numbers ? N(0) : x;
  }

  /// A tree of the structure of `like`.
  template <class X>
  X take(const X& like) {
    return Tree<X>::map(*this, like);
  }
};

/// The tree without its values: what stays of a result when its trace has ended.
struct Stripper {
  template <class T, auto... D>
  Tensor<T, D...> leaf(const Tensor<T, D...>&) {
    return {};
  }
  Array leaf(const Array&) { return {}; }
  template <Number N>
  N leaf(N x) {
    return x;
  }
};
template <class X>
X stripped(const X& x) {
  Stripper s;
  return Tree<X>::map(s, x);
}

}  // namespace tlaloc::detail
