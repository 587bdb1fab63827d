// Contraction, joining, cutting, indexing and creation on core values.
#include "tlaloc/lang/core_index.h"

#include <array>
#include <limits>
#include <utility>

#include "tlaloc/lang/testing.h"

namespace tlaloc::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Where kHere = Where::current();
const std::vector<AxisSpec> kAny1{AxisSpec{}}, kAny2{AxisSpec{}, AxisSpec{}};

Ref ints(std::vector<std::int64_t> extents, std::vector<std::int32_t> values) {
  return tensor<std::int32_t>(std::move(extents), std::move(values));
}
const Ref& matrix() {
  static const Ref m = doubles({2, 3}, {1, 2, 3, 4, 5, 6});
  return m;
}

Ref einsum2(const Ref& a, std::vector<int> la, const Ref& b, std::vector<int> lb,
            std::vector<int> result) {
  const std::array operands{Labeled{&a, la}, Labeled{&b, lb}};
  return einsum(operands, result, std::vector<AxisSpec>(result.size()), kHere);
}

TEST(Einsum, ContractsBatchesAndPermutes) {
  const Ref v = doubles({3}, {1, 0, -1});
  EXPECT_THAT(values(einsum2(matrix(), {0, 1}, v, {1}, {0})), ElementsAre(-2, -2));
  // Outer product, transposed.
  EXPECT_THAT(values(einsum2(doubles({2}, {1, 2}), {0}, v, {1}, {1, 0})),
              ElementsAre(1, 2, 0, 0, -1, -2));
  // A shared axis that stays.
  EXPECT_THAT(values(einsum2(matrix(), {0, 1}, v, {1}, {1, 0})), ElementsAre(1, 4, 0, 0, -3, -6));
  // An axis that only one operand has and the result lacks.
  EXPECT_THAT(values(einsum2(matrix(), {0, 1}, doubles({2}, {1, 1}), {2}, {0})),
              ElementsAre(12, 30));
  // The trace of a square, and the diagonal.
  const Ref square = doubles({2, 2}, {1, 2, 3, 4});
  const std::vector<int> twice{0, 0}, none, one{0};
  const std::array operand{Labeled{&square, twice}};
  EXPECT_EQ(value(einsum(operand, none, {}, kHere)), 5);
  EXPECT_THAT(values(einsum(operand, one, kAny1, kHere)), ElementsAre(1, 4));
  EXPECT_THAT(error_of([&] { einsum2(matrix(), {0, 1}, square, {1, 2}, {0, 2}); }),
              HasSubstr("TL-SHAPE-003: einsum: 3 meets 2: f64[2, 3] and f64[2, 2]"));
}

TEST(Joining, ConcatStackSplit) {
  const std::array parts{matrix(), matrix()};
  EXPECT_EQ(values(concat(parts, 0, {}, kHere)).size(), 12u);
  EXPECT_EQ(extent(concat(parts, 1, {}, kHere), 1, kHere), 6);
  EXPECT_EQ(extent(stack(parts, 2, {}, kHere), 2, kHere), 2);
  std::array<Ref, 3> columns;
  split(matrix(), 1, columns, {}, kHere);
  EXPECT_THAT(values(columns[1]), ElementsAre(2, 5));
  std::array<Ref, 2> halves;
  EXPECT_THAT(error_of([&] { split(matrix(), 1, halves, {}, kHere); }),
              HasSubstr("TL-SHAPE-008: split: axis 1 of f64[2, 3] does not divide into 2"));
  const std::array odd{matrix(), doubles({1, 2}, {1, 2})};
  EXPECT_THAT(error_of([&] { concat(odd, 0, {}, kHere); }), HasSubstr("TL-SHAPE-006: concat: 3"));
  EXPECT_THAT(error_of([&] { concat({}, 0, {}, kHere); }), HasSubstr("TL-SHAPE-006"));
}

