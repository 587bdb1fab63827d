// The unigram language model of SentencePiece.
#pragma once

#include <vector>

#include "tlaloc/text/model.h"

namespace tlaloc::text {

struct UnigramOptions {
  TokenId unk = -1;
  bool byte_fallback = false;
};

/// The tokens whose scores add up to most; scores[id] for each token of the vocabulary.
/// Unknown characters side by side are one token. UserError TL-TOKENIZER-005 from tokenize() for an
/// unknown character where there is no token for it.
ModelPtr make_unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options);

}  // namespace tlaloc::text
