// Branches, loops and calls.
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Val;
using ir::Vals;
using ops::operator<, ops::operator>, ops::operator+;

/// Branches read what is around them, and are given nothing.
void expect_no_params(const Site& s) {
  for (const Block& b : s.op().regions) {
    if (b.param_count) s.fail("its regions take no params");
  }
}

Vals if_op(const Site& s) {
  s.expect_operands(1);
  s.expect_regions(2);
  expect_no_params(s);
  auto branch = [&](std::size_t k) {
    return [&s, k](const Vals&) { return s.importer().block(s.scope(), s.op().regions[k], {}); };
  };
  return ops::cond(s.in(0), {}, branch(0), branch(1));
}

/// Branches [first, last) by an index in that range: halves, so that they nest by the logarithm.
Vals choose(const Site& s, Val index, std::size_t first, std::size_t last) {
  if (last - first == 1) return s.importer().block(s.scope(), s.op().regions[first], {});
  const std::size_t middle = first + (last - first) / 2;
  const Val low = index < ops::scalar_int(static_cast<std::int64_t>(middle), index.dtype());
  return ops::cond(
      low, {}, [&](const Vals&) { return choose(s, index, first, middle); },
      [&](const Vals&) { return choose(s, index, middle, last); });
}
Vals case_op(const Site& s) {
  s.expect_operands(1);
  const std::size_t n = s.op().regions.size();
  if (n == 0) s.fail("it has no branches");
  expect_no_params(s);
  const Val index = s.in(0);
  if (index.rank() != 0 || !is_integer(index.dtype())) s.fail("it branches on an integer scalar");
  auto branch = [&](std::size_t k) {
    return [&s, k](const Vals&) { return s.importer().block(s.scope(), s.op().regions[k], {}); };
  };
  if (n == 1) return branch(0)({});
  ir::Builder& b = ir::Builder::current();
  if (n == 2) {
    // Of a bool, as JAX branches: true is branch 1.
    if (b.op_of(index) == &ops::rows::Convert && b.operand_of(index, 0).dtype() == DType::boolean) {
      return ops::cond(b.operand_of(index, 0), {}, branch(1), branch(0));
    }
    const Val first = ops::compare(ops::Comparison::eq, index, ops::zeros_like(index));
    return ops::cond(first, {}, branch(0), branch(1));
  }
  // What is out of range takes the last branch.
  const Val last = ops::scalar_int(static_cast<std::int64_t>(n) - 1, index.dtype());
  const Val outside = ops::logical_or(index<ops::zeros_like(index), index> last);
  return choose(s, ops::select(outside, last, index), 0, n);
}

/// Carry k is what the body returns for it, so that it never changes.
std::vector<bool> invariant_carries(const Operation& op) {
  const Block& body = op.regions[1];
  const auto& next = body.operations.back().operands;
  std::vector<bool> r(op.operands.size());
  for (std::size_t k = 0; k < r.size(); ++k) {
    r[k] = next.size() == r.size() && next[k] == body.first_param + k;
  }
  return r;
}

/// The trips of a loop that counts, where the text tells them: as JAX's scans and loops over ranges
/// are written. Then it is a scan, whose derivative has sizes that are known before it runs.
std::optional<ir::Dim> known_trips(const Site& s) {
  const Operation& op = s.op();
  const Function& f = s.scope().function;
  const Block &cond = op.regions[0], &body = op.regions[1];
  auto definition = [&](ValueIndex v, std::string_view name) -> const Operation* {
    const Operation* d = f.definitions[v];
    return d && d->name == name && d->operands.size() == 2 ? d : nullptr;
  };
  auto number = [&](ValueIndex v) -> std::optional<ir::Dim> {
    const Sizes known = s.importer().sizes(s.scope(), v);
    if (!f.type(v)->extents.empty() || !known) return {};
    return known->front();
  };
  if (cond.operations.back().operands.size() != 1 ||
      body.operations.back().operands.size() != op.operands.size()) {
    return {};
  }
  const Operation* more = definition(cond.operations.back().operands[0], "stablehlo.compare");
  if (!more || Site::word_of(more->find("comparison_direction")) != "LT") return {};
  const ValueIndex counter = more->operands[0] - cond.first_param;
  if (more->operands[0] < cond.first_param || counter >= cond.param_count) return {};
  const Operation* next = definition(body.operations.back().operands[counter], "stablehlo.add");
  if (!next) return {};
  const ValueIndex param = body.first_param + counter;
  const std::size_t side = next->operands[0] == param ? 1 : 0;
  if (next->operands[1 - side] != param) return {};
  const auto first = number(op.operands[counter]), limit = number(more->operands[1]),
             step = number(next->operands[side]);
  if (!first || !limit || step != ir::Dim(1)) return {};
  // No size counts so many trips; what a run computes with is sizes.
  const auto is_size = [](ir::Dim d) {
    constexpr std::int64_t kHalf = ir::Dim::kMax / 2;
    return !d.is_constant() || (d.constant() >= -kHalf && d.constant() <= kHalf);
  };
  if (!is_size(*limit) || !is_size(*first)) return {};
  return max(*limit - *first, 0);
}

