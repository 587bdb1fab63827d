// What takes long, while it does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace tlaloc::command {

/// Says on stderr what is being done, once that takes longer than a second: a line on a terminal
/// that is written over, or else a line for each phase.
class Progress {
 public:
  explicit Progress(const std::string& phase);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Without `all` there is nothing to tell by how much is done.
  void set(const std::string& phase, std::int64_t done = 0, std::int64_t all = 0);
  /// Since it began.
  double seconds() const;

 private:
  void run();

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string phase_, text_;
  std::thread thread_;  // last: it reads the others
};

}  // namespace tlaloc::command
