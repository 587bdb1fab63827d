// Merges of a SentencePiece vocabulary, which has scores of tokens in their place.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tlaloc/text/bpe.h"

namespace tlaloc::text {

/// Every pair of tokens that together are a token, ranked by the score of that one: the highest
/// goes first. `scores` has one for each id; only tokens whose `takes_part` is set are merged, or
/// made. `place` is where the tokens stand, for errors: TL-TOKENIZER-001 for a score that is no
/// number, TL-TOKENIZER-002 for what would take too much time or memory.
std::vector<Merge> merges_of_scores(const Vocabulary& v, std::span<const float> scores,
                                    const std::vector<bool>& takes_part, const std::string& place);

}  // namespace tlaloc::text
