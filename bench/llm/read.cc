// What one thread reads from memory, in GB a second of processor time: four streams far from each
// other, by large pages and by small ones.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "bench/llm/serve.h"

namespace {

constexpr std::size_t kBytes = std::size_t{512} << 20, kStreams = 4, kLine = 8;

double measure(int advice) {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  madvise(memory, kBytes, advice);
  std::memset(memory, 1, kBytes);
  // Not a power of two apart.
  const std::size_t each = kBytes / sizeof(std::uint64_t) / kStreams - 5 * 4096;
  double best = 0;
  for (int i = 0; i < 7; ++i) {
    const double start = bench::process_seconds();
    std::array<std::array<std::uint64_t, kLine>, kStreams> sums{};
    const auto* from = static_cast<const std::uint64_t*>(memory);
    for (std::size_t k = 0; k < each; k += kLine) {
      for (std::size_t s = 0; s < kStreams; ++s) {
        for (std::size_t j = 0; j < kLine; ++j) sums[s][j] += from[s * each + k + j];
      }
    }
    const double seconds = bench::process_seconds() - start;
    volatile std::uint64_t used = 0;
    for (const auto& sum : sums) used = used + sum[0] + sum[kLine - 1];
    best = std::max(best, static_cast<double>(kStreams * each * sizeof(std::uint64_t)) / seconds);
  }
  munmap(memory, kBytes);
  return best / 1e9;
}

}  // namespace

int main() { std::printf("%.2f %.2f\n", measure(MADV_HUGEPAGE), measure(MADV_NOHUGEPAGE)); }
