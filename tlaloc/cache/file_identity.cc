#include "tlaloc/cache/file_identity.h"

#include <sys/stat.h>

#include <cstdint>

namespace tlaloc::cache {

void add_file(Hasher& hasher, const std::string& path) {
  struct stat info{};
  stat(path.c_str(), &info);
  hasher.add(path)
      .add(static_cast<std::uint64_t>(info.st_size))
      .add(static_cast<std::uint64_t>(info.st_mtim.tv_sec))
      .add(static_cast<std::uint64_t>(info.st_mtim.tv_nsec));
}

}  // namespace tlaloc::cache
