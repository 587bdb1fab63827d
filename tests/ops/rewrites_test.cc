// Rewrites of the builder give the bits of what they replace, for every input: no derivative oracle
// sees a wrong one. The node as written and what it becomes are results of one graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>
#include <string>

#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"
#include "tlaloc/ops/joining.h"
#include "tlaloc/ops/reduce_general.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/shape_ops.h"
#include "tlaloc/ops/sharding.h"
#include "tlaloc/ops/slice.h"
#include "tlaloc/ops/testing.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/ops/val_sharding.h"

namespace tlaloc::testing {
namespace {

using ir::AttrRef;
using ir::Builder;
using ir::Dim;
using ir::make_attr;
using ir::OpDef;
using ir::Type;
using ir::Val;
using ir::Vals;
namespace rows = ops::rows;

/// x: an array [2, 4] of the type at hand; p: booleans of its shape; i: an index.
struct Inputs {
  Val x, p, i;
  Val number(double v) const { return ops::scalar(v, x.type().dtype()); }
  Val filled(double v) const { return ops::full(v, x.type()); }
};
struct Rewrite {
  std::string name;
  const OpDef& op;
  std::function<AttrRef(DType)> attr;
  std::function<Vals(const Inputs&)> operands;
  std::vector<DType> dtypes;
};

std::vector<std::int64_t> axes(std::initializer_list<std::int64_t> a) { return a; }
std::vector<Dim> shape(std::initializer_list<std::int64_t> d) { return {d.begin(), d.end()}; }
auto always(AttrRef a) {
  return [a](DType) { return a; };
}

const std::vector<DType> kFloats{DType::f64, DType::f32, DType::bf16, DType::f16};
const std::vector<DType> kInts{DType::i64, DType::i32, DType::i8, DType::u64, DType::u8};
const std::vector<DType> kUnsigned{DType::u64, DType::u32, DType::u8};
std::vector<DType> operator+(std::vector<DType> a, const std::vector<DType>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A mesh of two devices, an array's rows over one axis of it.
AttrRef rows_over(std::string axis) {
  return make_attr(
      ops::ShardingAttrs{{{"mesh", {{"x", 2}, {"y", 1}}, {}}, {{{{std::move(axis)}}}, {}}, {}}});
}

/// (acc, x) -> op(acc, x)
AttrRef fold(std::vector<std::int64_t> axes, DType t, const OpDef& op) {
  Builder b;
  const Val acc = b.param(Type::scalar(t)), x = b.param(Type::scalar(t));
  return make_attr(
      ops::FoldAttrs{std::move(axes), {b.build(Vals{b.emit(op, nullptr, Vals{acc, x})})}});
}

std::vector<Rewrite> rewrites() {
  const auto all = kFloats + kInts;
  auto one = [](const OpDef& op, std::vector<DType> dtypes, std::string name, auto operands,
                AttrRef attr = nullptr) {
    return Rewrite{std::string(op.name) + "/" + name, op, always(attr), operands, dtypes};
  };
  auto just_x = [](const Inputs& in) { return Vals{in.x}; };
  std::vector<Rewrite> r{
      one(rows::Neg, all, "twice", [](const Inputs& in) { return Vals{ops::neg(in.x)}; }),
      one(rows::Abs, kUnsigned, "of unsigned", just_x),
      one(rows::Add, kFloats, "-0 right",
          [](const Inputs& in) { return Vals{in.x, in.filled(-0.0)}; }),
      one(rows::Add, kFloats, "-0 left",
          [](const Inputs& in) { return Vals{in.filled(-0.0), in.x}; }),
      one(rows::Add, kInts, "0", [](const Inputs& in) { return Vals{in.x, in.filled(0)}; }),
      one(rows::Sub, all, "0", [](const Inputs& in) { return Vals{in.x, in.filled(0)}; }),
      one(rows::Mul, all, "1 right", [](const Inputs& in) { return Vals{in.x, in.filled(1)}; }),
      one(rows::Mul, all, "1 left", [](const Inputs& in) { return Vals{in.filled(1), in.x}; }),
      one(rows::Div, all, "1", [](const Inputs& in) { return Vals{in.x, in.filled(1)}; }),
      one(rows::Pow, kFloats, "1", [](const Inputs& in) { return Vals{in.x, in.filled(1)}; }),
      one(rows::IntegerPow, all, "0", just_x, make_attr(ops::IntegerPowAttrs{0})),
      one(rows::IntegerPow, all, "1", just_x, make_attr(ops::IntegerPowAttrs{1})),
      one(rows::Select, all, "of equals", [](const Inputs& in) { return Vals{in.p, in.x, in.x}; }),
      {"convert/to its type", rows::Convert,
       [](DType t) { return make_attr(ops::ConvertAttrs{t}); }, just_x, all},
      {"bitcast_convert/to its type", rows::BitcastConvert,
       [](DType t) { return make_attr(ops::BitcastConvertAttrs{t}); }, just_x, all},
      one(
          rows::Pad, all, "by nothing", [](const Inputs& in) { return Vals{in.x, in.number(0)}; },
          make_attr(ops::PadAttrs{shape({0, 0}), shape({0, 0}), shape({0, 0})})),
      one(rows::Concatenate, all, "of one", just_x, make_attr(ops::ConcatenateAttrs{1})),
      one(rows::Reverse, all, "of nothing", just_x, make_attr(ops::ReverseAttrs{})),
      one(
          rows::Reverse, all, "twice",
          [](const Inputs& in) { return Vals{ops::reverse(in.x, axes({1}))}; },
          make_attr(ops::ReverseAttrs{{1}})),
      one(rows::BroadcastInDim, all, "to its type", just_x,
          make_attr(ops::BroadcastInDimAttrs{shape({2, 4}), {0, 1}})),
      one(rows::Reshape, all, "to its type", just_x, make_attr(ops::ReshapeAttrs{shape({2, 4})})),
      one(
          rows::Reshape, all, "twice",
          [=](const Inputs& in) { return Vals{ops::reshape(in.x, shape({8}))}; },
          make_attr(ops::ReshapeAttrs{shape({4, 2})})),
      one(rows::Transpose, all, "of nothing", just_x, make_attr(ops::TransposeAttrs{{0, 1}})),
      one(
          rows::Transpose, all, "twice",
          [=](const Inputs& in) {
            return Vals{ops::transpose(ops::reshape(in.x, shape({2, 2, 2})), axes({1, 2, 0}))};
          },
          make_attr(ops::TransposeAttrs{{1, 0, 2}})),
      one(rows::Slice, all, "of everything", just_x,
          make_attr(ops::SliceAttrs{shape({0, 0}), shape({2, 4}), shape({1, 1})})),
      one(
          rows::DynamicSlice, all, "of everything",
          [](const Inputs& in) { return Vals{in.x, in.i, in.i}; },
          make_attr(ops::DynamicSliceAttrs{.sizes = shape({2, 4})})),
      one(
          rows::DynamicUpdateSlice, all, "of everything",
          [](const Inputs& in) { return Vals{in.x, ops::reverse(in.x, axes({0})), in.i, in.i}; },
          make_attr(ops::DynamicUpdateSliceAttrs{})),
      one(
          rows::ShardingConstraint, all, "twice",
          [](const Inputs& in) {
            return Vals{Builder::current().emit(rows::ShardingConstraint, rows_over("x"), {in.x})};
          },
          rows_over("x")),
  };
  struct Fold {
    const OpDef& op;
    double start;
    std::vector<DType> dtypes;
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<DType> wide{DType::f64, DType::f32};
  for (const Fold& f : {Fold{rows::Add, 0, wide + kInts}, Fold{rows::Mul, 1, wide + kInts},
                        Fold{rows::Max, -kInf, kFloats}, Fold{rows::Min, kInf, kFloats},
                        Fold{rows::Or, 0, kInts}}) {
    for (const auto& along : {axes({1}), axes({0, 1})}) {
      r.push_back({"reduce/" + std::string(f.op.name) + std::to_string(along.size()), rows::Reduce,
                   [=](DType t) { return fold(along, t, f.op); },
                   [=](const Inputs& in) { return Vals{in.x, in.number(f.start)}; }, f.dtypes});
    }
  }
  return r;
}

/// What looks like a rewrite and is none.
std::vector<Rewrite> near_misses() {
  auto one = [](const OpDef& op, std::vector<DType> dtypes, std::string name, auto operands,
                AttrRef attr = nullptr) {
    return Rewrite{std::string(op.name) + "/" + name, op, always(attr), operands, dtypes};
  };
  std::vector<Rewrite> r{
      one(rows::Add, kFloats, "0 makes -0 0",
          [](const Inputs& in) { return Vals{in.x, in.filled(0)}; }),
      one(rows::Sub, kFloats, "-0 makes -0 0",
          [](const Inputs& in) { return Vals{in.x, in.filled(-0.0)}; }),
      one(rows::Sub, kFloats, "NaN - NaN, inf - inf",
          [](const Inputs& in) { return Vals{in.x, in.x}; }),
      one(rows::Mul, kFloats, "0 times NaN and inf",
          [](const Inputs& in) { return Vals{in.x, in.filled(0)}; }),
      one(rows::Div, kFloats, "0/0", [](const Inputs& in) { return Vals{in.x, in.x}; }),
      one(rows::Div, kInts, "by a number that may be 0",
          [](const Inputs& in) { return Vals{in.filled(1), in.x}; }),
      one(rows::Max, kFloats, "of equals is another rule",
          [](const Inputs& in) { return Vals{in.x, in.filled(-0.0)}; }),
      one(
          rows::Reverse, kFloats, "along other axes",
          [](const Inputs& in) { return Vals{ops::reverse(in.x, axes({0}))}; },
          make_attr(ops::ReverseAttrs{{1}})),
      one(
          rows::ShardingConstraint, kFloats, "over another axis",
          [](const Inputs& in) {
            return Vals{Builder::current().emit(rows::ShardingConstraint, rows_over("y"), {in.x})};
          },
          rows_over("x")),
  };
  // A reduction rounds once, the fold at each step; and from another start it is another sum.
  for (DType t : {DType::bf16, DType::f16}) {
    r.push_back({"reduce/add rounds at each step",
                 rows::Reduce,
                 [](DType u) { return fold({1}, u, rows::Add); },
                 [](const Inputs& in) { return Vals{in.x, in.number(0)}; },
                 {t}});
  }
  r.push_back({"reduce/add from 1",
               rows::Reduce,
               [](DType t) { return fold({1}, t, rows::Add); },
               [](const Inputs& in) { return Vals{in.x, in.number(1)}; },
               {DType::f64, DType::i32}});
  return r;
}

/// Values at the edges of the type, eight of them; `shift` moves them along.
HostArray edges(DType t, std::size_t shift) {
  using Limits = std::numeric_limits<double>;
  const std::vector<double> floats{
      -0.0, Limits::quiet_NaN(), Limits::infinity(), 1.5, 0.0, -Limits::infinity(), 1e-310, -3.25};
  const std::vector<double> calm{-0.0, 2.5, -0.0, 0.1, 0.0, -7, 3, -0.0};
  const std::vector<double> ints{0, 1, -1, 127, -128, 3, 2, 100};
  HostArray a = HostArray::uninitialized(t, {2, 4});
  dispatch(t, [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(a.mutable_data());
    for (std::size_t k = 0; k < 8; ++k) {
      const auto& from = !is_float(t) ? ints : shift >= 8 ? calm : floats;
      out[k] = ops::convert_element<T>(from[(k + shift) % 8]);
    }
  });
  return a;
}

/// The node as it is written, and what the builder makes of it.
struct Both {
  ir::GraphRef graph;
  bool fired;
};
Both both(const Rewrite& c, DType t) {
  const AttrRef attr = c.attr(t);
  Builder b;
  const std::vector<Dim> shape{Dim(2), Dim(4)};
  const Inputs in{b.param(Type::get(t, shape)), b.param(Type::get(DType::boolean, shape)),
                  b.param(Type::scalar(DType::i32))};
  const Vals operands = c.operands(in);
  const Val made = b.emit(c.op, attr, operands);
  const Type type = made.type();
  const Val written = b.append(c.op, attr, operands, std::span(&type, 1))[0];
  bool same = b.op_of(made) == &c.op;
  for (std::size_t k = 0; same && k < operands.size(); ++k)
    same = b.operand_of(made, k) == operands[k];
  return {b.build(Vals{written, made}), !same};
}

TEST(Rewrites, GiveTheSameBits) {
  for (const Rewrite& c : rewrites()) {
    for (DType t : c.dtypes) {
      SCOPED_TRACE(c.name + " " + std::string(name(t)));
      const Both g = both(c, t);
      EXPECT_TRUE(g.fired);
      for (std::size_t shift = 0; shift < 16; ++shift) {
        HostArray p = edges(DType::boolean, shift);
        const auto r = interp::run(
            *g.graph,
            {edges(t, shift), p, HostArray::scalar<std::int32_t>(shift % 3 == 0 ? -5 : 5)});
        EXPECT_EQ(ops::testing::difference(r[0], r[1]), "") << "of " << to_string(edges(t, shift));
      }
    }
  }
}

TEST(Rewrites, NearMissesStayAsWritten) {
  for (const Rewrite& c : near_misses()) {
    for (DType t : c.dtypes) {
      SCOPED_TRACE(c.name + " " + std::string(name(t)));
      EXPECT_FALSE(both(c, t).fired);
    }
  }
}

TEST(Rewrites, EveryOpThatRewritesHasOne) {
  std::set<std::string_view> seen;
  for (const Rewrite& c : rewrites()) seen.insert(c.op.name);
  for (const OpDef* op : ops::table()) {
    EXPECT_TRUE(!op->simplify || seen.contains(op->name)) << op->name;
  }
}

}  // namespace
}  // namespace tlaloc::testing
