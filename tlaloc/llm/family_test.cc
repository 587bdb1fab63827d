#include "tlaloc/llm/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"

namespace tlaloc::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Decoder read(const std::string& text) {
  return read_config(parse_json(text, "c").get_object(), "c");
}
std::string error(const std::string& text) {
  try {
    read(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
void expect_same(const std::string& four, const std::string& five) {
  const Decoder a = read(four), b = read(five);
  EXPECT_EQ(a.spec, b.spec) << four;
  EXPECT_EQ(a.sources.head.has_value(), b.sources.head.has_value());
}

// tests/llm compares with transformers, which writes as its version 5 does. These are as files of
// version 4 say the same.
TEST(Family, SpellingsOfTransformers4) {
  expect_same(R"({"model_type": "llama", "torch_dtype": "float16", "rope_theta": 5e5,
                  "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                    "high_freq_factor": 4.0, "original_max_position_embeddings": 64}})",
              R"({"model_type": "llama", "dtype": "float16", "rope_parameters": {"rope_theta": 5e5,
                  "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                  "high_freq_factor": 4.0, "original_max_position_embeddings": 64}})");
  expect_same(R"({"model_type": "qwen2", "rope_scaling": {"type": "yarn", "factor": 4,
                    "original_max_position_embeddings": 32768}})",
              R"({"model_type": "qwen2", "rope_parameters": {"rope_type": "yarn", "factor": 4,
                    "original_max_position_embeddings": 32768}})");
  expect_same(R"({"model_type": "phi3", "partial_rotary_factor": 0.75, "rope_theta": 10000.0})",
              R"({"model_type": "phi3", "rope_parameters": {"rope_type": "default",
                    "rope_theta": 10000.0, "partial_rotary_factor": 0.75}})");
  expect_same(R"({"model_type": "gemma3_text", "rope_theta": 1000000, "rope_local_base_freq": 10000,
                  "rope_scaling": {"rope_type": "linear", "factor": 8.0},
                  "sliding_window_pattern": 3, "num_hidden_layers": 4})",
              R"({"model_type": "gemma3_text", "num_hidden_layers": 4,
                  "layer_types": ["sliding_attention", "sliding_attention", "full_attention",
                    "sliding_attention"],
                  "rope_parameters": {
                    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})");
}

TEST(Family, WhatAConfigurationDoesNotSay) {
  // The whole of what Gemma 3's published configurations have in them.
  const Decoder d = read(R"({"model_type": "gemma3", "mm_tokens_per_image": 256,
      "vision_config": {"hidden_size": 1152}, "text_config": {"model_type": "gemma3_text",
      "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
      "sliding_window": 1024, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}})");
  EXPECT_EQ(d.spec.vocabulary, 262208);
  EXPECT_EQ(d.spec.layers[4].attention.heads, 8);
  EXPECT_EQ(d.spec.layers[4].attention.width, 256);
  EXPECT_EQ(d.spec.layers[4].attention.window, 1024);
  EXPECT_EQ(d.spec.layers[5].attention.window, 0);
  EXPECT_FALSE(d.sources.head);
  EXPECT_EQ(read(R"({"model_type": "mistral"})").spec.layers[0].attention.window, 4096);
  EXPECT_EQ(
      read(R"({"model_type": "mistral", "sliding_window": null})").spec.layers[0].attention.window,
      0);
  // Windows are off where a model has no use for them, whatever they would be.
  EXPECT_EQ(read(R"({"model_type": "qwen2", "sliding_window": 131072, "max_window_layers": 0,
                     "use_sliding_window": false})")
                .spec.layers[31]
                .attention.window,
            0);
  const DecoderSpec windows = read(R"({"model_type": "qwen2", "sliding_window": 100,
      "max_window_layers": 30, "use_sliding_window": true})")
                                  .spec;
  EXPECT_EQ(windows.layers[29].attention.window, 0);
  EXPECT_EQ(windows.layers[30].attention.window, 100);
  // Contexts: what YaRN makes of them, and what the configuration says.
  EXPECT_EQ(read(R"({"model_type": "qwen3", "max_position_embeddings": 32768, "rope_scaling":
      {"type": "yarn", "factor": 4, "original_max_position_embeddings": 32768}})")
                .spec.context,
            131072);
  EXPECT_EQ(read(R"({"model_type": "smollm3"})").spec.layers[3].attention.rope, std::nullopt);
}

