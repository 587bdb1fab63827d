#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tlaloc/base/error.h"
#include "tlaloc/io/testdata/temporary_folder.h"
#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/generation.h"
#include "tlaloc/llm/leaves.h"
#include "tlaloc/llm/prompt.h"

namespace tlaloc::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// A file with a model whose weights are zeros, and a tokenizer for it.
class GgufCheckpoint : public ::testing::Test {
 protected:
  GgufCheckpoint() {
    set("general.architecture", std::string("llama"));
    for (const auto& [key, value] :
         {std::pair("block_count", 1U), std::pair("context_length", 64U),
          std::pair("embedding_length", 8U), std::pair("feed_forward_length", 12U),
          std::pair("attention.head_count", 2U)}) {
      set("llama." + std::string(key), value);
    }
    set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    set("tokenizer.ggml.model", std::string("gpt2"));
    set("tokenizer.ggml.pre", std::string("gpt-2"));
    set_tokens({"<s>", "</s>", "a", "b"});
    set("tokenizer.ggml.merges", io::GgufArray{std::vector<std::string>{}});
    set("tokenizer.ggml.bos_token_id", 0U);
    set("tokenizer.ggml.eos_token_id", 1U);
  }
  void set(const std::string& key, io::GgufValue value) { metadata_.set(key, std::move(value)); }
  void set_tokens(std::vector<std::string> tokens) {
    set("tokenizer.ggml.tokens", io::GgufArray{std::move(tokens)});
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name), std::ios::binary) << text;
  }
  Checkpoint open() const {
    io::Gguf planned;
    planned.metadata = metadata_;
    planned.tensors =
        io::TensorFile("TL-GGUF-001", "m",
                       {io::Tensor{{"token_embd.weight", io::Storage::f32, {4, 8}}, {}, {}, {}}});
    std::vector<io::TensorSpec> specs;
    each_leaf(read_gguf_config(planned, "m").sources, [&](const Source& s) {
      specs.push_back({s.tensor, io::Storage::f32, Extents(s.shape.begin(), s.shape.end())});
    });
    const std::vector<std::byte> zeros(1 << 16);
    io::write_gguf(folder_.path("m.gguf"), metadata_, specs, [&](std::size_t i) {
      return std::span(zeros).first(
          static_cast<std::size_t>(*io::storage_bytes(specs[i].storage, specs[i].shape)));
    });
    return open_checkpoint(folder_.path("m.gguf"));
  }

 private:
  io::testing::TemporaryFolder folder_;
  io::GgufMetadata metadata_{"m"};
};

TEST_F(GgufCheckpoint, WhatMakersSayOfGeneration) {
  EXPECT_FALSE(open().generation.temperature);
  set("general.sampling.top_k", std::int32_t{20});
  set("general.sampling.top_p", 0.5f);
  set("general.sampling.min_p", 0.25f);
  set("general.sampling.penalty_repeat", 1.5f);
  GenerationDefaults g = open().generation;
  EXPECT_EQ(g.temperature, 1);  // who names the others samples
  EXPECT_EQ(g.top_k, 20);
  EXPECT_EQ(g.top_p, 0.5);
  EXPECT_EQ(g.min_p, 0.25);
  EXPECT_EQ(g.repetition_penalty, 1.5);
  set("general.sampling.temp", 0.75f);
  EXPECT_EQ(open().generation.temperature, 0.75);
}

TEST_F(GgufCheckpoint, AnswersEndByKeysAndByText) {
  EXPECT_THAT(open().generation.end_tokens, ElementsAre(1));
  // Llama 3's older files: eos is the end of a text, and no key says what ends a turn.
  set_tokens({"<s>", "<|end_of_text|>", "<|eot_id|>", "b"});
  EXPECT_THAT(open().generation.end_tokens, ElementsAre(1, 2));
  set_tokens({"<s>", "<|im_end|>", "<|eot_id|>", "b"});
  EXPECT_THAT(open().generation.end_tokens, ElementsAre(1));  // which ends a turn
  set_tokens({"<s>", "<|end_of_text|>", "<|eot_id|>", "b"});
  set("tokenizer.ggml.eom_token_id", 3U);
  EXPECT_THAT(open().generation.end_tokens, ElementsAre(1, 3, 2));
  // A key says it better.
  set("tokenizer.ggml.eot_token_id", 0U);
  EXPECT_THAT(open().generation.end_tokens, ElementsAre(1, 0, 3));
}

