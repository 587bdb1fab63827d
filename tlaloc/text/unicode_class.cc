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
  // Most pages are of one run, and those of one value are one page.
  std::map<std::uint32_t, std::uint32_t> whole;
  const Run* run = std::begin(kRuns);
  auto is_before = [&](std::uint32_t c) { return run + 1 != std::end(kRuns) && run[1].first <= c; };
  for (std::uint32_t p = 0; p < 0x1100; ++p) {
    const std::uint32_t first = p * 256;
    while (is_before(first)) ++run;
    pages_[p] = static_cast<std::uint32_t>(entries_.size());
    if (!is_before(first + 255)) {
      const auto [it, is_new] = whole.try_emplace(run->value, pages_[p]);
      pages_[p] = it->second;
      if (!is_new) continue;
    }
    for (std::uint32_t c = first; c < first + 256; ++c) {
      while (is_before(c)) ++run;
      entries_.push_back(static_cast<std::uint16_t>(run->value));
    }
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
