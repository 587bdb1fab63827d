// What a tokenizer gives for a text.
#pragma once

#include <cstdint>
#include <vector>

#include "tlaloc/text/aligned_text.h"
#include "tlaloc/text/vocabulary.h"

namespace tlaloc::text {

/// Tokens in order; all lists but `overflowing` are of one length, or empty where not wanted.
struct Encoding {
  std::vector<TokenId> ids;
  std::vector<Range> offsets;  ///< what of the text each token is; [0, 0) for those that were added
  std::vector<std::int32_t> type_ids;             ///< which text of a pair
  std::vector<std::uint8_t> attention_mask;       ///< 0 for padding
  std::vector<std::uint8_t> special_tokens_mask;  ///< 1 for tokens that a template or padding added
  std::vector<Encoding> overflowing;              ///< the parts that truncation cut off

  /// Whitespace characters at the start and end of each token, for processors that trim offsets.
  struct Spaces {
    std::uint32_t leading = 0, trailing = 0;
  };
  std::vector<Spaces> spaces;

  std::size_t size() const { return ids.size(); }
  /// Appends another one, and combines what overflows of both.
  void append(const Encoding& other);
  /// Tokens [begin, end).
  Encoding part(std::size_t begin, std::size_t end) const;
};

enum class Side { kLeft, kRight };

struct Truncation {
  enum class Strategy { kLongestFirst, kOnlyFirst, kOnlySecond };
  std::size_t max_length = 512, stride = 0;
  Strategy strategy = Strategy::kLongestFirst;
  Side direction = Side::kRight;
};

struct Padding {
  std::size_t fixed_length = 0;  ///< 0: to the longest of a batch
  std::size_t multiple_of = 0;
  Side direction = Side::kRight;
  TokenId id = 0;
  std::int32_t type_id = 0;
};

/// Cuts a text and the second one, if there is one, down to `max_length` tokens together.
/// UserError TL-TOKENIZER-006 where that can't be done.
void truncate(Encoding& first, Encoding* second, const Truncation& truncation,
              std::size_t max_length);
/// Fills encodings up to one length, offsets too if they have any.
void pad(std::vector<Encoding>& encodings, const Padding& padding, bool has_offsets);

}  // namespace tlaloc::text
