// What plans of programs cost, in numbers that no clock decides.
#pragma once

#include <map>
#include <string>

#include "tlaloc/ir/graph.h"

namespace tlaloc::testing {

/// "kernels 7 (compiled 5, matrix 2), storages 9, arena 1024 B, …" of each program.
using PlanCounts = std::map<std::string, std::string>;

/// Of a plan, where all sizes that the graph takes are 64; as if its loops were compiled.
std::string plan_counts(const ir::GraphRef& g);

/// Lines "name: counts".
PlanCounts parse_counts(const std::string& text);
std::string counts_text(const PlanCounts& counts);
/// What differs, program by program; empty where nothing does.
std::string differences(const PlanCounts& want, const PlanCounts& have);

}  // namespace tlaloc::testing
