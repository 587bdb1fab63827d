#include "tlaloc/text/pre_tokenizers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tlaloc/text/normalizers.h"
#include "tlaloc/text/unicode_class.h"
#include "tlaloc/text/unicode_script.h"

namespace tlaloc::text {
namespace {

/// Splits each piece, and leaves the text as it is.
class Splitter : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const final {
    pieces.next.clear();
    const std::string_view text = pieces.text.view();
    for (Range r : pieces.ranges) split(text, r, pieces.next);
    pieces.ranges.swap(pieces.next);
  }

 private:
  virtual void split(std::string_view text, Range piece, std::vector<Range>& out) const = 0;
};

template <class IsMatch>
class CharSplit : public Splitter {
 public:
  CharSplit(Behavior behavior, IsMatch is_match) : behavior_(behavior), is_match_(is_match) {}

 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    cut_at_chars(text, piece, behavior_, out, is_match_);
  }
  Behavior behavior_;
  IsMatch is_match_;
};

template <class IsMatch>
PreTokenizerPtr at_chars(Behavior behavior, IsMatch is_match) {
  return std::make_unique<CharSplit<IsMatch>>(behavior, is_match);
}

/// At numbers. Most text has few.
class DigitSplit : public Splitter {
 public:
  explicit DigitSplit(Behavior behavior) : behavior_(behavior) {}

 private:
  /// Behind ASCII characters that are no digits, most of them.
  static const char* skip(const char* p, const char* end) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    for (std::uint64_t word; end - p >= 8; p += 8) {
      std::memcpy(&word, p, 8);
      // Of an ASCII character, the high bit that adding changes from '0' on, and behind '9'.
      const std::uint64_t digits = (word + kOnes * (0x80 - '0')) ^ (word + kOnes * (0x7F - '9'));
      if ((word | digits) & kOnes * 0x80) break;
    }
    return p;
  }

  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    auto is_number = [&](char32_t c) { return (classes_[c] & kNumeric) != 0; };
    cut_at_chars(text, piece, behavior_, out, is_number, skip);
  }
  const CharClasses& classes_ = CharClasses::get();
  Behavior behavior_;
};

auto in_class(CharClass member) {
  return [member, &classes = CharClasses::get()](char32_t c) { return (classes[c] & member) != 0; };
}

class RegexSplit : public Splitter {
 public:
  RegexSplit(Regex regex, Behavior behavior, bool invert)
      : regex_(std::move(regex)), behavior_(behavior), invert_(invert) {}

 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    Cuts cuts(behavior_, out);
    std::uint32_t last = piece.begin;
    MatchIterator matches(regex_, text, piece);
    while (const std::optional<Range> match = matches.next()) {
      if (last != match->begin) cuts.add({last, match->begin}, invert_);
      cuts.add(*match, !invert_);
      last = match->end;
    }
    if (last != piece.end) cuts.add({last, piece.end}, invert_);
    cuts.finish();
  }
  Regex regex_;
  Behavior behavior_;
  bool invert_;
};

/// As kThousands does, in time linear in the text: all digits up to a word's end, from whose number
/// follows where they are cut. Where a letter follows them, no digit of theirs is matched.
class ThousandsSplit : public Splitter {
 public:
  ThousandsSplit(Behavior behavior, bool invert, const std::string& place)
      : digits_(R"((?<!\d)\d++\b)", place), behavior_(behavior), invert_(invert) {}

 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    Cuts cuts(behavior_, out);
    std::uint32_t last = piece.begin;
    MatchIterator matches(digits_, text, piece);
    while (const std::optional<Range> match = matches.next()) {
      if (last != match->begin) cuts.add({last, match->begin}, invert_);
      const std::string_view number = text.substr(match->begin, match->end - match->begin);
      auto left =
          std::count_if(number.begin(), number.end(), [](char c) { return !is_continuation(c); });
      for (std::uint32_t at = match->begin; at != match->end;) {
        const std::uint32_t first = at;
        do {
          at += static_cast<std::uint32_t>(length_of(text[at]));
        } while (--left % 3 != 0);
        cuts.add({first, at}, !invert_);
      }
      last = match->end;
    }
    if (last != piece.end) cuts.add({last, piece.end}, invert_);
    cuts.finish();
  }
  Regex digits_;
  Behavior behavior_;
  bool invert_;
};

class WordSplit : public Splitter {
 public:
  explicit WordSplit(WordPattern pattern) : pattern_(pattern) {}

 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    scan_words(pattern_, text, piece, out);
  }
  WordPattern pattern_;
};

/// Runs of word characters, and of others that are no space.
class Whitespace : public Splitter {
 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    const CharClasses& classes = CharClasses::get();
    enum { kNothing, kWords, kRest } last = kNothing;
    for (const char *p = text.data() + piece.begin, *end = text.data() + piece.end; p != end;) {
      const auto at = static_cast<std::uint32_t>(p - text.data());
      const std::uint16_t c = classes[next_char(p)];
      const auto after = static_cast<std::uint32_t>(p - text.data());
      const auto kind = c & kWord ? kWords : c & kSpace ? kNothing : kRest;
      if (kind != kNothing) {
        if (kind == last) {
          out.back().end = after;
        } else {
          out.push_back({at, after});
        }
      }
      last = kind;
    }
  }
};