TEST(Family, LayersOfTwoKinds) {
  auto windows = [](const std::string& text) {
    std::vector<std::int64_t> all;
    for (const LayerSpec& l : read(text).spec.layers) all.push_back(l.attention.window);
    return all;
  };
  auto ropes = [](const std::string& text) {
    std::vector<int> all;
    for (const LayerSpec& l : read(text).spec.layers) all.push_back(l.attention.rope.value_or(-1));
    return all;
  };
  const std::string gemma2 =
      R"({"model_type": "gemma2", "num_hidden_layers": 3, "sliding_window": 7})";
  EXPECT_THAT(windows(gemma2), ElementsAre(7, 0, 7));
  const std::string gemma3 =
      R"({"model_type": "gemma3_text", "num_hidden_layers": 7, "sliding_window": 7})";
  EXPECT_THAT(windows(gemma3), ElementsAre(7, 7, 7, 7, 7, 0, 7));
  EXPECT_THAT(ropes(gemma3), ElementsAre(0, 0, 0, 0, 0, 1, 0));
  // Counted from the last.
  const std::string muse =
      R"({"model_type": "muse_glimmer_text", "num_hidden_layers": 6, "sliding_window": 7})";
  EXPECT_THAT(windows(muse), ElementsAre(7, 0, 7, 7, 7, 0));
  EXPECT_THAT(ropes(muse), ElementsAre(0, -1, 0, 0, 0, -1));
  // Windows of SmolLM3 are where positions are not.
  const std::string smollm3 = R"({"model_type": "smollm3", "num_hidden_layers": 4,
      "no_rope_layer_interval": 2, "use_sliding_window": true, "sliding_window": 7})";
  EXPECT_THAT(windows(smollm3), ElementsAre(0, 7, 0, 7));
  EXPECT_THAT(ropes(smollm3), ElementsAre(0, -1, 0, -1));
}

TEST(Family, LongRopeDependsOnWhatIsUsed) {
  const auto config = parse_json(R"({"model_type": "phi3", "head_dim": 4,
      "max_position_embeddings": 256, "original_max_position_embeddings": 16, "rope_scaling": {
        "type": "longrope", "short_factor": [1, 2], "long_factor": [4, 8]}})",
                                 "c")
                          .get_object();
  const RopeSpec whole = read_config(config, "c").spec.ropes[0];
  EXPECT_EQ(whole.frequencies, (std::vector<float>{0.25f, 0.00125f}));
  EXPECT_DOUBLE_EQ(whole.factor, std::sqrt(2.0));  // 1 + ln(256 / 16) / ln 16
  EXPECT_EQ(read_config(config, "c", {.context = 17}).spec.ropes[0], whole);
  EXPECT_EQ(read_config(config, "c", {.context = 16}).spec.ropes[0].frequencies,
            (std::vector<float>{1, 0.005f}));
}

TEST(Family, RefusesWhatItDoesNotCompute) {
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"rope_type": "mrope"}})"),
              StartsWith("TL-LLM-001: llm: c: rope_scaling.rope_type is \"mrope\", which is not "
                         "supported; supported: default, linear"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"rope_type": "linear",
                        "factor": 2, "mscale": 3}})"),
              StartsWith("TL-LLM-001: llm: c: rope_scaling.mscale is 3"));
  EXPECT_THAT(error(R"({"model_type": "gemma2", "use_bidirectional_attention": true})"),
              HasSubstr("only decoders"));
  EXPECT_THAT(error(R"({"model_type": "gemma3_text", "attn_logit_softcapping": 50.0})"),
              HasSubstr("no cap of scores"));
  EXPECT_THAT(error(R"({"model_type": "phi3", "mlp_bias": true})"), HasSubstr("must be false"));
  EXPECT_THAT(error(R"({"model_type": "qwen2", "layer_types": ["chunked_attention"],
                        "num_hidden_layers": 1})"),
              HasSubstr("layer_types is [\"chunked_attention\"], which is not supported"));
  EXPECT_THAT(error(R"({"model_type": "gemma3", "text_config": {"secret": 1}})"),
              StartsWith("TL-LLM-001: llm: c: text_config.secret is 1"));
  EXPECT_THAT(error(R"({"model_type": "muse_glimmer_text", "num_hidden_layers": 2,
                        "layer_rope_theta": [5000, 0]})"),
              HasSubstr("supported: 0, and the base"));
}

// Each key by the name that it has in the file.
TEST(Family, SaysWhereAKeyStands) {
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_parameters": {"rope_type": "linear"}})"),
              HasSubstr("c: rope_parameters.factor is missing"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_theta": 0.5, "rope_scaling": {
                        "rope_type": "linear", "factor": 2}})"),
              HasSubstr("c: rope_theta is 5E-1"));
  EXPECT_THAT(error(R"({"model_type": "phi3", "original_max_position_embeddings": 1,
                        "rope_scaling": {"type": "longrope"}})"),
              HasSubstr("c: original_max_position_embeddings is 1; it must be above 1"));
  EXPECT_THAT(error(R"({"model_type": "gemma3", "text_config": {"rope_local_base_freq": 0.5}})"),
              HasSubstr("c: text_config.rope_local_base_freq is 5E-1"));
  EXPECT_THAT(error(R"({"model_type": "gemma3_text", "rope_parameters": {
                        "full_attention": {"rope_type": "linear"}}})"),
              HasSubstr("c: rope_parameters.full_attention.factor is missing"));
}

