#include "tlaloc/text/aligned_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::text {

Range AlignedText::original(Range r) const {
  if (rewritten_) return {places_[r.begin].begin, places_[r.end - 1].end};
  std::uint32_t begin = part_.begin + r.begin, end = part_.begin + r.end;
  while (begin > part_.begin && is_continuation(original_[begin])) --begin;
  while (end < part_.end && is_continuation(original_[end])) ++end;
  return {begin, end};
}

AlignedText AlignedText::slice(Range r) const {
  AlignedText part(original_, original(r));
  if (rewritten_) {
    part.rewritten_ = true;
    part.text_ = of(r);
    part.places_.assign(places_.begin() + r.begin, places_.begin() + r.end);
  }
  return part;
}

// Compatibility forms make eleven bytes of one, byte levels two.
constexpr std::size_t kMostGrowth = 64, kAlwaysAllowed = 1 << 20, kMostBytes = 0xFFFFFF00u;

Rewrite::Rewrite(AlignedText& text)
    : source_(text),
      most_(std::min(kMostBytes, kAlwaysAllowed +
                                     kMostGrowth * std::size_t{text.part_.end - text.part_.begin})),
      view_(text.view()),
      begin_(view_.data()),
      p_(begin_),
      end_(begin_ + view_.size()) {
  text_.reserve(view_.size());
  places_.reserve(view_.size());
}

void Rewrite::keep() { keep_to(position() + static_cast<std::uint32_t>(length_of(*p_))); }

void Rewrite::keep_to(std::uint32_t position) {
  text_.append(p_, begin_ + position);
  if (source_.rewritten_) {
    const auto first = source_.places_.begin();
    places_.insert(places_.end(), first + this->position(), first + position);
    p_ = begin_ + position;
    return;
  }
  for (; p_ != begin_ + position; skip()) {
    const std::uint32_t at = source_.part_.begin + this->position();
    const auto n = static_cast<std::uint32_t>(length_of(*p_));
    places_.insert(places_.end(), n, Range{at, at + n});
  }
}

void Rewrite::insert(char32_t c, std::uint32_t start) {
  const std::uint32_t at = position();
  if (at > start) return put(c, source_.original({at - 1, at}));
  const std::uint32_t place = view_.empty()        ? source_.begin()
                              : at == view_.size() ? source_.original({at - 1, at}).end
                                                   : place_of_next().begin;
  put(c, {place, place});
}

void Rewrite::throw_too_long() const {
  throw UserError({"TL-TOKENIZER-003",
                   "tokenizer",
                   fmt::format("normalizing makes more than {} bytes of a text of {}", most_,
                               source_.part_.end - source_.part_.begin),
                   "use a normalizer that inserts less, or encode the text in parts",
                   {}});
}

void Rewrite::commit() {
  if (text_.size() > most_) throw_too_long();
  source_.text_ = std::move(text_);
  source_.places_ = std::move(places_);
  source_.rewritten_ = true;
}

}  // namespace tlaloc::text
