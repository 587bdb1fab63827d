#include "tlaloc/base/files.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

namespace fs = std::filesystem;

bool write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  return static_cast<bool>(out);
}

/// A file's content under another name beside it, until it is put in its place.
class Part {
 public:
  Part(const fs::path& target, std::size_t number)
      : target_(target),
        path_(target.string() + "." + std::to_string(getpid()) + "." + std::to_string(number) +
              ".part") {}
  Part(Part&& other) noexcept : target_(other.target_), path_(std::exchange(other.path_, {})) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part& operator=(Part&&) = delete;
  ~Part() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  bool write(std::span<const std::byte> bytes) const { return tlaloc::write(path_, bytes); }
  bool put() {
    std::error_code error;
    fs::rename(path_, target_, error);
    if (!error) path_.clear();
    return !error;
  }

 private:
  fs::path target_, path_;
};

}  // namespace

void write_files(const char* caller, const std::vector<FileContent>& files) {
  static std::atomic<std::size_t> number = 0;
  auto require = [&](bool written, const FileContent& f) {
    if (written) return;
    throw EnvironmentError({"TL-FILE-001", caller, "can't write " + f.path, "", {}});
  };
  std::vector<std::pair<Part, const FileContent*>> parts;
  std::vector<const FileContent*> streams;
  for (const FileContent& f : files) {
    std::error_code error;
    const fs::file_status there = fs::status(f.path, error);
    // What is no file, such as /dev/stdout, stays what it is.
    if (fs::exists(there) && !fs::is_regular_file(there)) {
      require(!fs::is_directory(there), f);
      streams.push_back(&f);
      continue;
    }
    // A link keeps leading to where it leads.
    fs::path target = fs::exists(there) ? fs::canonical(f.path, error) : fs::path(f.path);
    require(!target.empty(), f);
    parts.emplace_back(Part(target, ++number), &f);
    require(parts.back().first.write(f.bytes), f);
  }
  for (const FileContent* f : streams) require(write(f->path, f->bytes), *f);
  for (auto& [part, f] : parts) require(part.put(), *f);
}

}  // namespace tlaloc
