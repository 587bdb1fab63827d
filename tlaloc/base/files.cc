#include "tlaloc/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_cannot(const char* caller, const char* verb, const std::string& path,
                               int error) {
  throw EnvironmentError({"TL-FILE-001",
                          caller,
                          std::string("can't ") + verb + " " + path + ": " + std::strerror(error),
                          "check the path and its permissions",
                          {}});
}

}  // namespace

NewFile::NewFile(const char* caller, const std::string& path)
    : caller_(caller), path_(path), target_(path) {
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (fs::is_directory(there)) fail(EISDIR);
  if (!fs::exists(there) || fs::is_regular_file(there)) {
    // A link keeps leading to where it leads.
    if (fs::exists(there)) target_ = fs::canonical(path, error).string();
    if (target_.empty()) fail(ENOENT);
    create_part(fs::exists(there) ? std::optional(there.permissions()) : std::nullopt);
  } else {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
  }
}

void NewFile::create_part(std::optional<fs::perms> permissions) {
  constexpr mode_t kAll = 0777;
  const mode_t mode = permissions ? static_cast<mode_t>(*permissions) & kAll : 0666;
  static std::atomic<std::size_t> number = 0;
  std::string part;
  do {  // until it has a name that nothing has, be it of an earlier process or put there by another
    part = target_ + "." + std::to_string(getpid()) + "." + std::to_string(++number) + ".part";
    descriptor_ = ::open(part.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail(errno);
  part_ = std::move(part);
  // The umask took bits away. Where they can't be set the file is closed to more, not to fewer.
  if (permissions) fchmod(descriptor_, mode);
}

NewFile::NewFile(NewFile&& other) noexcept
    : caller_(other.caller_),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!part_.empty()) ::unlink(part_.c_str());
}

void NewFile::fail(int error) const { throw_cannot(caller_, "write", path_, error); }

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void NewFile::close() {
  if (descriptor_ < 0) return;
  if (!part_.empty() && fsync(descriptor_) != 0) fail(errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void NewFile::put() {
  close();
  if (part_.empty()) return;
  if (std::rename(part_.c_str(), target_.c_str()) != 0) fail(errno);
  part_.clear();
}

namespace {
/// The same for all ways to write one place, whether there is something or not.
fs::path where(const std::string& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}
}  // namespace

void write_files(const char* caller, const std::vector<FileContent>& files) {
  std::map<fs::path, const std::string*> places;
  for (const FileContent& f : files) {
    std::error_code ignored;
    if (fs::is_character_file(f.path, ignored)) continue;  // takes one after the other
    const auto [there, added] = places.emplace(where(f.path), &f.path);
    if (added) continue;
    throw UserError(
        {"TL-FILE-002",
         caller,
         "two results are to be written to one file: " + *there->second + " and " + f.path,
         "give them different paths",
         {}});
  }
  std::vector<NewFile> parts;
  for (const FileContent& f : files) parts.emplace_back(caller, f.path);
  // What can't be taken back comes last.
  for (const bool at_once : {false, true}) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (parts[i].at_once() != at_once) continue;
      parts[i].write(files[i].bytes);
      parts[i].close();
    }
  }
  put_files(parts);
}

void put_files(std::vector<NewFile>& files) {
  for (NewFile& file : files) file.close();
  for (NewFile& file : files) file.put();
}

std::shared_ptr<const MappedFile> MappedFile::open(const char* caller, const std::string& path) {
  // A pipe without a writer would have this wait for ever; regular files ignore the flag.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_cannot(caller, "read", path, errno);
  struct stat status = {};
  int error = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  if (error == 0 && !S_ISREG(status.st_mode)) error = ENODEV;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = nullptr;
  if (error == 0 && size > 0) {
    memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  ::close(descriptor);
  if (error != 0) throw_cannot(caller, "read", path, error);
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, {static_cast<const std::byte*>(memory), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tlaloc
