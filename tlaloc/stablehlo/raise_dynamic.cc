// Sizes that are values: what an array of integers holds, as sizes, and the operations that read
// them.
#include <algorithm>

#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo {
namespace {

using ir::Dim;

/// Definitions are followed so far.
constexpr int kMaxChain = 256;

/// What two numbers give; nothing for operations on anything but sizes.
std::optional<Dim> combine(std::string_view op, Dim a, Dim b) {
  if (op == "stablehlo.add") return a + b;
  if (op == "stablehlo.subtract") return a - b;
  if (op == "stablehlo.multiply") return a * b;
  if (op == "stablehlo.maximum") return max(a, b);
  if (op == "stablehlo.minimum") return min(a, b);
  // Rounded towards zero there, towards minus infinity here: the same for sizes.
  const bool positive = ir::bounds(a).lower >= 0 && ir::bounds(b).lower > 0;
  if (op == "stablehlo.divide" && positive) return floordiv(a, b);
  if (op == "stablehlo.remainder" && positive) return mod(a, b);
  return {};
}
/// Of bools as 0 and 1.
std::optional<Dim> compare(std::string_view direction, Dim a, Dim b) {
  auto known = [](ir::Truth t, bool negated) -> std::optional<Dim> {
    if (t == ir::Truth::unknown) return {};
    return Dim((t == ir::Truth::yes) != negated ? 1 : 0);
  };
  if (direction == "EQ" || direction == "NE") return known(ir::equal(a, b), direction == "NE");
  if (direction == "LE") return known(ir::less_equal(a, b), false);
  if (direction == "GT") return known(ir::less_equal(a, b), true);
  if (direction == "GE") return known(ir::less_equal(b, a), false);
  if (direction == "LT") return known(ir::less_equal(b, a), true);
  return {};
}
std::optional<Dim> sign(Dim a) {
  if (ir::bounds(a).lower > 0) return Dim(1);
  if (ir::bounds(a).upper < 0) return Dim(-1);
  return {};
}

/// The number that an element of this type holds where arithmetic without end gives d: integers
/// wrap, bools are whether it is not zero. Nothing where that is not known. Sizes of arrays are
/// taken to fit the signed types of 32 bits and more that a text counts them in.
std::optional<Dim> stored(Dim d, DType t) {
  const ir::Interval range = ir::bounds(d);
  if (t == DType::boolean) {
    if (range.lower > 0 || range.upper < 0) return Dim(1);
    return d.is_constant() ? std::optional(d) : std::nullopt;
  }
  if (d.is_constant()) {
    const std::int64_t wrapped = dispatch(t, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T>)
        return static_cast<std::int64_t>(static_cast<T>(d.constant()));
      return d.constant();
    });
    // As u64 a negative number is more than a size can be.
    if (t == DType::u64 && wrapped < 0) return {};
    return Dim(wrapped);
  }
  if (is_unsigned_integer(t) && range.lower < 0) return {};
  if (bit_width(t) >= 32) return d;
  const std::int64_t end = std::int64_t{1} << (bit_width(t) - (is_signed_integer(t) ? 1 : 0));
  if (range.lower < (is_signed_integer(t) ? -end : 0) || range.upper >= end) return {};
  return d;
}
/// What f gives, or nothing where it overflows a size.
template <class F>
std::optional<Dim> checked(F f) {
  try {
    return f();
  } catch (const UserError& e) {
    if (e.code() != "TL-SIZE-001") throw;
    return {};
  }
}

// Attributes of an operation that may not have been imported yet, which would refuse wrong ones.

std::optional<std::int64_t> integer_of(const Operation& op, std::string_view name,
                                       std::string_view other) {
  const Attribute* a = op.find({name, other});
  if (!a || a->kind != Attribute::Kind::integer) return {};
  return a->integer;
}
ops::AxisList integers_of(const Source& source, const Operation& op, std::string_view name) {
  const Attribute* a = op.find(name);
  if (!a) return {};
  return a->kind == Attribute::Kind::dense ? dense_integers(source, *a) : a->integers;
}

/// All of them, or nothing.
template <class F>
Sizes each(std::size_t count, F f) {
  std::vector<Dim> r;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<Dim> x = f(i);
    if (!x) return {};
    r.push_back(*x);
  }
  return r;
}

}  // namespace

Sizes Importer::sizes_of_call(Scope& scope, const Operation& op, std::size_t result, int depth) {
  const Attribute* callee = op.find("callee");
  if (!callee) return {};
  const Function& f = tree_.functions[tree_.function_index.at(callee->text)];
  if (f.body.param_count != op.operands.size() || result >= f.results.size()) return {};
  Scope inner{.function = f};
  for (ValueIndex k = 0; k < f.body.param_count; ++k) {
    inner.sizes.emplace(k, sizes(scope, op.operands[k], depth + 1));
  }
  return sizes(inner, f.body.operations.back().operands[result], depth + 1);
}

