// Where plugins are: one search for every part of Tlaloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::plugins {

struct Found {
  std::string name;  ///< of the folder that holds it, or of the file
  std::string path;
};
struct Search {
  std::vector<Found> plugins;  ///< the first of each name, in the order of the places
  std::vector<std::string> places;
};

/// Looks, without loading anything, at the files and folders of TLALOC_PJRT_PLUGIN (separated by
/// colons); the virtual environments VIRTUAL_ENV and .venv* here; the user's and the system's
/// Python packages; /usr/lib/pjrt and /usr/local/lib/pjrt. A plugin is a library with "pjrt" in its
/// name, or libtpu.so.
Search find_plugins();

/// The path of the plugin that `wanted` says: a path, its name, or a part of one name only; empty
/// means the first one found. EnvironmentError TL-PJRT-001 with what there is and where the search
/// looked.
std::string find_plugin(std::string_view wanted);

}  // namespace tlaloc::plugins
