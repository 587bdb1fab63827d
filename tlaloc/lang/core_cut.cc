// Joining, cutting and growing along axes.
#include <array>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

std::vector<Dim> shape_of(Val x) { return {x.shape().begin(), x.shape().end()}; }

/// x with a new axis of size 1 in front of axis `at`.
Val with_unit_axis(Val x, int axis) {
  std::vector<Dim> shape = shape_of(x);
  shape.insert(shape.begin() + axis, Dim(1));
  return ops::reshape(x, shape);
}

/// Labels of an operation that keeps the axes' meaning: the type's, else x's own.
void require_parts(const OpCall& call, std::span<const Ref> xs, int axis, bool joined) {
  if (xs.empty()) {
    throw UserError({"TL-SHAPE-006", call.name, "there is nothing to join",
                     "give at least one tensor", user_place(call.where)});
  }
  for (const Ref& x : xs) {
    if (rank(x) != rank(xs[0]) || dtype(x) != dtype(xs[0])) {
      throw UserError({rank(x) != rank(xs[0]) ? "TL-RANK-001" : "TL-DTYPE-001", call.name,
                       "can't join " + describe(xs[0]) + " and " + describe(x),
                       "all parts have one rank and one element type", user_place(call.where)});
    }
    for (int i = 0; i < rank(x); ++i) {
      if (!joined || i != axis) require_same(call, "TL-SHAPE-006", xs[0], i, x, i);
    }
  }
  const int last = rank(xs[0]) - (joined ? 1 : 0);
  if (axis < 0 || axis > last) {
    throw UserError({"TL-AXIS-001", call.name,
                     "axis " + std::to_string(axis) + " is out of range for " + describe(xs[0]), "",
                     user_place(call.where)});
  }
}

[[noreturn]] void out_of_range(const OpCall& call, const Ref& x, int axis, std::int64_t low,
                               std::int64_t high) {
  throw UserError({"TL-SHAPE-007", call.name,
                   "elements " + std::to_string(low) + " to " + std::to_string(high) + " of axis " +
                       std::to_string(axis) + " of " + describe(x),
                   "stay within the axis", user_place(call.where)});
}

/// A bound of a slice: negative ones count from the end.
Dim bound_of(Dim size, std::int64_t bound) { return bound < 0 ? size + bound : Dim(bound); }

}  // namespace

Ref concat(std::span<const Ref> xs, int axis, AxesSpec axes, Where where) {
  const OpCall call{"concat", where, Variant::of(axis)};
  return with_place(where, [&] {
    require_parts(call, xs, axis, true);
    return apply(call, xs, kept_labels(xs[0], axes),
                 [&](std::span<const Val> in) { return ops::concatenate(in, axis); });
  });
}

Ref stack(std::span<const Ref> xs, int axis, AxesSpec axes, Where where) {
  const OpCall call{"stack", where, Variant::of(axis)};
  return with_place(where, [&] {
    require_parts(call, xs, axis, false);
    return apply(call, xs, axes, [&](std::span<const Val> in) {
      ir::Vals parts;
      for (Val x : in) parts.push_back(with_unit_axis(x, axis));
      return ops::concatenate(parts, axis);
    });
  });
}

void split(const Ref& x, int axis, std::span<Ref> parts, AxesSpec axes, Where where) {
  const OpCall call{"split", where, Variant::of(axis, parts.size())};
  with_place(where, [&] {
    const Dim size = node(x).type.dim(axis);
    const Dim count(static_cast<std::int64_t>(parts.size()));
    if (ir::equal(mod(size, count), Dim(0)) == ir::Truth::no) {
      throw UserError({"TL-SHAPE-008", call.name,
                       "axis " + std::to_string(axis) + " of " + describe(x) +
                           " does not divide into " + std::to_string(parts.size()) + " equal parts",
                       "use split_sizes", user_place(where)});
    }
    if (node(x).traced()) {
      ir::Builder::current().require({ir::Constraint::Kind::equal, mod(size, count), Dim(0),
                                      "split: axis " + std::to_string(axis) + " of " + describe(x),
                                      user_place(where)});
    }
    const Dim part = floordiv(size, count);
    std::vector<std::vector<AxisLabel>> labels(parts.size(), kept_labels(x, axes));
    const auto out = apply_all(call, std::array{x}, labels, [&](std::span<const Val> in) {
      ir::Vals cut;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const Dim start = part * Dim(static_cast<std::int64_t>(k));
        cut.push_back(ops::slice_axis(in[0], axis, start, start + part));
      }
      return cut;
    });
    std::ranges::copy(out, parts.begin());
  });
}

