#include "tests/transform/programs.h"

#include "tlaloc/base/error.h"

namespace tlaloc::testing {

const std::vector<Program>& programs() {
  static const auto* all = [] {
    auto* list = new std::vector<Program>;
    add_loop_programs(*list);
    add_nest_programs(*list);
    add_branch_programs(*list);
    add_scan_programs(*list);
    return list;
  }();
  return *all;
}

const Program& program(std::string_view name) {
  for (const Program& p : programs()) {
    if (p.name == name) return p;
  }
  throw InternalError("no program " + std::string(name));
}

}  // namespace tlaloc::testing
