#include "tlaloc/pjrt/compile_options.h"

namespace tlaloc::plugins {
namespace {

void append_varint(std::string& out, std::uint64_t v) {
  for (; v > 127; v >>= 7) out += static_cast<char>((v & 127) | 128);
  out += static_cast<char>(v);
}
void append_integer(std::string& out, unsigned field, std::int64_t v) {
  append_varint(out, field << 3);
  append_varint(out, static_cast<std::uint64_t>(v));
}
void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
  append_varint(out, field << 3 | 2);
  append_varint(out, bytes.size());
  out += bytes;
}
/// An entry of env_option_overrides: a flag of XLA's and its value.
std::string flag(std::string_view name, bool value) {
  std::string entry, boxed;
  append_integer(boxed, 2, value);
  append_bytes(entry, 1, name);
  append_bytes(entry, 2, boxed);
  return entry;
}

}  // namespace

std::string compile_options(std::int64_t replicas, std::int64_t partitions) {
  // executable_build_options
  std::string build;
  append_integer(build, 1, -1);  // device_ordinal: none in particular
  append_integer(build, 4, replicas);
  append_integer(build, 5, partitions);
  if (partitions > 1) {
    append_integer(build, 6, 1);   // use_spmd_partitioning
    append_integer(build, 19, 1);  // use_shardy_partitioner
  }
  std::string options;
  append_bytes(options, 3, build);
  // Narrow floats are rounded after each operation, as everywhere in Tlaloc.
  append_bytes(options, 7, flag("xla_allow_excess_precision", false));
  // max and min of a NaN are NaN.
  append_bytes(options, 7, flag("xla_cpu_enable_fast_min_max", false));
  return options;
}

c::Program module_argument(std::string_view module) {
  c::Program program{};
  program.struct_size = c::kStructSize<c::Program>;
  program.code = const_cast<char*>(module.data());  // it is only read
  program.code_size = module.size();
  program.format = "mlir";
  program.format_size = 4;
  return program;
}

}  // namespace tlaloc::plugins
