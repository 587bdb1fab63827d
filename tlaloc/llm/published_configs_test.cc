// The config.json of each family as its makers published it: all keys are known, and say what they
// say in transformers. Names and values only, so that a key more than the family's own writes
// shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tlaloc/base/json.h"
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

struct Published {
  const char* name;
  const char* config;
  std::int64_t vocabulary, width, layers, context, heads, kv_heads, head_width, mlp;
  bool tied;
  double epsilon = 1e-5;
  double scale = 0;                      // of scores; 0: 1 / sqrt(head_width)
  std::vector<std::int64_t> windows;     // of the first layers
  std::vector<double> second_frequency;  // of each of the model's position embeddings
};

/// base to the power -2 / width.
double second(double base, double width) { return std::pow(base, -2 / width); }

const Published kPublished[] = {
    {"SmolLM2-135M-Instruct",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 576,
         "initializer_range": 0.041666666666666664, "intermediate_size": 1536,
         "is_llama_config": true, "max_position_embeddings": 8192, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
         "num_key_value_heads": 3, "pad_token_id": 2, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_interleaved": false, "rope_scaling": null, "rope_theta": 100000,
         "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}},
         "transformers_version": "4.42.3", "use_cache": true, "vocab_size": 49152})",
     49152,
     576,
     30,
     8192,
     9,
     3,
     64,
     1536,
     true,
     1e-5,
     0,
     {0, 0},
     {second(1e5, 64)}},
    {"Llama-2-7b-chat",
     R"({"architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
         "intermediate_size": 11008, "max_position_embeddings": 4096, "model_type": "llama",
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32,
         "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
         "tie_word_embeddings": false, "torch_dtype": "float16",
         "transformers_version": "4.31.0.dev0", "use_cache": true, "vocab_size": 32000})",
     32000,
     4096,
     32,
     4096,
     32,
     32,
     128,
     11008,
     false,
     1e-5,
     0,
     {0, 0},
     {second(1e4, 128)}},
    {"Llama-3.2-1B-Instruct",
     R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 128000, "eos_token_id": [128001, 128008, 128009], "head_dim": 64,
         "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
         "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
         "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
           "original_max_position_embeddings": 8192, "rope_type": "llama3"},
         "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 128256})",
     128256,
     2048,
     16,
     131072,
     32,
     8,
     64,
     8192,
     true,
     1e-5,
     0,
     {0, 0},
     {second(5e5, 64)}},
    {"Mistral-7B-v0.1",
     R"({"architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
         "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral",
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
         "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
         "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "transformers_version": "4.34.0.dev0", "use_cache": true, "vocab_size": 32000})",
     32000,
     4096,
     32,
     32768,
     32,
     8,
     128,
     14336,
     false,
     1e-5,
     0,
     {4096, 4096},
     {second(1e4, 128)}},
    {"Qwen2.5-0.5B-Instruct",
     R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643,
         "eos_token_id": 151645, "hidden_act": "silu", "hidden_size": 896,
         "initializer_range": 0.02, "intermediate_size": 4864, "max_position_embeddings": 32768,
         "max_window_layers": 21, "model_type": "qwen2", "num_attention_heads": 14,
         "num_hidden_layers": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-06,
         "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true,
         "torch_dtype": "bfloat16", "transformers_version": "4.43.1", "use_cache": true,
         "use_sliding_window": false, "vocab_size": 151936})",
     151936,
     896,
     24,
     32768,
     14,
     2,
     64,
     4864,
     true,
     1e-6,
     0,
     {0, 0},
     {second(1e6, 64)}},
    {"Qwen3-0.6B",
     R"({"architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu",
         "hidden_size": 1024, "initializer_range": 0.02, "intermediate_size": 3072,
         "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3",
         "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8,
         "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
         "sliding_window": null, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false,
         "vocab_size": 151936})",
     151936,
     1024,
     28,
     40960,
     16,
     8,
     128,
     3072,
     true,
     1e-6,
     0,
     {0, 0},
     {second(1e6, 128)}},
    {"gemma-2-2b-it",
     R"({"architectures": ["Gemma2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "attn_logit_softcapping": 50.0, "bos_token_id": 2, "cache_implementation": "hybrid",
         "eos_token_id": [1, 107], "final_logit_softcapping": 30.0, "head_dim": 256,
         "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh",
         "hidden_size": 2304, "initializer_range": 0.02, "intermediate_size": 9216,
         "max_position_embeddings": 8192, "model_type": "gemma2", "num_attention_heads": 8,
         "num_hidden_layers": 26, "num_key_value_heads": 4, "pad_token_id": 0,
         "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000.0,
         "sliding_window": 4096, "torch_dtype": "bfloat16", "transformers_version": "4.42.4",
         "use_cache": true, "vocab_size": 256000})",
     256000,
     2304,
     26,
     8192,
     8,
     4,
     256,
     9216,
     true,
     1e-6,
     0.0625,
     {4096, 0, 4096, 0},
     {second(1e4, 256)}},
    {"gemma-3-1b-it",
     R"({"architectures": ["Gemma3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "attn_logit_softcapping": null, "bos_token_id": 2, "cache_implementation": "hybrid",
         "eos_token_id": [1, 106], "final_logit_softcapping": null, "head_dim": 256,
         "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 1152, "initializer_range": 0.02,
         "intermediate_size": 6912, "max_position_embeddings": 32768, "model_type": "gemma3_text",
         "num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1,
         "pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06,
         "rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000,
         "sliding_window": 512, "sliding_window_pattern": 6, "torch_dtype": "bfloat16",
         "transformers_version": "4.50.0.dev0", "use_cache": true, "vocab_size": 262144})",
     262144,
     1152,
     26,
     32768,
     4,
     1,
     256,
     6912,
     true,
     1e-6,
     0.0625,
     {512, 512, 512, 512, 512, 0, 512},
     {second(1e4, 256), second(1e6, 256)}},
    {"Phi-3-mini-4k-instruct",
     R"({"_name_or_path": "Phi-3-mini-4k-instruct", "architectures": ["Phi3ForCausalLM"],
         "attention_bias": false, "attention_dropout": 0.0,
         "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config",
           "AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM"},
         "bos_token_id": 1, "embd_pdrop": 0.0, "eos_token_id": 32000, "hidden_act": "silu",
         "hidden_size": 3072, "initializer_range": 0.02, "intermediate_size": 8192,
         "max_position_embeddings": 4096, "model_type": "phi3", "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32,
         "original_max_position_embeddings": 4096, "pad_token_id": 32000, "resid_pdrop": 0.0,
         "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 10000.0,
         "sliding_window": 2047, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "transformers_version": "4.40.2", "use_cache": true, "vocab_size": 32064})",
     32064,
     3072,
     32,
     4096,
     32,
     32,
     96,
     8192,
     false,
     1e-5,
     0,
     {2047, 2047},
     {second(1e4, 96)}},
    {"OLMo-2-0425-1B",
     R"({"architectures": ["Olmo2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "eos_token_id": 100257, "hidden_act": "silu", "hidden_size": 2048,
         "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 4096,
         "model_type": "olmo2", "num_attention_heads": 16, "num_hidden_layers": 16,
         "num_key_value_heads": 16, "pad_token_id": 100277, "rms_norm_eps": 1e-06,
         "rope_scaling": null, "rope_theta": 500000, "tie_word_embeddings": false,
         "torch_dtype": "float32", "transformers_version": "4.47.0", "use_cache": true,
         "vocab_size": 100352})",
     100352,
     2048,
     16,
     4096,
     16,
     16,
     128,
     8192,
     false,
     1e-6,
     0,
     {0, 0},
     {second(5e5, 128)}},
    {"granite-3.1-2b-instruct",
     R"({"architectures": ["GraniteForCausalLM"], "attention_bias": false, "attention_dropout": 0.1,
         "attention_multiplier": 0.015625, "bos_token_id": 0, "embedding_multiplier": 12.0,
         "eos_token_id": 0, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
         "intermediate_size": 8192, "logits_scaling": 8.0, "max_position_embeddings": 131072,
         "mlp_bias": false, "model_type": "granite", "num_attention_heads": 32,
         "num_hidden_layers": 40, "num_key_value_heads": 8, "pad_token_id": 0,
         "residual_multiplier": 0.22, "rms_norm_eps": 1e-05, "rope_scaling": null,
         "rope_theta": 5000000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.47.0.dev0", "use_cache": true, "vocab_size": 49155})",
     49155,
     2048,
     40,
     131072,
     32,
     8,
     64,
     8192,
     true,
     1e-5,
     0.015625,
     {0, 0},
     {second(5e6, 64)}},
    {"SmolLM3-3B",
     R"({"architectures": ["SmolLM3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token_id": null, "eos_token_id": 128012, "hidden_act": "silu", "hidden_size": 2048,
         "initializer_range": 0.02, "intermediate_size": 11008, "max_position_embeddings": 65536,
         "max_window_layers": 28, "mlp_bias": false, "model_type": "smollm3",
         "no_rope_layer_interval": 4,
         "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0,
           1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0],
         "num_attention_heads": 16, "num_hidden_layers": 36, "num_key_value_heads": 4,
         "pad_token_id": 128004, "pretraining_tp": 2, "rms_norm_eps": 1e-06, "rope_scaling": null,
         "rope_theta": 5000000.0, "sliding_window": null, "torch_dtype": "bfloat16",
         "transformers_version": "4.54.0.dev0", "use_cache": false, "use_sliding_window": false,
         "vocab_size": 128256})",
     128256,
     2048,
     36,
     65536,
     16,
     4,
     128,
     11008,
     true,
     1e-6,
     0,
     {0, 0},
     {second(5e6, 128)}},
};

