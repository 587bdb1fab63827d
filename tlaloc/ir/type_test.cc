#include "tlaloc/ir/type.h"

#include <gtest/gtest.h>

#include <thread>

namespace tlaloc::ir {
namespace {

TEST(Type, EqualTypesAreOneWord) {
  const Symbol n = Symbol::fresh("n");
  const Type a = Type::get(DType::f32, {n, 4}), b = Type::get(DType::f32, {n, 4});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a, Type::get(DType::f64, {n, 4}));
  EXPECT_NE(a, Type::get(DType::f32, {4, n}));
  EXPECT_NE(a, Type::get(DType::f32, a.shape(), find_encoding("q8_0")));
  EXPECT_EQ(Type::scalar(DType::i64).rank(), 0);
  EXPECT_FALSE(Type());
}

TEST(Type, ShapesChange) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const Type t = Type::get(DType::f32, {n, 4});
  EXPECT_EQ(t.elements(), 4 * Dim(n));
  EXPECT_EQ(Type::scalar(DType::f32).elements(), Dim(1));
  EXPECT_TRUE(t.has_symbols());
  EXPECT_FALSE(Type::get(DType::f32, {2}).has_symbols());
  EXPECT_EQ(t.with_leading(m), Type::get(DType::f32, {m, n, 4}));
  EXPECT_EQ(t.without_leading(), Type::get(DType::f32, {4}));
  EXPECT_EQ(t.with_dtype(DType::i8), Type::get(DType::i8, {n, 4}));
  DimMap map;
  map.set(n, 2 * Dim(m));
  EXPECT_EQ(t.substitute(map), Type::get(DType::f32, {2 * Dim(m), 4}));
  EXPECT_EQ(t.substitute({}), t);
}

TEST(Type, AnEncodingLiesAlongTheLastAxis) {
  const Encoding* q = find_encoding("q4_0");
  ASSERT_TRUE(q);
  EXPECT_EQ(find_encoding("q4"), nullptr);
  const std::vector<Dim> shape{8, 32};
  const Type t = Type::get(DType::f32, shape, q);
  EXPECT_EQ(t.with_leading(2).encoding(), q);
  EXPECT_EQ(t.without_leading().encoding(), q);
  EXPECT_EQ(t.without_leading().without_leading().encoding(), nullptr);
  EXPECT_EQ(t.with_shape(shape).encoding(), nullptr);
  EXPECT_EQ(t.to_string(), "f32:q4_0[8, 32]");
}

TEST(Type, EqualityHasThreeAnswers) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const Type t = Type::get(DType::f32, {n, 4});
  EXPECT_EQ(equal(t, t), Truth::yes);
  EXPECT_EQ(equal(t, Type::get(DType::f32, {m, 4})), Truth::unknown);
  EXPECT_EQ(equal(t, Type::get(DType::f32, {m, 5})), Truth::no);
  EXPECT_EQ(equal(t, Type::get(DType::f32, {Dim(n) + 1, 4})), Truth::no);
  EXPECT_EQ(equal(t, Type::get(DType::f16, {n, 4})), Truth::no);
  EXPECT_EQ(equal(t, Type::get(DType::f32, {n})), Truth::no);
  EXPECT_EQ(equal(t, Type::get(DType::f32, t.shape(), find_encoding("q8_0"))), Truth::no);
}

TEST(Type, TheSameFromEveryThread) {
  const Symbol n = Symbol::fresh("n");
  std::vector<std::vector<Type>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i)
        mine.push_back(Type::get(DType::f32, {Dim(n) + i % 301, i % 7}));
    });
  }
  for (auto& t : threads) t.join();
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace tlaloc::ir
