// Writes every conformance case as a module that computes it from constants, with the interpreter's
// results beside it, for check.py.
//
//   modules FOLDER
//
// modules.mlir: the modules, each behind a line "// -----". results.bin: what each is to give.
// cases.jsonl: a line per case, in order.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/conformance/cases.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::runtime::conformance {
namespace {

using stablehlo::TensorType, stablehlo::type_text;

/// What Python reads of any element type: narrow ones as integers.
TensorType readable(const TensorType& t) {
  if (t.dtype == DType::f32 || t.dtype == DType::f64) return t;
  return t.with(DType::i64);
}

std::string list(const std::vector<std::string>& parts) {
  std::string s;
  for (const std::string& p : parts) s += (s.empty() ? "" : ", ") + p;
  return s;
}

/// The module with its @main as @tested, called from a @main without arguments.
std::string driven(const stablehlo::Emitted& e, const std::vector<HostArray>& inputs) {
  std::string text = e.text;
  const std::string entry = "func.func public @main";
  const std::size_t at = text.find(entry);
  std::vector<std::string> args, arg_types, result_types, out, out_types;
  std::string body;
  for (const HostArray& a : inputs) {
    args.push_back("%" + std::to_string(args.size()));
    arg_types.push_back(type_text({a.dtype(), a.extents()}));
    body += "    " + args.back() +
            " = \"stablehlo.constant\"() <{value = " + stablehlo::constant_text(a) + "}> : () -> " +
            arg_types.back() + "\n";
  }
  for (const TensorType& t : e.results) result_types.push_back(type_text(t));
  body += fmt::format("    %r:{} = \"func.call\"({}) <{{callee = @tested}}> : ({}) -> ({})\n",
                      result_types.size(), list(args), list(arg_types), list(result_types));
  for (std::size_t k = 0; k < e.results.size(); ++k) {
    std::string value = "%r#" + std::to_string(k);
    TensorType t = e.results[k];
    auto convert = [&](const char* op, DType to) {
      const std::string next = fmt::format("%c{}_{}", k, static_cast<int>(to));
      body += fmt::format("    {} = \"stablehlo.{}\"({}) : ({}) -> {}\n", next, op, value,
                          type_text(t), type_text(t.with(to)));
      value = next;
      t.dtype = to;
    };
    if (t.dtype == DType::f16 || t.dtype == DType::bf16) convert("bitcast_convert", DType::u16);
    if (t != readable(t)) convert("convert", DType::i64);
    out.push_back(value);
    out_types.push_back(type_text(t));
  }
  body += fmt::format("    \"func.return\"({}) : ({}) -> ()\n", list(out), list(out_types));
  text.replace(at, entry.size(), "func.func private @tested");
  text.insert(text.rfind('}'), fmt::format("  func.func public @main() -> ({}) {{\n{}  }}\n",
                                           list(out_types), body));
  return text;
}

int write(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream modules(folder / "modules.mlir"), results(folder / "results.bin", std::ios::binary),
      index(folder / "cases.jsonl");
  int refused = 0;
  for (const Row* row : all_rows()) {
    if (!row) continue;
    auto add = [&](const Case& c) {
      std::vector<std::int64_t> sizes;
      for (ir::Symbol s : c.graph->dims()) sizes.push_back(c.dims.at(s.id()));
      stablehlo::Emitted e;
      std::string refusal;
      try {
        e = stablehlo::emit(*c.graph, sizes, {.recorded_trips = 64});
      } catch (const UserError& error) {
        if (error.code() != "TL-BACKEND-001") throw;
        refusal = error.what();
      }
      std::string types;
      if (refusal.empty()) {
        modules << "// -----\n" << driven(e, c.inputs);
        auto out = interp::evaluate(*c.graph, c.inputs, {.dims = c.dims});
        for (std::size_t k = 0; k < out.results.size(); ++k) {
          const HostArray& a = out.results[k];
          results.write(static_cast<const char*>(a.data()),
                        static_cast<std::streamsize>(a.bytes()));
          types += fmt::format("{}[\"{}\", {}]", k ? ", " : "", name(a.dtype()),
                               to_string(std::span(a.extents())));
        }
      } else {
        ++refused;
      }
      index << fmt::format(
          "{{\"name\": {}, \"op\": \"{}\", \"ulps\": {}, \"refused\": {}, "
          "\"results\": [{}]}}\n",
          stablehlo::quoted(c.name), row->op->name, c.ulps, stablehlo::quoted(refusal), types);
    };
    Cases cases(*row, 1, add);
    row->generate(cases, *row);
  }
  std::cout << refused << " cases refused\n";
  return 0;
}

}  // namespace
}  // namespace tlaloc::runtime::conformance

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    return tlaloc::runtime::conformance::write(argv[1]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
