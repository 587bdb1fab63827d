// Folders for files that pass between processes.
#pragma once

#include <filesystem>
#include <memory>

namespace tlaloc::iree {

/// A folder of its own, removed with this object. All of a process lie in one, which the process
/// has locked: what a process left that ended otherwise is removed when another one makes its
/// first.
class ExchangeFolder {
 public:
  /// EnvironmentError TL-IREE-003 where there can be none.
  ExchangeFolder();
  ~ExchangeFolder();
  ExchangeFolder(const ExchangeFolder&) = delete;
  ExchangeFolder& operator=(const ExchangeFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  class OfProcess;

  std::shared_ptr<const OfProcess> parent_;
  std::filesystem::path path_;
};

}  // namespace tlaloc::iree
