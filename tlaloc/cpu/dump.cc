#include "tlaloc/cpu/dump.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {
namespace {

constexpr std::size_t kMaxName = 100;  // a file's name has at most 255 bytes

/// The name as far as every file system and shell takes it.
std::string plain(std::string_view name) {
  std::string text(name.substr(0, kMaxName));
  for (char& c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_') c = '_';
  }
  return text;
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw EnvironmentError({"TL-DUMP-001",
                          "dump",
                          path + " can't be written: " + reason,
                          "name another folder with TLALOC_DUMP, or unset it",
                          {}});
}

}  // namespace

Dump::Dump(const std::filesystem::path& folder, std::string_view name, const Digest& key)
    : start_((folder / (plain(name) + "-" + to_hex(key).substr(0, 8))).string()) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) refuse(folder.string(), error.message());
}

void Dump::write(std::string_view suffix, std::string_view text) const {
  const std::string path = start_ + std::string(suffix);
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) refuse(path, std::generic_category().message(errno));
}

}  // namespace tlaloc::cpu
