#include "tlaloc/base/python_packages.h"

#include <algorithm>
#include <system_error>

#include "tlaloc/base/environment.h"

namespace tlaloc {

namespace fs = std::filesystem;

std::vector<fs::path> python_prefixes() {
  std::vector<fs::path> r;
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty()) r.emplace_back(venv);
  if (const std::string home = environment("HOME"); !home.empty()) {
    r.push_back(fs::path(home) / ".local");
  }
  r.emplace_back("/usr/local");
  r.emplace_back("/usr");
  return r;
}

std::vector<fs::path> python_packages(const fs::path& prefix) {
  std::vector<fs::path> r;
  for (const fs::path& python : folder_entries(prefix / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      std::error_code error;
      if (fs::is_directory(python / packages, error)) r.push_back(python / packages);
    }
  }
  return r;
}

std::vector<fs::path> folder_entries(const fs::path& folder) {
  std::vector<fs::path> r;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    r.push_back(at->path());
  }
  std::ranges::sort(r);
  return r;
}

}  // namespace tlaloc
