// Trees, continued: std::vector, with paths "blocks[1]", and std::optional, which has its value's
// path and may be empty.
#pragma once

#include <optional>
#include <vector>

#include "tlaloc/lang/tree.h"

namespace tlaloc {
namespace detail {
/// UserError TL-TREE-006: two trees that should have one structure differ.
[[noreturn]] void refuse_structure(const char* what);
}  // namespace detail

template <class P, class A>
struct Tree<std::vector<P, A>> {
  using X = std::vector<P, A>;
  static consteval detail::TreeFault fault() {
    if constexpr (std::is_same_v<P, bool>) {
      return detail::tree_fault("TL-TREE-001", "no vector<bool>");
    } else {
      const detail::TreeFault part = detail::fault_of<P>();
      return part.code == nullptr ? part : detail::fault_in("[]", part);
    }
  }
  template <class F>
  static void each(F& f, const X& x) {
    f.note(static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      f.enter(static_cast<std::int64_t>(i));
      Tree<P>::each(f, x[i]);
      f.leave();
    }
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    if (((more.size() != x.size()) || ...)) detail::refuse_structure("vectors differ in length");
    X result;
    result.reserve(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      result.push_back(Tree<P>::map(f, x[i], more[i]...));
    }
    return result;
  }
};

template <class P>
struct Tree<std::optional<P>> {
  using X = std::optional<P>;
  static consteval detail::TreeFault fault() { return detail::fault_of<P>(); }
  template <class F>
  static void each(F& f, const X& x) {
    f.note(x.has_value() ? 1 : 0);
    if (x.has_value()) Tree<P>::each(f, *x);
  }
  template <class F, class... Y>
  static X map(F& f, const X& x, const Y&... more) {
    if (((more.has_value() != x.has_value()) || ...)) {
      detail::refuse_structure("an optional is set in one tree only");
    }
    if (!x.has_value()) return std::nullopt;
    return X(Tree<P>::map(f, *x, *more...));
  }
};

}  // namespace tlaloc