Ref slice(const Ref& x, int axis, std::int64_t low, std::int64_t high, std::int64_t step,
          AxesSpec axes, Where where) {
  const OpCall call{"slice", where, Variant::of(axis, low, high, step)};
  return with_place(where, [&] {
    const Dim size = node(x).type.dim(axis);
    const Dim from = bound_of(size, low), to = bound_of(size, high);
    if (step < 1 || ir::less_equal(Dim(0), from) == ir::Truth::no ||
        ir::less_equal(from, to) == ir::Truth::no || ir::less_equal(to, size) == ir::Truth::no) {
      out_of_range(call, x, axis, low, high);
    }
    return apply(call, std::array{x}, kept_labels(x, axes), [&](std::span<const Val> in) {
      std::vector<Dim> start(usize(rank(x)), Dim(0)), stride(usize(rank(x)), Dim(1));
      std::vector<Dim> limit = shape_of(in[0]);
      start[usize(axis)] = from;
      limit[usize(axis)] = to;
      stride[usize(axis)] = Dim(step);
      return ops::slice(in[0], start, limit, stride);
    });
  });
}

Ref pad(const Ref& x, std::span<const std::int64_t> low, std::span<const std::int64_t> high,
        std::span<const std::int64_t> interior, const Ref& value, AxesSpec axes, Where where) {
  return apply({"pad", where, Variant::of(low, high, interior)}, std::array{x, value},
               kept_labels(x, axes), [&](std::span<const Val> in) {
                 const auto dims = [](std::span<const std::int64_t> v) {
                   return std::vector<Dim>(v.begin(), v.end());
                 };
                 return ops::pad(in[0], in[1], dims(low), dims(high), dims(interior));
               });
}

Ref reverse(const Ref& x, std::span<const int> over, AxesSpec axes, Where where) {
  return apply({"reverse", where, Variant::of(over)}, std::array{x}, kept_labels(x, axes),
               [&](std::span<const Val> in) {
                 std::vector<std::int64_t> sorted(over.begin(), over.end());
                 std::ranges::sort(sorted);
                 return ops::reverse(in[0], sorted);
               });
}

Ref tile(const Ref& x, std::span<const std::int64_t> counts, AxesSpec axes, Where where) {
  const OpCall call{"tile", where, Variant::of(counts)};
  return apply(call, std::array{x}, kept_labels(x, axes), [&](std::span<const Val> in) {
    if (counts.size() != usize(in[0].rank())) {
      throw UserError({"TL-RANK-001",
                       call.name,
                       std::to_string(counts.size()) + " counts for " + describe(x),
                       "give one per axis",
                       {}});
    }
    std::vector<Dim> wide, flat;
    std::vector<std::int64_t> from;
    for (int i = 0; i < in[0].rank(); ++i) {
      const std::int64_t count = counts[usize(i)];
      if (count < 0) {
        throw UserError({"TL-SHAPE-007",
                         call.name,
                         "a count of " + std::to_string(count) + " for " + describe(x),
                         "repeat an axis 0 times or more",
                         {}});
      }
      wide.emplace_back(count);
      from.push_back(static_cast<std::int64_t>(wide.size()));
      wide.push_back(in[0].dim(i));
      flat.push_back(Dim(count) * in[0].dim(i));
    }
    return ops::reshape(ops::broadcast_in_dim(in[0], wide, from), flat);
  });
}

Ref repeat(const Ref& x, int axis, std::int64_t count, AxesSpec axes, Where where) {
  const OpCall call{"repeat", where, Variant::of(axis, count)};
  return apply(call, std::array{x}, kept_labels(x, axes), [&](std::span<const Val> in) {
    if (count < 0) {
      throw UserError({"TL-SHAPE-007",
                       call.name,
                       "a count of " + std::to_string(count) + " for " + describe(x),
                       "repeat an element 0 times or more",
                       {}});
    }
    std::vector<Dim> wide = shape_of(in[0]), flat = wide;
    wide.insert(wide.begin() + axis + 1, Dim(count));
    flat[usize(axis)] = flat[usize(axis)] * Dim(count);
    std::vector<std::int64_t> from;
    for (int i = 0; i < in[0].rank(); ++i) from.push_back(i <= axis ? i : i + 1);
    return ops::reshape(ops::broadcast_in_dim(in[0], wide, from), flat);
  });
}

}  // namespace tlaloc::core
