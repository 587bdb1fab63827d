#include "tests/ops/paged_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tlaloc::testing {
namespace {

HostArray ints(const std::vector<std::int32_t>& values, Extents extents) {
  return HostArray::from<std::int32_t>(values, std::move(extents));
}
std::size_t usize(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Any value that must not come out.
float stale(std::mt19937_64& random) {
  const float values[] = {std::nanf(""), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 1e4f};
  return values[random() % 4];
}

void set(HostArray& a, std::int64_t i, float value) {
  dispatch(a.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_constructible_v<T, float>) {
      static_cast<T*>(a.mutable_data())[i] = static_cast<T>(value);
    }
  });
}

}  // namespace

HostArray drawn_floats(std::mt19937_64& random, DType t, Extents extents) {
  HostArray a = HostArray::uninitialized(t, std::move(extents));
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < a.size(); ++i) set(a, i, normal(random));
  return a;
}

void PagedProblem::fill(std::mt19937_64& random) {
  std::int64_t used = 0, longest = 0;
  const auto pages_of = [&](std::int64_t length) { return (length + page - 1) / page; };
  for (std::int64_t n : lengths) {
    used += pages_of(n);
    longest = std::max(longest, pages_of(n));
  }
  const std::int64_t pages = used + 1 + static_cast<std::int64_t>(random() % 3);
  std::vector<std::int32_t> order(usize(pages));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);

  const auto pool_of = [&](std::int64_t size) {
    HostArray a = HostArray::uninitialized(pool, {pages, page, kv_heads, size});
    for (std::int64_t i = 0; i < a.size(); ++i) set(a, i, stale(random));
    return a;
  };
  keys = pool_of(width);
  values = pool_of(value_width);
  std::normal_distribution<float> normal;
  const std::int64_t columns = longest + more_columns;
  std::vector<std::int32_t> table;
  std::size_t next = 0;
  for (std::int64_t n : lengths) {
    for (std::int64_t c = 0; c < columns; ++c) {
      if (c >= pages_of(n)) {
        table.push_back(static_cast<std::int32_t>(random()));
        continue;
      }
      table.push_back(order[next++]);
      const std::int64_t first = table.back() * page;
      for (std::int64_t i = 0; i < std::min(page, n - c * page); ++i) {
        for (std::int64_t k = 0; k < kv_heads * width; ++k) {
          set(keys, (first + i) * kv_heads * width + k, normal(random));
        }
        for (std::int64_t k = 0; k < kv_heads * value_width; ++k) {
          set(values, (first + i) * kv_heads * value_width + k, normal(random));
        }
      }
    }
  }
  tables = ints(table, {static_cast<std::int64_t>(lengths.size()), columns});
  use(std::move(tokens), random);
}

void PagedProblem::use(std::vector<Token> others, std::mt19937_64& random) {
  tokens = std::move(others);
  const auto n = static_cast<std::int64_t>(tokens.size());
  q = HostArray::uninitialized(DType::f32, {n, heads, width});
  std::vector<std::int32_t> places, rows;
  float* to = static_cast<float*>(q.mutable_data());
  for (Token& t : tokens) {
    if (t.q.empty_handle()) t.q = drawn_floats(random, DType::f32, {heads, width});
    to = std::ranges::copy(t.q.as<float>(), to).out;
    places.push_back(static_cast<std::int32_t>(t.position));
    rows.push_back(static_cast<std::int32_t>(t.sequence));
  }
  positions = ints(places, {n});
  sequences = ints(rows, {n});
}

GraphRef PagedProblem::graph(bool fixed) const {
  const auto dim = [&](std::int64_t size, const char* name) {
    return fixed ? Dim(size) : Dim(Symbol::fresh(name));
  };
  const Dim t = dim(q.extents()[0], "tokens"), n = dim(keys.extents()[0], "pages");
  const Dim s = dim(tables.extents()[0], "sequences"), c = dim(tables.extents()[1], "columns");
  const auto ids = [](std::initializer_list<Dim> shape) { return Type::get(DType::i32, shape); };
  return graph_of(
      {Type::get(DType::f32, {{t, heads, width}}), Type::get(pool, {{n, page, kv_heads, width}}),
       Type::get(pool, {{n, page, kv_heads, value_width}}), ids({t}), ids({t}), ids({s, c})},
      [&](const Vals& p) -> Vals {
        return {ops::paged_attention(p[0], p[1], p[2], p[3], p[4], p[5], params)};
      });
}