Sizes Importer::size_of_axis(Scope& scope, const Operation& op) {
  const ValueIndex v = op.operands[0];
  const TensorSpec& t = *scope.function.type(v);
  const auto axis = integer_of(op, "dim", "dimension");
  if (!axis || *axis < 0 || usize(*axis) >= t.extents.size()) return {};
  if (const std::int64_t n = t.extents[usize(*axis)]; n != TensorSpec::kUnknown) {
    return std::vector<Dim>{n};
  }
  // In a function that is followed only for its sizes, nothing has a value.
  if (scope.values.empty()) return {};
  if (!scope.values[v]) {
    asked_early_ = true;
    return {};
  }
  return std::vector<Dim>{value(scope, v).dim(static_cast<int>(*axis))};
}

Sizes Importer::sizes(Scope& scope, ValueIndex v) {
  asked_early_ = false;
  Sizes r = sizes(scope, v, 0);
  // Once the operations in between are imported, more is known.
  for (ValueIndex early : scope.asked_early) scope.sizes.erase(early);
  scope.asked_early.clear();
  return r;
}

Sizes Importer::sizes(Scope& scope, ValueIndex v, int depth) {
  if (const auto known = scope.sizes.find(v); known != scope.sizes.end()) return known->second;
  const Operation* op = scope.function.definitions[v];
  const TensorSpec& t = *scope.function.type(v);
  const bool counts = is_integer(t.dtype) || t.dtype == DType::boolean;
  if (!op || depth > kMaxChain || !counts || t.extents.size() > 2 || !t.is_static() ||
      element_count(t.extents) > 2 * kMaxDepth) {
    return {};
  }
  if (++followed_ > kFreeOperations + kOperationsPerByte * source().text.size()) return {};
  const std::size_t elements = usize(element_count(t.extents));
  auto of = [&](std::size_t k) { return sizes(scope, op->operands[k], depth + 1); };
  Sizes r;
  const std::string_view name = op->name;
  const std::size_t n = op->operands.size();
  if (name == "stablehlo.constant") {
    if (const Attribute* a = op->find("value")) {
      const std::vector<std::int64_t> numbers = dense_integers(source(), *a);
      r = each(numbers.size(), [&](std::size_t i) -> std::optional<Dim> {
        if (t.dtype == DType::u64 && numbers[i] < 0) return {};
        return checked([&] { return Dim(numbers[i]); });
      });
    }
  } else if (name == "func.call") {
    r = sizes_of_call(scope, *op, v - op->first_result, depth);
  } else if (name == "stablehlo.get_dimension_size" && n == 1) {
    r = size_of_axis(scope, *op);
  } else if (n == 1 && (name == "stablehlo.convert" || name == "stablehlo.reshape")) {
    r = of(0);
  } else if (n == 1 && name == "stablehlo.broadcast_in_dim") {
    if ((r = of(0)) && r->size() == 1) {
      r->assign(elements, r->front());
    }
  } else if (name == "stablehlo.concatenate" && !t.extents.empty() &&
             integer_of(*op, "dim", "dimension") == 0) {
    r.emplace();
    for (std::size_t k = 0; r && k < n; ++k) {
      if (const Sizes part = of(k)) {
        r->insert(r->end(), part->begin(), part->end());
      } else {
        r.reset();
      }
    }
  } else if (n == 1 && name == "stablehlo.slice" && t.extents.size() == 1) {
    if (const Sizes all = of(0)) {
      const ops::AxisList start = integers_of(source(), *op, "start_indices"),
                          limit = integers_of(source(), *op, "limit_indices"),
                          stride = integers_of(source(), *op, "strides");
      if (start.size() == 1 && start[0] >= 0 && limit.size() == 1 && stride.size() == 1 &&
          stride[0] > 0 && usize(limit[0]) <= all->size()) {
        r.emplace();
        const std::int64_t step = std::min(stride[0], limit[0]);
        for (std::int64_t i = start[0]; i < limit[0]; i += step) r->push_back((*all)[usize(i)]);
      }
    }
  } else if (name == "stablehlo.sign" && n == 1) {
    if (const Sizes a = of(0)) {
      r = each(a->size(), [&](std::size_t i) { return sign((*a)[i]); });
    }
  } else if (name == "stablehlo.select" && n == 3) {
    const Sizes p = of(0), a = of(1), b = of(2);
    if (p && a && b && a->size() == b->size() && (p->size() == a->size() || p->size() == 1)) {
      r = each(a->size(), [&](std::size_t i) -> std::optional<Dim> {
        const Dim chosen = (*p)[p->size() == 1 ? 0 : i];
        if (!chosen.is_constant()) return {};
        return chosen.constant() ? (*a)[i] : (*b)[i];
      });
    }
  } else if (n == 2 && t.dtype == DType::boolean && t.extents.empty() &&
             (name == "stablehlo.and" || name == "stablehlo.or")) {
    // One side may decide.
    const Sizes a = of(0), b = of(1);
    const std::vector<Dim> deciding{Dim(name == "stablehlo.or" ? 1 : 0)};
    if (a == deciding || b == deciding) {
      r = deciding;
    } else if (a && b) {
      r = b;
    }
  } else if (n == 2 && (is_integer(t.dtype) || t.dtype == DType::boolean)) {
    const Sizes a = of(0), b = of(1);
    std::string_view direction;
    if (name == "stablehlo.compare") {
      direction = Site::word_of(op->find("comparison_direction"));
    }
    if (a && b && a->size() == b->size()) {
      r = each(a->size(), [&](std::size_t i) {
        return checked([&] {
          return direction.empty() ? combine(name, (*a)[i], (*b)[i])
                                   : compare(direction, (*a)[i], (*b)[i]);
        });
      });
    }
  }
  if (r && r->size() != elements) r.reset();
  if (r) r = each(elements, [&](std::size_t i) { return stored((*r)[i], t.dtype); });
  scope.sizes.emplace(v, r);
  if (asked_early_) scope.asked_early.push_back(v);
  return r;
}

