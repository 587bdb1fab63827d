#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <span>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/cpu/ahead.h"
#include "tlaloc/pjrt/ahead.h"
#include "tlaloc/stablehlo/emit.h"
#include "tools/tlaloc/inputs.h"
#include "tools/tlaloc/module.h"
#include "tools/tlaloc/report_text.h"
#include "tools/tlaloc/shared_library.h"

namespace tlaloc::command {
namespace {

std::vector<std::int64_t> sizes_of(const ir::Graph& g, const std::vector<std::string>& texts) {
  const runtime::DimValues dims = read_dims(g, texts);
  std::vector<std::int64_t> sizes;
  for (ir::Symbol s : g.dims()) {
    const auto it = dims.find(s.id());
    if (it == dims.end()) {
      throw UserError({"TL-SHAPE-004",
                       "tlaloc",
                       "the size of " + s.name() + " is not known",
                       "give it with --dim " + s.name() + "=...",
                       {}});
    }
    sizes.push_back(it->second);
  }
  return sizes;
}

void compile_for_device(const CompileArguments& a) {
  const plugins::AheadTarget& target = plugins::ahead_target(a.target);
  if (target.plugin == "libtpu") plugins::keep_libtpu_quiet();
  const ir::GraphRef g = read_function({.module = a.module}).graph;
  const stablehlo::Emitted e = stablehlo::emit(*g, sizes_of(*g, a.dims));
  const plugins::Topology topology(target);
  const auto code = topology.compile(e.text, e.devices, e.partitions);
  print_line("device", std::string(target.description));
  print_line("compiled by", fmt::format("{} (PJRT 0.{})", topology.plugin().path(),
                                        topology.plugin().minor_version()));
  if (const auto m = code->memory()) {
    print_line("code", bytes_text(m->code));
    print_line("arguments", bytes_text(m->arguments));
    print_line("results", bytes_text(m->outputs));
    print_line("temporary", bytes_text(m->temporary));
  } else {
    print_line("memory", "the plugin does not say");
  }
  const auto costs = code->costs();
  if (!costs || costs->empty()) print_line("costs", "the plugin does not say");
  if (costs) {
    for (const char* name : {"flops", "transcendentals", "bytes accessed", "optimal_seconds"}) {
      const auto it = costs->find(name);
      if (it != costs->end()) print_line(name, fmt::format("{:g}", it->second));
    }
  }
  if (!a.object.empty()) {
    const std::string saved = code->serialize();
    write_files("tlaloc", {{a.object, std::as_bytes(std::span(saved))}});
    print_line("program", a.object);
  }
  print_line("run", "nothing was run: no such device was used");
}

}  // namespace

void compile(const CompileArguments& a) {
  if (!a.target.empty()) return compile_for_device(a);
  const ir::GraphRef g = read_function({.module = a.module}).graph;
  cpu::AheadOptions options;
  options.function = a.function.empty() ? g->name() : a.function;
  options.cpu = a.cpu;
  const cpu::AheadCode code = cpu::compile_ahead(g, options);
  const bool shared = std::filesystem::path(a.object).extension() == ".so";
  const std::vector<std::byte> linked =
      shared ? shared_library(code.object) : std::vector<std::byte>();
  std::vector<FileContent> files{{a.object, shared ? linked : code.object}};
  if (!a.header.empty()) files.push_back({a.header, std::as_bytes(std::span(code.header))});
  write_files("tlaloc", files);
}

}  // namespace tlaloc::command
