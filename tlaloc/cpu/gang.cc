#include "tlaloc/cpu/gang.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/processors.h"
#include "tlaloc/cpu/settings.h"

namespace tlaloc::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// How long anybody waits at work: a barrier among running threads takes less than a microsecond,
/// and a machine with more threads than processors loses what it spends on waiting.
constexpr auto kSpin = std::chrono::microseconds(50);
/// How long the gang rests when barriers keep being late; twice as long each time in a row.
constexpr auto kShortRest = std::chrono::milliseconds(10),
               kLongRest = std::chrono::milliseconds(640);

void pause() {
#ifdef __SSE2__
  __builtin_ia32_pause();
#endif
}

/// Waits actively for `done`, but not for longer than kSpin.
template <class F>
bool spin(const F& done) {
  const Clock::time_point end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return done();
}

class Gang {
 public:
  std::int64_t wanted() {
    std::int64_t n = wanted_.load(std::memory_order_relaxed);
    if (n != 0) return n;
    const Settings settings = settings_from_environment();
    n = settings.num_threads != 0 ? settings.num_threads : processors_of_process();
    std::int64_t none = 0;
    n = std::min(n, kMaxThreads);
    return wanted_.compare_exchange_strong(none, n) ? n : none;
  }

  void want(std::int64_t n) {
    wanted_.store(n, std::memory_order_relaxed);
    if (!take()) return;  // whoever has the gang now or next will see
    if (workers_ >= n) retire();
    forget_lateness();
    release();
  }

  void run(std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
    const std::int64_t threads = wanted();
    if (parts > 1 && (threads > 1 || workers_.load(std::memory_order_relaxed) > 0) && take()) {
      const bool together = threads > 1 && !rests() && hire(threads - 1);
      if (together) {
        std::exception_ptr error = lead(parts, part, context);
        release();
        if (error) std::rethrow_exception(error);
        return;
      }
      if (workers_ >= threads) retire();
      release();
    }
    alone(parts, part, context);
  }

  /// The last words: no thread may outlive this library's code.
  void end() {
    if (take()) retire();  // and keeps it
  }

  /// In a child process, which has none of the threads.
  void forget() {
    workers_ = 0;
    left_ = 0;
    stop_ = false;
    forget_lateness();
    new (&error_) std::exception_ptr;
    new (&error_mutex_) std::mutex;
    release();
  }

 private:
  bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
  void release() { taken_.store(false, std::memory_order_release); }

