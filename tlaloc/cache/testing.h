// For tests of what the environment and folders decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/base/digest.h"

extern char** environ;

namespace tlaloc::cache::testing {

/// A folder of its own, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tlaloc-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Sets environment variables, and puts things back.
class Variables {
 public:
  Variables() = default;
  ~Variables() {
    for (const auto& [name, value] : before_) put(name, value);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  /// nullopt unsets.
  void set(const std::string& name, const std::optional<std::string>& value) {
    const char* now = std::getenv(name.c_str());
    before_.try_emplace(name, now == nullptr ? std::nullopt : std::optional<std::string>(now));
    put(name, value);
  }

 private:
  static void put(const std::string& name, const std::optional<std::string>& value) {
    if (value)
      setenv(name.c_str(), value->c_str(), 1);
    else
      unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

/// As where nothing was set: no variable of Tlaloc's, and a home at /somewhere.
class PlainEnvironment : public Variables {
 public:
  PlainEnvironment() {
    std::vector<std::string> names{"XDG_CACHE_HOME"};
    for (char** e = environ; *e; ++e) {
      const std::string_view one = *e;
      if (one.starts_with("TLALOC_")) names.emplace_back(one.substr(0, one.find('=')));
    }
    for (const std::string& name : names) set(name, std::nullopt);
    set("HOME", "/somewhere");
  }
};

/// Of what a cache has in `folder`.
inline std::vector<Digest> keys_in(const std::filesystem::path& folder) {
  std::vector<Digest> keys;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().stem();
    Digest& key = keys.emplace_back();
    for (std::size_t i = 0; i < key.size(); ++i) {
      key[i] = static_cast<std::uint8_t>(std::stoi(name.substr(2 * i, 2), nullptr, 16));
    }
  }
  return keys;
}

}  // namespace tlaloc::cache::testing
