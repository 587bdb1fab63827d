// Random graphs on the CPU back end against the interpreter, with donated and kept arguments, timed
// and not; one executable serves several sizes.
#include "tests/cpu/random_graphs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

using Arrays = std::vector<HostArray>;

HostArray copy_of(const HostArray& a) {
  HostArray r = HostArray::uninitialized(a.dtype(), a.extents());
  if (a.bytes()) std::memcpy(r.mutable_data(), a.data(), a.bytes());
  return r;
}
Arrays copies(const Arrays& arrays) {
  Arrays r;
  for (const HostArray& a : arrays) r.push_back(copy_of(a));
  return r;
}

/// Sums of large floats depend on their order: beyond 10^6 they say nothing.
bool agree(const HostArray& a, const HostArray& b) {
  if (a.dtype() != b.dtype() || a.extents() != b.extents()) return false;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.element(i), y = b.element(i);
    if (x != y && !(std::isnan(x) && std::isnan(y)) && !(std::abs(x) > 1e6)) return false;
  }
  return true;
}

/// The results, or the error's code.
template <class F>
std::string outcome(Arrays& results, const F& run) {
  try {
    results = run();
    return {};
  } catch (const Error& e) {
    return std::string(e.what()).substr(0, 11);
  }
}

/// Times of kernels, which must be those of the report.
class Kernels final : public runtime::ProfileSink {
 public:
  explicit Kernels(std::size_t count) : count_(count) {}
  void record(const runtime::ProfileEvent& e) override {
    EXPECT_LT(e.kernel, count_);
    EXPECT_GE(e.duration_ns, 0);
  }

 private:
  std::size_t count_;
};

using Sizes = std::array<std::int64_t, 3>;

void check(std::uint64_t seed, bool compiled, const Sizes& sizes = {4, 2, 1}) {
  const RandomGraph g = random_graph(seed);
  const auto executable = cpu::cpu_backend().compile(g.graph, {.run_once = !compiled});
  for (std::uint64_t k = 0; k < 3; ++k) {
    const std::int64_t size = g.size ? *g.size : sizes[k];
    const Arrays args = random_arguments(g, size, seed * 3 + k);
    runtime::ExplainOptions explain;
    for (Symbol s : g.graph->dims()) explain.dims[s.id()] = size;
    const runtime::Report report = executable->bind({})->explain(explain);
    ASSERT_GT(report.text().size(), 0U);
    Kernels kernels(report.kernels.size());
    Arrays want, got;
    const std::string expected = outcome(want, [&] { return interp::run(*g.graph, copies(args)); });
    const std::string met = outcome(got, [&] {
      runtime::RunOptions options;
      if (seed % 4 == 0) options.profile = &kernels;
      if ((seed + k) % 2) options.donate.assign(args.size(), true);
      Arrays own = copies(args);
      std::vector<runtime::Buffer> buffers;
      for (HostArray& a : own) buffers.emplace_back(std::move(a));
      Arrays r;
      for (const runtime::Buffer& b :
           executable->bind({})->run(std::move(buffers), options).outputs) {
        r.push_back(b.to_host());
      }
      return r;
    });
    ASSERT_EQ(met, expected) << "seed " << seed << ", n = " << size << "\n" << g.graph->to_string();
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(agree(got.at(i), want[i]))
          << "seed " << seed << ", n = " << size << ": result " << i << " is " << to_string(got[i])
          << " where the interpreter gives " << to_string(want[i]) << " for\n"
          << g.graph->to_string();
    }
  }
}

#ifdef TLALOC_FEW_GRAPHS
constexpr std::uint64_t kGraphs = 400, kCompiled = 20;
#else
constexpr std::uint64_t kGraphs = 6000, kCompiled = 150;
#endif

TEST(RandomGraphs, OnPrecompiledKernels) {
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFatalFailure(); ++seed) check(seed, false);
}
TEST(RandomGraphs, Compiled) {
  for (std::uint64_t seed = 0; seed < kCompiled && !HasFatalFailure(); ++seed) check(seed, true);
}
/// All that can be shared is, however small.
TEST(RandomGraphs, OnThreeThreads) {
  const std::int64_t threads = cpu::num_threads();
  const double alone = cpu::alone_nanoseconds();
  cpu::set_num_threads(3);
  cpu::set_alone_nanoseconds(0);
  const Sizes sizes = {37, 16, 2};
  for (std::uint64_t seed = 0; seed < kGraphs / 10 && !HasFatalFailure(); ++seed)
    check(seed, false, sizes);
  for (std::uint64_t seed = 0; seed < kCompiled && !HasFatalFailure(); ++seed)
    check(seed, true, sizes);
  cpu::set_alone_nanoseconds(alone);
  cpu::set_num_threads(threads);
}

}  // namespace
}  // namespace tlaloc::testing
