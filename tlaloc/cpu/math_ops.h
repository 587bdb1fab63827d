// The ops on floating-point numbers that have functions of our own on vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "tlaloc/ir/op_def.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {

inline constexpr std::array kMathOps{
    ops::OpId::Exp,  ops::OpId::Expm1, ops::OpId::Log,  ops::OpId::Log1p, ops::OpId::Logistic,
    ops::OpId::Tanh, ops::OpId::Sinh,  ops::OpId::Cosh, ops::OpId::Erf,   ops::OpId::Erfc,
    ops::OpId::Sin,  ops::OpId::Cos,   ops::OpId::Tan,  ops::OpId::Asin,  ops::OpId::Acos,
    ops::OpId::Atan, ops::OpId::Atan2, ops::OpId::Pow};

constexpr bool takes_two(ops::OpId op) { return op == ops::OpId::Atan2 || op == ops::OpId::Pow; }

/// What precompiled kernels do by vectors: those, and what the processor has instructions for.
inline constexpr auto kKernelOps = [] {
  constexpr std::array kExact{ops::OpId::Sqrt,  ops::OpId::Rsqrt, ops::OpId::Ceil,
                              ops::OpId::Floor, ops::OpId::Round, ops::OpId::RoundEven};
  std::array<ops::OpId, kMathOps.size() + kExact.size()> r{};
  std::ranges::copy(kExact, std::ranges::copy(kMathOps, r.begin()).out);
  return r;
}();

/// The op's place in kKernelOps, if it is there.
inline std::optional<std::size_t> kernel_index(const ir::OpDef& op) {
  const auto at = std::ranges::find(kKernelOps, static_cast<ops::OpId>(op.id));
  if (at == kKernelOps.end()) return std::nullopt;
  return static_cast<std::size_t>(at - kKernelOps.begin());
}
/// The same in kMathOps.
inline std::optional<std::size_t> math_index(const ir::OpDef& op) {
  const auto at = kernel_index(op);
  return at && *at < kMathOps.size() ? at : std::nullopt;
}

}  // namespace tlaloc::cpu
