#include "tools/tlaloc/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace tlaloc::command {

Progress::Progress(const std::string& phase)
    : phase_(phase), text_(phase), thread_([this] { run(); }) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::set(const std::string& phase, std::int64_t done, std::int64_t all) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  text_ = all > 0 ? fmt::format("{}: {} %", phase, done * 100 / all) : phase;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::run() {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::unique_lock lock(mutex_);
  std::string said;
  for (auto next = start_ + std::chrono::seconds(1);
       !changed_.wait_until(lock, next, [this] { return done_; });
       next += std::chrono::milliseconds(100)) {
    if (terminal) {
      fmt::print(stderr, "\r\x1b[K{} ...", text_);
    } else if (phase_ != said) {
      fmt::print(stderr, "tlaloc: {} ...\n", text_);
    }
    said = phase_;
  }
  if (terminal && !said.empty()) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace tlaloc::command