Vals while_op(const Site& s) {
  s.expect_regions(2);
  const Operation& op = s.op();
  const std::size_t n = op.operands.size();
  for (const Block& b : op.regions) {
    bool same = b.param_count == n;
    for (ValueIndex k = 0; same && k < n; ++k) {
      same = s.scope().function.type(b.first_param + k) == s.operand_type(k);
    }
    if (!same) s.fail("its regions take other types than it carries");
  }
  // Carries that never change are read from outside.
  const std::vector<bool> invariant = invariant_carries(op);
  Vals init;
  for (std::size_t k = 0; k < n; ++k) {
    if (invariant[k]) {
      for (const Block& b : op.regions) {
        s.scope().sizes[b.first_param + static_cast<ValueIndex>(k)] =
            s.importer().sizes(s.scope(), op.operands[k]);
      }
    } else {
      init.push_back(s.in(k));
    }
  }
  auto region = [&](std::size_t r) {
    return [&, r](const Vals& carries) {
      Vals params;
      std::size_t next = 0;
      for (std::size_t k = 0; k < n; ++k)
        params.push_back(invariant[k] ? s.in(k) : carries[next++]);
      Vals out = s.importer().block(s.scope(), op.regions[r], params);
      if (r == 0) return out;
      if (out.size() != n) s.fail("its body returns another number of values than it carries");
      Vals kept;
      for (std::size_t k = 0; k < n; ++k) {
        if (!invariant[k]) kept.push_back(out[k]);
      }
      return kept;
    };
  };
  const auto trips = known_trips(s);
  const Vals carries = trips ? ops::scan(init, {}, region(1), *trips).carries
                             : ops::while_loop(init, region(0), region(1)).carries;
  Vals results;
  std::size_t next = 0;
  for (std::size_t k = 0; k < n; ++k) results.push_back(invariant[k] ? s.in(k) : carries[next++]);
  return results;
}

Vals call_op(const Site& s) { return s.importer().call(s, s.text({"callee"}), "", {}, 0); }

/// Emission writes Tlaloc's own composites with their parameters; others are plain calls.
Vals composite(const Site& s) {
  constexpr std::string_view kOurs = "tlaloc.";
  const std::string_view name = s.text({"name"});
  std::vector<ir::CallParam> params;
  if (!name.starts_with(kOurs)) return s.importer().call(s, s.text({"decomposition"}), "", {}, 0);
  if (const Attribute* attributes = s.op().find("composite_attributes")) {
    for (const NamedAttribute& a : attributes->fields) {
      ir::CallParam p{std::string(a.name), {}, {}};
      if (a.value.kind == Attribute::Kind::dense && a.value.type &&
          a.value.type->dtype == DType::f64) {
        const DenseValue v = dense_value(s.importer().source(), a.value);
        const std::int64_t count = element_count(a.value.type->extents);
        if (count > 4096) s.fail("a parameter has so many numbers");
        for (std::int64_t i = 0; i < count; ++i)
          p.reals.push_back(v.value.element(v.splat ? 0 : i));
      } else {
        p.ints = s.integers(a.value);
      }
      params.push_back(std::move(p));
    }
  }
  return s.importer().call(s, s.text({"decomposition"}), name.substr(kOurs.size()),
                           std::move(params), s.integer_or({"version"}, 0));
}

}  // namespace

void add_regions(RaiseTable& t) {
  t["stablehlo.if"] = if_op;
  t["stablehlo.case"] = case_op;
  t["stablehlo.while"] = while_op;
  t["stablehlo.composite"] = composite;
  t["func.call"] = call_op;
}

}  // namespace tlaloc::stablehlo::raising
