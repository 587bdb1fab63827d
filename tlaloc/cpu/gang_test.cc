#include "tlaloc/cpu/gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tlaloc/base/error.h"

#if defined(__SANITIZE_THREAD__)
#define TLALOC_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TLALOC_TSAN
#endif
#endif
#ifdef TLALOC_TSAN
// A child process starts threads of its own, which the sanitizer refuses unless told.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace tlaloc::cpu {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using namespace std::chrono_literals;

class Threads : public ::testing::Test {
 protected:
  ~Threads() override { set_num_threads(before_); }

 private:
  std::int64_t before_ = num_threads();
};

std::int64_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Who ran each of many parts, which take a while until somebody else has run one too. On a busy
/// machine that may be late.
std::vector<std::thread::id> runners(std::size_t parts = 2000) {
  std::vector<std::thread::id> who(parts);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> helped = num_threads() == 1;
  parallel(static_cast<std::int64_t>(parts), [&](std::int64_t i) {
    if (!helped) std::this_thread::sleep_for(2ms);
    who[static_cast<std::size_t>(i)] = std::this_thread::get_id();
    if (who[static_cast<std::size_t>(i)] != caller) helped = true;
  });
  return who;
}

TEST_F(Threads, EachPartRunsOnce) {
  for (std::int64_t threads = 1; threads <= 5; ++threads) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    for (std::int64_t parts : {0, 1, 2, 3, 7, 1000}) {
      for (int again = 0; again < 50; ++again) {
        std::vector<int> runs(static_cast<std::size_t>(parts));
        parallel(parts, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
        ASSERT_THAT(runs, Each(1));
      }
    }
  }
}

TEST_F(Threads, AsManyAsAskedFor) {
  set_num_threads(1);
  const std::int64_t others = threads_of_process() - 1;
  EXPECT_THAT(runners(), Each(std::this_thread::get_id()));
  for (std::int64_t threads : {3, 4, 2, 5}) {
    set_num_threads(threads);
    const std::vector<std::thread::id> who = runners();
    EXPECT_EQ(who[0], std::this_thread::get_id());
    const std::set<std::thread::id> different(who.begin(), who.end());
    EXPECT_GT(different.size(), 1U);
    EXPECT_LE(static_cast<std::int64_t>(different.size()), threads);
    EXPECT_EQ(threads_of_process() - others, threads);
  }
  set_num_threads(1);
  EXPECT_EQ(threads_of_process() - others, 1);
}

TEST_F(Threads, OthersWakeAfterARest) {
  set_num_threads(2);
  for (int k = 0; k < 3; ++k) {
    std::this_thread::sleep_for(5ms);
    const std::vector<std::thread::id> who = runners();
    EXPECT_THAT(std::set<std::thread::id>(who.begin(), who.end()), SizeIs(2));
  }
}

TEST_F(Threads, APartThatCallsRunsItsPartsItself) {
  set_num_threads(3);
  std::atomic<int> elsewhere = 0, runs = 0;
  parallel(6, [&](std::int64_t) {
    const std::thread::id here = std::this_thread::get_id();
    parallel(4, [&](std::int64_t) {
      ++runs;
      if (std::this_thread::get_id() != here) ++elsewhere;
    });
  });
  EXPECT_EQ(runs, 24);
  EXPECT_EQ(elsewhere, 0);
}

TEST_F(Threads, ManyCallersAtOnce) {
  set_num_threads(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (std::int64_t round = 0; round < 300; ++round) {
        const std::int64_t parts = 1 + (round + c) % 9;
        std::vector<std::int64_t> out(static_cast<std::size_t>(parts));
        parallel(parts, [&](std::int64_t i) { out[static_cast<std::size_t>(i)] = round * i; });
        for (std::int64_t i = 0; i < parts; ++i)
          if (out[static_cast<std::size_t>(i)] != round * i) ++wrong;
      }
    });
  }
  std::thread changes([] {
    for (std::int64_t k = 0; k < 100; ++k) {
      set_num_threads(1 + k % 4);
      std::this_thread::sleep_for(100us);
    }
  });
  for (std::thread& t : callers) t.join();
  changes.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Threads, TheFirstExceptionReachesTheCaller) {
  for (std::int64_t threads : {1, 3}) {
    set_num_threads(threads);
    for (int again = 0; again < 100; ++again) {
      std::atomic<int> runs = 0;
      const auto failing = [&] {
        parallel(20, [&](std::int64_t i) {
          ++runs;
          if (i >= 5) throw std::runtime_error("part " + std::to_string(i));
        });
      };
      ASSERT_THAT(failing, ThrowsMessage<std::runtime_error>("part 5"));
      ASSERT_EQ(runs, 20);
    }
    EXPECT_THAT(runners(), SizeIs(2000));  // works on
  }
}

TEST_F(Threads, PartsRoundAsTheCallerDoes) {
  set_num_threads(3);
  for (int mode : {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD, FE_TONEAREST}) {
    std::fesetround(mode);
    std::vector<int> modes(64);
    parallel(64, [&](std::int64_t i) {
      std::this_thread::sleep_for(100us);
      modes[static_cast<std::size_t>(i)] = std::fegetround();
    });
    std::fesetround(FE_TONEAREST);
    EXPECT_THAT(modes, Each(mode));
  }
}

TEST_F(Threads, AChildProcessHasThreadsOfItsOwn) {
  set_num_threads(3);
  runners();
  // While others work, too.
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) parallel(8, [](std::int64_t) { std::this_thread::sleep_for(100us); });
  });
  for (int k = 0; k < 5; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const std::vector<std::thread::id> who = runners();
      const std::set<std::thread::id> different(who.begin(), who.end());
      set_num_threads(1);
      _exit(different.size() > 1 && threads_of_process() == 1 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
}

TEST_F(Threads, TheProcessEndsWhileThreadsWaitOrSpin) {
  for (const auto pause : {0ms, 5ms}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      set_num_threads(3);
      runners();
      std::this_thread::sleep_for(pause);
      std::exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST_F(Threads, OneAloneWhileBarriersAreLate) {
  set_num_threads(2);
  const std::thread::id here = std::this_thread::get_id();
  // The other thread is stopped in its part, as on a machine without a processor for it.
  const auto late = [&] {
    std::atomic<bool> together = false;
    parallel(2, [&](std::int64_t) {
      if (std::this_thread::get_id() != here) {
        together = true;
        std::this_thread::sleep_for(10ms);
      }
      for (int k = 0; k < 50 && !together; ++k) std::this_thread::sleep_for(100us);
    });
    return together.load();
  };
  int alone = 0, together = 0;
  for (int k = 0; k < 60; ++k) ++(late() ? together : alone);
  EXPECT_GE(alone, 15);
  EXPECT_GE(together, 4);
  // Later it tries again.
  std::this_thread::sleep_for(700ms);
  const std::vector<std::thread::id> who = runners();
  EXPECT_THAT(std::set<std::thread::id>(who.begin(), who.end()), SizeIs(2));
}

TEST_F(Threads, NumbersThatAreRefused) {
  const std::int64_t before = num_threads();
  for (std::int64_t n : {0, -1, 1025}) {
    EXPECT_THAT(
        [n] { set_num_threads(n); },
        ThrowsMessage<UserError>(HasSubstr("TL-THREADS-001: set_num_threads: " + std::to_string(n) +
                                           " is not a number of threads, 1 to 1024")));
  }
  EXPECT_EQ(num_threads(), before);
}

}  // namespace
}  // namespace tlaloc::cpu
