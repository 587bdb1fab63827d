#include "tlaloc/llm/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/safetensors.h"
#include "tlaloc/io/testdata/temporary_folder.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char kTiny[] = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
  "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "vocab_size": 11, "max_position_embeddings": 64,
  "rms_norm_eps": 1e-5, "rope_theta": 100.0, "eos_token_id": [2, 5], "torch_dtype": "bfloat16"})";

json::object parse(const std::string& text) { return parse_json(text, "a").get_object(); }

/// A folder with a model whose weights are zeros.
class Folder {
 public:
  Folder() { write("config.json", kTiny); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name), std::ios::binary) << text;
  }
  /// Zeros, and `last` as the last byte of the last one.
  void write_weights(const std::function<void(std::vector<io::TensorSpec>&)>& change = {},
                     std::byte last = {}) {
    std::vector<io::TensorSpec> specs;
    const WeightsOf<Source> w = read_config(parse(kTiny), "a").sources;
    each_leaf(w, [&](const Source& s) {
      specs.push_back({s.tensor, io::Storage::f32, Extents(s.shape.begin(), s.shape.end())});
    });
    if (change) change(specs);
    std::vector<std::byte> bytes(1 << 16);
    io::write_safetensors(folder_.path("model.safetensors"), specs, [&](std::size_t i) {
      const auto size =
          static_cast<std::size_t>(*io::storage_bytes(specs[i].storage, specs[i].shape));
      if (i + 1 == specs.size()) bytes[size - 1] = last;
      return std::span(bytes).first(size);
    });
  }
  Checkpoint open() const { return open_checkpoint(folder_.path()); }
  std::string error() const {
    try {
      open();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

 private:
  io::testing::TemporaryFolder folder_;
};

TEST(Checkpoint, FolderWithoutMoreThanAModel) {
  Folder f;
  f.write_weights();
  const Checkpoint c = f.open();
  EXPECT_EQ(c.decoder.spec.family, "llama");
  EXPECT_EQ(c.decoder.spec.layers.size(), 2U);
  EXPECT_FALSE(c.tokenizer || c.chat_template);
  EXPECT_THAT(c.generation.end_tokens, ElementsAre(2, 5));
  EXPECT_EQ(c.tensors.at(c.decoder.sources.layers[1].mlp.down.weight.tensor).shape,
            (Extents{8, 12}));
}

TEST(Checkpoint, WhatMakersSayOfGeneration) {
  Folder f;
  f.write_weights();
  f.write(
      "generation_config.json",
      R"({"eos_token_id": 7, "do_sample": true, "temperature": 0.6, "top_p": 0.9, "top_k": 20})");
  f.write("tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": {"content": "</s>"},
      "chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})");
  f.write("special_tokens_map.json", R"({"bos_token": "other", "pad_token": "<pad>"})");
  Checkpoint c = f.open();
  EXPECT_THAT(c.generation.end_tokens, ElementsAre(7));
  EXPECT_EQ(c.generation.temperature, 0.6);
  EXPECT_EQ(c.generation.top_p, 0.9);
  EXPECT_EQ(c.generation.top_k, 20);
  EXPECT_FALSE(c.generation.repetition_penalty);
  EXPECT_EQ(c.template_variables,
            (json::object{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}}));
  ASSERT_TRUE(c.chat_template);
  EXPECT_EQ(c.chat_template->render({}).text, "d");
  f.write("chat_template.jinja", "j");
  EXPECT_EQ(f.open().chat_template->render({}).text, "j");
  // Gemma 3's makers sample, and name no temperature: it is what it is in transformers.
  f.write("generation_config.json",
          R"({"do_sample": true, "top_k": 0, "min_p": 0.1, "typical_p": 0.9})");
  c = f.open();
  EXPECT_EQ(c.generation.temperature, 1);
  EXPECT_EQ(c.generation.top_k, 0);
  EXPECT_EQ(c.generation.min_p, 0.1);
  EXPECT_EQ(c.generation.typical_p, 0.9);
  f.write("generation_config.json", R"({"do_sample": true, "top_k": 0.5})");
  EXPECT_THAT(f.error(), HasSubstr("top_k is 5E-1; it must be an integer"));
  f.write("generation_config.json", R"({"temperature": 0.6})");
  c = f.open();
  EXPECT_FALSE(c.generation.temperature);  // it does not sample
  EXPECT_THAT(c.generation.end_tokens, ElementsAre(2, 5));
  f.write("generation_config.json", R"({"eos_token_id": 11})");
  EXPECT_THAT(f.error(), HasSubstr("TL-LLM-002: llm: "));
  EXPECT_THAT(f.error(),
              HasSubstr("/generation_config.json: eos_token_id is 11; it must be a token"));
}

