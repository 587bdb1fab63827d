#include "tlaloc/cache/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cache/entry.h"

namespace tlaloc::cache {
namespace {

constexpr std::string_view kSuffix = ".code";
/// A file that is being written; older ones were left by a process that died.
constexpr std::string_view kUnfinished = ".part";
constexpr std::time_t kAbandonedSeconds = 3600;

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& why) {
  throw EnvironmentError({"TL-CACHE-001",
                          "cache of compiled code",
                          folder.string() + " " + why,
                          "name another folder with TLALOC_CACHE_DIR, or set TLALOC_CACHE=off",
                          {}});
}

std::string reason(int error) { return std::generic_category().message(error); }

/// A file descriptor that is closed.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (open()) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool closed_to_others(const struct stat& info, uid_t user) {
  return info.st_uid == user && (info.st_mode & 077) == 0;
}

std::string file_name(const Digest& key) { return to_hex(key) + std::string(kSuffix); }

std::string unfinished_name(const std::string& name) {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint64_t>(getpid());
  return name + "." + std::to_string(random) + std::string(kUnfinished);
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Fewer than `size` bytes where the file ends early or can't be read.
std::vector<std::byte> read_all(int file, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file, bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

struct Entry {
  std::string name;
  std::uint64_t size = 0;
  timespec used{};
};

/// The finished files; removes what was abandoned unfinished.
std::vector<Entry> list(int folder) {
  std::vector<Entry> entries;
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(again < 0 ? nullptr : fdopendir(again),
                                                   closedir);
  if (stream == nullptr) return entries;
  while (const dirent* found = readdir(stream.get())) {
    const std::string_view name = found->d_name;
    const bool unfinished = name.ends_with(kUnfinished);
    struct stat info{};
    if ((!unfinished && !name.ends_with(kSuffix)) ||
        fstatat(folder, found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!unfinished)
      entries.push_back(
          {std::string(name), static_cast<std::uint64_t>(info.st_size), info.st_mtim});
    else if (info.st_mtim.tv_sec < std::time(nullptr) - kAbandonedSeconds)
      unlinkat(folder, found->d_name, 0);
  }
  return entries;
}

}  // namespace

DiskCache::DiskCache(const std::filesystem::path& folder, std::uint64_t max_bytes, uid_t user)
    : path_(folder.empty() ? folder : std::filesystem::absolute(folder)),
      max_bytes_(max_bytes),
      user_(user),
      untrimmed_(max_bytes) {
  if (folder.empty()) refuse("the folder", "is not known: neither HOME nor XDG_CACHE_HOME is set");
  if (!path_.has_filename()) path_ = path_.parent_path();  // it ended with a slash
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) refuse(path_, "can't be made: " + error.message());
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
    refuse(path_, "can't be made: " + reason(errno));
  folder_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) refuse(path_, "can't be opened: " + reason(errno));
  struct stat info{};
  if (fstat(folder_, &info) == 0 && closed_to_others(info, user_)) return;
  close(folder_);
  refuse(path_, info.st_uid == user_ ? "is open to other users: its mode must be 0700"
                                     : "belongs to another user");
}

DiskCache::~DiskCache() { close(folder_); }

std::optional<std::vector<std::byte>> DiskCache::find(const Digest& key) const {
  const File file(
      openat(folder_, file_name(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file.open() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !closed_to_others(info, user_) || static_cast<std::uint64_t>(info.st_size) > largest())
    return std::nullopt;
  std::vector<std::byte> entry = read_all(file.get(), static_cast<std::size_t>(info.st_size));
  const auto body = read_entry(key, entry);
  if (!body) return std::nullopt;
  // trim() keeps what was used last.
  futimens(file.get(), nullptr);
  entry.erase(entry.begin(), entry.end() - std::ssize(*body));
  return entry;
}

bool DiskCache::store(const Digest& key, std::span<const std::byte> bytes) {
  const std::vector<std::byte> entry = write_entry(key, bytes);
  if (entry.size() > largest()) return false;
  write(file_name(key), entry);
  const std::lock_guard lock(mutex_);
  untrimmed_ += entry.size();
  if (untrimmed_ > max_bytes_ / 8) trim();
  return true;
}

void DiskCache::write(const std::string& name, std::span<const std::byte> bytes) {
  const std::string unfinished = unfinished_name(name);
  const File file(
      openat(folder_, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.open()) refuse(path_, "can't be written: " + reason(errno));
  if (write_all(file.get(), bytes) &&
      renameat(folder_, unfinished.c_str(), folder_, name.c_str()) == 0)
    return;
  const int error = errno;
  unlinkat(folder_, unfinished.c_str(), 0);
  refuse(path_, "can't be written: " + reason(error));
}

/// Removes what was used longest ago, down to seven eighths of the limit: listing the folder takes
/// a millisecond for some thousand files, and is done after each eighth that was written.
void DiskCache::trim() {
  std::vector<Entry> entries = list(folder_);
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  std::uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.size;
  for (const Entry& entry : entries) {
    if (total <= max_bytes_ - max_bytes_ / 8) break;
    unlinkat(folder_, entry.name.c_str(), 0);
    total -= entry.size;
  }
  untrimmed_ = 0;
}

}  // namespace tlaloc::cache
