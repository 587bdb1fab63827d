// Running reductions on the CPU back end: the interpreter's bits along any axis and for any type,
// on one thread and on several.
#include "tlaloc/ops/cumulative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <type_traits>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using Arrays = std::vector<HostArray>;

constexpr DType kTypes[] = {DType::boolean, DType::i8,  DType::u8,  DType::i16, DType::u16,
                            DType::i32,     DType::u32, DType::i64, DType::u64, DType::f16,
                            DType::bf16,    DType::f32, DType::f64};
const ir::OpDef* const kOps[] = {&ops::rows::CumSum, &ops::rows::CumProd, &ops::rows::CumMax,
                                 &ops::rows::CumMin, &ops::rows::CumLogSumExp};

HostArray drawn(std::mt19937_64& random, DType t, Extents extents) {
  HostArray a = HostArray::uninitialized(t, std::move(extents));
  const bool special = random() % 4 == 0;
  dispatch(t, [&]<class T>(TypeTag<T>) {
    T* x = static_cast<T*>(a.mutable_data());
    for (std::int64_t i = 0; i < a.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        x[i] = random() % 2 != 0;
      } else if constexpr (std::is_integral_v<T>) {
        x[i] = static_cast<T>(random());
      } else if constexpr (requires { static_cast<float>(T()); }) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double odd[] = {0.0, -0.0, infinity, -infinity, std::nan(""), 1};
        const double number = std::normal_distribution<double>()(random);
        x[i] = static_cast<T>(
            static_cast<ComputeType<T>>(special && random() % 8 == 0 ? odd[random() % 6] : number));
      }
    }
  });
  return a;
}

Type type_of(const HostArray& a) {
  return Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end()));
}
/// Equal numbers, zeros by their sign; any NaN is as good as another.
bool same(const HostArray& a, const HostArray& b) {
  if (!is_float(a.dtype())) return identical(a, b);
  if (a.dtype() != b.dtype() || a.extents() != b.extents()) return false;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.element(i), y = b.element(i);
    if (std::isnan(x) ? !std::isnan(y) : x != y || std::signbit(x) != std::signbit(y)) return false;
  }
  return true;
}

class Cumulative : public ::testing::Test {
 protected:
  Cumulative() : threads_(cpu::num_threads()), alone_(cpu::alone_nanoseconds()) {}
  ~Cumulative() override {
    cpu::set_alone_nanoseconds(alone_);
    cpu::set_num_threads(threads_);
  }

 private:
  const std::int64_t threads_;
  const double alone_;
};

/// Graphs of any of these ops over arrays of up to three axes, on steps and compiled.
void check(std::uint64_t seed, int trials) {
  std::mt19937_64 random(seed);
  const std::int64_t sizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 40, 70};
  for (int trial = 0; trial < trials; ++trial) {
    Extents extents;
    for (std::uint64_t r = 1 + random() % 3; r > 0; --r) extents.push_back(sizes[random() % 11]);
    if (trial == 0) extents = {3, 5, 2100};  // rows in several parts
    const ops::CumulativeAttrs attrs{static_cast<std::int64_t>(random() % extents.size()),
                                     random() % 2 == 0, random() % 2 == 0};
    const ir::OpDef& op = *kOps[random() % 5];
    DType t = kTypes[random() % std::size(kTypes)];
    if (&op == &ops::rows::CumLogSumExp && !is_float(t)) t = DType::f32;
    if (&op != &ops::rows::CumMax && &op != &ops::rows::CumMin && t == DType::boolean) {
      t = DType::i32;
    }
    const HostArray x = drawn(random, t, extents);
    const bool computed = random() % 2 == 0;
    const GraphRef g = graph_of({type_of(x)}, [&](const Vals& p) -> Vals {
      const Val v = computed ? ops::max(p[0], p[0]) : p[0];
      return {ir::Builder::current().emit(op, ir::make_attr(attrs), {v}), v};
    });
    const Arrays want = interp::run(*g, {x});
    const StepsOfRun steps = run_by_steps(g, {x});
    EXPECT_THAT(steps.names, Contains(op.name));
    const auto compiled = cpu::cpu_backend().compile(g)->run({runtime::Buffer(x)});
    for (std::size_t k = 0; k < want.size(); ++k) {
      EXPECT_TRUE(same(steps.results[k], want[k])) << g->to_string() << to_string(extents);
      EXPECT_TRUE(same(compiled.outputs[k].to_host(), want[k])) << g->to_string();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST_F(Cumulative, HasTheInterpretersBits) { check(1, 150); }

/// All that can be shared is, however small.
TEST_F(Cumulative, OnSeveralThreads) {
  cpu::set_num_threads(3);
  cpu::set_alone_nanoseconds(0);
  check(2, 150);
}

TEST_F(Cumulative, SizesMayBeSymbols) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const GraphRef g = graph_of({Type::get(DType::f32, {n, m})}, [&](const Vals& p) -> Vals {
    return {ops::cumsum(p[0], 0), ops::cumlogsumexp(p[0], 1, {.reverse = true})};
  });
  std::mt19937_64 random(3);
  for (const Extents& e : {Extents{3, 4}, Extents{0, 4}, Extents{200, 33}, Extents{5, 0}}) {
    const HostArray x = drawn(random, DType::f32, e);
    const Arrays want = interp::run(*g, {x}), got = run_by_steps(g, {x}).results;
    for (std::size_t k = 0; k < 2; ++k) EXPECT_TRUE(same(got[k], want[k]));
  }
}

/// What is computed for a running sum alone has no other place in memory.
TEST_F(Cumulative, ComputedOperandsAreUpdatedInPlace) {
  const GraphRef g = graph_of({Type::get(DType::f32, {100, 100})}, [](const Vals& p) -> Vals {
    return {ops::cumsum(ops::exp(p[0]), 1)};
  });
  const runtime::Report report = cpu::cpu_backend().compile(g)->bind({})->explain({});
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.kernels[1].name, "cumsum");
  EXPECT_EQ(report.kernels[1].runs_on, "precompiled kernel");
  EXPECT_TRUE(report.kernels[1].in_place);
}

}  // namespace
}  // namespace tlaloc::testing
