// Sorting, running reductions, positions and factors on one thread: processor time of the CPU back
// end and of the interpreter.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"

namespace {

using namespace tlaloc;
using ir::Val;
using ir::Vals;

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double median_of(int rounds, const std::function<void()>& f) {
  std::vector<double> times;
  for (int k = 0; k < rounds; ++k) {
    const double start = seconds();
    f();
    times.push_back(seconds() - start);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Random numbers; matrices get a heavy diagonal.
HostArray drawn(const Extents& extents) {
  HostArray a(DType::f32, extents);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  for (float& x : a.as_mutable<float>()) x = values(random);
  for (std::int64_t i = 0; extents.size() == 2 && extents[0] == extents[1] && i < extents[0]; ++i) {
    a.as_mutable<float>()[static_cast<std::size_t>(i * (extents[0] + 1))] += 1000;
  }
  return a;
}

void measure(const char* name, const std::vector<Extents>& sizes,
             const std::function<Val(const Vals&)>& f) {
  ir::Builder b("f");
  Vals p;
  std::vector<runtime::Buffer> inputs;
  for (const Extents& e : sizes) {
    p.push_back(b.param(ir::Type::get(DType::f32, std::vector<ir::Dim>(e.begin(), e.end()))));
    inputs.emplace_back(drawn(e));
  }
  const ir::GraphRef g = b.build(Vals{f(p)});
  const auto ours = cpu::cpu_backend().compile(g), reference = interp::interp_backend().compile(g);
  ours->run(inputs);
  const double t = median_of(7, [&] { ours->run(inputs); });
  const double r = median_of(t > 0.1 ? 1 : 3, [&] { reference->run(inputs); });
  std::printf("| %s | %.2f | %.1f |\n", name, 1e3 * t, r / t);
  std::fflush(stdout);
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  std::printf("| f32 | ms | faster than the interpreter |\n|---|---:|---:|\n");
  const std::vector<Extents> line{{1 << 20}}, square{{1024, 1024}}, two{{1000, 1000}, {1000, 1000}};
  measure("sort, 1048576", line, [](const Vals& p) { return ops::sort(p, 0, 1)[0]; });
  measure("sort, 1024 x 1024", square, [](const Vals& p) { return ops::sort(p, 1, 1)[0]; });
  measure("argsort, 1048576", line, [](const Vals& p) { return ops::sort(p[0], 0).positions; });
  measure("top_k, 100 of 1048576", line,
          [](const Vals& p) { return ops::top_k(p[0], 100).values; });
  measure("argmax, 1024 x 1024", square, [](const Vals& p) { return ops::argmax(p[0], 1); });
  measure("argmax, 1024 x 1024 by columns", square,
          [](const Vals& p) { return ops::argmax(p[0], 0); });
  measure("cumsum, 1024 x 1024", square, [](const Vals& p) { return ops::cumsum(p[0], 1); });
  measure("cumsum, 1024 x 1024 by columns", square,
          [](const Vals& p) { return ops::cumsum(p[0], 0); });
  measure("cumlogsumexp, 1024 x 1024", square,
          [](const Vals& p) { return ops::cumlogsumexp(p[0], 1); });
  measure("cholesky, 1000", {{1000, 1000}}, [](const Vals& p) { return ops::cholesky(p[0]); });
  measure("triangular_solve, 1000 x 1000", two,
          [](const Vals& p) { return ops::triangular_solve(p[0], p[1]); });
  measure("triangular_solve from the right, transposed", two, [](const Vals& p) {
    return ops::triangular_solve(p[0], p[1], {.left = false, .transpose = true});
  });
}