TEST(Family, NumbersThatF32DoesNotHold) {
  for (const char* key : {"embedding_multiplier", "attention_multiplier", "residual_multiplier"}) {
    EXPECT_THAT(error(R"({"model_type": "granite", ")" + std::string(key) + R"(": 1e300})"),
                HasSubstr("would be 1e+300, which f32 does not hold"));
  }
  EXPECT_THAT(error(R"({"model_type": "granite", "logits_scaling": 1e-310})"),
              StartsWith("TL-LLM-002: llm: c: the factor of logits would be inf"));
  EXPECT_THAT(error(R"({"model_type": "gemma2", "attn_logit_softcapping": 1e300})"),
              HasSubstr("the cap of scores"));
  EXPECT_THAT(error(R"({"model_type": "gemma2", "final_logit_softcapping": 1e300})"),
              HasSubstr("the cap of logits"));
  EXPECT_THAT(error(R"({"model_type": "muse_glimmer_text", "qk_scale_factor": 1e300})"),
              HasSubstr("the factor of queries"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"rope_type": "yarn", "factor": 2,
                        "attention_factor": 1e300}})"),
              HasSubstr("the factor of turned elements"));
  EXPECT_THAT(error(R"({"model_type": "llama", "partial_rotary_factor": 1e300})"),
              HasSubstr("an even number of the 128 elements"));
  EXPECT_EQ(error(R"({"model_type": "qwen2", "max_window_layers": 1e300})"), "");
  EXPECT_THAT(error(R"({"model_type": "qwen2", "max_window_layers": 0.5})"),
              HasSubstr("a number of layers"));
}

TEST(Family, WhatIsNotUsedMayBeAnything) {
  for (const char* family : {"qwen2", "qwen3", "smollm3"}) {
    EXPECT_EQ(error(R"({"model_type": ")" + std::string(family) +
                    R"(", "sliding_window": 0, "use_sliding_window": false})"),
              "");
    EXPECT_THAT(error(R"({"model_type": ")" + std::string(family) +
                      R"(", "sliding_window": 0, "use_sliding_window": true})"),
                HasSubstr("sliding_window is 0; it must be a size"));
  }
  EXPECT_EQ(error(R"({"model_type": "llama", "is_decoder": true, "tie_encoder_decoder": true})"),
            "");
  // One number, written in two ways.
  EXPECT_EQ(error(R"({"model_type": "llama", "rope_theta": 10000, "rope_parameters": {
                      "rope_theta": 10000.0}})"),
            "");
}

TEST(Family, RefusesWhatCantBe) {
  EXPECT_THAT(error(R"({"model_type": "gemma3"})"), HasSubstr("text_config is missing"));
  EXPECT_THAT(error(R"({"model_type": "gemma3", "tie_word_embeddings": false, "text_config": {}})"),
              HasSubstr("text_config says another value"));
  EXPECT_THAT(error(R"({"model_type": "qwen2", "layer_types": []})"),
              HasSubstr("a type for each of 32 layers"));
  EXPECT_THAT(error(R"({"model_type": "gemma2", "sliding_window": null})"),
              HasSubstr("layer 0 has a window"));
  EXPECT_THAT(error(R"({"model_type": "smollm3", "no_rope_layers": [1, 0]})"),
              HasSubstr("a number for each layer"));
  EXPECT_THAT(error(R"({"model_type": "smollm3", "no_rope_layers": [2]})"), HasSubstr("0 and 1"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_theta": 1.0, "rope_parameters": {
                        "rope_theta": 2.0}})"),
              HasSubstr("rope_parameters says another value"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"type": "linear"},
                        "rope_parameters": {"rope_type": "default"}})"),
              HasSubstr("rope_parameters says it too"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"type": "linear",
                        "rope_type": "yarn"}})"),
              HasSubstr("rope_type says another one"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_theta": 0.5})"), HasSubstr("above 1"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"type": "linear",
                        "factor": 1e9}})"),
              HasSubstr("up to 1000000"));
  EXPECT_THAT(error(R"({"model_type": "llama", "rope_scaling": {"type": "llama3", "factor": 2,
                        "low_freq_factor": 4, "high_freq_factor": 1}})"),
              HasSubstr("below high_freq_factor"));
  EXPECT_THAT(error(R"({"model_type": "phi3", "rope_scaling": {"type": "longrope",
                        "short_factor": [1], "long_factor": [1]}})"),
              HasSubstr("there must be 48 numbers"));
}

}  // namespace
}  // namespace tlaloc::llm
