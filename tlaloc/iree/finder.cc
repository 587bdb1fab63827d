#include "tlaloc/iree/finder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tlaloc/base/environment.h"
#include "tlaloc/base/error.h"
#include "tlaloc/base/python_packages.h"

namespace tlaloc::iree {
namespace {

namespace fs = std::filesystem;

/// Of a Python package, by the folder that installers leave beside it: NAME-VERSION.dist-info.
std::string version_of(const fs::path& packages, const std::string& package) {
  constexpr std::string_view kEnd = ".dist-info";
  for (const fs::path& p : folder_entries(packages)) {
    const std::string name = p.filename().string();
    if (name.starts_with(package + "-") && name.ends_with(kEnd)) {
      return name.substr(package.size() + 1, name.size() - package.size() - 1 - kEnd.size());
    }
  }
  return "";
}

void look_in(const fs::path& packages, Installation& found) {
  found.places.push_back(packages.string());
  const auto take = [&](const fs::path& file, const char* package, std::string& into,
                        std::string& version) {
    std::error_code error;
    if (!into.empty() || !fs::exists(packages / file, error)) return;
    into = (packages / file).string();
    version = version_of(packages, package);
  };
  take("iree/compiler/_mlir_libs/libIREECompiler.so", "iree_base_compiler", found.compiler,
       found.compiler_version);
  take("iree/_runtime_libs/iree-run-module", "iree_base_runtime", found.runner,
       found.runner_version);
}

}  // namespace

Installation find_iree() {
  Installation found;
  const std::string list = environment("TLALOC_IREE");
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    std::error_code error;
    const fs::path place = fs::absolute(list.substr(at, end - at), error);
    at = end + 1;
    if (error || place.empty()) continue;
    look_in(place, found);
    for (const fs::path& packages : python_packages(place)) look_in(packages, found);
  }
  for (const fs::path& prefix : python_prefixes()) {
    for (const fs::path& packages : python_packages(prefix)) look_in(packages, found);
  }
  return found;
}

Installation require_iree() {
  Installation found = find_iree();
  if (found.complete()) return found;
  std::string message;
  if (found.compiler.empty()) message = "there is no compiler (iree-base-compiler)";
  if (found.runner.empty()) {
    message +=
        std::string(message.empty() ? "" : " and ") + "there is no runtime (iree-base-runtime)";
  }
  message += ". The search looked in";
  if (found.places.empty()) message += " no place";
  for (const std::string& place : found.places) message += " " + place;
  throw EnvironmentError({"TL-IREE-001",
                          "iree",
                          message,
                          "name a virtual environment in TLALOC_IREE, or run ./setup --iree",
                          {}});
}

}  // namespace tlaloc::iree
