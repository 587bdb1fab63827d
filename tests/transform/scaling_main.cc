// usage: transform_scaling [LARGEST]
// A table of the costs of chains of 1000 … LARGEST (default 1000000) operations, each measured
// three times; the middle one by tracing plus differentiating is shown.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "tests/transform/scaling.h"

int main(int argc, char** argv) {
  using namespace tlaloc::testing;  // NOLINT
  const std::int64_t largest = argc > 1 ? std::atoll(argv[1]) : 1000000;
  std::printf("nanoseconds of processor time per operation\n");
  std::printf("%9s %7s %7s %7s %7s %7s %9s %9s %7s %7s\n", "ops", "trace", "grad", "sum", "print",
              "verify", "run", "run grad", "ratio", "MiB");
  for (std::int64_t n = 1000; n <= largest; n *= 10) {
    std::array<ChainCost, 3> runs;
    for (ChainCost& c : runs) c = measure_chain(n);
    std::ranges::sort(runs, {}, [](const ChainCost& c) { return c.trace + c.grad; });
    const ChainCost& c = runs[1];
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%9lld %7.0f %7.0f %7.0f %7.0f %7.0f %9.0f %9.0f %7.2f %7ld\n",
                static_cast<long long>(n), c.trace, c.grad, c.trace + c.grad, c.print, c.verify,
                c.run, c.run_grad, c.run_grad / c.run, usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }
  with_stack(256 << 10, [&] { measure_chain(largest); });
  std::printf("the last one runs on a stack of 256 KiB\n");
  return 0;
}
