// What makes text of tokens.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/text/regex.h"

namespace tlaloc::text {

/// A step from tokens to text: changes tokens, or joins them. At the end all are joined.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void apply(std::vector<std::string>& tokens) const = 0;
  /// What the next token may still change at the end of these, the last three of a text.
  struct OpenEnd {
    std::size_t tokens = 0;    ///< so many at the end are bytes of a character that is not whole
    bool replacement = false;  ///< the text ends in U+FFFD for such bytes
  };
  virtual OpenEnd open_end(std::span<const std::string_view>) const { return {}; }
};
using DecoderPtr = std::unique_ptr<const Decoder>;

/// Characters become the bytes that they stand for, and what is no UTF-8 then U+FFFD.
DecoderPtr make_byte_level_decoder();
DecoderPtr make_wordpiece_decoder(std::string prefix, bool cleanup);
DecoderPtr make_bpe_decoder(std::string suffix);
DecoderPtr make_metaspace_decoder(char32_t replacement, bool has_prefix);
DecoderPtr make_byte_fallback_decoder();
DecoderPtr make_fuse_decoder();
DecoderPtr make_strip_decoder(char32_t content, std::size_t start, std::size_t stop);
DecoderPtr make_replace_decoder(Regex pattern, std::string content);
DecoderPtr make_ctc_decoder(std::string pad, std::string word_delimiter, bool cleanup);
DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> parts);

}  // namespace tlaloc::text
