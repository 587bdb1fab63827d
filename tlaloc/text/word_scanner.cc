#include "tlaloc/text/word_scanner.h"

#include <array>

#include "tlaloc/text/unicode_class.h"

namespace tlaloc::text {
namespace {

constexpr std::string_view kGpt2Text =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Text =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Text =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// What a character is to the patterns: one of the first four.
enum Kind : std::uint8_t { kWordLetter = 1, kDigit = 2, kBlank = 4, kOther = 8, kNewline = 16 };

constexpr std::array<std::uint8_t, 128> kAscii = [] {
  std::array<std::uint8_t, 128> kinds{};
  for (unsigned c = 0; c < 128; ++c) {
    const unsigned letter = c | 32;
    kinds[c] = letter >= 'a' && letter <= 'z'                ? kWordLetter
               : c >= '0' && c <= '9'                        ? kDigit
               : c == '\n' || c == '\r'                      ? kBlank | kNewline
               : c == ' ' || c == '\t' || c == 11 || c == 12 ? kBlank
                                                             : kOther;
  }
  return kinds;
}();

class Scanner {
 public:
  Scanner(std::string_view text, Range piece)
      : base_(text.data()), p_(base_ + piece.begin), end_(base_ + piece.end) {}

  template <WordPattern kPattern>
  void run(std::vector<Range>& out) {
    constexpr bool kLines = kPattern != WordPattern::kGpt2;
    while (p_ != end_) {
      const char* const start = p_;
      const char* after = p_;
      const unsigned kind = kind_at(after);
      if (*p_ == '\'' && contraction(kLines)) {
      } else if (kind & kWordLetter) {
        p_ = after;
        take(kWordLetter);
      } else if (kind & kDigit) {
        p_ = after;
        take_digits<kPattern>();
      } else {
        const char* second = after;
        const unsigned next = after == end_ ? 0 : kind_at(second);
        if (kLines && !(kind & kNewline) && (next & kWordLetter)) {
          p_ = second;
          take(kWordLetter);
        } else if (kind & kOther) {
          p_ = after;
          take_others(kLines);
        } else if (*p_ == ' ' && (next & kOther)) {
          p_ = second;
          take_others(kLines);
        } else if (!kLines && *p_ == ' ' && (next & (kWordLetter | kDigit))) {
          p_ = second;
          take(next);
        } else {
          take_blanks(kLines);
        }
      }
      out.push_back({at(start), at(p_)});
    }
  }

 private:
  std::uint32_t at(const char* p) const { return static_cast<std::uint32_t>(p - base_); }

  /// The kind of the character at `p`, which moves behind it.
  unsigned kind_at(const char*& p) const {
    const auto b = static_cast<unsigned char>(*p);
    if (b < 128) {
      ++p;
      return kAscii[b];
    }
    const std::uint16_t c = classes_[next_char(p)];
    return c & kLetter ? kWordLetter : c & kNumber ? kDigit : c & kSpace ? kBlank : kOther;
  }

  void take(unsigned kinds) {
    for (;;) {
      while (p_ != end_ && static_cast<unsigned char>(*p_) < 128 &&
             (kAscii[static_cast<unsigned char>(*p_)] & kinds)) {
        ++p_;
      }
      if (p_ == end_ || static_cast<unsigned char>(*p_) < 128) return;
      const char* after = p_;
      if (!(kind_at(after) & kinds)) return;
      p_ = after;
    }
  }

  template <WordPattern kPattern>
  void take_digits() {
    if (kPattern == WordPattern::kGpt2) return take(kDigit);
    if (kPattern == WordPattern::kQwen2) return;
    for (int more = 2; more > 0 && p_ != end_; --more) {
      const char* after = p_;
      if (!(kind_at(after) & kDigit)) return;
      p_ = after;
    }
  }

  void take_others(bool lines) {
    take(kOther);
    if (!lines) return;
    while (p_ != end_ && (*p_ == '\r' || *p_ == '\n')) ++p_;
  }

  /// Blanks, without the last one where a word follows that could begin with it.
  void take_blanks(bool lines) {
    const char *last = p_, *behind_newline = nullptr, *p = p_;
    while (p != end_) {
      const char* after = p;
      const unsigned kind = kind_at(after);
      if (!(kind & kBlank)) break;
      last = p;
      p = after;
      if (kind & kNewline) behind_newline = p;
    }
    if (lines && behind_newline != nullptr) {
      p_ = behind_newline;
    } else {
      p_ = p == end_ || last == p_ ? p : last;
    }
  }

  bool contraction(bool ignore_case) {
    const auto left = static_cast<std::size_t>(end_ - p_) - 1;
    auto letter = [&](std::size_t i) {
      return ignore_case && p_[i] >= 'A' && p_[i] <= 'Z' ? static_cast<char>(p_[i] + 32) : p_[i];
    };
    if (left == 0) return false;
    const char a = letter(1);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') {
      p_ += 2;
      return true;
    }
    if (left == 1) return false;
    const char b = letter(2);
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) {
      p_ += 3;
      return true;
    }
    // The long s is an s of another case.
    if (ignore_case && p_[1] == '\xC5' && p_[2] == '\xBF') {
      p_ += 3;
      return true;
    }
    return false;
  }

  const CharClasses& classes_ = CharClasses::get();
  const char *base_, *p_, *end_;
};

}  // namespace

WordPattern word_pattern(std::string_view regex) {
  for (WordPattern p : {WordPattern::kGpt2, WordPattern::kLlama3, WordPattern::kQwen2}) {
    if (regex == word_pattern_text(p)) return p;
  }
  return WordPattern::kNone;
}

std::string_view word_pattern_text(WordPattern pattern) {
  switch (pattern) {
    case WordPattern::kGpt2:
      return kGpt2Text;
    case WordPattern::kLlama3:
      return kLlama3Text;
    case WordPattern::kQwen2:
      return kQwen2Text;
    case WordPattern::kNone:
      break;
  }
  return {};
}

void scan_words(WordPattern pattern, std::string_view text, Range piece, std::vector<Range>& out) {
  Scanner scanner(text, piece);
  switch (pattern) {
    case WordPattern::kGpt2:
      return scanner.run<WordPattern::kGpt2>(out);
    case WordPattern::kLlama3:
      return scanner.run<WordPattern::kLlama3>(out);
    case WordPattern::kQwen2:
      return scanner.run<WordPattern::kQwen2>(out);
    case WordPattern::kNone:
      break;
  }
}

}  // namespace tlaloc::text
