#include "tlaloc/cpu/expr.h"

#include <gtest/gtest.h>

#include <array>

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Symbol;
using ir::Type;

Type f64(std::initializer_list<Dim> shape) { return Type::get(DType::f64, shape); }
const Affine& at(const Value& v) { return v.expr->at; }

TEST(Views, OnlyTheWholeDenseContentIsAStorage) {
  const Value v = dense_value(f64({3, 4}), 7);
  EXPECT_EQ(whole_storage(v), StorageId{7});
  const std::array<std::int64_t, 2> swap{1, 0};
  EXPECT_FALSE(whole_storage(*transpose(v, f64({4, 3}), swap)));
  EXPECT_FALSE(whole_storage(*row(v, 1)));
}
TEST(Views, TransposedTwiceIsTheSame) {
  const Value v = dense_value(f64({3, 4}), 0);
  const std::array<std::int64_t, 2> swap{1, 0};
  const Value t = *transpose(v, f64({4, 3}), swap);
  EXPECT_EQ(at(t).strides, (std::vector<Dim>{1, 4}));
  EXPECT_EQ(at(*transpose(t, f64({3, 4}), swap)), at(v));
}
TEST(Views, ReversedFromTheEnd) {
  const Value v = dense_value(f64({5}), 0);
  const std::array<std::int64_t, 1> axis{0};
  const Value r = *reverse(v, f64({5}), axis);
  EXPECT_EQ(at(r).offset, Dim(4));
  EXPECT_EQ(at(r).strides[0], Dim(-1));
}
TEST(Views, SlicesStepByStrides) {
  const Value v = dense_value(f64({10, 6}), 0);
  const std::array<Dim, 2> start{2, 1}, strides{3, 2};
  const Value s = *slice(v, f64({3, 2}), start, strides);
  EXPECT_EQ(at(s).offset, Dim(13));
  EXPECT_EQ(at(s).strides, (std::vector<Dim>{18, 2}));
}
TEST(Views, BroadcastsStandStill) {
  const Value v = dense_value(f64({1, 4}), 0);
  const std::array<std::int64_t, 2> axes{1, 2};
  const Value b = *broadcast(v, f64({7, 5, 4}), axes);
  EXPECT_EQ(at(b).strides, (std::vector<Dim>{0, 0, 1}));
}
TEST(Views, ReshapesMergeAndSplitAxes) {
  const Dim n = Symbol::fresh("n");
  const Value v = dense_value(f64({n, 3, 4}), 0);
  EXPECT_EQ(at(*reshape(v, f64({n, 12}))).strides, (std::vector<Dim>{12, 1}));
  EXPECT_EQ(at(*reshape(v, f64({n, 3, 1, 2, 2}))).strides, (std::vector<Dim>{12, 4, 4, 2, 1}));
  // Sizes whose equality is not seen: all is dense, so it does not matter.
  const Dim m = Symbol::fresh("m");
  EXPECT_EQ(at(*reshape(v, f64({m}))).strides, (std::vector<Dim>{1}));
}
TEST(Views, ReshapesOfViewsKeepTheirStridesOrGiveUp) {
  const Value v = dense_value(f64({4, 6}), 0);
  const std::array<std::int64_t, 2> swap{1, 0};
  const Value t = *transpose(v, f64({6, 4}), swap);
  EXPECT_FALSE(reshape(t, f64({24}))) << "the elements would have to move";
  const Value split = *reshape(t, f64({2, 3, 4, 1}));
  EXPECT_EQ(at(split).strides, (std::vector<Dim>{3, 1, 6, 0}));
  // A row of a larger array stays one.
  const Value part = *row(v, 2);
  EXPECT_EQ(at(*reshape(part, f64({3, 2}))), (Affine{12, {2, 1}}));
}

}  // namespace
}  // namespace tlaloc::cpu
