// The list of checks against the checks themselves.
#include "tlaloc/runtime/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::runtime {
namespace {

using ir::Builder;
using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;

std::string text(const std::function<std::vector<std::int64_t>()>& f) {
  try {
    return to_string(std::span<const std::int64_t>(f()));
  } catch (const Error& e) {
    return e.what();
  }
}
/// What both say, which must be the same.
std::string bind(const GraphRef& g, const std::vector<HostArray>& args,
                 const DimValues& given = {}) {
  std::vector<const HostArray*> pointers;
  for (const HostArray& a : args) pointers.push_back(&a);
  const std::string listed = text([&] { return ArgumentBinder(g)(pointers, given); });
  EXPECT_EQ(listed, text([&] { return bind_arguments(*g, args, given); }));
  return listed;
}
HostArray f64s(Extents e) { return HostArray(DType::f64, std::move(e)); }

TEST(ArgumentBinder, SaysWhatBindArgumentsSays) {
  Builder b("f");
  const Symbol n = Symbol::fresh("n");
  const Symbol m = Symbol::fresh({.name = "m", .lower = 2, .upper = 8, .multiple_of = 2});
  const ir::Val x = b.param(Type::get(DType::f64, {n, 3, m}));
  b.param(Type::get(DType::f64, {m, n}));
  b.param(Type::scalar(DType::i32));
  const GraphRef g = b.build(ir::Vals{x});
  const HostArray k(DType::i32, {});
  EXPECT_EQ(bind(g, {f64s({5, 3, 4}), f64s({4, 5}), k}), "[5, 4]");
  EXPECT_EQ(bind(g, {f64s({0, 3, 8}), f64s({8, 0}), k}), "[0, 8]");
  using ::testing::HasSubstr;
  EXPECT_THAT(bind(g, {f64s({5, 3, 4}), f64s({4, 5})}), HasSubstr("TL-ARITY-001"));
  EXPECT_THAT(bind(g, {f64s({5, 3, 4}), f64s({4, 5}), f64s({})}), HasSubstr("TL-SHAPE-002"));
  EXPECT_THAT(bind(g, {f64s({5, 3}), f64s({4, 5}), k}), HasSubstr("TL-SHAPE-002"));
  EXPECT_THAT(bind(g, {f64s({5, 2, 4}), f64s({4, 5}), k}), HasSubstr("TL-SHAPE-002"));
  EXPECT_THAT(bind(g, {f64s({5, 3, 4}), f64s({4, 6}), k}), HasSubstr("TL-SHAPE-002"));
  EXPECT_THAT(bind(g, {f64s({5, 3, 4}), f64s({6, 5}), k}), HasSubstr("TL-SHAPE-002"));
  EXPECT_THAT(bind(g, {f64s({5, 3, 0}), f64s({0, 5}), k}), HasSubstr("TL-SHAPE-005"));
  EXPECT_THAT(bind(g, {f64s({5, 3, 10}), f64s({10, 5}), k}), HasSubstr("TL-SHAPE-005"));
  EXPECT_THAT(bind(g, {f64s({5, 3, 5}), f64s({5, 5}), k}), HasSubstr("TL-SHAPE-005"));
  EXPECT_EQ(bind(g, {f64s({5, 3, 4}), f64s({4, 5}), k}, {{n.id(), 5}}), "[5, 4]");
  EXPECT_THAT(bind(g, {f64s({5, 3, 4}), f64s({4, 5}), k}, {{n.id(), 6}}),
              HasSubstr("TL-SHAPE-002"));
}

TEST(ArgumentBinder, LeavesComputedSizesToBindArguments) {
  Builder b("f");
  const Symbol n = Symbol::fresh("n");
  const ir::Val x = b.param(Type::get(DType::f64, {Dim(n) + 1}));
  const GraphRef g = b.build(ir::Vals{x});
  EXPECT_THAT(bind(g, {f64s({5})}), ::testing::HasSubstr("TL-SHAPE-004"));
  EXPECT_EQ(bind(g, {f64s({5})}, {{n.id(), 4}}), "[4]");
  EXPECT_THAT(bind(g, {f64s({5})}, {{n.id(), 5}}), ::testing::HasSubstr("TL-SHAPE-002"));
}

}  // namespace
}  // namespace tlaloc::runtime
