// Axes that are merged, split and moved: how batching and linear algebra bring operands into shape.
#pragma once

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

/// Axis `from` comes to stand right in front of axis `to` and is merged into it, as the major part.
Val merge_axis(Val x, std::int64_t from, std::int64_t to);
/// Axis `axis` becomes two: `major` and the rest.
Val split_axis(Val x, std::int64_t axis, Dim major);
Val axis_to_front(Val x, std::int64_t axis);
/// The last two axes exchanged.
Val swap_last_axes(Val x);

/// [lanes, …, groups * n, …] -> […, groups * lanes * n, …]; `axis` counts behind the lanes.
Val merge_lanes(Val x, std::int64_t axis, Dim groups = 1);
/// The inverse of merge_lanes: the lanes are axis 0 of the result.
Val split_lanes(Val x, std::int64_t axis, Dim lanes, Dim groups = 1);

}  // namespace tlaloc::ops
