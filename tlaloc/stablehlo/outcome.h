// What the extra results of an emitted module say of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::stablehlo {

/// Reads an extra result, a scalar of that type.
using ReadScalar = std::function<HostArray(std::size_t output, DType dtype)>;

/// UserError TL-LOOP-001 where a loop did not end within its trips.
void check_loops_ended(const Emitted& e, const ReadScalar& read);
/// How much of result k counts; the rest is padding.
Extents result_extents(const Emitted& e, std::size_t k, const ReadScalar& read);
/// The graph's result dims.
std::vector<std::int64_t> result_dims(const Emitted& e, const ReadScalar& read);
/// The leading part of each axis.
HostArray without_padding(const HostArray& padded, const Extents& extents);

}  // namespace tlaloc::stablehlo
