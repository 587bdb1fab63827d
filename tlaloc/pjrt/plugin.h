// One plugin: its library, its table of functions, its errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/pjrt/c_api.h"
#include "tlaloc/pjrt/ffi_api.h"

namespace tlaloc::plugins {

/// The codes that plugins report.
enum class Status : int {
  ok = 0,
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated
};
std::string_view name(Status status);

/// What a plugin refused or failed at: TL-PJRT-003, with its own words.
class PluginError final : public EnvironmentError {
 public:
  PluginError(ErrorInfo info, Status status) : EnvironmentError(std::move(info)), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

/// A loaded plugin; stays loaded until the process ends, because plugins do not survive anything
/// else. Safe to use from any thread.
class Plugin {
 public:
  /// The plugin at that path, loaded once per process. EnvironmentError TL-PJRT-002 for what can't
  /// be loaded, is no plugin, or speaks another or an older version of the interface; PluginError.
  static const Plugin& load(const std::string& path);

  const std::string& path() const { return path_; }
  int minor_version() const { return api_->version.minor_version; }
  /// Of an attribute that the plugin states of itself, such as "stablehlo_current_version".
  std::string attribute(std::string_view key) const;
  /// Lets custom calls of that name run on devices of that platform ("Host"), in every program.
  /// False where the plugin takes no handlers. Once for each name. PluginError.
  bool register_handler(std::string_view target, ffi::Handler* handler,
                        std::string_view platform) const;

  bool has(c::Function f) const;
  /// Calls a function with its arguments' structure, whose size is filled in. PluginError, with
  /// Status::unimplemented where the plugin's table lacks the function.
  template <class Args>
  void call(c::Function f, Args& args, const char* what) const {
    if (!has(f)) missing(f, what);
    args.struct_size = c::kStructSize<Args>;
    check(reinterpret_cast<c::Error* (*)(Args*)>(function(f))(&args), what);
  }
  /// The same where nobody can be told of a failure: for destructors.
  template <class Args>
  void call_quietly(c::Function f, Args args) const noexcept {
    if (!has(f)) return;
    args.struct_size = c::kStructSize<Args>;
    forget(reinterpret_cast<c::Error* (*)(Args*)>(function(f))(&args));
  }
  /// Frees an error, or null, that nobody can be told of.
  void forget(c::Error* error) const noexcept;

 private:
  explicit Plugin(std::string path);
  void* function(c::Function f) const { return api_->functions[static_cast<int>(f)]; }
  [[noreturn]] void missing(c::Function f, const char* what) const;
  void check(c::Error* error, const char* what) const;

  std::string path_;
  const c::Api* api_ = nullptr;
};

}  // namespace tlaloc::plugins
