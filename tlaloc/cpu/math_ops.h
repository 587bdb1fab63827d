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

/// The op's place in the list, if it is there.
inline std::optional<std::size_t> math_index(const ir::OpDef& op) {
  const auto at = std::ranges::find(kMathOps, static_cast<ops::OpId>(op.id));
  if (at == kMathOps.end()) return std::nullopt;
  return static_cast<std::size_t>(at - kMathOps.begin());
}

}  // namespace tlaloc::cpu
