// How a text is cut where a pattern matches.
#pragma once

#include <vector>

#include "tlaloc/text/aligned_text.h"

namespace tlaloc::text {

/// What becomes of a match: cut out, a piece of its own, one with equal neighbours, or a part of
/// the piece before or after it.
enum class Behavior { kRemoved, kIsolated, kContiguous, kMergedWithPrevious, kMergedWithNext };

/// Takes matches and what lies between them, in order and without gaps, and gives pieces.
class Cuts {
 public:
  Cuts(Behavior behavior, std::vector<Range>& out)
      : behavior_(behavior), out_(out), start_(out.size()) {}
  void add(Range r, bool is_match);
  void finish();

 private:
  void emit(Range r) {
    if (r.begin != r.end) out_.push_back(r);
  }
  Behavior behavior_;
  std::vector<Range>& out_;
  std::size_t start_;
  bool previous_ = false, pending_ = false;
  Range held_;
};

/// Pieces of `piece` cut at the characters that `is_match(c)` says. `skip(p, end)` may go ahead
/// over some that are none.
template <class IsMatch, class Skip>
void cut_at_chars(std::string_view text, Range piece, Behavior behavior, std::vector<Range>& out,
                  IsMatch is_match, Skip skip) {
  Cuts cuts(behavior, out);
  std::uint32_t last = piece.begin;
  for (const char *p = text.data() + piece.begin, *end = text.data() + piece.end;;) {
    p = skip(p, end);
    if (p == end) break;
    const auto at = static_cast<std::uint32_t>(p - text.data());
    if (!is_match(next_char(p))) continue;
    const auto after = static_cast<std::uint32_t>(p - text.data());
    if (last < at) cuts.add({last, at}, false);
    cuts.add({at, after}, true);
    last = after;
  }
  if (last < piece.end) cuts.add({last, piece.end}, false);
  cuts.finish();
}
template <class IsMatch>
void cut_at_chars(std::string_view text, Range piece, Behavior behavior, std::vector<Range>& out,
                  IsMatch is_match) {
  cut_at_chars(text, piece, behavior, out, is_match, [](const char* p, const char*) { return p; });
}

}  // namespace tlaloc::text
