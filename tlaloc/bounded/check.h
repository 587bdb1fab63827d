// Padded runs compared with runs without padding; internal to bounded.
#pragma once

#include "tlaloc/bounded/export.h"

namespace tlaloc::bounded {

/// Compares `exported` with `exact`, whose entry dims are the bounds' symbols in order, on the
/// interpreter: at the first and last size of each bucket and at random sizes, with the padding of
/// the manifest and, but for arrays with an axis that the function masks itself, with padding that
/// spoils what it touches. Writes what it found. UserError TL-BOUNDED-001 with the sizes where they
/// differ.
void check_padding(const ir::GraphRef& exact, const ExportOptions& options, Exported& exported);

}  // namespace tlaloc::bounded
