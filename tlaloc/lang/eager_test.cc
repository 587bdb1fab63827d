// Operations at once: what is compiled once is used where it fits, and nowhere else.
#include "tlaloc/lang/eager.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/testing.h"

namespace tlaloc::core::testing {
namespace {

using ::testing::HasSubstr;
using Op = std::function<Ref()>;

const Where kHere = Where::current();

/// Shape and elements.
std::string text(const Ref& x) { return to_string(node(x).array()); }

std::vector<AxisSpec> dims(std::vector<std::int64_t> sizes) {
  std::vector<AxisSpec> r;
  for (std::int64_t n : sizes) r.push_back(dim(n));
  return r;
}

/// Groups of operations that agree in name and operand types and differ in what they do.
std::vector<std::vector<Op>> operations() {
  const Ref x = floats({2, 2}, {1, 2, 4, 3}), y = floats({2, 2}, {5, 1, 7, 8});
  const Ref v = floats({2}, {10, 20}), i = tensor<int>({2}, {1, 0});
  const Ref p = less(v, floats({2}, {15, 15}));
  const auto d22 = dims({2, 2}), d2 = dims({2}), d4 = dims({4}), none = dims({});
  const std::vector<int> both{0, 1}, turned{1, 0}, first{0}, second{1};
  std::vector<std::vector<Op>> r;
  const auto over = [&](auto f) {
    return std::vector<Op>{
        [=] { return f(first, false, d2); }, [=] { return f(second, false, d2); },
        [=] { return f(both, false, none); }, [=] { return f(first, true, dims({1, 2})); },
        [=] { return f(second, true, dims({2, 1})); }};
  };
  r.push_back({[=] { return binary(BinaryOp::sub, x, both, v, first, d22, {}); },
               [=] { return binary(BinaryOp::sub, x, both, v, second, d22, {}); },
               [=] { return binary(BinaryOp::sub, x, turned, v, second, d22, {}); }});
  r.push_back({[=] { return select(p, first, x, both, y, both, d22, {}); },
               [=] { return select(p, second, x, both, y, both, d22, {}); }});
  r.push_back({[=] { return convert(x, DType::i32, d22, {}); },
               [=] { return convert(x, DType::f64, d22, {}); }});
  r.push_back(
      over([=](auto a, bool keep, auto d) { return reduce(ReduceOp::sum, x, a, keep, d, {}); }));
  r.push_back(over([=](auto a, bool keep, auto d) { return mean(x, a, keep, d, {}); }));
  r.push_back(over([=](auto a, bool keep, auto d) { return norm(x, a, keep, d, {}); }));
  r.push_back(over([=](auto a, bool keep, auto d) { return logsumexp(x, a, keep, d, {}); }));
  r.push_back(over([=](auto a, bool keep, auto d) { return variance(x, a, 0, keep, d, {}); }));
  r.push_back({[=] { return variance(x, both, 0, false, none, {}); },
               [=] { return variance(x, both, 1, false, none, {}); }});
  r.push_back(
      {[=] { return transpose(x, both, d22, {}); }, [=] { return transpose(x, turned, d22, {}); }});
  r.push_back({[=] { return reshape(x, std::array{-1}, d4, {}); },
               [=] { return reshape(x, std::array{-1, -1}, dims({1, 4}), {}); },
               [=] { return reshape(x, std::array{-1, -1}, dims({4, 1}), {}); }});
  r.push_back({[=] { return broadcast(v, first, {}, d22, {}); },
               [=] { return broadcast(v, second, {}, d22, {}); },
               [=] { return broadcast(v, second, {}, dims({3, 2}), {}); }});
  for (int axis : {0, 1}) {
    const auto wide = axis == 0 ? dims({4, 2}) : dims({2, 4});
    const auto cut = axis == 0 ? dims({1, 2}) : dims({2, 1});
    if (axis == 0) r.resize(r.size() + 15);
    const std::size_t at = r.size() - 15;
    r[at].push_back([=] { return concat(std::array{x, y}, axis, wide, {}); });
    r[at + 1].push_back([=] { return stack(std::array{v, v}, axis, d22, {}); });
    r[at + 1].push_back([=] { return stack(std::array{x, y}, axis, dims({2, 2, 2}), {}); });
    for (std::size_t part : {0u, 1u}) {
      r[at + 2].push_back([=] {
        std::array<Ref, 2> parts;
        split(x, axis, parts, cut, {});
        return parts[part];
      });
    }
    for (std::int64_t low : {0, 1}) {
      r[at + 3].push_back([=] { return slice(x, axis, low, low + 1, 1, cut, {}); });
    }
    if (axis == 0) r[at + 3].push_back([=] { return slice(x, axis, 0, 2, 1, d22, {}); });
    r[at + 4].push_back([=] { return reverse(x, std::array{axis}, d22, {}); });
    r[at + 5].push_back([=] { return repeat(x, axis, 2, wide, {}); });
    r[at + 5].push_back(
        [=] { return repeat(x, axis, 3, axis == 0 ? dims({6, 2}) : dims({2, 6}), {}); });
    for (bool flag : {false, true}) {
      r[at + 6].push_back([=] { return cumulative(CumulativeOp::sum, x, axis, flag, d22, {}); });
      r[at + 7].push_back([=] { return sort(x, axis, flag, d22, {}); });
      r[at + 8].push_back([=] { return argsort(x, axis, flag, d22, {}); });
    }
    r[at + 9].push_back([=] { return arg_extreme(true, x, axis, true, cut, {}); });
    r[at + 9].push_back([=] { return arg_extreme(true, x, axis, false, d2, {}); });
    r[at + 10].push_back([=] { return take(x, axis, i, d22, {}); });
    r[at + 11].push_back([=] { return softmax(x, axis, d22, {}); });
    r[at + 12].push_back([=] { return log_softmax(x, axis, d22, {}); });
    r[at + 13].push_back([=] { return scatter(ScatterOp::add, x, axis, i, y, d22, {}); });
    r[at + 13].push_back([=] { return scatter(ScatterOp::set, x, axis, i, y, d22, {}); });
    const Ref j = tensor<int>({2, 2}, {1, 0, 1, 1});
    r[at + 14].push_back([=] { return take_along_axis(x, axis, j, d22, {}); });
  }
  r.push_back({[=] { return arg_extreme(true, x, -1, false, none, {}); },
               [=] { return arg_extreme(true, x, -1, true, dims({1, 1}), {}); }});
  const auto padded = [=](std::vector<std::int64_t> low, std::vector<std::int64_t> high,
                          std::vector<std::int64_t> inside) {
    return [=] { return pad(v, low, high, inside, scalar(DType::f32, 0), dims({3}), {}); };
  };
  r.push_back({padded({1}, {0}, {0}), padded({0}, {1}, {0}), padded({0}, {0}, {1})});
  r.push_back({[=] { return tile(x, std::array<std::int64_t, 2>{2, 1}, dims({4, 2}), {}); },
               [=] { return tile(x, std::array<std::int64_t, 2>{1, 2}, dims({2, 4}), {}); }});
  const auto top = [=](std::int64_t k) {
    return [=] {
      Ref best, positions;
      top_k(x, k, best, positions, dims({2, k}), {});
      return best;
    };
  };
  r.push_back({top(1), top(2)});
  r.push_back({[=] { return activation(Activation::leaky_relu, sin(add(x, x)), 0.1, d22, {}); },
               [=] { return activation(Activation::leaky_relu, sin(add(x, x)), 0.2, d22, {}); },
               [=] { return activation(Activation::elu, sin(add(x, x)), 0.2, d22, {}); }});
  r.push_back({[=] { return layer_norm(x, v, {}, 0.1, d22, {}); },
               [=] { return layer_norm(x, {}, v, 0.1, d22, {}); },
               [=] { return layer_norm(x, {}, v, 0.2, d22, {}); }});
  r.push_back(
      {[=] { return rms_norm(x, v, 0.1, d22, {}); }, [=] { return rms_norm(x, v, 0.2, d22, {}); }});
  const Ref wide = floats({1, 4}, {1, 2, 3, 4}), at = floats({1}, {3});
  r.push_back({[=] { return rope(wide, at, 10, false, dims({1, 4}), {}); },
               [=] { return rope(wide, at, 10, true, dims({1, 4}), {}); },
               [=] { return rope(wide, at, 20, true, dims({1, 4}), {}); }});
  const auto product = [=](std::vector<int> a, std::vector<int> b, std::vector<int> out) {
    return [=] {
      const std::array operands{Labeled{&x, a}, Labeled{&y, b}};
      return einsum(operands, out, d22, {});
    };
  };
  r.push_back({product({0, 1}, {1, 2}, {0, 2}), product({0, 1}, {2, 1}, {0, 2}),
               product({0, 1}, {0, 1}, {0, 1}), product({0, 1}, {0, 1}, {1, 0})});
  return r;
}

/// Whether they differ by more than two back ends do.
bool differ(const Ref& a, const Ref& b) {
  const HostArray &x = node(a).array(), &y = node(b).array();
  if (x.dtype() != y.dtype() || x.extents() != y.extents()) return true;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double u = x.element(i), v = y.element(i);
    if (std::abs(u - v) > 1e-6 * std::max(1.0, std::abs(v))) return true;
  }
  return false;
}

TEST(Eager, EqualTypesAreNotEnough) {
  for (const std::vector<Op>& group : operations()) {
    std::vector<Ref> expected;
    {
      const check_nan compiles_each_time;
      for (const Op& op : group) expected.push_back(op());
    }
    for (std::size_t k = 1; k < group.size(); ++k) {
      for (std::size_t j = 0; j < k; ++j) {
        EXPECT_TRUE(differ(expected[j], expected[k])) << "a vain case";
      }
    }
    for (int round = 0; round < 2; ++round) {
      for (std::size_t k = 0; k < group.size(); ++k) {
        const Ref got = group[k]();
        EXPECT_FALSE(differ(got, expected[k])) << text(got) << " for " << text(expected[k]);
      }
    }
  }
}

TEST(Eager, OtherTypesAreOtherOperations) {
  const Ref x = floats({2}, {1, 2}), y = doubles({2}, {1, 2}), z = floats({3}, {1, 2, 3});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(text(add(x, x)), "f32[2] {2, 4}");
    EXPECT_EQ(text(add(y, y)), "f64[2] {2, 4}");
    EXPECT_EQ(text(add(z, z)), "f32[3] {2, 4, 6}");
    EXPECT_EQ(text(mul(z, z)), "f32[3] {1, 4, 9}");
  }
}

