// The vocabulary of shardings. See val_ops.h.
#pragma once

#include <functional>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

/// x itself, which shall lie on the mesh like that. UserError TL-MESH-002 where it can't: an axis
/// that the mesh lacks or that is used twice, a dimension that can't be cut into equal parts.
Val sharding_constraint(Val x, ir::Sharding sharding);

/// Every device of the mesh runs the body on its parts of `args`. What the body takes of its
/// surroundings every device has as a whole. Source: JAX's shard_map, without its check of
/// replication. UserError TL-MESH-002.
Vals manual(ir::ManualAttrs attrs, const Vals& args, const std::function<Vals(const Vals&)>& body);

// The steps of `manual`, for who traces the body otherwise.
/// The types of one device's parts.
std::vector<Type> shard_types(const ir::ManualAttrs& attrs, std::span<const Type> wholes);
void check_results(const ir::ManualAttrs& attrs, std::span<const Type> parts);
/// `operands`: those that attrs.in is about, then values that every device has as a whole.
Vals emit_checked_manual(ir::ManualAttrs attrs, const Vals& operands, ir::GraphRef body);

}  // namespace tlaloc::ops
