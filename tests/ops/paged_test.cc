// Attention over pages as its body has it, and storing to pages, on the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/ops/paged_problem.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {
namespace {

using ::testing::HasSubstr;

Type f32(std::initializer_list<Dim> shape) { return Type::get(DType::f32, shape); }
Type i32(std::initializer_list<Dim> shape) { return Type::get(DType::i32, shape); }
HostArray ids(std::vector<std::int32_t> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return HostArray::from<std::int32_t>(values, {n});
}
std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(PagedAttention, IsWhatLoopsFind) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 60 && !HasFailure(); ++k) {
    const PagedProblem p = random_paged_problem(random);
    expect_paged(p, interp::run(*p.graph(k % 2 == 0), p.args())[0]);
  }
}

TEST(PagedAttention, IsDenseAttentionOfWhatThePagesHold) {
  std::mt19937_64 random(2);
  for (const double cap : {0.0, 2.0}) {
    for (const std::int64_t window : {0, 5}) {
      PagedProblem p{.heads = 4, .kv_heads = 2, .width = 8, .value_width = 6, .page = 5};
      p.params = {.scale = 0.4, .window = window, .soft_cap = cap};
      p.lengths = {23};
      for (std::int64_t i = 0; i < 23; ++i) p.tokens.push_back({0, i});
      p.fill(random);
      const auto dense = [&](Val pool, Val table) {
        const Val rows = ops::take(pool, table, 0);
        const Val all = ops::reshape(rows, {{25, 2, pool.dim(3)}});
        const std::int64_t heads_first[] = {1, 0, 2};
        return ops::slice_axis(ops::transpose(all, heads_first), 1, 0, 23);
      };
      const GraphRef g = graph_of(
          {f32({23, 4, 8}), p.graph(true)->param_types()[1], p.graph(true)->param_types()[2],
           i32({1, 5})},
          [&](const Vals& in) -> Vals {
            const std::int64_t heads_first[] = {1, 0, 2};
            const Val table = ops::reshape(in[3], {{5}});
            const Val y = ops::attention(
                ops::transpose(in[0], heads_first), dense(in[1], table), dense(in[2], table), {},
                {.causal = true, .scale = 0.4, .window = window, .soft_cap = cap});
            return {ops::transpose(y, heads_first)};
          });
      const HostArray want = interp::run(*g, {p.q, p.keys, p.values, p.tables})[0];
      const HostArray got = interp::run(*p.graph(true), p.args())[0];
      for (std::int64_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(got.element(i), want.element(i), 2e-6) << p.text();
      }
    }
  }
}

TEST(PagedAttention, NumbersOutOfRangeAreTheNearest) {
  std::mt19937_64 random(3);
  PagedProblem p{.lengths = {7, 9}};
  p.tokens = {{-3, 6}, {50, 8}, {0, 1 << 30}};
  p.fill(random);
  // The last position is behind all columns: it sees three pages, the last of which is none.
  p.keys = drawn_floats(random, DType::f32, p.keys.extents());
  p.values = drawn_floats(random, DType::f32, p.values.extents());
  expect_paged(p, interp::run(*p.graph(false), p.args())[0]);
}

TEST(PagedAttention, WithoutTokensSequencesOrPages) {
  std::mt19937_64 random(4);
  PagedProblem p{.lengths = {3}};
  p.fill(random);
  for (const bool known : {false, true}) {
    EXPECT_EQ(interp::run(*p.graph(known), p.args())[0].extents(), (Extents{0, 1, 4}));
  }
  p.use({{0, -1}, {0, -100}}, random);
  for (const bool known : {false, true}) {
    const HostArray result = interp::run(*p.graph(known), p.args())[0];
    for (const float x : result.as<float>()) EXPECT_EQ(x, 0);
  }
}

