// Text that remembers where it came from while it is rewritten.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/text/utf8.h"

namespace tlaloc::text {

/// Bytes [begin, end) of a text.
struct Range {
  std::uint32_t begin = 0, end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// A part of an original text, as it is or rewritten. A rewritten text knows for each byte the
/// original bytes of its character, by the rules of the package tokenizers: what replaces a
/// character takes its place, what is inserted has the place of what stands before it.
class AlignedText {
 public:
  /// `original` must outlive it.
  AlignedText(std::string_view original, Range part) : original_(original), part_(part) {}

  std::string_view view() const {
    return rewritten_ ? std::string_view(text_)
                      : original_.substr(part_.begin, part_.end - part_.begin);
  }
  std::string_view of(Range r) const { return view().substr(r.begin, r.end - r.begin); }
  /// The original bytes of a range of view() that is not empty; whole characters.
  Range original(Range r) const;
  /// Where the part begins in the original.
  std::uint32_t begin() const { return part_.begin; }
  /// A range of view() as a text of its own.
  AlignedText slice(Range r) const;

 private:
  friend class Rewrite;
  std::string_view original_;
  Range part_;
  bool rewritten_ = false;
  std::string text_;
  std::vector<Range> places_;  // of each byte of text_
};

/// Builds the next state of a text from left to right: each character of the source is kept,
/// replaced or skipped, and others are inserted.
class Rewrite {
 public:
  /// UserError TL-TOKENIZER-003 from what writes where far more text comes out than goes in.
  explicit Rewrite(AlignedText& text);

  bool at_end() const { return p_ == end_; }
  /// The next character of the source.
  char32_t peek() const {
    const char* p = p_;
    return next_char(p);
  }
  std::uint32_t position() const { return static_cast<std::uint32_t>(p_ - begin_); }
  void skip() { p_ += length_of(*p_); }
  void skip_to(std::uint32_t position) { p_ = begin_ + position; }
  void keep();
  void keep_to(std::uint32_t position);
  /// The next character becomes `c`.
  void replace(char32_t c) {
    put(c, place_of_next());
    skip();
  }
  /// `c` comes in, in the place of the character before the next one; of a piece that starts at
  /// `start`, the first has none before it.
  void insert(char32_t c, std::uint32_t start = 0);
  /// `c` comes in, in the place of the next character.
  void insert_at_next(char32_t c) { put(c, place_of_next()); }
  /// Bytes written so far.
  std::uint32_t written() const { return static_cast<std::uint32_t>(text_.size()); }
  /// The new state; the source is gone.
  void commit();

 private:
  Range place_of_next() const { return source_.original({position(), position() + 1}); }
  void put(char32_t c, Range place) {
    const std::size_t before = text_.size();
    if (before > most_) throw_too_long();
    append_char(text_, c);
    places_.insert(places_.end(), text_.size() - before, place);
  }
  [[noreturn]] void throw_too_long() const;
  AlignedText& source_;
  std::size_t most_;
  std::string_view view_;
  const char *begin_, *p_, *end_;
  std::string text_;
  std::vector<Range> places_;
};

}  // namespace tlaloc::text
