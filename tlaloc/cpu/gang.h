// The threads of the process.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tlaloc::cpu {

/// Threads beyond this many are refused: a mistake.
inline constexpr std::int64_t kMaxThreads = 1024;
/// Work below this much is done faster by its caller alone: waking a thread that sleeps takes about
/// 50 µs.
double alone_nanoseconds();
/// For tests, which share small work, too; before anything runs. It changes the borders between
/// parts, and code that is compiled from then on.
void set_alone_nanoseconds(double n);

/// How many threads, callers included, work on what one of them calls; at first what
/// TLALOC_NUM_THREADS says or else processors_of_process(). UserError TL-ENV-001 at the first call.
std::int64_t num_threads();
/// From the next parallel() on. UserError TL-THREADS-001 unless 1 <= n <= kMaxThreads.
void set_num_threads(std::int64_t n);

/// Calls part(context, i) once for each i in [0, parts), in any order and several at a time, and
/// returns when all are done. The caller takes part, and is the one who runs part 0.
///
/// One gang serves the process, one caller at a time. Whoever else calls meanwhile, from another
/// thread or from within a part, runs all parts itself, in order; so does everybody while the
/// system is too busy to give each thread a processor. So the bits that come out must not depend on
/// who runs a part: borders between parts are functions of sizes alone, and what a part writes is
/// its own. Parts should take some 10 µs or more.
///
/// Parts run in the floating-point environment of the caller, without its thread_local variables.
/// If parts throw, all others run nevertheless, and the caller gets the exception of the first one
/// in order. A part must not fork.
void parallel(std::int64_t parts, void (*part)(void* context, std::int64_t index), void* context);

/// The same with part(i).
template <class F>
void parallel(std::int64_t parts, const F& part) {
  parallel(
      parts, [](void* context, std::int64_t index) { (*static_cast<const F*>(context))(index); },
      const_cast<std::remove_const_t<F>*>(&part));
}

/// [0, extent) in ranges of `each`.
struct Ranges {
  std::int64_t extent = 0, each = 1;
  std::int64_t count() const { return (extent + each - 1) / each; }
};
/// Ranges of a multiple of `unit` that take half of alone_nanoseconds() or so, where an index takes
/// `nanoseconds`; one range for work below alone_nanoseconds().
Ranges share(std::int64_t extent, double nanoseconds, std::int64_t unit = 1);

/// part(begin, end) for each range.
template <class F>
void parallel(const Ranges& ranges, const F& part) {
  parallel(ranges.count(), [&](std::int64_t i) {
    const std::int64_t begin = i * ranges.each;
    part(begin, ranges.extent - begin < ranges.each ? ranges.extent : begin + ranges.each);
  });
}

}  // namespace tlaloc::cpu