std::vector<double> PagedProblem::expected() const {
  std::vector<double> out;
  const std::int64_t columns = tables.extents()[1], pages = keys.extents()[0];
  const double scale = params.scale != 0 ? params.scale : 1 / std::sqrt(double(width));
  for (std::int64_t t = 0; t < q.extents()[0]; ++t) {
    const std::int64_t position = positions.element_int(t);
    const std::int64_t row =
        std::clamp<std::int64_t>(sequences.element_int(t), 0, tables.extents()[0] - 1);
    const std::int64_t end = std::min(position + 1, columns * page);
    const std::int64_t begin =
        params.window > 0 ? std::max<std::int64_t>(0, position - params.window + 1) : 0;
    for (std::int64_t h = 0; h < heads; ++h) {
      std::vector<double> sum(usize(value_width), 0.0), scores;
      const auto element = [&](const HostArray& a, std::int64_t place, std::int64_t size,
                               std::int64_t i) {
        const std::int64_t in = std::clamp<std::int64_t>(
            tables.element_int(row * columns + place / page), 0, pages - 1);
        const std::int64_t head = h / (heads / kv_heads);
        return a.element(((in * page + place % page) * kv_heads + head) * size + i);
      };
      double greatest = -std::numeric_limits<double>::infinity(), total = 0;
      for (std::int64_t place = begin; place < end; ++place) {
        double s = 0;
        for (std::int64_t i = 0; i < width; ++i) {
          s += q.element((t * heads + h) * width + i) * element(keys, place, width, i);
        }
        s *= scale;
        if (params.soft_cap > 0) s = params.soft_cap * std::tanh(s / params.soft_cap);
        scores.push_back(s);
        greatest = std::max(greatest, s);
      }
      for (std::int64_t place = begin; place < end; ++place) {
        const double p = std::exp(scores[usize(place - begin)] - greatest);
        total += p;
        for (std::int64_t i = 0; i < value_width; ++i) {
          sum[usize(i)] += p * element(values, place, value_width, i);
        }
      }
      for (double x : sum) out.push_back(begin < end ? x / total : 0);
    }
  }
  return out;
}

std::string PagedProblem::text() const {
  std::string s = std::to_string(tokens.size()) + " tokens, " + std::to_string(kv_heads) + " x " +
                  std::to_string(heads / kv_heads) + " heads, widths " + std::to_string(width) +
                  " and " + std::to_string(value_width) + ", pages of " + std::to_string(page) +
                  " " + std::string(name(pool)) + ", lengths";
  for (std::int64_t n : lengths) s += " " + std::to_string(n);
  if (params.window) s += ", window " + std::to_string(params.window);
  if (params.scale != 0) s += ", scale";
  if (params.soft_cap > 0) s += ", soft cap";
  return s;
}

PagedProblem random_paged_problem(std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  PagedProblem p;
  p.kv_heads = one_of({1, 2, 3});
  p.heads = p.kv_heads * one_of({1, 2, 3, 8});
  p.width = one_of({1, 4, 17, 32});
  p.value_width = one_of({1, 5, 16, 33});
  p.page = one_of({1, 3, 16, 32});
  const DType types[] = {DType::f32, DType::f16, DType::bf16};
  p.pool = types[random() % 3];
  p.params.window = one_of({0, 0, 1, 7, 100});
  p.params.scale = random() % 3 == 0 ? 0.3 : 0;
  p.params.soft_cap = random() % 3 == 0 ? 1.5 : 0;
  p.more_columns = one_of({0, 1, 5});
  for (std::int64_t k = one_of({1, 2, 4}); k > 0; --k) p.lengths.push_back(one_of({1, 5, 33, 150}));
  for (std::size_t s = 0; s < p.lengths.size(); ++s) {
    const std::int64_t length = p.lengths[s];
    const std::int64_t count = random() % 2 ? 1 : std::min(length, one_of({2, 9, 40}));
    const auto first = static_cast<std::int64_t>(random() % usize(length - count + 1));
    for (std::int64_t k = 0; k < count; ++k) {
      p.tokens.push_back({static_cast<std::int64_t>(s), first + k});
    }
    if (random() % 3 == 0) p.tokens.push_back({static_cast<std::int64_t>(random() % 9), -1});
  }
  if (random() % 2) std::ranges::shuffle(p.tokens, random);
  p.fill(random);
  return p;
}

void expect_paged(const PagedProblem& p, const HostArray& got) {
  const std::vector<double> want = p.expected();
  ASSERT_EQ(got.extents(), (Extents{p.q.extents()[0], p.heads, p.value_width}));
  double size = 1;
  for (double x : want) size = std::max(size, std::abs(x));
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double x = got.element(static_cast<std::int64_t>(i));
    if (std::abs(x - want[i]) <= 2e-5 * size) continue;
    ADD_FAILURE() << p.text() << ": element " << i << " is " << x << " where " << want[i]
                  << " is expected";
    return;
  }
}

}  // namespace tlaloc::testing
