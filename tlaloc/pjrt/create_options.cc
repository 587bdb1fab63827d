#include "tlaloc/pjrt/create_options.h"

#include <filesystem>
#include <utility>

namespace tlaloc::plugins {
namespace {

c::NamedValue named(const CreateOptions::value_type& option) {
  c::NamedValue v{};
  v.struct_size = c::kStructSize<c::NamedValue>;
  v.name = option.first.data();
  v.name_size = option.first.size();
  v.value_size = 1;
  if (const auto* i = std::get_if<std::int64_t>(&option.second)) {
    v.type = c::kInt64;
    v.int64_value = *i;
  } else if (const auto* b = std::get_if<bool>(&option.second)) {
    v.type = c::kBool;
    v.bool_value = *b;
  } else if (const auto* f = std::get_if<float>(&option.second)) {
    v.type = c::kFloat;
    v.float_value = *f;
  } else {
    const auto& s = std::get<std::string>(option.second);
    v.type = c::kString;
    v.string_value = s.data();
    v.value_size = s.size();
  }
  return v;
}

/// "…/jax_plugins/xla_cuda13/xla_cuda_plugin.so", by the file and the folder that holds it.
bool is_for_gpus(const std::filesystem::path& plugin) {
  for (const std::filesystem::path& p : {plugin.filename(), plugin.parent_path().filename()}) {
    for (const char* word : {"cuda", "rocm", "gpu"}) {
      if (p.string().find(word) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

CreateOptions with_defaults(std::string_view plugin, CreateOptions given) {
  if (is_for_gpus(plugin)) given.emplace("preallocate", false);
  return given;
}

std::vector<c::NamedValue> named_values(const CreateOptions& options) {
  std::vector<c::NamedValue> values;
  for (const auto& option : options) values.push_back(named(option));
  return values;
}

}  // namespace tlaloc::plugins