namespace raising {
namespace {

using ir::Val;
using ir::Vals;

Vals get_dimension_size(const Site& s) {
  s.expect_operands(1);
  const DType t = s.result_dtype();
  const auto axis = s.integer({"dim", "dimension"});
  if (axis < 0 || axis >= s.in(0).rank()) s.fail("it has no such axis");
  const Sizes size = s.importer().sizes(s.scope(), s.op().first_result);
  if (!size) s.fail("it gives a size");
  return {ops::convert(ops::dim_value(size->front()), t)};
}
Vals dynamic_reshape(const Site& s) {
  s.expect_operands(2);
  return {ops::reshape(s.in(0), s.sizes(1))};
}
Vals dynamic_broadcast_in_dim(const Site& s) {
  s.expect_operands(2);
  return {ops::broadcast_in_dim(s.in(0), s.sizes(1), s.integers({"dims", "broadcast_dimensions"}))};
}
Vals dynamic_iota(const Site& s) {
  s.expect_operands(1);
  return {ops::iota(ir::Type::get(s.result_dtype(), s.sizes(0)),
                    s.axis({"dim", "iota_dimension"}, s.result_type()->extents.size()))};
}
Vals dynamic_pad(const Site& s) {
  s.expect_operands(5);
  return {ops::pad(s.in(0), s.in(1), s.sizes(2), s.sizes(3), s.sizes(4))};
}
Vals real_dynamic_slice(const Site& s) {
  s.expect_operands(4);
  const ValueIndex from = s.op().operands[1], to = s.op().operands[2];
  const Sizes start = s.importer().sizes(s.scope(), from),
              limit = s.importer().sizes(s.scope(), to),
              strides = s.importer().sizes(s.scope(), s.op().operands[3]);
  if (start && limit && strides) return {ops::slice(s.in(0), *start, *limit, *strides)};
  // A window of known sizes at a start that is known only while it runs: the limit is their sum.
  const Operation* sum = s.scope().function.definitions[to];
  const bool unit =
      strides && std::ranges::all_of(*strides, [](ir::Dim d) { return d == ir::Dim(1); });
  if (unit && sum && sum->name == "stablehlo.add" && sum->operands.size() == 2) {
    for (std::size_t side : {0u, 1u}) {
      if (sum->operands[side] != from) continue;
      const Sizes window = s.importer().sizes(s.scope(), sum->operands[1 - side]);
      if (!window) continue;
      Vals starts;
      for (std::int64_t i = 0; i < s.in(0).rank(); ++i) {
        starts.push_back(ops::reshape(ops::slice_axis(s.in(1), 0, i, i + 1), {}));
      }
      return {ops::dynamic_slice(s.in(0), starts, *window)};
    }
  }
  s.unsupported("its bounds are known only while it runs", "use dynamic_slice");
}
Vals dynamic_gather(const Site& s) {
  s.expect_operands(3);
  return {ops::gather(s.in(0), s.in(1),
                      {.dims = index_dims(s, "dimension_numbers"),
                       .sizes = s.sizes(2),
                       .mode = ops::OutOfBounds::clip,
                       .fill = {},
                       .sorted = s.flag_or({"indices_are_sorted"}, false)})};
}

}  // namespace

void add_dynamic(RaiseTable& t) {
  t["stablehlo.get_dimension_size"] = get_dimension_size;
  t["stablehlo.dynamic_reshape"] = dynamic_reshape;
  t["stablehlo.dynamic_broadcast_in_dim"] = dynamic_broadcast_in_dim;
  t["stablehlo.dynamic_iota"] = dynamic_iota;
  t["stablehlo.dynamic_pad"] = dynamic_pad;
  t["stablehlo.real_dynamic_slice"] = real_dynamic_slice;
  t["stablehlo.dynamic_gather"] = dynamic_gather;
}

}  // namespace raising
}  // namespace tlaloc::stablehlo
