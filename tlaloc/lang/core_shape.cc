// Operations of the untyped core that move elements.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

std::string text(std::span<const Dim> shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) s += ", ";
    s += shape[i].to_string();
  }
  return s + "]";
}

/// The shape that reshape asks for, its one inferred axis filled in.
std::vector<Dim> reshape_target(const OpCall& call, const Ref& x, std::span<const int> from,
                                AxesSpec axes) {
  const ir::Type type = node(x).type;
  internal_check(from.size() == axes.size(), "reshape: one source per result axis");
  std::vector<Dim> shape;
  Dim known(1);
  int inferred = -1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dim d(1);
    if (from[i] >= 0) {
      internal_check(from[i] < type.rank(), "reshape: source axis out of range");
      d = type.dim(from[i]);
    } else if (axes[i].size >= 0) {
      d = Dim(axes[i].size);
    } else if (inferred < 0) {
      inferred = static_cast<int>(i);
    } else {
      throw UserError({"TL-SHAPE-005", call.name,
                       "more than one size of the result is not known: " + describe(x) + " to " +
                           describe(type.dtype(), axes),
                       "give all sizes but one", user_place(call.where)});
    }
    shape.push_back(d);
    known *= d;
  }
  const Dim elements = type.elements();
  const auto refuse = [&] {
    throw UserError({"TL-SHAPE-004", call.name,
                     describe(x) + " has " + elements.to_string() + " elements, which do not fit " +
                         (inferred < 0 ? text(shape) : describe(type.dtype(), axes)),
                     "the product of the sizes must stay the same", user_place(call.where)});
  };
  if (inferred >= 0) {
    if (known == Dim(0) || (elements.is_constant() && known.is_constant() &&
                            elements.constant() % known.constant() != 0)) {
      refuse();
    }
    shape[usize(inferred)] = floordiv(elements, known);
  } else if (ir::equal(elements, known) == ir::Truth::no) {
    refuse();
  }
  return shape;
}

/// Axis i of x must have `due` elements; `reason` says why.
void require_size(const OpCall& call, const char* code, const Ref& x, int i, Dim due,
                  const std::string& reason, const char* hint) {
  const Node& n = node(x);
  const Dim have = n.type.dim(i);
  switch (n.traced() ? ir::Builder::current().equal_here(have, due) : ir::equal(have, due)) {
    case ir::Truth::yes:
      return;
    case ir::Truth::no:
      throw UserError({code, call.name, reason, hint, user_place(call.where)});
    case ir::Truth::unknown:
      ir::Builder::current().require({ir::Constraint::Kind::equal, have, due,
                                      std::string(call.name) + ": " + reason,
                                      user_place(call.where)});
  }
}

}  // namespace

ir::Dim size_of_axis(const OpCall& call, AxesSpec axes, int i, std::span<const Ref> size_like) {
  const AxisSpec& axis = axes[usize(i)];
  if (axis.size >= 0) return Dim(axis.size);
  for (const Ref& like : size_like) {
    const Node& n = node(like);
    for (int k = 0; k < n.type.rank(); ++k) {
      const bool same_name = axis.tag && n.label(k).tag == axis.tag;
      const bool same_place = !axis.tag && usize(n.type.rank()) == axes.size() && k == i;
      if (same_name || same_place) return n.type.dim(k);
    }
  }
  throw UserError({"TL-SHAPE-009", call.name,
                   "the size of axis " + std::to_string(i) +
                       (axis.name ? " (" + std::string(axis.name) + ")" : std::string()) +
                       " is not known",
                   "give its size, or a tensor that has this axis", user_place(call.where)});
}

Val broadcast_val(Val v, std::span<const int> axis_of_v, std::span<const Dim> shape) {
  std::vector<std::int64_t> axes;
  std::vector<Dim> kept;
  for (std::size_t i = 0; i < axis_of_v.size(); ++i) {
    if (axis_of_v[i] < 0) continue;
    axes.push_back(axis_of_v[i]);
    kept.push_back(v.shape()[i]);
  }
  if (kept.size() < axis_of_v.size()) v = ops::reshape(v, kept);
  return ops::broadcast_in_dim(v, shape, axes);
}

Ref transpose(const Ref& x, std::span<const int> permutation, AxesSpec axes, Where where) {
  return apply({"transpose", where, Variant::of(permutation)}, std::array{x}, axes,
               [&](std::span<const Val> in) {
                 return ops::transpose(
                     in[0], std::vector<std::int64_t>(permutation.begin(), permutation.end()));
               });
}

Ref reshape(const Ref& x, std::span<const int> from, AxesSpec axes, Where where) {
  const OpCall call{"reshape", where};
  return with_place(where, [&] {
    const std::vector<Dim> shape = reshape_target(call, x, from, axes);
    return apply({call.name, where, Variant::of(shape)}, std::array{x}, axes,
                 [&](std::span<const Val> in) { return ops::reshape(in[0], shape); });
  });
}

Ref squeeze(const Ref& x, std::span<const int> kept, AxesSpec axes, Where where) {
  const OpCall call{"squeeze", where};
  return with_place(where, [&] {
    for (int i = 0; i < rank(x); ++i) {
      if (std::ranges::find(kept, i) != kept.end()) continue;
      require_size(call, "TL-SHAPE-010", x, i, Dim(1),
                   "axis " + std::to_string(i) + " of " + describe(x) + " has not size 1",
                   "reduce it, or index into it");
    }
    return reshape(x, kept, axes, where);
  });
}

Ref broadcast(const Ref& x, std::span<const int> axis_of_x, std::span<const Ref> size_like,
              AxesSpec axes, Where where) {
  const OpCall call{"broadcast", where};
  return with_place(where, [&] {
    const ir::Type type = node(x).type;
    internal_check(usize(type.rank()) == axis_of_x.size(), "broadcast: wrong rank");
    std::vector<std::optional<Dim>> sizes(axes.size());
    for (int i = 0; i < type.rank(); ++i) {
      const int to = axis_of_x[usize(i)];
      internal_check(to < static_cast<int>(sizes.size()), "broadcast: axis out of range");
      if (to >= 0) sizes[usize(to)] = type.dim(i);
    }
    for (int i = 0; i < type.rank(); ++i) {
      // Only an axis whose type says 1 stretches; one of unknown size has the size that is due.
      const int to = axis_of_x[usize(i)];
      if (to < 0 || axes[usize(to)].size < 0) continue;
      require_size(call, "TL-SHAPE-001", x, i, Dim(axes[usize(to)].size),
                   describe_axis(node(x).label(i), type.dim(i)) + " meets " +
                       std::to_string(axes[usize(to)].size) + ": " + describe(x) + " to " +
                       describe(type.dtype(), axes),
                   "an axis stretches where its type says 1: reshape it to that first");
    }
    std::vector<Dim> shape;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (!sizes[i]) sizes[i] = size_of_axis(call, axes, static_cast<int>(i), size_like);
      shape.push_back(*sizes[i]);
    }
    return apply({call.name, where, Variant::of(axis_of_x, shape)}, std::array{x}, axes,
                 [&](std::span<const Val> in) { return broadcast_val(in[0], axis_of_x, shape); });
  });
}

}  // namespace tlaloc::core
