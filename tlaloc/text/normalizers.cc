#include "tlaloc/text/normalizers.h"

#include <array>
#include <utility>

#include "tlaloc/text/unicode_class.h"

namespace tlaloc::text {
namespace {

bool is_ascii(std::string_view s) {
  for (char c : s) {
    if (static_cast<signed char>(c) < 0) return false;
  }
  return true;
}

template <class Keep>
void filter(AlignedText& text, Keep keep) {
  bool all = true;
  const std::string_view view = text.view();
  for (const char *p = view.data(), *end = p + view.size(); p != end && all;) {
    all = keep(next_char(p));
  }
  if (all) return;
  Rewrite rewrite(text);
  while (!rewrite.at_end()) keep(rewrite.peek()) ? rewrite.keep() : rewrite.skip();
  rewrite.commit();
}

/// Each character becomes another one.
template <class Map>
void map_chars(AlignedText& text, Map map) {
  Rewrite rewrite(text);
  while (!rewrite.at_end()) rewrite.replace(map(rewrite.peek()));
  rewrite.commit();
}

void lowercase(AlignedText& text) {
  Rewrite rewrite(text);
  while (!rewrite.at_end()) {
    const char32_t c = rewrite.peek();
    rewrite.replace(lower_case(c));
    if (c == 0x130) rewrite.insert(0x307);
  }
  rewrite.commit();
}

class FormNormalizer : public Normalizer {
 public:
  explicit FormNormalizer(Form form) : form_(form) {}
  void apply(AlignedText& text) const override { normalize(text, form_); }

 private:
  Form form_;
};

class Lowercase : public Normalizer {
 public:
  void apply(AlignedText& text) const override { lowercase(text); }
};

class Strip : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(AlignedText& text) const override {
    const std::string_view view = text.view();
    const CharClasses& classes = CharClasses::get();
    std::uint32_t begin = 0, end = static_cast<std::uint32_t>(view.size());
    auto is_space = [&](const char* p) { return (classes[next_char(p)] & kSpace) != 0; };
    auto before = [&](std::uint32_t i) {
      do --i;
      while (i > 0 && is_continuation(view[i]));
      return i;
    };
    while (left_ && begin < end && is_space(view.data() + begin)) {
      begin += static_cast<std::uint32_t>(length_of(view[begin]));
    }
    while (right_ && end > begin && is_space(view.data() + before(end))) end = before(end);
    if (begin == 0 && end == view.size()) return;
    Rewrite rewrite(text);
    rewrite.skip_to(begin);
    rewrite.keep_to(end);
    rewrite.commit();
  }

 private:
  bool left_, right_;
};

class StripAccents : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    const CharClasses& classes = CharClasses::get();
    filter(text, [&](char32_t c) { return !(classes[c] & kCombining); });
  }
};

/// The rules of Google's neural machine translation: which controls go, and what is a space.
class Nmt : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    filter(text, [](char32_t c) {
      return !((c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
               c == 0x8F || c == 0x9F);
    });
    map_chars(text, [](char32_t c) -> char32_t {
      const bool blank = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                         c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
      return blank ? ' ' : c;
    });
  }
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}
  void apply(AlignedText& text) const override {
    if (text.view().empty()) return;
    Rewrite rewrite(text);
    for (const char *p = text_.data(), *end = p + text_.size(); p != end;) {
      rewrite.insert_at_next(next_char(p));
    }
    rewrite.keep_to(static_cast<std::uint32_t>(text.view().size()));
    rewrite.commit();
  }

 private:
  std::string text_;
};

