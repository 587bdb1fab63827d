// Text to tokens and back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/text/encoding.h"
#include "tlaloc/text/pipeline.h"

namespace tlaloc::text {

enum class Offsets { kNone, kBytes, kCharacters };

struct EncodeOptions {
  bool add_special_tokens = true;    ///< those that the post-processor adds around a text
  bool match_special_tokens = true;  ///< special tokens written in a text are those tokens
  Offsets offsets = Offsets::kNone;
};

/// Immutable; any number of threads may use one at the same time. What a text has that is no UTF-8
/// is read as U+FFFD, as Python's errors="replace" reads it; offsets then count in the text with
/// those. A text has less than 4 GiB (TL-TOKENIZER-003).
class Tokenizer {
 public:
  explicit Tokenizer(Pipeline pipeline);

  /// Truncated and padded as the file says.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode(std::string_view text, std::string_view second,
                  const EncodeOptions& options = {}) const;
  /// Each text by itself, on up to `threads` threads (0: as many as there are processors), padded
  /// together.
  std::vector<Encoding> encode_batch(std::span<const std::string_view> texts,
                                     const EncodeOptions& options = {}, unsigned threads = 0) const;
  /// Appends the ids of a text alone: nothing is added, cut or padded.
  void encode_ids(std::string_view text, std::vector<TokenId>& ids,
                  bool match_special_tokens = true) const;

  /// Ids that are no token are left out.
  std::string decode(std::span<const TokenId> ids, bool skip_special_tokens = false) const;

  /// One more than the largest id.
  TokenId bound() const;
  /// -1 where there is none.
  TokenId find(std::string_view token) const;
  /// As it is written in the file; empty for an id that is no token.
  std::string_view token(TokenId id) const;
  bool is_special(TokenId id) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

/// Tokens to text as they come. What it gives never ends within a character, and put together is
/// what decode() gives, but where a decoder changes text that it gave already: bytes that are no
/// character make ByteFallback give up those before them too, and the stream only them.
class DecodeStream {
 public:
  explicit DecodeStream(Tokenizer tokenizer, bool skip_special_tokens = false)
      : tokenizer_(std::move(tokenizer)), skip_special_tokens_(skip_special_tokens) {}
  /// The text that the token makes certain; may be empty.
  std::string push(TokenId id);
  /// What is left; the stream starts again after it.
  std::string finish();

 private:
  /// What `text`, of all ids, has behind the prefix.
  std::string after_prefix(const std::string& text) const;
  Tokenizer tokenizer_;
  bool skip_special_tokens_;
  std::vector<TokenId> ids_;     // from the last place where text could be cut
  std::size_t emitted_ids_ = 0;  // of those, what prefix_ is the text of
  std::string prefix_;
};

}  // namespace tlaloc::text
