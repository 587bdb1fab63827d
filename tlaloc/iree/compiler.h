// IREE's compiler, in this process.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::iree {

/// Modules for the processors of this machine, with f64 as it is.
std::span<const char* const> default_flags();

/// A loaded compiler; stays loaded until the process ends. Safe to use from any thread.
class Compiler {
 public:
  /// The library at that path, loaded once per process. EnvironmentError TL-IREE-002 for what can't
  /// be loaded or has another interface.
  static const Compiler& load(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& revision() const { return revision_; }
  /// A module of IREE's virtual machine from StableHLO text. EnvironmentError TL-IREE-002 with the
  /// compiler's own words.
  std::vector<std::byte> compile(std::string_view module,
                                 std::span<const char* const> flags = default_flags()) const;

 private:
  struct Api;
  explicit Compiler(std::string path);

  std::string path_;
  std::string revision_;
  const Api* api_;  // never freed
};

}  // namespace tlaloc::iree
