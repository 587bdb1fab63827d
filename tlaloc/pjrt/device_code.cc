#include "tlaloc/pjrt/device_code.h"

namespace tlaloc::plugins {

using c::Function;

DeviceCode::~DeviceCode() {
  plugin_.call_quietly(Function::Executable_Destroy,
                       c::Executable_Destroy{0, nullptr, executable_});
}

std::size_t DeviceCode::output_count() const {
  c::Executable_NumOutputs count{};
  count.executable = executable_;
  plugin_.call(Function::Executable_NumOutputs, count, "compile");
  return count.num_outputs;
}

std::optional<MemoryStats> DeviceCode::memory() const {
  c::Executable_GetCompiledMemoryStats s{};
  s.executable = executable_;
  try {
    plugin_.call(Function::Executable_GetCompiledMemoryStats, s, "memory statistics");
  } catch (const PluginError& e) {
    if (e.status() == Status::unimplemented) return {};
    throw;
  }
  return MemoryStats{s.generated_code_size_in_bytes, s.argument_size_in_bytes,
                     s.output_size_in_bytes,         s.alias_size_in_bytes,
                     s.temp_size_in_bytes,           s.peak_memory_in_bytes};
}

std::optional<std::map<std::string, double>> DeviceCode::costs() const {
  c::Executable_GetCostAnalysis a{};
  a.executable = executable_;
  try {
    plugin_.call(Function::Executable_GetCostAnalysis, a, "costs");
  } catch (const PluginError& e) {
    if (e.status() == Status::unimplemented) return {};
    throw;
  }
  std::map<std::string, double> costs;
  for (std::size_t i = 0; i < a.num_properties; ++i) {
    const c::NamedValue& v = a.properties[i];
    const std::string key(v.name, v.name_size);
    if (v.type == c::kFloat) costs[key] = static_cast<double>(v.float_value);
    if (v.type == c::kInt64) costs[key] = static_cast<double>(v.int64_value);
  }
  return costs;
}

std::string DeviceCode::serialize() const {
  c::Executable_Serialize s{};
  s.executable = executable_;
  plugin_.call(Function::Executable_Serialize, s, "serialize");
  std::string bytes(s.serialized_bytes, s.serialized_bytes_size);
  s.serialized_executable_deleter(s.serialized_executable);
  return bytes;
}

}  // namespace tlaloc::plugins
