// The same bits for any number of threads, and many threads that compile and run at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "tests/cpu/random_graphs.h"
#include "tests/transform/program.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using Arrays = std::vector<HostArray>;

/// Threads as the test wants them, and as before behind it.
class Threads : public ::testing::Test {
 protected:
  ~Threads() override {
    cpu::set_num_threads(threads_);
    cpu::set_alone_nanoseconds(alone_);
  }

 private:
  std::int64_t threads_ = cpu::num_threads();
  double alone_ = cpu::alone_nanoseconds();
};

HostArray random_array(DType dtype, Extents extents, std::uint64_t seed) {
  HostArray a = HostArray::uninitialized(dtype, std::move(extents));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> values(-2, 2);
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    for (std::int64_t i = 0; i < a.size(); ++i)
      static_cast<T*>(a.mutable_data())[i] = static_cast<T>(values(random));
  });
  return a;
}

Arrays run(const runtime::Executable& executable, const Arrays& args) {
  Arrays r;
  for (const runtime::Buffer& b :
       executable.bind({})->run(std::vector<runtime::Buffer>(args.begin(), args.end()), {}).outputs)
    r.push_back(b.to_host());
  return r;
}

/// Runs with 1 to 4 threads, compiled and on precompiled kernels; gives the compiled results.
Arrays expect_same_bits(const GraphRef& g, const Arrays& args) {
  Arrays compiled;
  for (bool once : {true, false}) {
    const auto executable = cpu::cpu_backend().compile(g, {.run_once = once});
    Arrays first;
    for (std::int64_t threads : {1, 2, 3, 4, 1}) {
      cpu::set_num_threads(threads);
      const Arrays results = run(*executable, args);
      if (first.empty()) first = results;
      for (std::size_t k = 0; k < first.size(); ++k) {
        EXPECT_TRUE(identical(results[k], first[k]))
            << threads << " threads, result " << k << (once ? "" : ", compiled") << "\n"
            << g->to_string();
      }
    }
    compiled = first;
  }
  return compiled;
}

void expect_near(const HostArray& got, const HostArray& want, double relative) {
  ASSERT_EQ(got.extents(), want.extents());
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double x = got.element(i), y = want.element(i);
    if (x == y) continue;  // infinities
    ASSERT_NEAR(x, y, relative * (1 + std::abs(y))) << "element " << i;
  }
}

/// The interpreter adds up to a million numbers of f32 one after the other, each time rounding a
/// sum that is a thousand times the average one: some 1000 times 6e-8, and a margin of 30. Bits are
/// what these tests are about; this finds results that are wrong for every number of threads.
constexpr double kSums = 2e-3;

const Dim kN = Symbol::fresh("n");
constexpr std::int64_t kFirst[] = {0}, kSecond[] = {1};

Val chain(Val x) { return ops::exp(-x) * x + ops::tanh(x); }

TEST_F(Threads, ElementwiseAndReductions) {
  for (DType t : {DType::f32, DType::f64}) {
    for (const bool symbolic : {false, true}) {
      const Dim n = symbolic ? kN : Dim(601);
      const GraphRef g = graph_of({Type::get(t, {n, 1003})}, [](const Vals& p) -> Vals {
        const Val y = chain(p[0]);
        return {y,
                ops::reduce_sum(y, kFirst),
                ops::reduce_max(y, kSecond),
                ops::reduce_sum(ops::reduce_sum(y, kSecond), kFirst),
                ops::reduce_sum(y, std::vector<std::int64_t>{0, 1}),
                ops::transpose(y, ops::AxisList{1, 0}) * ops::transpose(y, ops::AxisList{1, 0})};
      });
      const Arrays args{random_array(t, {601, 1003}, 1)};
      const Arrays got = expect_same_bits(g, args), want = interp::run(*g, args);
      for (std::size_t k = 0; k < want.size(); ++k)
        expect_near(got[k], want[k], t == DType::f32 ? kSums : 1e-12);
    }
  }
}