class Replace : public Normalizer {
 public:
  Replace(Regex pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(AlignedText& text) const override {
    const std::string_view view = text.view();
    const auto size = static_cast<std::uint32_t>(view.size());
    MatchIterator matches(pattern_, view, {0, size});
    std::optional<Range> match = matches.next();
    if (!match) return;
    Rewrite rewrite(text);
    for (; match; match = matches.next()) {
      rewrite.keep_to(match->begin);
      rewrite.skip_to(match->end);
      for (const char *p = content_.data(), *end = p + content_.size(); p != end;) {
        rewrite.insert(next_char(p));
      }
    }
    rewrite.keep_to(size);
    rewrite.commit();
  }

 private:
  Regex pattern_;
  std::string content_;
};

/// The blocks of ideographs that BERT puts spaces around.
bool is_ideograph(char32_t c) {
  static constexpr std::pair<char32_t, char32_t> kBlocks[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
      {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  for (const auto& [first, last] : kBlocks) {
    if (c >= first && c <= last) return true;
  }
  return false;
}

class Bert : public Normalizer {
 public:
  explicit Bert(const BertOptions& options) : options_(options) {}
  void apply(AlignedText& text) const override {
    const CharClasses& classes = CharClasses::get();
    if (options_.clean_text) {
      filter(text, [&](char32_t c) { return c != 0 && c != 0xFFFD && !(classes[c] & kControl); });
      map_chars(text, [&](char32_t c) -> char32_t { return classes[c] & kSpace ? ' ' : c; });
    }
    if (options_.handle_chinese_chars && !is_ascii(text.view())) {
      Rewrite rewrite(text);
      while (!rewrite.at_end()) {
        const char32_t c = rewrite.peek();
        if (!is_ideograph(c)) {
          rewrite.keep();
          continue;
        }
        rewrite.replace(' ');
        rewrite.insert(c);
        rewrite.insert(' ');
      }
      rewrite.commit();
    }
    if (options_.strip_accents && !is_ascii(text.view())) {
      normalize(text, Form::kNfd);
      filter(text, [&](char32_t c) { return !(classes[c] & kNonspacing); });
    }
    if (options_.lowercase) lowercase(text);
  }

 private:
  BertOptions options_;
};

class ByteLevel : public Normalizer {
 public:
  void apply(AlignedText& text) const override {
    const std::string_view view = text.view();
    Rewrite rewrite(text);
    append_byte_level(rewrite, view, static_cast<std::uint32_t>(view.size()));
    rewrite.commit();
  }
};

class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}
  void apply(AlignedText& text) const override {
    for (const NormalizerPtr& part : parts_) part->apply(text);
  }

 private:
  std::vector<NormalizerPtr> parts_;
};

/// Visible characters of Latin-1 stand for themselves, the other bytes for U+0100 and up, in order.
struct ByteTable {
  std::array<char32_t, 256> chars{};
  std::array<int, 0x180> bytes{};
  constexpr ByteTable() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool visible = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      chars[b] = visible ? b : next++;
      bytes[chars[b]] = static_cast<int>(b);
    }
  }
};
constexpr ByteTable kByteTable;

}  // namespace

char32_t byte_to_char(unsigned char byte) { return kByteTable.chars[byte]; }
int char_to_byte(char32_t c) { return c < kByteTable.bytes.size() ? kByteTable.bytes[c] : -1; }

void append_byte_level(Rewrite& rewrite, std::string_view view, std::uint32_t end) {
  while (rewrite.position() < end) {
    const std::uint32_t first = rewrite.position();
    const std::size_t n = length_of(view[first]);
    rewrite.replace(byte_to_char(static_cast<unsigned char>(view[first])));
    for (std::size_t i = 1; i < n; ++i) {
      rewrite.insert(byte_to_char(static_cast<unsigned char>(view[first + i])));
    }
  }
}

NormalizerPtr make_form(Form form) { return std::make_unique<FormNormalizer>(form); }
NormalizerPtr make_lowercase() { return std::make_unique<Lowercase>(); }
NormalizerPtr make_strip(bool left, bool right) { return std::make_unique<Strip>(left, right); }
NormalizerPtr make_strip_accents() { return std::make_unique<StripAccents>(); }
NormalizerPtr make_nmt() { return std::make_unique<Nmt>(); }
NormalizerPtr make_prepend(std::string text) { return std::make_unique<Prepend>(std::move(text)); }
NormalizerPtr make_replace(Regex pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
NormalizerPtr make_bert(const BertOptions& options) { return std::make_unique<Bert>(options); }
NormalizerPtr make_byte_level() { return std::make_unique<ByteLevel>(); }
NormalizerPtr make_sequence(std::vector<NormalizerPtr> parts) {
  return std::make_unique<NormalizerSequence>(std::move(parts));
}

}  // namespace tlaloc::text