class PublishedConfigs : public testing::TestWithParam<Published> {};

TEST_P(PublishedConfigs, SayWhatTheySay) {
  const Published& p = GetParam();
  const Decoder d = read_config(parse_json(p.config, p.name).get_object(), p.name);
  const DecoderSpec& s = d.spec;
  EXPECT_EQ(s.vocabulary, p.vocabulary);
  EXPECT_EQ(s.width, p.width);
  EXPECT_EQ(s.context, p.context);
  EXPECT_EQ(d.sources.head.has_value(), !p.tied);
  EXPECT_EQ(s.norm.epsilon, p.epsilon);
  ASSERT_EQ(std::ssize(s.layers), p.layers);
  const AttentionSpec& a = s.layers[0].attention;
  EXPECT_EQ(a.heads, p.heads);
  EXPECT_EQ(a.kv_heads, p.kv_heads);
  EXPECT_EQ(a.width, p.head_width);
  EXPECT_EQ(s.layers[0].mlp.width, p.mlp);
  const double scale = p.scale != 0 ? p.scale : 1 / std::sqrt(static_cast<double>(p.head_width));
  EXPECT_NEAR(a.scale, scale, 1e-12);
  for (std::size_t i = 0; i < p.windows.size(); ++i) {
    EXPECT_EQ(s.layers[i].attention.window, p.windows[i]) << "layer " << i;
  }
  std::vector<double> frequencies;
  for (const RopeSpec& rope : s.ropes) {
    ASSERT_EQ(std::ssize(rope.frequencies), p.head_width / 2);
    frequencies.push_back(rope.frequencies[1]);
  }
  EXPECT_THAT(frequencies, testing::UnorderedPointwise(testing::FloatEq(), p.second_frequency));
}

