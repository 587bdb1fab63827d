// What changes a text before it is split.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/text/aligned_text.h"
#include "tlaloc/text/normalization.h"
#include "tlaloc/text/regex.h"

namespace tlaloc::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

struct BertOptions {
  bool clean_text = true, handle_chinese_chars = true, strip_accents = true, lowercase = true;
};

NormalizerPtr make_form(Form form);
NormalizerPtr make_lowercase();
NormalizerPtr make_strip(bool left, bool right);
NormalizerPtr make_strip_accents();
NormalizerPtr make_nmt();
NormalizerPtr make_prepend(std::string text);
NormalizerPtr make_replace(Regex pattern, std::string content);
NormalizerPtr make_bert(const BertOptions& options);
/// Each byte becomes the visible character that stands for it.
NormalizerPtr make_byte_level();
NormalizerPtr make_sequence(std::vector<NormalizerPtr> parts);

/// The character that stands for a byte in the vocabularies of byte-level models, and back: -1 for
/// one that stands for none.
char32_t byte_to_char(unsigned char byte);
int char_to_byte(char32_t c);

/// Rewrites `piece` of the source as bytes' characters.
void append_byte_level(Rewrite& rewrite, std::string_view view, std::uint32_t end);

}  // namespace tlaloc::text