TEST(Checkpoint, RefusesWeightsThatDoNotFit) {
  Folder f;
  f.write_weights([](auto& specs) { specs[4].shape = {2, 8}; });
  EXPECT_THAT(f.error(), HasSubstr("TL-LLM-003: llm: "));
  EXPECT_THAT(f.error(), HasSubstr("'model.layers.0.self_attn.k_proj.weight' is [2, 8], and the "
                                   "configuration makes it [4, 8]"));
  f.write_weights([](auto& specs) { specs.pop_back(); });
  EXPECT_THAT(f.error(), HasSubstr("there is no tensor \"lm_head.weight\", which must be [11, 8]"));
  f.write_weights([](auto& specs) {
    specs.push_back({"model.layers.0.self_attn.q_norm.weight", io::Storage::f32, {2}});
    specs.push_back({"model.layers.2.mlp.up_proj.weight", io::Storage::f32, {2}});
  });
  EXPECT_THAT(f.error(), HasSubstr("'model.layers.0.self_attn.q_norm.weight' is no weight of this "
                                   "family, nor are 1 other tensors"));
}

TEST(Checkpoint, PassesOverWhatDoesNotMatter) {
  Folder f;
  f.write_weights([](auto& specs) {
    specs.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", io::Storage::f32, {1}});
    specs.push_back({"model.vision_tower.x", io::Storage::f32, {1}});
    specs.push_back({"mtp.layers.0.x", io::Storage::f32, {1}});
  });
  EXPECT_EQ(f.error(), "");
}

TEST(Checkpoint, WeightsMayStandUnderAnotherName) {
  Folder f;
  f.write_weights([](auto& specs) {
    for (io::TensorSpec& s : specs) s.name = "language_model." + s.name;
  });
  const Checkpoint c = f.open();
  EXPECT_EQ(c.decoder.sources.embedding.tensor, "language_model.model.embed_tokens.weight");
  EXPECT_EQ(c.decoder.sources.head->tensor, "language_model.lm_head.weight");
}

TEST(Checkpoint, ATiedHeadMayBeThereAsACopyOnly) {
  Folder f;
  json::object tied = parse(kTiny);
  tied["tie_word_embeddings"] = true;
  f.write("config.json", json::serialize(tied));
  f.write_weights();
  EXPECT_EQ(f.error(), "");
  f.write_weights({}, std::byte{1});
  EXPECT_THAT(f.error(), HasSubstr("'lm_head.weight' is no weight of this family"));
  f.write_weights([](auto& specs) { specs.back().shape = {10, 8}; });
  EXPECT_THAT(f.error(), HasSubstr("'lm_head.weight' is no weight of this family"));
}

TEST(Checkpoint, WhatCantBeUsedOfTextIsRefusedWhereItIsWanted) {
  Folder f;
  f.write_weights();
  f.write("tokenizer.json", R"({"model": {"type": "Unigram of tomorrow"}})");
  f.write("chat_template.jinja", "{% nothing %}");
  const Checkpoint c = f.open();
  EXPECT_FALSE(c.tokenizer || c.chat_template);
  ASSERT_TRUE(c.tokenizer_error && c.chat_template_error);
  EXPECT_THAT(c.tokenizer_error->what(), HasSubstr("TL-TOKENIZER-00"));
  EXPECT_THAT(c.chat_template_error->what(), HasSubstr("chat_template.jinja"));
}

TEST(Checkpoint, FilesThatAreNot) {
  Folder f;
  EXPECT_THAT(f.error(), HasSubstr("TL-FILE-001"));  // no weights
  f.write_weights();
  f.write("config.json", "[]");
  EXPECT_THAT(f.error(), HasSubstr("config.json is no JSON object"));
  f.write("config.json", "{");
  EXPECT_THAT(f.error(), HasSubstr("TL-JSON-001"));
  EXPECT_THROW(open_checkpoint("no/such/model"), EnvironmentError);
}

}  // namespace
}  // namespace tlaloc::llm
