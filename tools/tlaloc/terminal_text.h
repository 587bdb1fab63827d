// Text of models and files on a terminal, where control characters would do things.
#pragma once

#include <string>
#include <string_view>

namespace tlaloc::command {

/// UTF-8 with controls written out: "\x1b", "\u009b". `lines` leaves \n and \t as they are.
std::string plain(std::string_view text, bool lines = false);

}  // namespace tlaloc::command
