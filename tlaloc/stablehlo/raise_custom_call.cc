// Custom calls that JAX writes, and checks of the StableHLO project's test convention.
#include <algorithm>

#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Val;
using ir::Vals;

/// The values themselves: what is said of their place changes none.
Vals same(const Site& s) { return {s.in().begin(), s.in().end()}; }

Vals threefry(const Site& s) {
  s.expect_operands(4);
  const auto [y0, y1] = ops::threefry2x32(s.in(0), s.in(1), s.in(2), s.in(3));
  return {y0, y1};
}

// ---- checks ----

double number(const Site& s, std::string_view name, double otherwise) {
  const Attribute* a = s.op().find(name);
  if (!a) return otherwise;
  if (a->kind == Attribute::Kind::real) return a->real;
  if (a->kind == Attribute::Kind::integer) return static_cast<double>(a->integer);
  s.fail(std::string(name) + " is no number");
}
Vals check(const Site& s, Check::Kind kind) {
  if (s.count() != 2) s.expect_operands(1);
  if (!s.scope().checks || s.scope().closed || s.in(0).trace != ir::Builder::current().trace()) {
    s.unsupported("results are checked in functions that nobody calls, outside of regions");
  }
  Val expected;
  if (s.count() == 2) {
    expected = s.in(1);
  } else {
    DenseValue v = dense_value(s.importer().source(), s.attribute({"value"}));
    if (s.attribute({"value"}).type != s.operand_type(0)) s.fail("the constant is of another type");
    const auto shape = s.in(0).shape();
    expected = ops::constant(std::move(v.value));
    if (v.splat) expected = ops::broadcast_in_dim(expected, shape, {});
  }
  if (expected.type() != s.in(0).type()) s.fail("it compares values of different types");
  Check c;
  c.kind = kind;
  c.got = s.scope().compared.size();
  c.expected = c.got + 1;
  c.tolerance = number(s, "tolerance", c.tolerance);
  c.min_ulp = s.integer_or({"min_ulp_difference"}, c.min_ulp);
  c.max_ulp = s.integer_or({"max_ulp_difference"}, c.max_ulp);
  c.place = s.importer().source().place(s.op().at);
  s.scope().compared.push_back(s.in(0));
  s.scope().compared.push_back(expected);
  s.scope().checks->push_back(std::move(c));
  return {};
}
Vals check_equal(const Site& s) { return check(s, Check::Kind::equal); }
Vals check_almost(const Site& s) { return check(s, Check::Kind::almost); }
Vals check_close(const Site& s) { return check(s, Check::Kind::close); }

/// As operations, and as custom calls of the same names.
void add_checks(RaiseTable& t) {
  t["check.expect_eq"] = check_equal;
  t["check.expect_eq_const"] = check_equal;
  t["check.expect_almost_eq"] = check_almost;
  t["check.expect_almost_eq_const"] = check_almost;
  t["check.expect_close"] = check_close;
  t["check.expect_close_const"] = check_close;
}

Vals custom_call(const Site& s) {
  static const RaiseTable targets = [] {
    RaiseTable t = {
        {"Sharding", same},
        {"annotate_device_placement", same},
        {"cu_threefry2x32", threefry},
        {"cu_threefry2x32_ffi", threefry},
        {"stablehlo.dynamic_reduce_window", dynamic_reduce_window},
        {"shape_assertion", shape_assertion},
    };
    add_checks(t);
    add_lapack(t);
    return t;
  }();
  const std::string_view target = s.text({"call_target_name"});
  const auto known = targets.find(target);
  if (known == targets.end()) {
    s.unsupported("nothing is known of @" + std::string(target));
  }
  return known->second(s);
}

}  // namespace

void add_custom_call(RaiseTable& t) {
  t["stablehlo.custom_call"] = custom_call;
  add_checks(t);
}

}  // namespace tlaloc::stablehlo::raising
