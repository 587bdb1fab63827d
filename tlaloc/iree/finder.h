// Where IREE is.
#pragma once

#include <string>
#include <vector>

namespace tlaloc::iree {

struct Installation {
  std::string compiler;  ///< libIREECompiler.so; empty where none was found
  std::string runner;    ///< iree-run-module; likewise
  /// Of their packages; empty where nothing says it.
  std::string compiler_version, runner_version;
  std::vector<std::string> places;  ///< where the search looked
  bool complete() const { return !compiler.empty() && !runner.empty(); }
};

/// Looks, without loading anything, for the Python packages iree-base-compiler and
/// iree-base-runtime in the virtual environments and folders of TLALOC_IREE (separated by colons),
/// then where python_prefixes() says.
Installation find_iree();

/// The same. EnvironmentError TL-IREE-001 where a part is missing, with where the search looked.
Installation require_iree();

}  // namespace tlaloc::iree