/// One axis: borders lie between vectors, and the last one has less than a vector behind it.
TEST_F(Threads, Vectors) {
  const GraphRef g = graph_of({Type::get(DType::f32, {kN}), Type::get(DType::i64, {kN})},
                              [](const Vals& p) -> Vals {
                                const Val count = ops::iota(p[1].type(), 0);
                                return {chain(p[0]),
                                        ops::reduce_sum(p[0], kFirst),
                                        ops::reduce_min(p[0], kFirst),
                                        ops::take(p[0], p[1], 0),
                                        count * count - p[1],
                                        ops::reduce_max(count - p[1], kFirst)};
                              });
  for (std::int64_t n : {1'000'003, 17, 0}) {
    std::vector<std::int64_t> index(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = static_cast<std::int64_t>((i * 7919) % index.size());
    HostArray where(DType::i64, {n});
    std::ranges::copy(index, where.as_mutable<std::int64_t>().begin());
    const Arrays args{random_array(DType::f32, {n}, 2), where};
    const Arrays got = expect_same_bits(g, args), want = interp::run(*g, args);
    for (std::size_t k = 0; k < want.size(); ++k) expect_near(got[k], want[k], kSums);
  }
}

/// Sums of few columns, which are folded by blocks of rows.
TEST_F(Threads, FewResults) {
  const GraphRef g = graph_of(
      {Type::get(DType::f64, {kN, 3}), Type::get(DType::i32, {kN})}, [](const Vals& p) -> Vals {
        return {ops::reduce_sum(p[0], kFirst), ops::reduce_max(ops::exp(p[0]), kFirst),
                ops::reduce_sum(p[1], kFirst)};
      });
  HostArray counts(DType::i32, {400'001});
  for (std::int64_t i = 0; i < counts.size(); ++i)
    counts.as_mutable<std::int32_t>()[i] = static_cast<std::int32_t>(i % 1000);
  const Arrays args{random_array(DType::f64, {400'001, 3}, 3), counts};
  const Arrays got = expect_same_bits(g, args), want = interp::run(*g, args);
  for (std::size_t k = 0; k < want.size(); ++k) expect_near(got[k], want[k], 1e-10);
}

TEST_F(Threads, Products) {
  for (DType t : {DType::f32, DType::f64, DType::bf16}) {
    const GraphRef g = graph_of(
        {Type::get(t, {kN, 520}), Type::get(t, {520, 290}), Type::get(t, {20, 70, 90}),
         Type::get(t, {20, 90, 60}), Type::get(t, {520})},
        [](const Vals& p) -> Vals {
          return {
              ops::dot_general(p[0], p[1], {.lhs_contract = {1}, .rhs_contract = {0}}),
              ops::dot_general(
                  p[2], p[3],
                  {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}}),
              ops::dot_general(p[0], p[4], {.lhs_contract = {1}, .rhs_contract = {0}})};
        });
    expect_same_bits(g, {random_array(t, {310, 520}, 4), random_array(t, {520, 290}, 5),
                         random_array(t, {20, 70, 90}, 6), random_array(t, {20, 90, 60}, 7),
                         random_array(t, {520}, 8)});
  }
}

TEST_F(Threads, Convolutions) {
  ops::ConvAttrs attrs = ops::plain_convolution(2);
  attrs.low = attrs.high = {1, 1};
  const GraphRef g =
      graph_of({Type::get(DType::f32, {kN, 8, 28, 28}), Type::get(DType::f32, {16, 8, 3, 3})},
               [&](const Vals& p) -> Vals { return {ops::convolution(p[0], p[1], attrs)}; });
  for (std::int64_t n : {1, 2, 40})
    expect_same_bits(g, {random_array(DType::f32, {n, 8, 28, 28}, 9),
                         random_array(DType::f32, {16, 8, 3, 3}, 10)});
}

/// Whatever can be shared is, however small.
TEST_F(Threads, RandomGraphs) {
  cpu::set_alone_nanoseconds(0);
#ifdef TLALOC_FEW_GRAPHS
  constexpr std::uint64_t kGraphs = 5;
#else
  constexpr std::uint64_t kGraphs = 40;
#endif
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    const RandomGraph g = random_graph(seed);
    const Arrays args = random_arguments(g, g.size.value_or(37), seed);
    try {
      interp::run(*g.graph, args);
    } catch (const UserError&) {
      continue;
    }
    expect_same_bits(g.graph, args);
  }
}

TEST_F(Threads, ManyCompileAndRunAtOnce) {
  cpu::set_num_threads(3);
  const GraphRef g = graph_of({Type::get(DType::f32, {kN, 300}), Type::get(DType::f32, {300, 200})},
                              [](const Vals& p) -> Vals {
                                const Val y = chain(ops::dot_general(
                                    p[0], p[1], {.lhs_contract = {1}, .rhs_contract = {0}}));
                                return {y, ops::reduce_sum(y, std::vector<std::int64_t>{0, 1})};
                              });
  const Arrays args{random_array(DType::f32, {400, 300}, 11),
                    random_array(DType::f32, {300, 200}, 12)};
  const auto shared = cpu::cpu_backend().compile(g);
  const Arrays want = run(*shared, args);
  std::atomic<int> different = 0;
  std::vector<std::thread> callers;
  for (std::uint64_t c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      const auto own = cpu::cpu_backend().compile(g, {.run_once = c == 3});
      for (int k = 0; k < 5; ++k) {
        const Arrays by_all = run(*shared, args), alone = run(*own, args);
        for (std::size_t i = 0; i < want.size(); ++i) {
          different += !identical(by_all[i], want[i]);
          // Precompiled kernels have other mathematics.
          different += c != 3 && !identical(alone[i], want[i]);
        }
        const RandomGraph some = random_graph(100 + c);
        try {
          run(*cpu::cpu_backend().compile(some.graph),
              random_arguments(some, some.size.value_or(5), c));
        } catch (const UserError&) {
        }
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace tlaloc::testing