/// Where another script begins. What belongs to any script goes with what is before it, and at the
/// beginning of a piece it is dropped, as the package drops it.
class ScriptSplit : public Splitter {
 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    std::uint8_t last = 0;
    for (const char *p = text.data() + piece.begin, *end = text.data() + piece.end; p != end;) {
      const auto at = static_cast<std::uint32_t>(p - text.data());
      const std::uint8_t script = script_of(next_char(p));
      const auto after = static_cast<std::uint32_t>(p - text.data());
      if (script != 0 && script != last) {
        last = script;
        out.push_back({at, after});
      } else if (last != 0) {
        out.back().end = after;
      }
    }
  }
};

class FixedLength : public Splitter {
 public:
  explicit FixedLength(std::uint32_t length) : length_(length) {}

 private:
  void split(std::string_view text, Range piece, std::vector<Range>& out) const override {
    std::uint32_t at = piece.begin;
    while (at < piece.end) {
      const std::uint32_t first = at;
      for (std::uint32_t i = 0; i < length_ && at < piece.end; ++i) {
        at += static_cast<std::uint32_t>(length_of(text[at]));
      }
      out.push_back({first, at});
    }
  }
  std::uint32_t length_;
};

/// Rewrites each piece by itself.
template <class Piece>
void rewrite_pieces(Pieces& pieces, Piece piece) {
  Rewrite rewrite(pieces.text);
  for (Range& r : pieces.ranges) {
    rewrite.skip_to(r.begin);
    const std::uint32_t begin = rewrite.written();
    piece(rewrite, r);
    r = {begin, rewrite.written()};
  }
  rewrite.commit();
}

class PrefixSpace : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    const std::string_view view = pieces.text.view();
    rewrite_pieces(pieces, [&](Rewrite& rewrite, Range r) {
      if (view[r.begin] != ' ') rewrite.insert_at_next(' ');
      rewrite.keep_to(r.end);
    });
  }
};

class ByteLevelMap : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    const std::string_view view = pieces.text.view();
    rewrite_pieces(pieces,
                   [&](Rewrite& rewrite, Range r) { append_byte_level(rewrite, view, r.end); });
  }
};

class Metaspace : public PreTokenizer {
 public:
  Metaspace(char32_t replacement, PrependScheme scheme, bool split)
      : replacement_(replacement), scheme_(scheme), split_(split) {}

  void apply(Pieces& pieces) const override {
    rewrite_pieces(pieces, [&](Rewrite& rewrite, Range r) {
      const char32_t first = rewrite.peek();
      const bool may = scheme_ == PrependScheme::kAlways ||
                       (scheme_ == PrependScheme::kFirst && pieces.text.original(r).begin == 0);
      if (may && first != replacement_ && first != ' ') rewrite.insert_at_next(replacement_);
      while (rewrite.position() < r.end) {
        rewrite.peek() == ' ' ? rewrite.replace(replacement_) : rewrite.keep();
      }
    });
    if (!split_) return;
    pieces.next.clear();
    for (Range r : pieces.ranges) {
      cut_at_chars(pieces.text.view(), r, Behavior::kMergedWithNext, pieces.next,
                   [&](char32_t c) { return c == replacement_; });
    }
    pieces.ranges.swap(pieces.next);
  }

 private:
  char32_t replacement_;
  PrependScheme scheme_;
  bool split_;
};

/// Both steps of BERT: words between spaces, then punctuation apart.
class BertSplit : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override {
    spaces_->apply(pieces);
    punctuation_->apply(pieces);
  }

 private:
  PreTokenizerPtr spaces_ = make_whitespace_split(),
                  punctuation_ = make_punctuation(Behavior::kIsolated);
};

}  // namespace

PreTokenizerPtr make_split(std::string_view regex, Behavior behavior, bool invert,
                           const std::string& place) {
  // The known patterns leave nothing between matches: what is isolated is the same as what is left
  // when everything else is removed.
  const WordPattern words = word_pattern(regex);
  if (words != WordPattern::kNone &&
      (behavior == Behavior::kIsolated || (behavior == Behavior::kRemoved && invert))) {
    return std::make_unique<WordSplit>(words);
  }
  if (regex == kThousands) return std::make_unique<ThousandsSplit>(behavior, invert, place);
  return make_regex_split(regex, behavior, invert, place);
}
PreTokenizerPtr make_regex_split(std::string_view regex, Behavior behavior, bool invert,
                                 const std::string& place) {
  return std::make_unique<RegexSplit>(Regex(regex, place), behavior, invert);
}
PreTokenizerPtr make_digits(bool individual) {
  return std::make_unique<DigitSplit>(individual ? Behavior::kIsolated : Behavior::kContiguous);
}
PreTokenizerPtr make_punctuation(Behavior behavior) {
  return at_chars(behavior, in_class(kBertPunctuation));
}
PreTokenizerPtr make_whitespace() { return std::make_unique<Whitespace>(); }
PreTokenizerPtr make_whitespace_split() { return at_chars(Behavior::kRemoved, in_class(kSpace)); }
PreTokenizerPtr make_script_split() { return std::make_unique<ScriptSplit>(); }
PreTokenizerPtr make_bert_split() { return std::make_unique<BertSplit>(); }
PreTokenizerPtr make_char_delimiter(char32_t delimiter) {
  return at_chars(Behavior::kRemoved, [delimiter](char32_t c) { return c == delimiter; });
}
PreTokenizerPtr make_fixed_length(std::uint32_t length) {
  return std::make_unique<FixedLength>(length);
}
PreTokenizerPtr make_metaspace(char32_t replacement, PrependScheme scheme, bool split) {
  return std::make_unique<Metaspace>(replacement, scheme, split);
}
PreTokenizerPtr make_prefix_space() { return std::make_unique<PrefixSpace>(); }
PreTokenizerPtr make_byte_level_map() { return std::make_unique<ByteLevelMap>(); }

}  // namespace tlaloc::text
