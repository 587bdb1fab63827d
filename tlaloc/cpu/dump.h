// What is compiled, as files to look at.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tlaloc/base/digest.h"

namespace tlaloc::cpu {

/// The files of one dump: folder/name-digest.suffix.
class Dump {
 public:
  /// Makes the folder. EnvironmentError TL-DUMP-001 where that fails.
  Dump(const std::filesystem::path& folder, std::string_view name, const Digest& key);
  /// Writes folder/name-digest`suffix`. EnvironmentError TL-DUMP-001 where that fails.
  void write(std::string_view suffix, std::string_view text) const;

 private:
  std::string start_;
};

}  // namespace tlaloc::cpu
