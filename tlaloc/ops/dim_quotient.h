// Exact division of symbolic sizes.
#pragma once

#include <optional>

#include "tlaloc/ir/dim.h"

namespace tlaloc::ops {

/// q with a == q * b as polynomials, where b has one term ("2*lanes"); nullopt if there is none.
/// Unlike floordiv, it needs no proof that b is not zero: it inverts a multiplication.
std::optional<ir::Dim> exact_quotient(ir::Dim a, ir::Dim b);
/// The same where it exists, floordiv otherwise.
ir::Dim quotient(ir::Dim a, ir::Dim b);

}  // namespace tlaloc::ops
