#include "tlaloc/text/gguf_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kTokens = {"a", "b", "ab", "ba", "1", "2", "12"};
const std::vector<std::string> kMerges = {"a b", "1 2"};

std::vector<TokenId> ids(const std::string& pre, const std::string& text) {
  GgufVocabulary v;
  v.model = "gpt2";
  v.pre = pre;
  v.tokens = kTokens;
  v.merges = kMerges;
  return gguf_tokenizer(v).encode(text).ids;
}
std::string error(const std::string& pre, std::vector<std::string> merges = kMerges) {
  GgufVocabulary v;
  v.model = "gpt2";
  v.pre = pre;
  v.tokens = kTokens;
  v.merges = merges;
  try {
    gguf_tokenizer(v);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

// As llama.cpp splits by the same names (llama-vocab.cpp).
TEST(GgufVocabulary, NumbersAsTheNameSays) {
  for (const char* pre : {"smollm", "refact", "qwen2", "deepseek-r1-qwen"}) {
    EXPECT_THAT(ids(pre, "12"), ElementsAre(4, 5)) << pre;
  }
  for (const char* pre : {"gpt-2", "olmo", "llama-bpe", "dbrx", "smaug-bpe"}) {
    EXPECT_THAT(ids(pre, "12"), ElementsAre(6)) << pre;
  }
  // Three digits at most are a word.
  EXPECT_THAT(ids("dbrx", "1112"), ElementsAre(4, 4, 4, 5));
  EXPECT_THAT(ids("olmo", "1112"), ElementsAre(4, 4, 6));
}

TEST(GgufVocabulary, WholeWordsThatNoMergeMakes) {
  EXPECT_THAT(ids("llama-bpe", "ba"), ElementsAre(3));
  for (const char* pre : {"dbrx", "smaug-bpe", "gpt-2"}) {
    EXPECT_THAT(ids(pre, "ba"), ElementsAre(1, 0)) << pre;
  }
}

TEST(GgufVocabulary, TheFirstTokenWhereTheFileDoesNotSay) {
  GgufVocabulary v;
  v.model = "gpt2";
  v.tokens = kTokens;
  v.merges = kMerges;
  v.bos_token_id = 4;
  for (const char* pre : {"llama-bpe", "llama3", "tekken"}) {
    v.pre = pre;
    EXPECT_THAT(gguf_tokenizer(v).encode("a").ids, ElementsAre(4, 0)) << pre;
  }
  v.pre = "gpt-4o";
  EXPECT_THAT(gguf_tokenizer(v).encode("a").ids, ElementsAre(0));
  v.pre = "llama-bpe";
  v.add_bos_token = false;
  EXPECT_THAT(gguf_tokenizer(v).encode("a").ids, ElementsAre(0));
}

struct Scored {
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>", "▁",  "a",
                                  "b",     "aa",  "▁a",   "b ", "<0x62>"};
  std::vector<float> scores{0, 0, 0, -9, -9, -9, -1, -2, -1000, 0};
  std::vector<std::int32_t> types{2, 3, 3, 1, 1, 1, 1, 1, 4, 6};
  GgufVocabulary v;

  Scored() { v.model = "llama"; }
  Tokenizer tokenizer() {
    v.tokens = tokens;
    v.scores = scores;
    v.token_type = types;
    return gguf_tokenizer(v);
  }
  std::vector<TokenId> ids(const std::string& text) { return tokenizer().encode(text).ids; }
  std::string error() {
    try {
      tokenizer();
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }
};

TEST(GgufVocabulary, MergesByScoreAndThenFromTheLeft) {
  Scored s;
  // Of ▁aaa, aa goes first, and the left one.
  EXPECT_THAT(s.ids("aaa"), ElementsAre(1, 3, 6, 4));
  s.scores[7] = 0;
  EXPECT_THAT(s.ids("aaa"), ElementsAre(1, 7, 6));
  s.scores[7] = s.scores[6];
  EXPECT_THAT(s.ids("aaa"), ElementsAre(1, 7, 6));
}

TEST(GgufVocabulary, WhatTheFileDoesNotSayIsAsInLlama2) {
  Scored s;
  EXPECT_THAT(s.ids("a"), ElementsAre(1, 7));
  s.v.add_bos_token = false;
  s.v.add_eos_token = true;
  s.v.add_space_prefix = false;
  EXPECT_THAT(s.ids("a"), ElementsAre(4, 2));
  s.v.bos_token_id = 3;
  s.v.eos_token_id = 4;
  s.v.add_bos_token = true;
  EXPECT_THAT(s.ids("a"), ElementsAre(3, 4, 4));
}

TEST(GgufVocabulary, TokensThatAreNoText) {
  Scored s;
  s.v.add_bos_token = false;
  // Each text between them has the space in front; what a user defined is found as it is written.
  EXPECT_THAT(s.ids("</s>a"), ElementsAre(2, 7));
  EXPECT_THAT(s.ids("b a"), ElementsAre(8, 7));
  // Bytes are no text, and those that are not there are unknown.
  EXPECT_THAT(s.ids("<0x62>"), ElementsAre(3, 0));
  s.tokens[5] = "c";
  EXPECT_THAT(s.ids("b"), ElementsAre(3, 9));
  EXPECT_EQ(s.tokenizer().decode(std::vector<TokenId>{3, 9, 3, 4}), "b a");
}

TEST(GgufVocabulary, WhitespaceBehindTokensOfPhi3) {
  Scored s;
  s.v.add_bos_token = false;
  s.v.special_takes_whitespace = true;
  EXPECT_THAT(s.ids("</s> \na"), ElementsAre(2, 7));
  EXPECT_THAT(s.ids("<s> a"), ElementsAre(1, 3, 7));
}

TEST(GgufVocabulary, RefusesScores) {
  Scored s;
  s.scores[4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(s.error(), HasSubstr("tokenizer.ggml.tokens: a token's score is no number"));
  s.scores.pop_back();
  EXPECT_THAT(s.error(), HasSubstr("tokenizer.ggml.scores: not one score for each token"));
  s = Scored();
  s.tokens[4] = std::string(1025, 'x');
  EXPECT_THAT(s.error(), HasSubstr("TL-TOKENIZER-002"));
  s = Scored();
  s.v.bos_token_id = 10;
  EXPECT_THAT(s.error(), HasSubstr("tokenizer.ggml.bos_token_id"));
  s = Scored();
  s.v.model = "bert";
  EXPECT_THAT(s.error(), HasSubstr("supported: gpt2, llama"));
}

TEST(GgufVocabulary, RefusesByName) {
  EXPECT_THAT(error("viking"), HasSubstr("TL-TOKENIZER-002"));
  EXPECT_THAT(error("viking"), HasSubstr("'viking'"));
  EXPECT_THAT(error("gpt-2", {"a c"}), HasSubstr("TL-TOKENIZER-001"));
  EXPECT_THAT(error("gpt-2", {"ab"}), HasSubstr("is not two tokens"));
}

}  // namespace
}  // namespace tlaloc::text