TEST(Cutting, SliceReverseTileRepeatPadRoll) {
  EXPECT_THAT(values(slice(matrix(), 1, 1, 3, 1, {}, kHere)), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(values(slice(matrix(), 1, -3, -1, 1, {}, kHere)), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(values(slice(matrix(), 1, 0, 3, 2, {}, kHere)), ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(error_of([] { slice(matrix(), 1, 0, 4, 1, {}, kHere); }),
              HasSubstr("TL-SHAPE-007: slice: elements 0 to 4 of axis 1 of f64[2, 3]"));
  EXPECT_THAT(values(reverse(matrix(), std::array{1}, {}, kHere)), ElementsAre(3, 2, 1, 6, 5, 4));
  const Ref v = doubles({2}, {1, 2});
  EXPECT_THAT(values(tile(v, std::array{std::int64_t{2}}, {}, kHere)), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(values(repeat(v, 0, 2, {}, kHere)), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(values(pad(v, std::array{std::int64_t{1}}, std::array{std::int64_t{0}},
                         std::array{std::int64_t{1}}, number(9), {}, kHere)),
              ElementsAre(9, 1, 9, 2));
  const Ref w = doubles({3}, {1, 2, 3});
  EXPECT_THAT(values(roll(w, scalar_int(DType::i32, 1), 0, {}, kHere)), ElementsAre(3, 1, 2));
  EXPECT_THAT(values(roll(w, scalar_int(DType::i32, -4), 0, {}, kHere)), ElementsAre(2, 3, 1));
  // numpy.roll(w, -2**63)
  const Ref lowest = scalar_int(DType::i64, std::numeric_limits<std::int64_t>::min());
  EXPECT_THAT(values(roll(w, lowest, 0, {}, kHere)), ElementsAre(3, 1, 2));
}

TEST(Indexing, TakeWrapsAndChecks) {
  EXPECT_THAT(values(take(matrix(), 1, ints({2}, {2, -3}), kAny2, kHere)), ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(values(take(matrix(), 0, ints({}, {1}), kAny1, kHere)), ElementsAre(4, 5, 6));
  EXPECT_THAT(error_of([] { take(matrix(), 1, ints({1}, {3}), kAny2, kHere); }),
              HasSubstr("TL-INDEX-001: take: index 3 is out of range for axis 1 of f64[2, 3]; "
                        "valid are -3 to 2"));
  EXPECT_THAT(values(take_along_axis(matrix(), 1, ints({2, 1}, {2, 0}), kAny2, kHere)),
              ElementsAre(3, 4));
  EXPECT_THAT(values(scatter(ScatterOp::add, doubles({3}, {0, 0, 0}), 0, ints({3}, {1, 1, -1}),
                             doubles({3}, {1, 2, 4}), {}, kHere)),
              ElementsAre(0, 3, 4));
}

TEST(Indexing, NothingIsTakenFromNothing) {
  const Ref none = doubles({0}, {});
  EXPECT_THAT(values(take(none, 0, ints({0}, {}), kAny1, kHere)), ElementsAre());
  EXPECT_THAT(error_of([&] { take(none, 0, ints({1}, {0}), kAny1, kHere); }),
              HasSubstr("TL-INDEX-001"));
  const Fn taken([](const auto& x) { return std::vector{sum(take(x[0], 0, x[1], kAny1, kHere))}; });
  EXPECT_THAT(values(grad(taken, {none, ints({0}, {})})), ElementsAre());
  EXPECT_THAT(error_of([&] { grad(taken, {none, ints({1}, {0})}); }),
              HasSubstr("window size on axis 0: 1 is not at most 0"));
  const std::array axes{kBatch};
  const Fn rolled([&](const auto& x) {
    return std::vector{roll(x[0], scalar_int(DType::i32, 1), 0, axes, kHere)};
  });
  JitCache cache;
  for (const auto& [x, expected] : {std::pair(none, std::vector<double>()),
                                    std::pair(doubles({2}, {1, 2}), std::vector<double>{2, 1})}) {
    Leaves in;
    in.argument();
    in.add(x, DType::f64, axes);
    EXPECT_EQ(values(jit(cache, rolled, in, kHere)[0]), expected);
  }
  EXPECT_EQ(cache.traces(), 1);
}

TEST(Indexing, OutOfRangeInATrace) {
  // Of JAX 0.10: take fills, and so do its integers and its gradient; scatter_add drops. x[i] reads
  // the nearest element, which gets the gradient here.
  const Ref w = doubles({3}, {1, 2, 3}), at = ints({4}, {7, -1, -3, -4});
  const auto traced = [](auto f, const std::vector<Ref>& on) {
    JitCache cache;
    return jit(cache, Fn([&](const auto& x) { return std::vector<Ref>{f(x)}; }), args(on),
               kHere)[0];
  };
  const auto filled = [](const auto& x) { return take(x[0], 0, x[1], kAny1, kHere); };
  const auto nearest = [](const auto& x) {
    return take(x[0], 0, x[1], kAny1, kHere, Outside::nearest);
  };
  const auto along = [](const auto& x) { return take_along_axis(x[0], 0, x[1], kAny1, kHere); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using ::testing::NanSensitiveDoubleEq;
  const auto like = ElementsAre(NanSensitiveDoubleEq(nan), 3, 1, NanSensitiveDoubleEq(nan));
  EXPECT_THAT(values(traced(filled, {w, at})), like);
  EXPECT_THAT(values(traced(along, {w, at})), like);
  EXPECT_THAT(values(traced(nearest, {w, at})), ElementsAre(3, 3, 1, 1));
  EXPECT_THAT(values<std::int32_t>(traced(filled, {ints({2}, {5, 6}), ints({2}, {2, 0})})),
              ElementsAre(std::numeric_limits<std::int32_t>::min(), 5));
  const Fn sum_filled([&](const auto& x) { return std::vector{sum(filled(x))}; });
  const Fn sum_nearest([&](const auto& x) { return std::vector{sum(nearest(x))}; });
  EXPECT_THAT(values(grad(sum_filled, {w, at})), ElementsAre(1, 0, 1));
  EXPECT_THAT(values(grad(sum_nearest, {w, at})), ElementsAre(2, 0, 2));

  const auto added = [](const auto& x) {
    return scatter(ScatterOp::add, x[0], 0, x[1], x[2], {}, kHere);
  };
  const Ref u = doubles({4}, {10, 20, 40, 80});
  EXPECT_THAT(values(traced(added, {w, at, u})), ElementsAre(41, 2, 23));
  const Fn of_updates([&](const auto& x) {
    return std::vector{sum(mul(added(std::array{x[1], x[2], x[0]}), x[1]))};
  });
  EXPECT_THAT(values(grad(of_updates, {u, w, at})), ElementsAre(0, 3, 1, 0));
}

TEST(Indexing, OneHotAndWindows) {
  const std::array axes{AxisSpec{}, dim(3)};
  EXPECT_THAT(values(one_hot(ints({3}, {2, 5, -1}), DType::f64, axes, kHere)),
              ElementsAre(0, 0, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(
      values(dynamic_slice(doubles({4}, {1, 2, 3, 4}), 0, scalar_int(DType::i32, 9), 2, {}, kHere)),
      ElementsAre(3, 4));
  const std::array starts{scalar_int(DType::i32, 1), scalar_int(DType::i32, 1)};
  EXPECT_THAT(values(dynamic_update(matrix(), doubles({1, 2}, {8, 9}), starts, {}, kHere)),
              ElementsAre(1, 2, 3, 4, 8, 9));
  EXPECT_EQ(item_int(axis_size(matrix(), 1, kHere), kHere), 3);
}

TEST(Creation, RangesAndDiagonals) {
  const std::array four{dim(4)};
  EXPECT_THAT(values(arange(number(1), number(0.5), {}, four, kHere)), ElementsAre(1, 1.5, 2, 2.5));
  EXPECT_THAT(values(linspace(number(0), number(0.3), four, kHere)).back(), 0.3);
  const std::array square{dim(2), dim(3)};
  EXPECT_THAT(values(eye(DType::f64, 1, {}, square, kHere)), ElementsAre(0, 1, 0, 0, 0, 1));
  EXPECT_THAT(values(triangle(matrix(), false, 0, {}, kHere)), ElementsAre(1, 0, 0, 4, 5, 0));
  EXPECT_THAT(values(triangle(matrix(), true, 0, {}, kHere)), ElementsAre(1, 2, 3, 0, 5, 6));
  EXPECT_THAT(error_of([] { arange(number(0), number(1), {}, kAny1, kHere); }),
              HasSubstr("TL-SHAPE-009: arange: the size of axis 0 is not known"));
  EXPECT_THAT(values(full_like(matrix(), 7, kHere))[5], 7);
}

TEST(Indexing, WorksForSizesThatAreNotKnown) {
  // One trace for every size: indices, windows and ranges in terms of a symbol.
  const Fn f([](const auto& x) {
    const std::array sizes{x[0]};
    const std::array axes{kBatch};
    const Ref positions = arange(number(0), number(1), sizes, axes, kHere);
    const Ref last = take(x[0], 0, scalar_int(DType::i32, -1), {}, kHere);
    return std::vector{sum(mul(x[0], positions)), last,
                       roll(x[0], scalar_int(DType::i32, 1), 0, axes, kHere)};
  });
  JitCache cache;
  const std::array axes{kBatch};
  for (std::int64_t n : {1, 3, 5}) {
    std::vector<double> v;
    double expected = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      v.push_back(static_cast<double>(i + 2));
      expected += static_cast<double>(i * (i + 2));
    }
    Leaves in;
    in.argument();
    in.add(doubles({n}, v), DType::f64, axes);
    const Leaves y = jit(cache, f, in, kHere);
    EXPECT_EQ(value(y[0]), expected);
    EXPECT_EQ(value(y[1]), static_cast<double>(n + 1));
    EXPECT_EQ(values(y[2])[0], static_cast<double>(n + 1));
  }
  EXPECT_EQ(cache.traces(), 1);
}

}  // namespace
}  // namespace tlaloc::core::testing
