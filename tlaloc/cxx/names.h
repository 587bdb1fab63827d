// Names in printed code.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "tlaloc/cxx/code.h"

namespace tlaloc::cxx {

/// "in.w" -> "in_w", "blocks[1].b" -> "blocks_1_b"; never a keyword, never empty.
std::string identifier(const std::string& text);
/// "Batch" -> "batch", "HeadCount" -> "head_count": a variable that holds an axis's size.
std::string size_name(const std::string& axis);
/// The label, or nothing where it only counts: "0", "[1].2".
std::string speaking(const std::string& label);
/// "loss_grad" -> "LossGrad".
std::string type_identifier(const std::string& function);

/// Names of variables, by VarId. Two variables share one only where their blocks are apart.
std::vector<std::string> name_variables(const Function& f,
                                        const std::unordered_set<std::string>& reserved);

}  // namespace tlaloc::cxx
