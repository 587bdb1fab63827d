#include "tools/tlaloc/module.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/transform/api.h"
#include "tools/tlaloc/bytecode.h"

namespace tlaloc::command {
namespace {

/// Behind blanks and comments.
std::string_view first_word(std::string_view text) {
  while (!text.empty()) {
    if (std::isspace(static_cast<unsigned char>(text[0]))) {
      text.remove_prefix(1);
    } else if (text.starts_with("//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else {
      break;
    }
  }
  const auto end = std::ranges::find_if(
      text, [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '.'; });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

stablehlo::ImportedModule module_of_graph(std::string_view text, const std::string& name) {
  stablehlo::ImportedFunction f;
  f.graph = ir::parse_graph(text, &ops::find, name);
  try {
    ir::verify(*f.graph);
  } catch (const InternalError& e) {  // elsewhere a wrong graph is a defect; this one was written
    throw UserError({"TL-TEXT-002",
                     "tlaloc",
                     name + " is no well-formed module: " + e.info().message,
                     "correct the operation that it names",
                     {}});
  }
  f.name = f.graph->name();
  f.result_count = f.graph->results().size();
  stablehlo::ImportedModule m;
  m.functions.push_back(std::move(f));
  return m;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file;
  errno = 0;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  try {
    if (in) text.assign(std::istreambuf_iterator<char>(in), {});
  } catch (const std::ios_base::failure&) {  // of reading a folder
    in.setstate(std::ios_base::badbit);
  }
  if (!in) {
    const std::string reason = errno ? std::string(": ") + std::strerror(errno) : "";
    throw EnvironmentError({"TL-FILE-001",
                            "tlaloc",
                            "can't read " + path + reason,
                            "check the path and its permissions",
                            {}});
  }
  return text;
}

bool is_module(std::string_view start) {
  if (is_bytecode(start)) return true;
  const bool text = std::ranges::all_of(start, [](unsigned char c) {
    return c >= 0x80 || std::isprint(c) != 0 || std::isspace(c) != 0;
  });
  // Models start with their size or magic number; their indices are JSON.
  const auto first =
      std::ranges::find_if(start, [](unsigned char c) { return std::isspace(c) == 0; });
  return text && !start.starts_with("GGUF") && first != start.end() && *first != '{';
}

namespace {

/// `import` reads StableHLO.
std::vector<stablehlo::ImportedModule> read_with(decltype(stablehlo::import_stablehlo)& import,
                                                 const std::string& path) {
  const std::string name = path == "-" ? "<stdin>" : path;
  std::string text = read_file(path);
  if (is_bytecode(text)) {
    text = text_of_bytecode(text, name);
  } else if (first_word(text) == "graph") {
    std::vector<stablehlo::ImportedModule> r;
    r.push_back(module_of_graph(text, name));
    return r;
  }
  std::vector<stablehlo::ImportedModule> r;
  for (const stablehlo::ModuleText& m : stablehlo::split_modules(text)) {
    r.push_back(import(m.text, name, m.first_line));
  }
  return r;
}

}  // namespace

std::vector<stablehlo::ImportedModule> read_modules(const std::string& path) {
  return read_with(stablehlo::import_stablehlo, path);
}
std::vector<stablehlo::ImportedModule> read_each_function(const std::string& path) {
  return read_with(stablehlo::import_each_function, path);
}

stablehlo::ImportedFunction read_function(const ModuleArguments& a) {
  const std::vector<stablehlo::ImportedModule> modules = read_modules(a.module);
  auto refuse = [&](const std::string& message, const std::string& hint) {
    throw UserError({"TL-HLO-003", "tlaloc", a.module + " " + message, hint, {}});
  };
  if (modules.size() != 1) {
    refuse("holds " + std::to_string(modules.size()) + " modules",
           "`tlaloc run --check` runs all of them; else give one");
  }
  const stablehlo::ImportedFunction* f =
      a.function.empty() ? &modules[0].main() : modules[0].find(a.function);
  if (!f) {
    std::string names;
    for (const auto& other : modules[0].functions) names += " " + other.name;
    refuse("has no function '" + a.function + "'", "it has" + (names.empty() ? " none" : names));
  }
  stablehlo::ImportedFunction r = *f;
  r.graph = stablehlo::computation(r);
  r.checks.clear();
  return r;
}

void add_equal_sizes(const ir::Graph& g, runtime::DimValues& sizes) {
  for (bool more = true; more;) {
    more = false;
    for (const ir::Constraint& c : g.constraints()) {
      const auto a = c.a.as_symbol(), b = c.b.as_symbol();
      if (c.kind != ir::Constraint::Kind::equal || !a || !b) continue;
      for (const auto& [known, other] : {std::pair(*a, *b), std::pair(*b, *a)}) {
        const auto size = sizes.find(known.id());
        if (size != sizes.end()) more |= sizes.emplace(other.id(), size->second).second;
      }
    }
  }
}

runtime::DimValues read_dims(const ir::Graph& g, const std::vector<std::string>& texts) {
  auto refuse = [&](const std::string& message) {
    std::string names;
    for (ir::Symbol s : g.dims()) names += (names.empty() ? "" : ", ") + s.name();
    throw UserError({"TL-SHAPE-004",
                     "tlaloc",
                     message,
                     names.empty() ? "the module takes no sizes"
                                   : "give sizes such as n=128; the module takes " + names,
                     {}});
  };
  runtime::DimValues values;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    std::int64_t size = -1;
    const char* end = text.data() + text.size();
    if (equals != std::string::npos) {
      const auto r = std::from_chars(text.data() + equals + 1, end, size);
      if (r.ec != std::errc() || r.ptr != end) size = -1;
    }
    if (size < 0) refuse("'" + text + "' is no size");
    bool found = false;
    for (ir::Symbol s : g.dims()) {
      if (s.name() != text.substr(0, equals)) continue;
      if (!values.emplace(s.id(), size).second)
        refuse("the size '" + s.name() + "' is given twice");
      found = true;
    }
    if (!found) refuse("there is no size '" + text.substr(0, equals) + "'");
  }
  add_equal_sizes(g, values);
  return values;
}

std::vector<std::int64_t> all_sizes(const ir::Graph& g, const runtime::DimValues& sizes) {
  std::vector<std::int64_t> r;
  for (ir::Symbol s : g.dims()) {
    const auto it = sizes.find(s.id());
    if (it == sizes.end()) {
      throw UserError({"TL-SHAPE-004",
                       "tlaloc",
                       "nothing gives the size " + s.name(),
                       "pass --dim " + s.name() + "=128",
                       {}});
    }
    r.push_back(it->second);
  }
  return r;
}

ir::GraphRef with_results(const ir::GraphRef& g, std::span<const std::size_t> results) {
  ir::Builder b(g->name());
  ir::Copier c(*g);
  c.declare_all();
  for (std::uint32_t n = 0; n < g->node_count(); ++n) c.copy_as_is(g->node(n));
  c.copy_constraints();
  const ir::Vals all = c.results();
  ir::Vals kept;
  ir::Builder::Close close{.result_dims = c.result_dims()};
  close.dims.assign(g->dims().begin(), g->dims().end());
  for (std::size_t k : results) {
    kept.push_back(all[k]);
    close.result_labels.push_back(g->result_label(k));
  }
  return transform::dce(b.build(kept, std::move(close)));
}

std::string param_name(const ir::Graph& g, std::size_t k) {
  const std::string& name = g.param_label(k).name;
  return name.empty() ? std::to_string(k) : name;
}

}  // namespace tlaloc::command
