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

/// Looks, without loading anything, at the files, folders and virtual environments of
/// TLALOC_PJRT_PLUGIN (separated by colons); the virtual environment VIRTUAL_ENV; the user's and
/// the system's Python packages; /usr/lib/pjrt and /usr/local/lib/pjrt. Never at the current folder
/// of its own accord: a program started there would run what somebody left there. A plugin is a
/// library with "pjrt" in its name, libtpu.so, or one with "plugin" in its name in a folder such as
/// jax_plugins.
Search find_plugins();

/// The path of the plugin that `wanted` says: a path, its name, or a part of one name only; empty
/// means the first one found. EnvironmentError TL-PJRT-001 with what there is and where the search
/// looked.
std::string find_plugin(std::string_view wanted);

}  // namespace tlaloc::plugins
