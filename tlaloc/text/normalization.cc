#include "tlaloc/text/normalization.h"

#include <utf8proc.h>

#include <algorithm>
#include <unordered_map>

#include "tlaloc/text/unicode_class.h"

namespace tlaloc::text {
namespace {

constexpr char32_t kHangulBase = 0xAC00, kHangulL = 0x1100, kHangulV = 0x1161, kHangulT = 0x11A7;
constexpr char32_t kHangulVs = 21, kHangulTs = 28, kHangulLs = 19;
// The longest decomposition has 18 characters (U+FDFA).
constexpr int kLongest = 32;

const utf8proc_property_t& property(char32_t c) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
}

int combining_class(char32_t c) {
  return CharClasses::get()[c] & kNotNormalized ? 0 : property(c).combining_class;
}

int decompose(char32_t c, bool compatible, utf8proc_int32_t* out) {
  if (CharClasses::get()[c] & kNotNormalized) {
    *out = static_cast<utf8proc_int32_t>(c);
    return 1;
  }
  int last_boundary = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  return static_cast<int>(utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), out, kLongest,
                                                  static_cast<utf8proc_option_t>(options),
                                                  &last_boundary));
}

/// Which two characters compose to which.
class Compositions {
 public:
  static const Compositions& get() {
    static const Compositions table;
    return table;
  }
  /// 0 where the two don't compose.
  char32_t operator()(char32_t a, char32_t b) const {
    if (a >= kHangulL && a < kHangulL + kHangulLs && b >= kHangulV && b < kHangulV + kHangulVs) {
      return kHangulBase + ((a - kHangulL) * kHangulVs + (b - kHangulV)) * kHangulTs;
    }
    if (a >= kHangulBase && a < kHangulBase + kHangulLs * kHangulVs * kHangulTs &&
        (a - kHangulBase) % kHangulTs == 0 && b > kHangulT && b < kHangulT + kHangulTs) {
      return a + (b - kHangulT);
    }
    const auto it = pairs_.find(key(a, b));
    return it == pairs_.end() ? 0 : it->second;
  }
  bool is_second(char32_t c) const { return seconds_.contains(c); }

 private:
  static std::uint64_t key(char32_t a, char32_t b) { return std::uint64_t{a} << 32 | b; }

  Compositions() {
    // A canonical composite is the composite of all but its last character, with that one: shorter
    // ones are found first.
    std::vector<std::pair<std::u32string, char32_t>> composites;
    for (char32_t c = 0xC0; c < 0x30000; ++c) {
      if (c >= kHangulBase && c < 0xE000) continue;
      if (property(c).comp_exclusion) continue;
      utf8proc_int32_t parts[kLongest];
      const int n = decompose(c, false, parts);
      if (n > 1) composites.emplace_back(std::u32string(parts, parts + n), c);
    }
    std::stable_sort(composites.begin(), composites.end(),
                     [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
    std::unordered_map<std::u32string, char32_t> whole;
    for (const auto& [parts, c] : composites) {
      const char32_t last = parts.back();
      std::u32string front = parts.substr(0, parts.size() - 1);
      char32_t first = front[0];
      if (front.size() > 1) {
        const auto it = whole.find(front);
        if (it == whole.end()) continue;
        first = it->second;
      }
      pairs_.emplace(key(first, last), c);
      seconds_.emplace(last, 0);
      whole.emplace(parts, c);
    }
    for (char32_t v = 0; v < kHangulVs; ++v) seconds_.emplace(kHangulV + v, 0);
    for (char32_t t = 1; t < kHangulTs; ++t) seconds_.emplace(kHangulT + t, 0);
  }
  std::unordered_map<std::uint64_t, char32_t> pairs_;
  std::unordered_map<char32_t, char> seconds_;
};

/// A character of the result: it takes the place of the next of the source (and of `change` more
/// that follow it, where that is negative), or, where it is 1, comes in after the last.
struct Item {
  char32_t c;
  int change;
  int combining;
};

std::vector<Item> decomposed(std::string_view view, bool compatible) {
  std::vector<Item> items;
  items.reserve(view.size());
  std::size_t pending = 0;  // from here on all items combine
  auto sort_pending = [&] {
    std::stable_sort(items.begin() + static_cast<std::ptrdiff_t>(pending), items.end(),
                     [](const Item& a, const Item& b) { return a.combining < b.combining; });
  };
  for (const char *p = view.data(), *end = p + view.size(); p != end;) {
    utf8proc_int32_t parts[kLongest];
    const int n = decompose(next_char(p), compatible, parts);
    for (int i = 0; i < n; ++i) {
      const auto c = static_cast<char32_t>(parts[i]);
      const int combining = combining_class(c);
      if (combining == 0) sort_pending();
      items.push_back({c, i > 0, combining});
      if (combining == 0) pending = items.size();
    }
  }
  sort_pending();
  return items;
}

void compose(std::vector<Item>& items) {
  const Compositions& compositions = Compositions::get();
  std::size_t out = 0;
  std::ptrdiff_t starter = -1;
  int last = 0;  // the combining class of what stands last after the starter
  for (const Item& item : items) {
    const bool adjacent = starter + 1 == static_cast<std::ptrdiff_t>(out);
    if (starter >= 0 && (adjacent || last < item.combining)) {
      Item& s = items[static_cast<std::size_t>(starter)];
      if (const char32_t c = compositions(s.c, item.c)) {
        s.c = c;
        s.change += item.change - 1;
        continue;
      }
    }
    if (item.combining == 0) starter = static_cast<std::ptrdiff_t>(out);
    last = item.combining;
    items[out++] = item;
  }
  items.resize(out);
}

/// Whether a character may change, alone or by what stands around it.
bool may_change(char32_t c, Form form) {
  if (c < 0xC0) return c >= 0xA0 && (form == Form::kNfkc || form == Form::kNfkd);
  const bool composed = form == Form::kNfc || form == Form::kNfkc;
  if (composed && c < 0x300 && form == Form::kNfc) return false;
  if (CharClasses::get()[c] & kNotNormalized) return false;
  if (combining_class(c) != 0) return true;
  if (composed && Compositions::get().is_second(c)) return true;
  if (composed && c >= kHangulBase && c < 0xD7A4) return false;
  utf8proc_int32_t parts[kLongest];
  const int n = decompose(c, form == Form::kNfkc || form == Form::kNfkd, parts);
  return n != 1 || static_cast<char32_t>(parts[0]) != c;
}

}  // namespace

void normalize(AlignedText& text, Form form) {
  const std::string_view view = text.view();
  bool changes = false;
  for (const char *p = view.data(), *end = p + view.size(); p != end && !changes;) {
    changes = may_change(next_char(p), form);
  }
  if (!changes) return;
  std::vector<Item> items = decomposed(view, form == Form::kNfkc || form == Form::kNfkd);
  if (form == Form::kNfc || form == Form::kNfkc) compose(items);
  Rewrite rewrite(text);
  for (const Item& item : items) {
    if (item.change > 0 || rewrite.at_end()) {
      rewrite.insert(item.c);
      continue;
    }
    rewrite.replace(item.c);
    for (int i = item.change; i < 0 && !rewrite.at_end(); ++i) rewrite.skip();
  }
  rewrite.commit();
}

}  // namespace tlaloc::text
