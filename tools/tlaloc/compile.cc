#include <fstream>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/ahead.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

void write(const std::string& path, const char* data, std::size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(data, static_cast<std::streamsize>(size));
  out.close();
  if (out) return;
  throw EnvironmentError({"TL-FILE-001", "tlaloc", "can't write " + path, "", {}});
}

}  // namespace

void compile(const CompileArguments& a) {
  const ir::GraphRef g = read_module(a.module);
  cpu::AheadOptions options;
  options.function = a.function.empty() ? g->name() : a.function;
  options.cpu = a.cpu;
  const cpu::AheadCode code = cpu::compile_ahead(g, options);
  write(a.object, reinterpret_cast<const char*>(code.object.data()), code.object.size());
  if (!a.header.empty()) write(a.header, code.header.data(), code.header.size());
}

}  // namespace tlaloc::command
