// Modules: files with the text of one graph, as tl::graph_of and Graph::to_string write it.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::command {

/// The graph of a file, "-" being standard input. UserError TL-TEXT-001 for what is no graph,
/// EnvironmentError TL-FILE-001 where the file can't be read.
ir::GraphRef read_module(const std::string& path);
/// The sizes of "n=128". UserError TL-SHAPE-004 for one that the graph does not take, or that is no
/// size.
runtime::DimValues read_dims(const ir::Graph& g, const std::vector<std::string>& texts);

// The subcommands; they throw what is wrong.
struct ExplainArguments {
  std::string module;
  std::vector<std::string> dims;
  bool run = false, json = false;
};
void explain(const ExplainArguments& a);
struct CompileArguments {
  std::string module, object, header, function, cpu = "x86-64-v2";
};
void compile(const CompileArguments& a);
struct InspectArguments {
  std::string model;
  bool tensors = false, json = false;
};
void inspect(const InspectArguments& a);
struct TokenizeArguments {
  std::string model;
  bool jsonl = false, decode = false, no_special = false;
};
void tokenize(const TokenizeArguments& a);

}  // namespace tlaloc::command