  static void alone(std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
    std::exception_ptr error;
    for (std::int64_t i = 0; i < parts; ++i) {
      try {
        part(context, i);
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  // ---- what the one who has taken the gang does ----

  std::exception_ptr lead(std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
    job_ = {parts, part, context, {}, job_.number + 1};
    std::fegetenv(&job_.environment);
    unfinished_.store(parts, std::memory_order_relaxed);
    left_.store(parts - 1, std::memory_order_release);
    wake_.fetch_add(1, std::memory_order_release);
    for (std::int64_t i = std::min(parts - 1, workers_.load(std::memory_order_relaxed)); i > 0; --i)
      wake_.notify_one();

    Clock::time_point begin = Clock::now();
    Clock::duration longest{};
    std::int64_t index = 0;
    do {
      finish(index);
      const Clock::time_point now = Clock::now();
      longest = std::max(longest, now - begin);
      begin = now;
    } while (claim(index));

    const std::uint32_t number = job_.number;
    const auto done = [&] { return finished_.load(std::memory_order_acquire) == number; };
    if (!spin(done)) {
      for (;;) {
        const std::uint32_t seen = finished_.load(std::memory_order_acquire);
        if (seen == number) break;
        finished_.wait(seen, std::memory_order_acquire);
      }
    }
    judge(Clock::now() - begin, longest);
    return std::exchange(error_, nullptr);
  }

  /// A thread that has no processor is late by more than the part it may have begun last.
  void judge(Clock::duration waited, Clock::duration longest) {
    late_ = static_cast<std::uint8_t>(late_ << 1 | (waited > kSpin + longest ? 1 : 0));
    if (std::popcount(late_) >= 4) {
      rest_ = std::clamp<Clock::duration>(2 * rest_, kShortRest, kLongRest);
      rest_end_ = Clock::now() + rest_;
      late_ = kUnknown;
    } else if (late_ == 0) {
      rest_ = {};
    }
  }
  void forget_lateness() {
    late_ = kUnknown;
    rest_ = {};
  }
  bool rests() const { return rest_ != Clock::duration{} && Clock::now() < rest_end_; }

  /// Has so many workers, or as many as the system gives; false if none.
  bool hire(std::int64_t count) {
    if (workers_ > count) retire();
    if (workers_ == count) return true;
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    while (workers_ < count && failure == 0) {
      failure = pthread_create(
          &threads_[usize(workers_)], nullptr,
          [](void* gang) -> void* {
            static_cast<Gang*>(gang)->work();
            return nullptr;
          },
          this);
      if (failure == 0) ++workers_;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failure != 0) {
      std::fprintf(stderr, "tlaloc: could not start thread %lld of %lld: %s; going on without\n",
                   static_cast<long long>(workers_ + 2), static_cast<long long>(count + 1),
                   std::strerror(failure));
      std::int64_t asked = count + 1;
      wanted_.compare_exchange_strong(asked, workers_ + 1);
    }
    return workers_ > 0;
  }

  void retire() {
    stop_ = true;
    wake_.fetch_add(1, std::memory_order_release);
    wake_.notify_all();
    while (workers_ > 0) pthread_join(threads_[usize(--workers_)], nullptr);
    stop_ = false;
  }

  // ---- what all do ----

  /// The next part that nobody has begun. What the job says holds until the part is finished.
  bool claim(std::int64_t& index) {
    std::int64_t left = left_.load(std::memory_order_relaxed);
    while (left > 0) {
      if (left_.compare_exchange_weak(left, left - 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        index = job_.parts - left;
        return true;
      }
    }
    return false;
  }

  void finish(std::int64_t index) {
    try {
      job_.part(job_.context, index);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_ || index < error_index_) {
        error_ = std::current_exception();
        error_index_ = index;
      }
    }
    const std::uint32_t number = job_.number;
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    finished_.store(number, std::memory_order_release);
    finished_.notify_one();
  }

  void work() {
    const auto something = [this] {
      return left_.load(std::memory_order_relaxed) > 0 || stop_.load(std::memory_order_relaxed);
    };
    std::uint32_t environment_of = 0;
    while (!stop_) {
      for (std::int64_t index; claim(index);) {
        if (job_.number != environment_of) {
          std::fesetenv(&job_.environment);
          environment_of = job_.number;
        }
        finish(index);
      }
      if (spin(something)) continue;
      const std::uint32_t seen = wake_.load(std::memory_order_acquire);
      if (!something()) wake_.wait(seen, std::memory_order_acquire);
    }
  }

  struct Job {
    std::int64_t parts;
    void (*part)(void*, std::int64_t);
    void* context;
    std::fenv_t environment;
    std::uint32_t number;
  };

  static constexpr std::uint8_t kUnknown = 1;

  std::atomic<std::int64_t> wanted_{0};  ///< 0: not known yet
  std::atomic<bool> taken_{false};

  // Of whoever has taken the gang.
  std::array<pthread_t, kMaxThreads> threads_;
  std::atomic<std::int64_t> workers_{0};  ///< read by others to see whether there are any
  std::uint8_t late_ = kUnknown;          ///< the last barriers, one bit each
  Clock::duration rest_{};
  Clock::time_point rest_end_;

  // Written before `left_`, then constant until all parts are finished.
  Job job_{};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::int64_t error_index_ = 0;

  alignas(64) std::atomic<std::int64_t> left_{0};  ///< parts that nobody has begun
  alignas(64) std::atomic<std::int64_t> unfinished_{0};
  alignas(64) std::atomic<std::uint32_t> finished_{0};  ///< number of the job
  alignas(64) std::atomic<std::uint32_t> wake_{0};      ///< changes when there is something to do
  std::atomic<bool> stop_{false};
};

Gang& gang() {
  // Never destroyed: static objects of others may still compute in their destructors, alone.
  static Gang& gang = *[] {
    static Gang* const made = new Gang;
    pthread_atfork(nullptr, nullptr, [] { made->forget(); });
    return made;
  }();
  static const struct End {
    ~End() { gang.end(); }
  } kEnd;
  return gang;
}

}  // namespace

std::int64_t num_threads() { return gang().wanted(); }

void set_num_threads(std::int64_t n) {
  if (n < 1 || n > kMaxThreads) {
    throw UserError(
        {"TL-THREADS-001",
         "set_num_threads",
         std::to_string(n) + " is not a number of threads, 1 to " + std::to_string(kMaxThreads),
         "pass a number in that range; without a call there are as many as processors",
         {}});
  }
  gang().want(n);
}

namespace {
std::atomic<double> alone = 100'000;
}  // namespace

double alone_nanoseconds() { return alone.load(std::memory_order_relaxed); }
void set_alone_nanoseconds(double n) { alone.store(n, std::memory_order_relaxed); }

Ranges share(std::int64_t extent, double nanoseconds, std::int64_t unit) {
  const double limit = alone_nanoseconds();
  const double all = static_cast<double>(extent) * nanoseconds;
  if (!(all > limit)) return {extent, std::max<std::int64_t>(extent, 1)};
  // Fewer parts than indices, so the conversion fits.
  const auto parts =
      static_cast<std::int64_t>(std::min(all / (limit / 2), static_cast<double>(extent)));
  const std::int64_t each = (extent - 1) / parts + 1;
  return {extent, each > extent - unit ? extent : (each - 1) / unit * unit + unit};
}

void parallel(std::int64_t parts, void (*part)(void*, std::int64_t), void* context) {
  gang().run(parts, part, context);
}

}  // namespace tlaloc::cpu
