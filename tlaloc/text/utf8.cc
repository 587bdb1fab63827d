#include "tlaloc/text/utf8.h"

namespace tlaloc::text {

std::string replace_ill_formed(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    const Utf8Step at = utf8_step(s, i);
    out += at.well_formed ? s.substr(i, at.length) : std::string_view("\xEF\xBF\xBD");
    i += at.length;
  }
  return out;
}

}  // namespace tlaloc::text
