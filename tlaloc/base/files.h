// Files that are written whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tlaloc {

struct FileContent {
  std::string path;
  std::span<const std::byte> bytes;
};

/// Writes all files; where one can't be written, none is changed or left behind. EnvironmentError
/// TL-FILE-001, from `caller`.
void write_files(const char* caller, const std::vector<FileContent>& files);

}  // namespace tlaloc