INSTANTIATE_TEST_SUITE_P(, PublishedConfigs, testing::ValuesIn(kPublished), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == '-' || c == '.' ? '_' : c;
  return name;
});

TEST(PublishedConfig, OfAFamilyHasItsOwn) {
  auto spec = [](const std::string& name) {
    for (const Published& p : kPublished) {
      if (p.name == name) return read_config(parse_json(p.config, name).get_object(), name).spec;
    }
    return DecoderSpec();
  };
  const DecoderSpec smollm3 = spec("SmolLM3-3B"), gemma2 = spec("gemma-2-2b-it");
  for (std::size_t i = 0; i < smollm3.layers.size(); ++i) {
    EXPECT_EQ(smollm3.layers[i].attention.rope.has_value(), i % 4 != 3) << i;
  }
  EXPECT_EQ(gemma2.layers[0].attention.soft_cap, 50);
  EXPECT_EQ(gemma2.logit_cap, 30);
  const DecoderSpec granite = spec("granite-3.1-2b-instruct");
  EXPECT_EQ(granite.embedding_factor, 12);
  EXPECT_EQ(granite.logit_factor, 0.125);
  EXPECT_EQ(granite.layers[0].residual_factor, 0.22);
  // Llama 3's slowest frequency is 32 times slower than its base says.
  EXPECT_FLOAT_EQ(spec("Llama-3.2-1B-Instruct").ropes[0].frequencies[31],
                  static_cast<float>(std::pow(5e5, -62.0 / 64) / 32));
  EXPECT_EQ(spec("Qwen3-0.6B").layers[0].attention.head_norm, HeadNorm::each);
  EXPECT_EQ(spec("OLMo-2-0425-1B").layers[0].attention.head_norm, HeadNorm::all);
}

}  // namespace
}  // namespace tlaloc::llm
