// Operations of the untyped core that move elements.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/core.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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
      throw UserError({"TL-SHAPE-006", call.name,
                       "more than one size of the result is not known: " + describe(x) + " to " +
                           describe(type.dtype(), axes),
                       "give all sizes but one", user_place(call.where)});
    }
    shape.push_back(d);
    known *= d;
  }
  const Dim elements = type.elements();
  const auto refuse = [&] {
    throw UserError({"TL-SHAPE-006", call.name,
                     describe(x) + " has " + elements.to_string() + " elements, which do not fit " +
                         (inferred < 0 ? text(shape) : describe(type.dtype(), axes)),
                     "the product of the sizes must stay the same", user_place(call.where)});
  };
  if (inferred >= 0) {
    if (known == Dim(0) || (elements.is_constant() && known.is_constant() &&
                            elements.constant() % known.constant() != 0)) {
      refuse();
    }
    shape[at(inferred)] = floordiv(elements, known);
  } else if (ir::equal(elements, known) == ir::Truth::no) {
    refuse();
  }
  return shape;
}

}  // namespace

Ref transpose(const Ref& x, std::span<const int> permutation, AxesSpec axes, Where where) {
  return apply({"transpose", where}, std::array{x}, axes, [&](std::span<const Val> in) {
    return ops::transpose(in[0], std::vector<std::int64_t>(permutation.begin(), permutation.end()));
  });
}

Ref reshape(const Ref& x, std::span<const int> from, AxesSpec axes, Where where) {
  const OpCall call{"reshape", where};
  return with_place(where, [&] {
    const std::vector<Dim> shape = reshape_target(call, x, from, axes);
    return apply(call, std::array{x}, axes,
                 [&](std::span<const Val> in) { return ops::reshape(in[0], shape); });
  });
}

Ref broadcast(const Ref& x, std::span<const int> axis_of_x, std::span<const Ref> size_like,
              AxesSpec axes, Where where) {
  const OpCall call{"broadcast", where};
  return with_place(where, [&] {
    const ir::Type type = node(x).type;
    std::vector<std::optional<Dim>> sizes(axes.size());
    for (int i = 0; i < type.rank(); ++i) {
      const int to = axis_of_x[at(i)];
      internal_check(to >= 0 && at(to) < sizes.size(), "broadcast: axis out of range");
      if (type.dim(i) != Dim(1)) sizes[at(to)] = type.dim(i);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].size >= 0) {
        // An operand that does not fit is refused by the operation, with its own shape.
        sizes[i] = Dim(axes[i].size);
        continue;
      }
      for (const Ref& like : size_like) {
        const Node& n = node(like);
        for (int k = 0; k < n.type.rank() && !sizes[i]; ++k) {
          const bool same_name = axes[i].tag && n.label(k).tag == axes[i].tag;
          const bool same_position = !axes[i].tag && at(n.type.rank()) == axes.size() && at(k) == i;
          if (same_name || same_position) sizes[i] = n.type.dim(k);
        }
      }
      if (!sizes[i]) {
        throw UserError({"TL-SHAPE-006", call.name,
                         "the size of axis " + std::to_string(i) + " of " +
                             describe(type.dtype(), axes) + " is not known",
                         "give a tensor that has this axis", user_place(where)});
      }
    }
    std::vector<Dim> shape;
    for (const auto& s : sizes) shape.push_back(*s);
    return apply(call, std::array{x}, axes, [&](std::span<const Val> in) {
      return ops::broadcast_in_dim(in[0], shape,
                                   std::vector<std::int64_t>(axis_of_x.begin(), axis_of_x.end()));
    });
  });
}

}  // namespace tlaloc::core