TEST(Eager, ErrorsNameTheLineOfTheirOwnCall) {
  const Ref zero = number(0), one = number(1);
  core::binary(BinaryOp::div, one, {}, one, {}, {}, Where::current());
  const auto divide = [&](Where where) {
    return error_of([&] { core::binary(BinaryOp::div, zero, {}, zero, {}, {}, where); });
  };
  EXPECT_EQ(divide(kHere), "no error");
  const check_nan on;
  const Where here = Where::current();
  EXPECT_THAT(divide(kHere), HasSubstr("eager_test.cc:" + std::to_string(kHere.line())));
  EXPECT_THAT(divide(here), HasSubstr("eager_test.cc:" + std::to_string(here.line())));
}

TEST(Eager, ThreadsShareWhatIsCompiled) {
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&results, t] {
      Ref x = floats({4}, {1, 1, 1, 1});
      for (int i = 0; i < 200; ++i) x = sin(add(x, x));
      results[t] = text(x);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& r : results) EXPECT_EQ(r, results[0]);
}

TEST(Eager, TheNumberKeptIsBounded) {
  ir::Builder b;
  const ir::Vals none;
  const ir::GraphRef g = b.build(none);
  const EagerRun run =
      std::make_shared<const Eager>(Eager{g, interp::interp_backend().compile(g)->bind({})});
  const char* const name = "test";
  int kept = 0;
  for (int i = 0; i < 10000; ++i) remember_compiled({name, nullptr, Variant::of(i), {}}, run);
  for (int i = 0; i < 10000; ++i) {
    kept += find_compiled({name, nullptr, Variant::of(i), {}}) != nullptr;
  }
  EXPECT_LE(kept, 512);
  EXPECT_GT(kept, 0);
  EXPECT_NE(find_compiled({name, nullptr, Variant::of(9999), {}}), nullptr);
  EXPECT_EQ(find_compiled({name, &name, Variant::of(9999), {}}), nullptr) << "other code";
  EXPECT_EQ(find_compiled({name, nullptr, Variant::of(9999, 0), {}}), nullptr);
  const std::vector<int> long_list(30);
  EXPECT_FALSE(Variant::of(long_list).known());
}

}  // namespace
}  // namespace tlaloc::core::testing
