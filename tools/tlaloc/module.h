// Modules: files with programs. A StableHLO module as text, in the pretty or the generic form, or
// as portable bytecode; or one graph as tl::graph_of and Graph::to_string write it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/backend.h"
#include "tlaloc/stablehlo/import.h"
#include "tools/tlaloc/commands.h"

namespace tlaloc::command {

/// All of a file; "-" is standard input. EnvironmentError TL-FILE-001.
std::string read_file(const std::string& path);
/// Whether a file that starts so may hold a module; what is none holds a model.
bool is_module(std::string_view start);

/// The modules of a file: several where lines of "// -----" part them. A graph of our own is a
/// module of one function. Errors: as import_stablehlo; UserError TL-TEXT-001 and TL-TEXT-002 for
/// what is no graph; EnvironmentError TL-FILE-001, and TL-HLO-004 where nothing reads bytecode.
std::vector<stablehlo::ImportedModule> read_modules(const std::string& path);
/// The same as import_each_function gives them.
std::vector<stablehlo::ImportedModule> read_each_function(const std::string& path);

/// One function of the one module in a file, without its checks.
/// UserError TL-HLO-003 where there is none of that name.
stablehlo::ImportedFunction read_function(const ModuleArguments& a);

/// Adds the sizes that the graph requires to be equal to known ones.
void add_equal_sizes(const ir::Graph& g, runtime::DimValues& sizes);
/// The sizes of "n=128", and those that the graph requires to be equal to them. UserError
/// TL-SHAPE-004 for one that the graph does not take, or that is no size.
runtime::DimValues read_dims(const ir::Graph& g, const std::vector<std::string>& texts);
/// The sizes of the entry dims in their order. UserError TL-SHAPE-004 for one that is missing.
std::vector<std::int64_t> all_sizes(const ir::Graph& g, const runtime::DimValues& sizes);

/// The graph with only these of its results, in this order, and what they need.
ir::GraphRef with_results(const ir::GraphRef& g, std::span<const std::size_t> results);

/// "x", or "2" for a parameter without a name.
std::string param_name(const ir::Graph& g, std::size_t k);

}  // namespace tlaloc::command
