// Portable StableHLO bytecode, which jaxlib reads for us.
#pragma once

#include <string>
#include <string_view>

namespace tlaloc::command {

/// Whether a file that starts so holds MLIR bytecode.
bool is_bytecode(std::string_view start);
/// The module as text, by a Python that has jaxlib: TLALOC_PYTHON, or else python3 of VIRTUAL_ENV
/// or of PATH. EnvironmentError TL-HLO-004 where there is none; UserError TL-HLO-005 for what is no
/// portable artifact of StableHLO. `name`: where errors say it is.
std::string text_of_bytecode(std::string_view bytecode, const std::string& name);

}  // namespace tlaloc::command
