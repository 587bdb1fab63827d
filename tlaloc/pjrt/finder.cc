#include "tlaloc/pjrt/finder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tlaloc/base/error.h"

namespace tlaloc::plugins {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// By its name. Where only plugins are kept, such as xla_cuda_plugin.so in jax_plugins/xla_cuda12,
/// the name may say less.
bool is_plugin(const fs::path& file, bool among_plugins = false) {
  const std::string name = file.filename().string();
  return file.extension() == ".so" && (name.find("pjrt") != name.npos || name == "libtpu.so" ||
                                       (among_plugins && name.find("plugin") != name.npos));
}

/// What a folder holds, in the order of names; nothing where it can't be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> r;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    r.push_back(at->path());
  }
  std::ranges::sort(r);
  return r;
}
bool is_folder(const fs::path& p) {
  std::error_code error;
  return fs::is_directory(p, error);
}

class Finder {
 public:
  Search run() && {
    from_variable();
    if (const std::string venv = variable("VIRTUAL_ENV"); !venv.empty()) environment(venv);
    if (const std::string home = variable("HOME"); !home.empty()) {
      environment(fs::path(home) / ".local");
    }
    for (const char* root : {"/usr/local", "/usr"}) environment(root);
    for (const char* root : {"/usr/local/lib/pjrt", "/usr/lib/pjrt"}) folder(root);
    return std::move(search_);
  }

 private:
  void from_variable() {
    const std::string list = variable("TLALOC_PJRT_PLUGIN");
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(':', at), list.size());
      const fs::path p = list.substr(at, end - at);
      if (is_folder(p)) {
        folder(p);
        environment(p);
      } else if (!p.empty()) {
        // Whoever names a file means it, whatever it is called.
        search_.places.push_back(p.string());
        std::error_code error;
        if (fs::exists(p, error)) add(p);
      }
      at = end + 1;
    }
  }
  /// A prefix with lib/python3.*/{site,dist}-packages.
  void environment(const fs::path& prefix) {
    for (const fs::path& python : entries(prefix / "lib")) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        if (is_folder(python / packages)) folder(python / packages);
      }
    }
  }
  /// Libraries in it, in its folders, and in theirs where those are made for plugins.
  void folder(const fs::path& root) {
    if (!is_folder(root)) return;
    search_.places.push_back(root.string());
    for (const fs::path& p : entries(root)) {
      if (is_plugin(p)) add(p);
      if (!is_folder(p)) continue;
      const bool holds_plugins = p.filename().string().ends_with("_plugins");
      for (const fs::path& q : entries(p)) {
        if (is_plugin(q, holds_plugins)) add(q);
        if (!holds_plugins || !is_folder(q)) continue;
        for (const fs::path& r : entries(q)) {
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
  throw EnvironmentError({"TL-PJRT-001",
                          "pjrt",
                          message,
                          "name a file in TLALOC_PJRT_PLUGIN, or install a plugin (./setup --pjrt)",
                          {}});
}

}  // namespace tlaloc::plugins
