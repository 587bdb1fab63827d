// The side of compare.py's pipe that every program here has, and the inputs that all peers share.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// `count` numbers in [-scale, scale), the same as serve.py's: a 32-bit mixer of the index
/// (https://nullprogram.com/blog/2018/07/31/), its upper 24 bits.
template <class T>
std::vector<T> uniform(std::uint32_t seed, std::size_t count, double scale = 1) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto h = static_cast<std::uint32_t>(i) + seed * 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    h ^= h >> 16;
    values[i] = static_cast<T>(scale) * (static_cast<T>(h >> 8) * static_cast<T>(0x1p-23) - 1);
  }
  return values;
}
/// Integers in [0, bound).
inline std::vector<std::int32_t> integers(std::uint32_t seed, std::size_t count, int bound) {
  std::vector<std::int32_t> values(count);
  const std::vector<double> u = uniform<double>(seed, count, 0.5);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::int32_t>((u[i] + 0.5) * bound);
  return values;
}

/// A field of /proc/self/status in KiB.
inline long memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    long amount = 0;
    if (name == field + ":" && status >> amount) return amount;
  }
  return 0;
}
inline double processor_ms() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

/// Gives memory that is kept for later steps back to the system, where a program has such.
inline void (*release)() = [] {};

/// Answers each number of steps that comes in with their processor time in ms, what the last one
/// returned, and by how many KiB the memory in use during them exceeded that before the first. A
/// number below 0 is one of steps that find no memory kept. step(i) runs step number i; results
/// depend on i, so that nothing moves out of the loop.
template <class Step>
void serve(const Step& step) {
  malloc_trim(0);  // what the inputs were made in
  const long before = memory("VmRSS");
  std::puts("ready");
  std::fflush(stdout);
  std::int64_t i = 0;
  for (long count = 0; std::scanf("%ld", &count) == 1;) {
    if (count < 0) {
      release();
      malloc_trim(0);
      count = -count;
    }
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts anew
    double value = 0;
    const double start = processor_ms();
    for (long k = 0; k < count; ++k) value = step(i++);
    const double ms = processor_ms() - start;
    std::printf("%.6f %.17g %ld\n", ms, value, memory("VmHWM") - before);
    std::fflush(stdout);
  }
}

struct Program {
  std::string_view name;
  void (*run)(std::int64_t size);
};
/// What main(argc, argv) does: PEER NAME SIZE serves one of the programs. Without one of that name
/// the exit status is 64, from which compare.py knows that this peer has none.
inline int serve_one(std::span<const Program> programs, int argc, char** argv) {
  for (const Program& p : programs) {
    if (argc < 3 || p.name != argv[1]) continue;
    p.run(std::atoll(argv[2]));
    return 0;
  }
  return 64;
}

}  // namespace bench
