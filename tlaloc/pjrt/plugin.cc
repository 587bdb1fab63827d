#include "tlaloc/pjrt/plugin.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

namespace tlaloc::plugins {
namespace {

using c::Function;

[[noreturn]] void unusable(const std::string& path, const std::string& why) {
  throw EnvironmentError({"TL-PJRT-002", path, why, "", {}});
}

}  // namespace

std::string_view name(Status status) {
  constexpr std::array<std::string_view, 17> kNames{"OK",
                                                    "CANCELLED",
                                                    "UNKNOWN",
                                                    "INVALID_ARGUMENT",
                                                    "DEADLINE_EXCEEDED",
                                                    "NOT_FOUND",
                                                    "ALREADY_EXISTS",
                                                    "PERMISSION_DENIED",
                                                    "RESOURCE_EXHAUSTED",
                                                    "FAILED_PRECONDITION",
                                                    "ABORTED",
                                                    "OUT_OF_RANGE",
                                                    "UNIMPLEMENTED",
                                                    "INTERNAL",
                                                    "UNAVAILABLE",
                                                    "DATA_LOSS",
                                                    "UNAUTHENTICATED"};
  const auto i = static_cast<std::size_t>(status);
  return i < kNames.size() ? kNames[i] : "UNKNOWN";
}

const Plugin& Plugin::load(const std::string& path) {
  static std::mutex mutex;
  static auto* plugins = new std::map<std::string, std::unique_ptr<Plugin>>;
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  if (error) unusable(path, "there is no such plugin: " + error.message());
  std::lock_guard lock(mutex);
  auto& plugin = (*plugins)[canonical.string()];
  if (!plugin) plugin.reset(new Plugin(canonical.string()));
  return *plugin;
}

Plugin::Plugin(std::string path) : path_(std::move(path)) {
  void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) unusable(path_, std::string("it can't be loaded: ") + dlerror());
  auto* get_api = reinterpret_cast<const c::Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (!get_api) unusable(path_, "it is no PJRT plugin: it has no GetPjrtApi");
  api_ = get_api();
  if (!api_ || api_->struct_size < sizeof(c::Api)) unusable(path_, "it gave no table of functions");
  const c::Version& v = api_->version;
  if (v.major_version != c::kMajorVersion || v.minor_version < c::kOldestMinorVersion) {
    unusable(path_, "it speaks version " + std::to_string(v.major_version) + "." +
                        std::to_string(v.minor_version) + " of the PJRT interface, Tlaloc speaks " +
                        std::to_string(c::kMajorVersion) + "." +
                        std::to_string(c::kOldestMinorVersion) + " and later");
  }
  // What tells of errors can't be missing.
  for (Function f : {Function::Error_Destroy, Function::Error_Message, Function::Error_GetCode}) {
    if (!has(f)) unusable(path_, "its table lacks the functions that tell of errors");
  }
  c::Plugin_Initialize args{};
  call(Function::Plugin_Initialize, args, "Plugin_Initialize");
}

bool Plugin::has(Function f) const {
  const std::size_t end =
      offsetof(c::Api, functions) + (static_cast<std::size_t>(f) + 1) * sizeof(void*);
  return api_->struct_size >= end && function(f);
}

std::string Plugin::attribute(std::string_view key) const {
  c::Plugin_Attributes args{};
  call(Function::Plugin_Attributes, args, "Plugin_Attributes");
  for (std::size_t i = 0; i < args.num_attributes; ++i) {
    const c::NamedValue& v = args.attributes[i];
    if (std::string_view(v.name, v.name_size) != key) continue;
    std::string text;
    switch (v.type) {
      case c::kString:
        return {v.string_value, v.value_size};
      case c::kInt64:
        return std::to_string(v.int64_value);
      case c::kInt64List:
        for (std::size_t k = 0; k < v.value_size; ++k) {
          text += (k ? "." : "") + std::to_string(v.int64_array_value[k]);
        }
        return text;
      case c::kFloat:
        return std::to_string(v.float_value);
      case c::kBool:
        return v.bool_value ? "true" : "false";
    }
  }
  return {};
}

bool Plugin::register_handler(std::string_view target, ffi::Handler* handler,
                              std::string_view platform) const {
  for (auto* e = static_cast<ffi::ExtensionBase*>(api_->extension_start); e; e = e->next) {
    if (e->type != ffi::kPjrtExtension || e->struct_size < sizeof(ffi::PjrtExtension)) continue;
    ffi::RegisterHandler args{
        sizeof args, target.data(), target.size(), handler, platform.data(), platform.size(), 0};
    const auto add = reinterpret_cast<c::Error* (*)(ffi::RegisterHandler*)>(
        reinterpret_cast<ffi::PjrtExtension*>(e)->register_handler);
    check(add(&args), "FFI_Register_Handler");
    return true;
  }
  return false;
}

void Plugin::missing(Function f, const char* what) const {
  throw PluginError({"TL-PJRT-003",
                     what,
                     "UNIMPLEMENTED: the plugin's table has no function " +
                         std::to_string(static_cast<int>(f)) + " (from " + path_ + ")",
                     "use a newer version of the plugin",
                     {}},
                    Status::unimplemented);
}

void Plugin::check(c::Error* error, const char* what) const {
  if (!error) return;
  c::Error_Message message{c::kStructSize<c::Error_Message>, nullptr, error, nullptr, 0};
  reinterpret_cast<void (*)(c::Error_Message*)>(function(Function::Error_Message))(&message);
  c::Error_GetCode code{c::kStructSize<c::Error_GetCode>, nullptr, error, 0};
  c::Error* nested =
      reinterpret_cast<c::Error* (*)(c::Error_GetCode*)>(function(Function::Error_GetCode))(&code);
  if (nested) forget(nested);
  const auto status = nested ? Status::unknown : static_cast<Status>(code.code);
  std::string text(message.message, message.message_size);
  forget(error);
  throw PluginError({"TL-PJRT-003",
                     what,
                     std::string(name(status)) + ": " + text + " (from " + path_ + ")",
                     "",
                     {}},
                    status);
}
void Plugin::forget(c::Error* error) const noexcept {
  if (!error) return;
  c::Error_Destroy args{c::kStructSize<c::Error_Destroy>, nullptr, error};
  reinterpret_cast<void (*)(c::Error_Destroy*)>(function(Function::Error_Destroy))(&args);
}

}  // namespace tlaloc::plugins
