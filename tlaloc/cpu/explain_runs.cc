// What runs of a program take: time by kernel, and how much the process grows.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include "tlaloc/cpu/ceilings.h"
#include "tlaloc/cpu/explain.h"

namespace tlaloc::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs are repeated for so long, and at least and at most so often.
constexpr double kSeconds = 0.2;
constexpr int kFewest = 3, kMost = 200;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A line of /proc/self/status, in bytes; -1 without.
std::int64_t status_bytes(const std::string& what) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(what + ":", 0) == 0) return std::stoll(line.substr(what.size() + 1)) * 1024;
  }
  return -1;
}

/// How much `work` makes the process grow at most; -1 where the system does not tell.
std::int64_t growth(const std::function<void()>& work) {
  // What was freed goes back to the system, so that it counts when it is used again.
  malloc_trim(0);
  std::FILE* f = std::fopen("/proc/self/clear_refs", "w");
  const bool reset = f && std::fputs("5", f) >= 0;  // the peak starts anew
  if (f && std::fclose(f) != 0) f = nullptr;
  const std::int64_t before = status_bytes("VmRSS");
  work();
  const std::int64_t peak = status_bytes("VmHWM");
  return reset && f && before >= 0 && peak >= 0 ? std::max<std::int64_t>(peak - before, 0) : -1;
}

/// Sums of one run, by kernel.
class Times final : public runtime::ProfileSink {
 public:
  explicit Times(std::size_t kernels) : sums_(kernels) {}
  void record(const runtime::ProfileEvent& e) override {
    ++sums_[e.kernel].calls;
    sums_[e.kernel].ns += e.duration_ns;
  }
  struct Sum {
    std::int64_t calls = 0, ns = 0;
  };
  const std::vector<Sum>& sums() const { return sums_; }
  void clear() { std::ranges::fill(sums_, Sum{}); }

 private:
  std::vector<Sum> sums_;
};

void add_times(runtime::Report& r, const Times& times) {
  for (std::size_t k = 0; k < r.kernels.size(); ++k) {
    const Times::Sum& s = times.sums()[k];
    if (s.calls == 0) continue;
    runtime::KernelReport& kernel = r.kernels[k];
    const double seconds = static_cast<double>(s.ns) * 1e-9;
    kernel.calls = s.calls;
    kernel.seconds = std::min(seconds, kernel.seconds.value_or(seconds));
  }
}

void add_roofline(runtime::Report& r, const Program& p) {
  const Ceilings& c = ceilings();
  r.ceilings = {c.flops_f32, c.flops_f64, c.bandwidth[3]};
  for (std::size_t k = 0; k < r.kernels.size(); ++k) {
    runtime::KernelReport& kernel = r.kernels[k];
    if (!kernel.seconds || !kernel.bytes_read || *kernel.seconds <= 0) continue;
    const auto bytes = static_cast<double>(*kernel.bytes_read + *kernel.bytes_written);
    const DType t = p.storages[p.steps[k].storages.back()].dtype;
    const double least =
        std::max(bytes / c.bandwidth_of(bytes), kernel.flops.value_or(0) / c.flops(t));
    kernel.roofline = least * static_cast<double>(kernel.calls) / *kernel.seconds;
  }
}

}  // namespace

void explain_runs(runtime::Report& r, const Program& p, bool once,
                  const std::function<void()>& first,
                  const std::function<void(runtime::ProfileSink*)>& run) {
  auto start = Clock::now();
  const std::int64_t grown = growth(first);
  r.seconds = seconds_since(start);
  r.runs = 1;
  if (grown >= 0) {
    r.measured_peak = grown;
  } else {
    r.peak_reason = "the system does not tell how much a process grows";
  }
  if (once) return;
  Times times(p.steps.size());
  double plain = std::numeric_limits<double>::max(), timed = plain;
  run(nullptr);
  start = Clock::now();
  for (int i = 0; i < kMost && (i < kFewest || seconds_since(start) < kSeconds); ++i) {
    auto begin = Clock::now();
    run(nullptr);
    plain = std::min(plain, seconds_since(begin));
    times.clear();
    begin = Clock::now();
    run(&times);
    timed = std::min(timed, seconds_since(begin));
    add_times(r, times);
    r.runs += 2;
  }
  r.seconds = plain;
  r.timed_seconds = timed;
  add_roofline(r, p);
}

}  // namespace tlaloc::cpu
