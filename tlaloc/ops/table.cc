#include <array>
#include <unordered_map>

#include "tlaloc/ops/rows.h"

namespace tlaloc::ops {
namespace {
constexpr std::array<const ir::OpDef*, static_cast<std::size_t>(OpId::Count)> kTable{
    &ir::kIf, &ir::kWhile, &ir::kScan, &ir::kCall, &ir::kManual,
#define TLALOC_OP(Name) &rows::Name,
#include "tlaloc/ops/op_names.inc"
#undef TLALOC_OP
};
}  // namespace

std::span<const ir::OpDef* const> table() { return kTable; }

const ir::OpDef* find(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string_view, const ir::OpDef*>;
    for (const ir::OpDef* op : kTable) map->emplace(op->name, op);
    return map;
  }();
  auto it = by_name->find(name);
  return it == by_name->end() ? nullptr : it->second;
}

}  // namespace tlaloc::ops
