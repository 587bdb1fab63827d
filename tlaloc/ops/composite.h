// Composites: plain functions over primitives, recorded as named calls that a back end may claim.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/ops/control.h"

namespace tlaloc::ops {

/// Traces `body` on the arguments' types and calls the result by that name. `params` tells a back
/// end what the name alone does not, such as the axis of a softmax.
Vals composite(const std::string& name, std::vector<ir::CallParam> params, const Vals& args,
               const Body& body);
/// The same for one result.
Val composite1(const std::string& name, std::vector<ir::CallParam> params, const Vals& args,
               const Body& body);

/// The same without a derivative: jvp of such a call is UserError TL-GRAD-003, however much its
/// body has one.
Vals composite_for_inference(const std::string& name, std::vector<ir::CallParam> params,
                             const Vals& args, const Body& body);
/// The param that says so.
inline constexpr const char* kForInference = "for_inference";

/// A composite with a declared derivative. `forward`: x… -> y…, residuals…; `backward`:
/// residuals…, ct of the differentiable y… -> ct of the differentiable x….
Vals composite_with_rule(const std::string& name, std::vector<ir::CallParam> params,
                         const Vals& args, const Body& body, const Body& forward,
                         const Body& backward);

}  // namespace tlaloc::ops
