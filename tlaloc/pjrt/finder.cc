#include "tlaloc/pjrt/finder.h"

#include <algorithm>
#include <filesystem>

#include "tlaloc/base/environment.h"
#include "tlaloc/base/error.h"
#include "tlaloc/base/python_packages.h"

namespace tlaloc::plugins {
namespace {

namespace fs = std::filesystem;

/// By its name. Where only plugins are kept, such as xla_cuda_plugin.so in jax_plugins/xla_cuda12,
/// the name may say less.
bool is_plugin(const fs::path& file, bool among_plugins = false) {
  const std::string name = file.filename().string();
  return file.extension() == ".so" && (name.find("pjrt") != name.npos || name == "libtpu.so" ||
                                       (among_plugins && name.find("plugin") != name.npos));
}

bool is_folder(const fs::path& p) {
  std::error_code error;
  return fs::is_directory(p, error);
}

class Finder {
 public:
  Search run() && {
    from_variable();
    for (const fs::path& prefix : python_prefixes()) packages_of(prefix);
    for (const char* root : {"/usr/local/lib/pjrt", "/usr/lib/pjrt"}) folder(root);
    return std::move(search_);
  }

 private:
  void from_variable() {
    const std::string list = environment("TLALOC_PJRT_PLUGIN");
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(':', at), list.size());
      const fs::path p = list.substr(at, end - at);
      if (is_folder(p)) {
        folder(p);
        packages_of(p);
      } else if (!p.empty()) {
        // Whoever names a file means it, whatever it is called.
        search_.places.push_back(p.string());
        std::error_code error;
        if (fs::exists(p, error)) add(p);
      }
      at = end + 1;
    }
  }
  void packages_of(const fs::path& prefix) {
    for (const fs::path& packages : python_packages(prefix)) folder(packages);
  }
  /// Libraries in it, in its folders, and in theirs where those are made for plugins.
  void folder(const fs::path& root) {
    if (!is_folder(root)) return;
    search_.places.push_back(root.string());
    for (const fs::path& p : folder_entries(root)) {
      if (is_plugin(p)) add(p);
      if (!is_folder(p)) continue;
      const bool holds_plugins = p.filename().string().ends_with("_plugins");
      for (const fs::path& q : folder_entries(p)) {
        if (is_plugin(q, holds_plugins)) add(q);
        if (!holds_plugins || !is_folder(q)) continue;
        for (const fs::path& r : folder_entries(q)) {
          if (is_plugin(r, true)) add(r);
        }
      }
    }
  }
  void add(const fs::path& file) {
    std::error_code error;
    const fs::path whole = fs::absolute(file, error);
    std::string name = whole.parent_path().filename().string();
    if (name.ends_with("-packages") || name == "lib" || name == "pjrt")
      name = whole.stem().string();
    if (std::ranges::find(search_.plugins, name, &Found::name) == search_.plugins.end()) {
      search_.plugins.push_back({name, whole.string()});
    }
  }

  Search search_;
};

}  // namespace

Search find_plugins() { return Finder().run(); }

std::string find_plugin(std::string_view wanted) {
  if (wanted.find('/') != wanted.npos) return std::string(wanted);
  const Search search = find_plugins();
  std::vector<const Found*> parts;
  for (const Found& f : search.plugins) {
    if (f.name == wanted) return f.path;
    if (f.name.find(wanted) != f.name.npos) parts.push_back(&f);
  }
  if (!parts.empty() && (wanted.empty() || parts.size() == 1)) return parts[0]->path;
  std::string message = wanted.empty() ? "no plugin was found"
                        : parts.empty()
                            ? "no plugin is called '" + std::string(wanted) + "'"
                            : "several plugins are called '" + std::string(wanted) + "'";
  message += "; there is";
  if (search.plugins.empty()) message += " none";
  for (const Found& f : search.plugins) message += " " + f.name;
  message += ". The search looked in";
  for (const std::string& p : search.places) message += " " + p;
  throw EnvironmentError(
      {"TL-PJRT-001",
       "pjrt",
       message,
       "name a file in TLALOC_PJRT_PLUGIN, or install a plugin (./setup --pjrt, --aot)",
       {}});
}

}  // namespace tlaloc::plugins
