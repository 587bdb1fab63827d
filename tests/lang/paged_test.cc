// Keys and values in pages through the untyped API: decoding against attention over everything, in
// pools that stay where they are.
#include "tlaloc/lang/paged.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/tlaloc.h"

namespace {

using ::testing::AllOf;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr int kTokens = 11, kHeads = 4, kShared = 2, kWidth = 8, kPage = 4, kPages = 5;

tl::Array ints(std::vector<int> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return tl::Array::from<int>(values, {n});
}
template <class T, int Heads>
tl::Array rows(const tl::Tensor<T, kTokens, Heads, kWidth>& x, int from, int to) {
  const std::span<const T> all = x.data();
  const auto row = static_cast<std::size_t>(Heads * kWidth);
  const auto first = static_cast<std::size_t>(from), last = static_cast<std::size_t>(to);
  return tl::Array::from<T>(all.subspan(first * row, (last - first) * row),
                            {to - from, Heads, kWidth});
}

struct Pools {
  tl::Array keys, values;
};
struct Step {
  Pools pools;
  tl::Array out;
};
/// A pool of what must not come out.
tl::Array pool() {
  return tl::Array(tl::full<float, kPages, kPage, kShared, kWidth>(std::nanf("")).ref());
}

/// A prompt, then a token at a time, in pools that stay where they are.
TEST(Paged, DecodingIsCausalAttention) {
  const auto q = tl::random::normal<float, kTokens, kHeads, kWidth>(tl::random::key(1));
  const auto k = tl::random::normal<float, kTokens, kShared, kWidth>(tl::random::key(2));
  const auto v = tl::random::normal<float, kTokens, kShared, kWidth>(tl::random::key(3));
  const auto heads_first = [](const auto& x) { return tl::transpose<1, 0, 2>(x); };
  const auto want = tl::to_vector(heads_first(tl::attention(
      heads_first(q), heads_first(k), heads_first(v), {.causal = true, .window = 6})));

  const auto step = tl::jit([](Pools p, tl::Array q, tl::Array k, tl::Array v, tl::Array positions,
                               tl::Array slots, tl::Array tables) {
    p.keys = tl::paged_store(p.keys, k, slots);
    p.values = tl::paged_store(p.values, v, slots);
    const tl::Array out =
        tl::paged_attention(q, p.keys, p.values, positions, positions * 0, tables, {.window = 6});
    return Step{p, out};
  });
  const std::vector<int> table{3, 0, 4};
  Pools pools{pool(), pool()};
  const void *keys = tlaloc::core::data(pools.keys.ref(), {}),
             *values = tlaloc::core::data(pools.values.ref(), {});
  std::vector<float> got;
  for (int from = 0, to = 5; from < kTokens; from = to++) {
    std::vector<int> positions, slots;
    for (int p = from; p < to; ++p) {
      positions.push_back(p);
      slots.push_back(table[static_cast<std::size_t>(p / kPage)] * kPage + p % kPage);
    }
    Step next = step(std::move(pools), rows(q, from, to), rows(k, from, to), rows(v, from, to),
                     ints(positions), ints(slots), tl::Array::from<int>(table, {1, 3}));
    pools = std::move(next.pools);
    EXPECT_EQ(tlaloc::core::data(pools.keys.ref(), {}), keys);
    EXPECT_EQ(tlaloc::core::data(pools.values.ref(), {}), values);
    const auto* out = static_cast<const float*>(tlaloc::core::data(next.out.ref(), {}));
    got.insert(got.end(), out, out + (to - from) * kHeads * kWidth);
  }
  EXPECT_THAT(got, Pointwise(FloatNear(1e-5f), want));
}

TEST(Paged, MistakesNameTheOperationAndTheLine) {
  const tl::Array q(tl::ones<float, 2, kHeads, kWidth>().ref()), pages = pool();
  const tl::Array places = ints({0, 1}), table = tl::Array::from<int>(std::vector{0, 1}, {1, 2});
  EXPECT_EQ(tl::paged_attention(q, pages, pages, places, places, table).rank(), 3);
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const tl::Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message([&] { tl::paged_attention(q, pages, pages, places, places, places); }),
              AllOf(HasSubstr("TL-RANK-001: paged_attention: tables has the type i32[2]"),
                    HasSubstr("paged_test.cc")));
  EXPECT_THAT(message([&] { tl::paged_store(pages, q, places); }),
              AllOf(HasSubstr("TL-SHAPE-001: paged_store: the heads of pool and rows"),
                    HasSubstr("paged_test.cc")));
  const auto loss = [&](tl::Array x) {
    return tl::sum(tl::as<tl::Tensor<float, 2, kHeads, kWidth>>(
        tl::paged_attention(x, pages, pages, places, places, table)));
  };
  EXPECT_THAT(message([&] { tl::grad(loss)(q); }),
              AllOf(HasSubstr("TL-GRAD-003"), HasSubstr("'paged_attention' is for inference")));
}

}  // namespace
