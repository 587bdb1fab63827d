// random::permutation along an axis of a typed tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/random.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::permutation_test {
namespace {

using ::testing::ElementsAreArray;

inline constexpr Axis<struct Row> row;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}

// From jax.random.permutation(key(42), arange(15).reshape(3, 5), axis).
constexpr int kRows[]{10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr int kColumns[]{4, 2, 3, 0, 1, 9, 7, 8, 5, 6, 14, 12, 13, 10, 11};

TEST(Permutation, AlongAnyAxisAsJaxHasIt) {
  const Tensor<int, row, 5> x = as<Tensor<int, row, 5>>(reshape<3, 5>(arange<15>()));
  const auto key = random::key(42);
  const auto rows_of = [](random::Key k, Tensor<int, 3, 5> x) { return random::permutation(k, x); };
  const Tensor<int, 3, 5> fixed = reshape<3, 5>(arange<15>());
  EXPECT_THAT(values(rows_of(key, fixed)), ElementsAreArray(kRows));
  EXPECT_THAT(values(random::permutation(key, x, row)), ElementsAreArray(kRows));
  EXPECT_THAT(values(random::permutation<1>(key, x)), ElementsAreArray(kColumns));
  EXPECT_THAT(values(as<Tensor<int, 3, 5>>(random::permutation(key, untyped(x), 1))),
              ElementsAreArray(kColumns));
  EXPECT_EQ(values(jit(rows_of)(key, fixed)), values(rows_of(key, fixed)));
}

TEST(Permutation, MapsOverKeysAndHasDerivatives) {
  const auto f = [](random::Key k, Tensor<double, 4> x) {
    return random::permutation(k, x * x) * Tensor<double, 4>::from({1, 2, 3, 4});
  };
  const auto x = Tensor<double, 4>::from({0.5, -1, 2, 3});
  const auto keys = random::split_axis<3>(random::key(7));
  const auto mapped = vmap<0, unmapped>(f)(keys, x);
  EXPECT_EQ(values(mapped[2]), values(f(keys[2], x)));
  check_grads(f, {}, argnums<1>)(keys[0], x);
}

}  // namespace
}  // namespace tlaloc::permutation_test
