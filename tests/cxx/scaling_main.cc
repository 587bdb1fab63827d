// usage: cxx_scaling [LARGEST]
// A table of what plain code costs to print, for chains of 1000 … LARGEST (default 100000)
// operations on a number and on an array of 8, and for their gradients.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "tests/transform/scaling.h"
#include "tlaloc/cxx/print.h"
#include "tlaloc/transform/api.h"

namespace {

using namespace tlaloc::testing;  // NOLINT

/// Microseconds of processor time per operation.
double print_time(const GraphRef& g, std::int64_t length) {
  const std::clock_t start = std::clock();
  tlaloc::cxx::print(*g, {.mode = tlaloc::cxx::Mode::plain});
  return 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC /
         static_cast<double>(length);
}
GraphRef gradient(const GraphRef& g) { return tlaloc::transform::value_and_grad(g, {true}); }

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t largest = argc > 1 ? std::atoll(argv[1]) : 100000;
  std::printf("microseconds of processor time per operation\n");
  std::printf("%9s %9s %9s %9s %9s\n", "ops", "number", "gradient", "array", "gradient");
  for (std::int64_t n = 1000; n <= largest; n *= 10) {
    const GraphRef number = chain(n);
    const GraphRef array =
        graph_of({f64({8})}, [&](const Vals& p) { return Vals{chain(p[0], n)}; });
    const GraphRef loss =
        graph_of({f64({8})}, [&](const Vals& p) { return Vals{sum(chain(p[0], n))}; });
    std::printf("%9lld", static_cast<long long>(n));
    for (const GraphRef& g : {number, gradient(number), array, gradient(loss)}) {
      std::printf(" %9.1f", print_time(g, n));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return 0;
}
