// tlaloc doctor: what this machine has for Tlaloc, and what it lacks.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <hwy/targets.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "tlaloc/cache/settings.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/processors.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/iree/finder.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/finder.h"
#include "tools/tlaloc/commands.h"
#include "tools/tlaloc/plugin_probe.h"
#include "tools/tlaloc/report_text.h"
#include "tools/tlaloc/terminal_text.h"

namespace tlaloc::command {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

json::object cpu_report() {
  // Targets are bits, the best one the lowest.
  const std::int64_t targets = hwy::SupportedTargets() & ~std::int64_t{HWY_DISABLED_TARGETS};
  return {{"model", processor()},
          {"instructions", hwy::TargetName(targets & -targets)},
          {"processors", cpu::processors_of_process()},
          {"threads", cpu::num_threads()}};
}

/// Whether programs are compiled, and why not.
json::object codegen_report() {
  ir::Builder b("doctor");
  const ir::Val x = b.param(ir::Type::get(DType::f32, {64}));
  const auto g = b.build(ir::Vals{ops::tanh(x)});
  const HostArray input(DType::f32, {64});
  const HostArray* inputs[] = {&input};
  const runtime::Report report = cpu::cpu_backend().compile(g)->bind({})->explain({inputs, {}});
  return {{"llvm", TLALOC_LLVM_VERSION}, {"code", report.code}, {"reason", report.reason}};
}

json::object cache_report() {
  const cache::Settings settings = cache::settings_from_environment();
  if (!settings.folder) return {{"folder", nullptr}, {"reason", "TLALOC_CACHE=off"}};
  if (settings.folder->empty()) {
    return {{"folder", nullptr}, {"reason", "neither XDG_CACHE_HOME nor HOME is set"}};
  }
  std::int64_t files = 0, bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(*settings.folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code unreadable;
    if (!at->is_regular_file(unreadable)) continue;
    ++files;
    bytes += static_cast<std::int64_t>(at->file_size(unreadable));
  }
  return {
      {"folder", *settings.folder}, {"files", files}, {"bytes", bytes}, {"limit", settings.bytes}};
}

json::object iree_report() {
  const iree::Installation found = iree::find_iree();
  return {{"compiler", found.compiler},
          {"compiler_version", found.compiler_version},
          {"runner", found.runner},
          {"runner_version", found.runner_version},
          {"places", json::array(found.places.begin(), found.places.end())}};
}

/// What the back ends that are always there lack, as `lacks` of a plugin.
json::object own_backends_report() {
  const char* one_device = "one device does the work of all that a mesh has";
  return {{"interp",
           json::array{"it is the reference: it compiles nothing, and uses one thread",
                       "it does not tell how it runs a program (tlaloc explain)", one_device}},
          {"cpu", json::array{"it does not stop at the first NaN; interp does",
                              fmt::format("loops have at most {} axes", cpu::Loop::kMaxRank),
                              one_device}}};
}

json::value probe(const std::string& path) {
  json::value r = probe_in_child(path);
  r.as_object()["path"] = path;
  return r;
}

json::object plugins_report() {
  const plugins::Search search = plugins::find_plugins();
  json::array found;
  for (const plugins::Found& f : search.plugins) {
    json::value r = probe(f.path);
    r.as_object()["name"] = f.name;
    found.push_back(r);
  }
  return {{"plugins", found}, {"places", json::array(search.places.begin(), search.places.end())}};
}

std::string text(const json::value& v) {
  return v.is_string() ? plain(std::string_view(v.get_string())) : json::serialize(v);
}

std::string with_version(const std::string& file, const json::value& version) {
  const std::string v = text(version);
  return fmt::format("{}, {}", v.empty() ? "of an unknown version" : v, file);
}

/// How many devices there are of each kind.
std::map<std::string, int> kinds(const json::array& devices) {
  std::map<std::string, int> r;
  for (const json::value& d : devices) ++r[std::string(d.get_object().at("kind").get_string())];
  return r;
}

void print(const json::object& r) {
  const json::object& processor = r.at("cpu").get_object();
  print_line("tlaloc", text(r.at("version")));
  print_line("processor", text(processor.at("model")));
  print_line("instructions", text(processor.at("instructions")));
  print_line("threads", fmt::format("{} on {} processors", text(processor.at("threads")),
                                    text(processor.at("processors"))));
  const json::object& code = r.at("codegen").get_object();
  print_line("programs", text(code.at("code")) + (code.at("reason").get_string().empty()
                                                      ? ", LLVM " + text(code.at("llvm"))
                                                      : ": " + text(code.at("reason"))));
  for (const auto& [name, lacks] : r.at("backends").get_object()) {
    for (const json::value& value : lacks.get_array()) {
      print_line(fmt::format("{} lacks", std::string_view(name)), text(value));
    }
  }
  const json::object& cache = r.at("cache").get_object();
  print_line("cache", cache.at("folder").is_null()
                          ? "none: " + text(cache.at("reason"))
                          : fmt::format("{}: {} in {} files, at most {}", text(cache.at("folder")),
                                        bytes_text(cache.at("bytes").to_number<std::int64_t>()),
                                        text(cache.at("files")),
                                        bytes_text(cache.at("limit").to_number<std::int64_t>())));
  const json::object& pjrt = r.at("pjrt").get_object();
  for (const json::value& place : pjrt.at("places").get_array()) {
    print_line("looked in", text(place));
  }
  if (pjrt.at("plugins").get_array().empty()) {
    print_line("plugins", "none: name a file in TLALOC_PJRT_PLUGIN, or install one");
  }
  for (const json::value& v : pjrt.at("plugins").get_array()) {
    const json::object& p = v.get_object();
    print_line("plugin", text(p.at("name")));
    print_line("  file", text(p.at("path")));
    for (const char* key : {"error", "version", "stablehlo", "platform", "uploads"}) {
      const json::value* value = p.if_contains(key);
      if (value) print_line("  " + std::string(key), text(*value));
    }
    if (const json::value* devices = p.if_contains("devices")) {
      for (const auto& [kind, count] : kinds(devices->get_array())) {
        print_line("  devices", fmt::format("{} of {}", count, plain(kind)));
      }
    }
    if (const json::value* lacks = p.if_contains("lacks")) {
      for (const json::value& value : lacks->get_array()) print_line("  lacks", text(value));
    }
  }
  const json::object& iree = r.at("iree").get_object();
  const std::string compiler = text(iree.at("compiler")), runner = text(iree.at("runner"));
  print_line("iree", compiler.empty() && runner.empty()
                         ? "none: name a virtual environment in TLALOC_IREE, or ./setup --iree"
                     : compiler.empty() ? "no compiler (iree-base-compiler)"
                                        : with_version(compiler, iree.at("compiler_version")));
  if (!compiler.empty() || !runner.empty()) {
    print_line("  runner", runner.empty() ? "none (iree-base-runtime)"
                                          : with_version(runner, iree.at("runner_version")));
  }
  for (const json::value& place : iree.at("places").get_array()) {
    print_line("  looked in", text(place));
  }
}

}  // namespace

void doctor(const DoctorArguments& a) {
  if (!a.plugin.empty()) {
    std::cout << json::serialize(probe_here(a.plugin)) << "\n";
    return;
  }
  const json::object report{{"version", TLALOC_VERSION},
                            {"cpu", cpu_report()},
                            {"codegen", codegen_report()},
                            {"cache", cache_report()},
                            {"backends", own_backends_report()},
                            {"pjrt", plugins_report()},
                            {"iree", iree_report()}};
  if (a.json) {
    std::cout << json::serialize(report) << "\n";
  } else {
    print(report);
  }
}

}  // namespace tlaloc::command
