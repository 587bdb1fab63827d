#include "tools/tlaloc/terminal_text.h"

#include <fmt/format.h>

namespace tlaloc::command {

std::string plain(std::string_view text, bool lines) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (lines && (c == '\n' || c == '\t')) {
      shown += text[i];
    } else if (c < 0x20 || c == 0x7f) {
      shown += fmt::format("\\x{:02x}", c);
    } else if (c == 0xc2 && next < 0xa0) {  // U+0080 to U+009F, the second set of controls
      shown += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace tlaloc::command