TEST_F(GgufCheckpoint, TokensThatTemplatesName) {
  set("tokenizer.ggml.unknown_token_id", 2U);
  set("tokenizer.ggml.seperator_token_id", 3U);
  set("tokenizer.ggml.padding_token_id", 9U);  // none
  set("tokenizer.chat_template", std::string("{{ bos_token }}b"));
  const Checkpoint c = open();
  EXPECT_EQ(
      c.template_variables,
      (boost::json::object{
          {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "a"}, {"sep_token", "b"}}));
  ASSERT_TRUE(c.chat_template);
}

TEST_F(GgufCheckpoint, LlamaThreeBeginsWithBosWithoutSayingSo) {
  EXPECT_THAT(encode_text(open(), "ab"), ElementsAre(2, 3));
  for (const char* pre : {"llama-bpe", "llama3"}) {
    set("tokenizer.ggml.pre", std::string(pre));
    EXPECT_THAT(encode_text(open(), "ab"), ElementsAre(0, 2, 3)) << pre;
  }
  set("tokenizer.ggml.add_bos_token", false);
  EXPECT_THAT(encode_text(open(), "ab"), ElementsAre(2, 3));
}

constexpr const char* kSentencePiece = R"json({"added_tokens": [], "decoder": {"type": "Fuse"},
  "model": {"type": "BPE", "vocab": {"<s>": 0, "</s>": 1, "a": 2, "b": 3}, "merges": []}})json";

TEST_F(GgufCheckpoint, ATokenizerThatCantBeUsedIsRefusedWhereItIsWanted) {
  set("tokenizer.ggml.model", std::string("t5"));
  const Checkpoint c = open();
  EXPECT_EQ(c.decoder.spec.vocabulary, 4);
  EXPECT_FALSE(c.tokenizer);
  const auto refusal = ThrowsMessage<UserError>(HasSubstr("TL-TOKENIZER-002"));
  EXPECT_THAT([&] { encode_text(c, "a"); }, refusal);
  EXPECT_THAT([&] { encode_messages(c, {}); }, refusal);
  EXPECT_THAT([&] { Answer(c, {}, 9, {.stop = {"a"}}); }, refusal);
  EXPECT_EQ(Answer(c, {}, 9, {}).take(std::vector<float>{0, 0, 1, 0}), "");
}

TEST_F(GgufCheckpoint, TheMakersTokenizerMayLieBeside) {
  set("tokenizer.ggml.model", std::string("t5"));
  write("tokenizer.json", kSentencePiece);
  EXPECT_THAT(encode_text(open(), "ab"), ElementsAre(2, 3));
  EXPECT_EQ(open().template_variables.at("eos_token"), "</s>");
  // That of another model.
  set_tokens({"<s>", "</s>", "b", "a"});
  EXPECT_FALSE(open().tokenizer);
  EXPECT_THAT(open().tokenizer_error->what(), HasSubstr("tokenizer.ggml.model"));
  write("tokenizer.json", "{");
  EXPECT_THAT(open().tokenizer_error->what(), HasSubstr("TL-TOKENIZER-001"));
  // It is not asked where the file has one that can be used.
  set("tokenizer.ggml.model", std::string("gpt2"));
  EXPECT_THAT(encode_text(open(), "ab"), ElementsAre(3, 2));
}

TEST_F(GgufCheckpoint, ATemplateThatCantBeUsedIsRefusedWhereItIsWanted) {
  set("tokenizer.chat_template", std::string("{% nothing %}"));
  const Checkpoint c = open();
  EXPECT_THAT(encode_text(c, "a"), ElementsAre(2));
  EXPECT_THAT([&] { encode_messages(c, {}); },
              ThrowsMessage<UserError>(HasSubstr("TL-TEMPLATE-001")));
}

}  // namespace
}  // namespace tlaloc::llm
