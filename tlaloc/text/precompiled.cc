#include "tlaloc/text/precompiled.h"

#include <utf8proc.h>

#include <cstring>
#include <utility>

#include "tlaloc/text/base64.h"
#include "tlaloc/text/fields.h"

namespace tlaloc::text {
namespace {

// Longer graphemes are taken character by character.
constexpr std::size_t kLongestGrapheme = 5;

/// The table: a text for each key, found by the shortest key that a text begins with.
class Rules {
 public:
  Rules(std::string_view base64, const std::string& place) : place_(place) {
    const std::optional<std::string> bytes = decode_base64(base64);
    if (!bytes) throw_malformed(place_, "this is no base64");
    std::uint32_t size = 0;
    if (bytes->size() >= 4) std::memcpy(&size, bytes->data(), 4);
    if (size == 0 || size % 4 != 0 || size > bytes->size() - 4) {
      throw_malformed(place_, "the rules are cut off");
    }
    units_.resize(size / 4);
    std::memcpy(units_.data(), bytes->data() + 4, size);
    texts_ = bytes->substr(4 + size);
    if (!is_utf8(texts_)) throw_malformed(place_, "the texts of the rules are no UTF-8");
  }

  std::optional<std::string_view> find(std::string_view key) const {
    std::size_t at = offset(unit(0));
    for (const char c : key) {
      if (c == 0) return std::nullopt;
      const auto label = static_cast<unsigned char>(c);
      at ^= label;
      const std::uint32_t u = unit(at);
      if ((u & 0x800000FFu) != label) return std::nullopt;
      at ^= offset(u);
      if (u >> 8 & 1) return text_at(unit(at) & 0x7FFFFFFFu);
    }
    return std::nullopt;
  }

 private:
  static std::size_t offset(std::uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }
  std::uint32_t unit(std::size_t at) const {
    if (at >= units_.size()) throw_malformed(place_, "a rule points outside of the table");
    return units_[at];
  }
  std::string_view text_at(std::size_t first) const {
    if (first > texts_.size() || (first < texts_.size() && is_continuation(texts_[first]))) {
      throw_malformed(place_, "a rule points outside of the texts");
    }
    const std::string_view rest = std::string_view(texts_).substr(first);
    return rest.substr(0, rest.find('\0'));
  }

  std::string place_;
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

/// Writes characters with the number of those of the source that each is more (1) or that go behind
/// it (below 0). The last one waits, as what is left out is told to the one before. What is left
/// out in front of all is told to none, and then the places of all that follows are those of what
/// stands as far from the start; so they are in the package.
class Changes {
 public:
  explicit Changes(AlignedText& text) : rewrite_(text) {}

  void keep(char32_t c) { push(c, 0); }
  void replace(std::string_view before, std::string_view after) {
    const int difference = count(after) - count(before);
    int left = count(after);
    for (const char *p = after.data(), *end = p + after.size(); p != end; --left) {
      push(next_char(p), left <= difference ? 1 : 0);
    }
    if (difference < 0 && waits_) change_ += difference;
    changed_ = true;
  }
  void finish() {
    if (!changed_) return;
    flush();
    rewrite_.commit();
  }

 private:
  static int count(std::string_view s) {
    int n = 0;
    for (const char c : s) n += !is_continuation(c);
    return n;
  }
  void push(char32_t c, int change) {
    flush();
    waits_ = true;
    char_ = c;
    change_ = change;
  }
  void flush() {
    if (!waits_) return;
    if (change_ > 0) return rewrite_.insert(char_);
    rewrite_.replace(char_);
    for (; change_ < 0; ++change_) rewrite_.skip();
  }

  Rewrite rewrite_;
  bool changed_ = false, waits_ = false;
  char32_t char_ = 0;
  int change_ = 0;
};

class Precompiled : public Normalizer {
 public:
  Precompiled(std::string_view base64, const std::string& place) : rules_(base64, place) {}

  void apply(AlignedText& text) const override {
    const std::string_view view = text.view();
    Changes changes(text);
    for (std::size_t at = 0; at < view.size();) {
      const std::string_view grapheme = grapheme_at(view, at);
      at += grapheme.size();
      if (grapheme.size() <= kLongestGrapheme) {
        if (const auto rule = rules_.find(grapheme)) {
          changes.replace(grapheme, *rule);
          continue;
        }
      }
      for (std::size_t i = 0; i < grapheme.size();) {
        const std::string_view part = grapheme.substr(i, length_of(grapheme[i]));
        i += part.size();
        if (const auto rule = rules_.find(part)) {
          changes.replace(part, *rule);
        } else {
          const char* p = part.data();
          changes.keep(next_char(p));
        }
      }
    }
    changes.finish();
  }

 private:
  static std::string_view grapheme_at(std::string_view text, std::size_t at) {
    const char *const first = text.data() + at, *const end = text.data() + text.size();
    const char* p = first;
    utf8proc_int32_t state = 0;
    for (char32_t last = next_char(p); p != end;) {
      const char* after = p;
      const char32_t next = next_char(after);
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last),
                                           static_cast<utf8proc_int32_t>(next), &state)) {
        break;
      }
      last = next;
      p = after;
    }
    return {first, static_cast<std::size_t>(p - first)};
  }

  Rules rules_;
};

}  // namespace

NormalizerPtr make_precompiled(std::string_view base64, const std::string& place) {
  return std::make_unique<Precompiled>(base64, place);
}

}  // namespace tlaloc::text
