// Derivatives and batching of one case against what they must equal:
//   values       verified, read back from text, and with symbolic sizes
//   jvp          central differences of fourth order, in f64
//   vjp          <ct, J u> = <J^T ct, u>; the same for linear_transpose where the case says linear
//   second       differences of the jvp's and of the vjp's graph; adjoint of the vjp's
//   lanes        vmap of the case and of its vjp against a loop, with every argument mapped, and
//                with each alone
#pragma once

#include <string>
#include <vector>

#include "tests/ops/case.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::testing {

/// One line per disagreement.
std::vector<std::string> check_case(const Case& c);
/// The case's graph.
ir::GraphRef graph_of_case(const Case& c);

}  // namespace tlaloc::testing
