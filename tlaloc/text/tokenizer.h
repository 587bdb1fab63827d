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
  bool is_token(TokenId id) const;
  bool is_special(TokenId id) const;

  /// Of the room that texts took and that is kept for the next ones: at most 16 MiB for each thread
  /// that encoded at the same time.
  std::size_t kept_bytes() const;

 private:
  friend class DecodeStream;
  Decoder::OpenEnd open_end(std::span<const TokenId> ids) const;
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

/// Tokens to text as they come, in time linear in them. What it gives never ends within a
/// character, holds back no more than bytes that may become one, and put together is what decode()
/// gives, but where a decoder changes text that it gave already: bytes that are no character make
/// ByteFallback give up those before them too, and the stream only them.
class DecodeStream {
 public:
  explicit DecodeStream(Tokenizer tokenizer, bool skip_special_tokens = false)
      : tokenizer_(std::move(tokenizer)), skip_special_tokens_(skip_special_tokens) {}
  /// The text that the token makes certain; may be empty.
  std::string push(TokenId id);
  /// What is left; the stream starts again after it.
  std::string finish();

 private:
  std::string decode(std::span<const TokenId> ids) const;
  /// What the text of `ids`, which the context starts, has behind the prefix.
  std::string behind_prefix(std::span<const TokenId> ids) const;
  /// What lies before ids_[end] becomes the context, and what was that is forgotten.
  void move_window(std::size_t end);
  /// Where there is no end of a character, so that the window has a bound too.
  void shorten_window();
  Tokenizer tokenizer_;
  bool skip_special_tokens_;
  std::vector<TokenId> ids_;  // the window: context, and what may still change
  std::size_t context_ = 0;   // ids of the context
  std::string prefix_;        // its text
  std::size_t given_ = 0;     // bytes behind the prefix that were given
};

}  // namespace tlaloc::text
