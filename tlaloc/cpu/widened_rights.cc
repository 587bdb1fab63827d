#include "tlaloc/cpu/widened_rights.h"

#include <algorithm>

#include "tlaloc/cpu/kept_right.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cpu {

using ir::Dim;
using ops::OpId;

namespace {

/// By value: it depends on a param without a flag, or on what runs in every run.
std::vector<bool> varying(const ir::Graph& g, const std::vector<bool>& bound) {
  std::vector<bool> r(g.value_count());
  for (ir::ValueId v = 0; v < g.param_count(); ++v) r[v] = !bound[v];
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    const bool varies =
        n.op().traits.ordered || std::ranges::any_of(n.operands(), [&](auto v) { return r[v]; });
    for (std::size_t k = 0; k < n.result_count(); ++k) r[n.result(k)] = varies;
  }
  return r;
}

/// Whether a product of 16 bits widened packs its right side, if that is the same in every run.
bool packs_right(const ir::Graph& g, const ir::Node& product) {
  const auto& dims = product.as<ops::DotDims>();
  const ir::Type right = g.type(product.operand(1));
  if (!dims.rhs_batch.empty()) return false;
  if (right.rank() != static_cast<int>(dims.rhs_contract.size()) + 1) return false;
  constexpr auto kMost = std::int64_t{1} << 48;  // elements that some machine has room for
  std::int64_t k = 1, n = 1;
  for (int axis = 0; axis < right.rank(); ++axis) {
    const Dim d = right.dim(axis);
    if (!d.is_constant() || d.constant() < 1 || d.constant() > kMost / (k * n)) return false;
    const bool contracted = std::ranges::find(dims.rhs_contract, axis) != dims.rhs_contract.end();
    std::int64_t& size = contracted ? k : n;
    size *= d.constant();
  }
  return is_worth_packing(Packing::f16, k, n);
}

}  // namespace

std::vector<bool> widened_rights(const ir::Graph& g, const std::vector<bool>& bound) {
  const auto count = static_cast<std::uint32_t>(g.node_count());
  const std::vector<bool> varies = varying(g, bound);
  // Of a value: whether something reads it, and whether something other than such a product does.
  std::vector<bool> read(g.value_count()), elsewhere(g.value_count());
  for (ir::ValueId v : g.results()) elsewhere[v] = true;
  std::vector<bool> r(count);
  for (std::uint32_t i = count; i-- > 0;) {
    const ir::Node n = g.node(i);
    const auto op = static_cast<OpId>(n.op().id);
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      const bool as_right =
          op == OpId::DotGeneral && k == 1 && varies[n.operand(0)] && packs_right(g, n);
      const bool turned = op == OpId::Transpose && !elsewhere[n.result()];
      read[n.operand(k)] = true;
      if (!as_right && !turned) elsewhere[n.operand(k)] = true;
    }
    if (op != OpId::Convert || n.result_types()[0].dtype() != DType::f32) continue;
    const DType from = g.type(n.operand(0)).dtype();
    r[i] =
        (from == DType::f16 || from == DType::bf16) && read[n.result()] && !elsewhere[n.result()];
  }
  return r;
}

}  // namespace tlaloc::cpu
