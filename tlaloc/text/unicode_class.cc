#include "tlaloc/text/unicode_class.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace tlaloc::text {
namespace {

struct Run {
  std::uint32_t first, value;
};
#include "tlaloc/text/unicode_classes.inc"

}  // namespace

const CharClasses& CharClasses::get() {
  static const CharClasses table;
  return table;
}

CharClasses::CharClasses() {
  std::map<std::vector<std::uint16_t>, std::uint32_t> known;
  std::vector<std::uint16_t> page(256);
  const Run* run = std::begin(kRuns);
  for (std::uint32_t p = 0; p < 0x1100; ++p) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      while (run + 1 != std::end(kRuns) && run[1].first <= p * 256 + i) ++run;
      page[i] = static_cast<std::uint16_t>(run->value);
    }
    const auto [it, is_new] = known.try_emplace(page, static_cast<std::uint32_t>(entries_.size()));
    if (is_new) entries_.insert(entries_.end(), page.begin(), page.end());
    pages_[p] = it->second;
  }
}

char32_t lower_case(char32_t c) {
  if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  const auto it = std::lower_bound(std::begin(kNewerLower), std::end(kNewerLower), c,
                                   [](const Run& r, char32_t x) { return r.first < x; });
  if (it != std::end(kNewerLower) && it->first == c) return it->value;
  if (c == 0x130) return 'i';
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace tlaloc::text