/// Known to be none, or found to be none by the run.
TEST(PagedAttention, OfNothingIsZeros) {
  std::mt19937_64 random(8);
  const HostArray q = drawn_floats(random, DType::f32, {2, 2, 4});
  struct Sizes {
    std::int64_t pages, page, sequences, columns;
  };
  for (const Sizes s : {Sizes{0, 3, 2, 2}, {4, 0, 2, 2}, {4, 3, 0, 2}, {4, 3, 2, 0}}) {
    const HostArray pool(DType::f32, {s.pages, s.page, 1, 4}),
        tables(DType::i32, {s.sequences, s.columns});
    for (const bool known : {false, true}) {
      const auto dim = [&](std::int64_t n) { return known ? Dim(n) : Dim(Symbol::fresh("n")); };
      const Dim pages = dim(s.pages), page = dim(s.page);
      const GraphRef g =
          graph_of({f32({2, 2, 4}), f32({pages, page, 1, 4}), f32({pages, page, 1, 4}), i32({2}),
                    i32({2}), i32({dim(s.sequences), dim(s.columns)})},
                   [](const Vals& p) -> Vals {
                     return {ops::paged_attention(p[0], p[1], p[2], p[3], p[4], p[5], {})};
                   });
      const HostArray y = interp::run(*g, {q, pool, pool, ids({3, 0}), ids({0, 1}), tables})[0];
      EXPECT_EQ(y.extents(), (Extents{2, 2, 4}));
      for (const float x : y.as<float>()) EXPECT_EQ(x, 0) << s.pages << s.page << s.columns;
    }
  }
}

TEST(PagedAttention, HasNoDerivative) {
  std::mt19937_64 random(5);
  PagedProblem p{.lengths = {3}, .tokens = {{0, 2}}};
  p.fill(random);
  const GraphRef g = p.graph(true);
  for (std::size_t k = 0; k < 3; ++k) {
    transform::Mask active(6, false);
    active[k] = true;
    EXPECT_THAT(refusal([&] { transform::jvp(g, active); }),
                HasSubstr("TL-GRAD-003: call: 'paged_attention' is for inference and has no "
                          "derivative"));
  }
}

TEST(PagedAttention, RefusesWhatDoesNotFit) {
  const Type pool = f32({5, 4, 2, 8}), tokens = i32({3}), tables = i32({2, 6});
  const auto message = [&](Type q, Type keys, Type values, Type positions, Type sequences,
                           Type pages, ops::PagedParams params = {}) {
    return refusal([&] {
      graph_of({q, keys, values, positions, sequences, pages}, [&](const Vals& p) -> Vals {
        return {ops::paged_attention(p[0], p[1], p[2], p[3], p[4], p[5], params)};
      });
    });
  };
  const Type q = f32({3, 4, 8});
  EXPECT_EQ(message(q, pool, pool, tokens, tokens, tables), "");
  EXPECT_THAT(message(f64({3, 4, 8}), pool, pool, tokens, tokens, tables),
              HasSubstr("TL-DTYPE-004: paged_attention: q has the type f64[3, 4, 8]: elements are "
                        "f32"));
  EXPECT_THAT(message(q, pool.with_dtype(DType::i32), pool, tokens, tokens, tables),
              HasSubstr("elements are f32, f16, bf16"));
  EXPECT_THAT(message(q, pool, pool.with_dtype(DType::f16), tokens, tokens, tables),
              HasSubstr("values has the type f16[5, 4, 2, 8]: elements are f32"));
  EXPECT_THAT(message(q, pool, pool, i64({3}), tokens, tables), HasSubstr("TL-DTYPE-004"));
  EXPECT_THAT(message(q, pool, pool, tokens, tokens, tokens),
              HasSubstr("TL-RANK-001: paged_attention: tables has the type i32[3]: rank 2 is "
                        "needed"));
  EXPECT_THAT(message(f32({3, 5, 8}), pool, pool, tokens, tokens, tables),
              HasSubstr("the 5 heads of q are not known to be a multiple of the 2 heads of keys"));
  for (const std::string& text : {message(f32({3, 4, 7}), pool, pool, tokens, tokens, tables),
                                  message(q, pool, f32({6, 4, 2, 8}), tokens, tokens, tables),
                                  message(q, pool, f32({5, 3, 2, 8}), tokens, tokens, tables),
                                  message(q, pool, f32({5, 4, 4, 8}), tokens, tokens, tables),
                                  message(q, pool, pool, i32({4}), tokens, tables),
                                  message(q, pool, pool, tokens, i32({4}), tables)}) {
    EXPECT_THAT(text, HasSubstr("TL-SHAPE-001"));
  }
  EXPECT_THAT(message(q, pool, pool, tokens, tokens, tables, {.window = -1}),
              HasSubstr("TL-ATTR-001"));
  EXPECT_THAT(message(q, pool, pool, tokens, tokens, tables, {.soft_cap = std::nan("")}),
              HasSubstr("TL-ATTR-001"));
}

