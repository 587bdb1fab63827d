// The op table: one row per op, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tlaloc/ir/region_ops.h"

namespace tlaloc::ops {

/// Dense ids. The five region ops come first; see ir/region_ops.cc.
enum class OpId : std::uint16_t {
  If,
  While,
  Scan,
  Call,
  Manual,
#define TLALOC_OP(Name) Name,
#include "tlaloc/ops/op_names.inc"
#undef TLALOC_OP
  Count
};

namespace rows {
#define TLALOC_OP(Name) extern const ir::OpDef Name;
#include "tlaloc/ops/op_names.inc"
#undef TLALOC_OP
}  // namespace rows

/// All rows by id.
std::span<const ir::OpDef* const> table();
/// The row of that name ("dot_general"), or null.
const ir::OpDef* find(std::string_view name);

}  // namespace tlaloc::ops
