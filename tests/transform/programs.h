// The worked programs: loops of run-time length, nests, branches, histories, array updates.
#pragma once

#include <string_view>

#include "tests/transform/program.h"

namespace tlaloc::testing {

/// All of them; built once.
const std::vector<Program>& programs();
/// The program of that name; InternalError if there is none.
const Program& program(std::string_view name);

// The programs by group, appended to `to`.
void add_loop_programs(std::vector<Program>& to);
void add_nest_programs(std::vector<Program>& to);
void add_branch_programs(std::vector<Program>& to);
void add_scan_programs(std::vector<Program>& to);

}  // namespace tlaloc::testing