GraphRef store_graph(DType pool) {
  const Dim pages = Symbol::fresh("pages"), tokens = Symbol::fresh("tokens");
  return graph_of({Type::get(pool, {{pages, 3, 2, 4}}), f32({tokens, 2, 4}), i32({tokens})},
                  [](const Vals& p) -> Vals { return {ops::paged_store(p[0], p[1], p[2])}; });
}

TEST(PagedStore, WritesRowsAtSlots) {
  std::mt19937_64 random(6);
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    const HostArray pool = drawn_floats(random, t, {4, 3, 2, 4});
    const HostArray rows = drawn_floats(random, DType::f32, {6, 2, 4});
    // Two for one slot, and three that are none.
    const HostArray slots = ids({7, 0, -1, 7, 11, 12});
    const HostArray got = interp::run(*store_graph(t), {pool, rows, slots})[0];
    const GraphRef rounding =
        graph_of({f32({6, 2, 4})}, [&](const Vals& p) -> Vals { return {ops::convert(p[0], t)}; });
    const HostArray rounded = interp::run(*rounding, {rows})[0];
    for (std::int64_t i = 0; i < pool.size(); ++i) {
      const std::int64_t slot = i / 8;
      const std::int64_t row = slot == 7 ? 3 : slot == 0 ? 1 : slot == 11 ? 4 : -1;
      const double want = row < 0 ? pool.element(i) : rounded.element(row * 8 + i % 8);
      EXPECT_EQ(got.element(i), want) << name(t) << " " << i;
    }
  }
}

TEST(PagedStore, StaysInThePool) {
  HostArray pool(DType::f32, {4, 3, 2, 4});
  const void* memory = pool.data();
  std::mt19937_64 random(7);
  const HostArray rows = drawn_floats(random, DType::f32, {1, 2, 4});
  std::vector<HostArray> args{std::move(pool), rows, ids({5})};
  EXPECT_EQ(interp::run(*store_graph(DType::f32), std::move(args))[0].data(), memory);
}

TEST(PagedStore, RefusesWhatDoesNotFit) {
  const auto message = [](Type pool, Type rows, Type slots) {
    return refusal([&] {
      graph_of({pool, rows, slots},
               [](const Vals& p) -> Vals { return {ops::paged_store(p[0], p[1], p[2])}; });
    });
  };
  const Type pool = Type::get(DType::bf16, {{5, 4, 2, 8}});
  EXPECT_EQ(message(pool, f32({3, 2, 8}), i32({3})), "");
  EXPECT_THAT(message(pool, f32({3, 2, 7}), i32({3})),
              HasSubstr("TL-SHAPE-001: paged_store: the widths of pool and rows"));
  EXPECT_THAT(message(pool, f32({3, 1, 8}), i32({3})), HasSubstr("the heads of pool and rows"));
  EXPECT_THAT(message(pool, f32({3, 2, 8}), i32({4})), HasSubstr("the tokens of rows and slots"));
  EXPECT_THAT(message(pool, f32({3, 2, 8}), i64({3})), HasSubstr("TL-DTYPE-004"));
  EXPECT_THAT(message(f64({5, 4, 2, 8}), f32({3, 2, 8}), i32({3})), HasSubstr("TL-DTYPE-004"));
}

}  // namespace
}  // namespace tlaloc::testing
