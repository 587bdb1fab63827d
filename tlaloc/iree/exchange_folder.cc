#include "tlaloc/iree/exchange_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "tlaloc/base/error.h"

namespace tlaloc::iree {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tlaloc-iree-";

[[noreturn]] void fail(const std::error_code& error) {
  throw EnvironmentError({"TL-IREE-003",
                          "iree",
                          "there is no folder for temporary files: " + error.message(),
                          "",
                          {}});
}
std::error_code last_error() { return {errno, std::generic_category()}; }

/// An open folder; its lock goes when it is closed, as it is when the process ends in any way.
class OpenFolder {
 public:
  explicit OpenFolder(const fs::path& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {}
  ~OpenFolder() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;

  bool lock(int how = 0) const {
    return descriptor_ >= 0 && flock(descriptor_, LOCK_EX | how) == 0;
  }
  bool is_mine() const {
    struct stat info{};
    return fstat(descriptor_, &info) == 0 && info.st_uid == geteuid();
  }
  /// Whether it is still what lies at `path`.
  bool is_at(const fs::path& path) const {
    struct stat ours{}, there{};
    return fstat(descriptor_, &ours) == 0 && lstat(path.c_str(), &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
  }

 private:
  int descriptor_;
};

/// What other processes left there. Whoever locks a folder of a process that goes on fails.
void remove_abandoned(const fs::path& temporary) {
  std::error_code error;
  for (fs::directory_iterator at(temporary, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    const OpenFolder folder(at->path());
    if (!folder.is_mine() || !folder.lock(LOCK_NB)) continue;
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
  }
}

}  // namespace

/// The folder that those of the process lie in, as long as there is one.
class ExchangeFolder::OfProcess {
 public:
  static std::shared_ptr<const OfProcess> get() {
    static std::mutex mutex;
    static std::weak_ptr<const OfProcess> last;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const OfProcess> now = last.lock();
    if (!now) last = now = std::make_shared<const OfProcess>();
    return now;
  }

  OfProcess() {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (error) fail(error);
    remove_abandoned(temporary);
    // Before it is locked another process may take it for abandoned.
    do {
      std::string name = (temporary / kPrefix).string() + "XXXXXX";
      if (mkdtemp(name.data()) == nullptr) fail(last_error());
      path_ = name;
      open_ = std::make_unique<OpenFolder>(path_);
      // Where a file system has no locks, nobody can lock it to remove it.
      if (!open_->lock()) break;
    } while (!open_->is_at(path_));
  }
  ~OfProcess() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  OfProcess(const OfProcess&) = delete;
  OfProcess& operator=(const OfProcess&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::unique_ptr<const OpenFolder> open_;
};

ExchangeFolder::ExchangeFolder() : parent_(OfProcess::get()) {
  static std::atomic<std::uint64_t> count = 0;
  path_ = parent_->path() / std::to_string(count++);
  if (mkdir(path_.c_str(), 0700) != 0) fail(last_error());
}
ExchangeFolder::~ExchangeFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace tlaloc::iree
