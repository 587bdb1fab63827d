// The parameter types of a traced function: sizes that the types leave open become symbols.
#pragma once

#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/leaves.h"

namespace tlaloc::core {

struct Signature {
  std::vector<ir::Type> types;
  std::vector<std::vector<AxisLabel>> labels;
  /// Symbols made for this signature; calls bind them by the shapes of the arguments.
  std::vector<ir::Symbol> own;
};

/// The types that the values have: for regions, and for arguments of which some are traced.
Signature exact_signature(const Leaves& args);
/// One symbol per named axis without a size, shared by all arguments; one for each `any`; a
/// concrete Array keeps its sizes where its axes have no name.
Signature open_signature(const Leaves& args);
/// `open_signature` when nothing is traced, else `exact_signature`.
Signature signature_of(const Leaves& args);

/// All arguments that carry an axis agree on its size: UserError TL-SHAPE-011 names two that don't.
void require_agreement(const OpCall& call, const Leaves& args);

}  // namespace tlaloc::core
