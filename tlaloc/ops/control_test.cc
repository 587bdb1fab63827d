// What control flow on graph values refuses, by its text.
#include "tlaloc/ops/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {
namespace {

using ::testing::HasSubstr;

/// The error of `f` in a trace with a bool and an f64 scalar.
std::string error_of(const std::function<void(Val, Val)>& f) {
  ir::Builder b;
  const Val p = b.param(Type::scalar(DType::boolean)), x = b.param(Type::scalar(DType::f64));
  try {
    f(p, x);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}
Vals same(const Vals& c) { return c; }
Vals twice(const Vals& c) { return {c[0], c[0]}; }
Vals wider(const Vals& c) { return {broadcast_to(c[0], std::vector<Dim>{2})}; }
Vals holds(const Vals& c) { return {c[0] < scalar(1, DType::f64)}; }

TEST(Control, BranchesReturnTheSameTypes) {
  EXPECT_THAT(error_of([](Val p, Val x) { cond(p, {x}, same, twice); }),
              HasSubstr("TL-CONTROL-001: cond: the branches return (f64[]) and (f64[], f64[])"));
  EXPECT_EQ(error_of([](Val p, Val x) { cond(p, {x}, same, same); }), "no error");
}

TEST(Control, CarriesKeepTheirTypes) {
  EXPECT_THAT(
      error_of([](Val, Val x) { while_loop({x}, holds, wider); }),
      HasSubstr("TL-CONTROL-002: while_loop: the body returns carries of type (f64[2]) where "
                "the loop starts with (f64[])"));
  EXPECT_THAT(error_of([](Val, Val x) { scan({x}, {}, wider, Dim(3)); }),
              HasSubstr("TL-CONTROL-002: scan: the body returns carries of type (f64[2])"));
  EXPECT_EQ(error_of([](Val, Val x) { while_loop({x}, holds, twice); }), "no error");
}

TEST(Control, PredicatesAreBoolScalars) {
  EXPECT_THAT(error_of([](Val, Val x) { cond(x, {x}, same, same); }),
              HasSubstr("TL-CONTROL-003: cond: the predicate is f64[], not a bool scalar"));
  EXPECT_THAT(error_of([](Val, Val x) { while_loop({x}, same, same); }),
              HasSubstr("TL-CONTROL-003: while_loop: the condition returns (f64[])"));
}

TEST(Control, ScansNeedALength) {
  EXPECT_THAT(error_of([](Val, Val x) { scan({x}, {x}, same); }),
              HasSubstr("TL-CONTROL-004: scan: an operand to scan over is a scalar"));
  EXPECT_THAT(error_of([](Val, Val x) { scan({x}, {}, same); }),
              HasSubstr("TL-CONTROL-004: scan: neither operands to scan over nor a length"));
}

}  // namespace
}  // namespace tlaloc::ops
