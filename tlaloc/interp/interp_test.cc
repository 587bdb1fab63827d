#include "tlaloc/interp/interp.h"

#include <gtest/gtest.h>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::interp {
namespace {

using ir::Builder;
using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using namespace ops;  // NOLINT: the operators

HostArray f64(std::initializer_list<double> v) {
  return HostArray::from(std::span<const double>(v.begin(), v.size()),
                         {static_cast<std::int64_t>(v.size())});
}

TEST(Interp, Elementwise) {
  Builder b;
  const Symbol n = Symbol::fresh("n");
  Val x = b.param(Type::get(DType::f64, {n}));
  Val y = b.param(Type::get(DType::f64, {n}));
  const GraphRef g = b.build(ir::Vals{x * y + 1.0, ops::dim_value(n)});
  auto r = run(*g, {f64({1, 2, 3}), f64({4, 5, 6})});
  EXPECT_EQ(to_string(r[0]), "f64[3] {5, 11, 19}");
  EXPECT_EQ(to_string(r[1]), "i64[] {3}");
  EXPECT_THROW(run(*g, {f64({1, 2, 3}), f64({4, 5})}), UserError);
}

TEST(Interp, WhileRecords) {
  Builder outer;
  Val x = outer.param(Type::scalar(DType::f64));
  GraphRef cond, body;
  {
    Builder c;
    Val v = c.param(Type::scalar(DType::f64));
    cond = c.build(ir::Vals{v < ops::scalar(10, DType::f64)});
  }
  {
    Builder c;
    Val v = c.param(Type::scalar(DType::f64));
    body = c.build(ir::Vals{v * 2.0, v});
  }
  auto r = ir::emit_while({.inv = {}, .init = {x}, .cond = cond, .body = body});
  const GraphRef g = outer.build(r.out, {.result_dims = {Dim(r.bound[0])}});
  Stats stats;
  auto out = evaluate(*g, {HostArray::scalar(1.0)}, {.stats = &stats});
  EXPECT_EQ(to_string(out.results[0]), "f64[] {16}");
  EXPECT_EQ(to_string(out.results[1]), "f64[4] {1, 2, 4, 8}");
  EXPECT_EQ(to_string(out.results[2]), "i64[] {4}");
  EXPECT_EQ(out.result_dims, std::vector<std::int64_t>{4});
  EXPECT_EQ(stats.recorded, 4);
  EXPECT_EQ(stats.bodies, 4);
}

}  // namespace
}  // namespace tlaloc::interp
