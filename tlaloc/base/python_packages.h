// Where Python packages lie: libraries that Tlaloc loads come in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tlaloc {

/// The prefixes whose packages are looked at, in this order: the virtual environment VIRTUAL_ENV,
/// the user's ~/.local, and the system's. Never the current folder.
std::vector<std::filesystem::path> python_prefixes();

/// The folders lib/python3.*/{site,dist}-packages below a prefix that exist.
std::vector<std::filesystem::path> python_packages(const std::filesystem::path& prefix);

/// What a folder holds, in the order of names; nothing where it can't be read.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

}  // namespace tlaloc
