#include <span>

#include "tlaloc/base/files.h"
#include "tlaloc/cpu/ahead.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {

void compile(const CompileArguments& a) {
  const ir::GraphRef g = read_module(a.module);
  cpu::AheadOptions options;
  options.function = a.function.empty() ? g->name() : a.function;
  options.cpu = a.cpu;
  const cpu::AheadCode code = cpu::compile_ahead(g, options);
  std::vector<FileContent> files{{a.object, code.object}};
  if (!a.header.empty()) files.push_back({a.header, std::as_bytes(std::span(code.header))});
  write_files("tlaloc", files);
}

}  // namespace tlaloc::command
