#include "tlaloc/text/unicode_script.h"

#include <algorithm>
#include <iterator>

namespace tlaloc::text {
namespace {

/// Characters from `first` on, up to the next run.
struct Run {
  char32_t first;
  std::uint8_t script;
};
#include "tlaloc/text/unicode_scripts.inc"

}  // namespace

std::uint8_t script_of(char32_t c) {
  const Run* after = std::upper_bound(std::begin(kRuns), std::end(kRuns), c,
                                      [](char32_t x, const Run& r) { return x < r.first; });
  return (after - 1)->script;
}

}  // namespace tlaloc::text
