#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tlaloc/base/error.h"
#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/llm/rope.h"

namespace tlaloc::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// tests/llm compares with transformers; here is what is refused.
class GgufConfig : public ::testing::Test {
 protected:
  GgufConfig() {
    be("llama");
    add("token_embd.weight", {11, 8});
  }
  /// A small one of that architecture.
  void be(const std::string& architecture) {
    set("general.architecture", architecture);
    for (const auto& [key, value] :
         {std::pair("block_count", 2U), std::pair("context_length", 64U),
          std::pair("embedding_length", 8U), std::pair("feed_forward_length", 12U),
          std::pair("attention.head_count", 2U)}) {
      set(architecture + "." + key, value);
    }
    set(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  }
  void set(const std::string& key, io::GgufValue value) { metadata_.set(key, std::move(value)); }
  void add(const std::string& name, Extents shape, std::vector<float> values = {}) {
    const auto kept = std::make_shared<std::vector<float>>(std::move(values));
    kept->resize(static_cast<std::size_t>(element_count(shape)));
    tensors_.push_back({{name, io::Storage::f32, std::move(shape)},
                        std::as_bytes(std::span(*kept)),
                        kept,
                        std::make_shared<const std::string>("m")});
  }
  Decoder read() const {
    io::Gguf file;
    file.metadata = metadata_;
    file.tensors = io::TensorFile("TL-GGUF-001", "m", tensors_);
    return read_gguf_config(file, "m");
  }
  std::string error() const {
    try {
      read();
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }

 private:
  io::GgufMetadata metadata_{"m"};
  std::vector<io::Tensor> tensors_;
};

TEST_F(GgufConfig, SaysWhatTransformersWould) {
  const DecoderSpec spec = read().spec;
  EXPECT_EQ(spec.norm.epsilon, 1e-5);  // not what f32 makes of it
  EXPECT_EQ(spec.layers[0].attention.kv_heads, 2);
  EXPECT_EQ(spec.layers[0].attention.interleaved, 4);
  EXPECT_EQ(spec.ropes[0].frequencies, (std::vector<float>{1, 0.01f}));
  // A factor without a type is for positions.
  set("llama.rope.scaling.factor", 2.0f);
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{0.5f, 0.005f}));
  set("llama.rope.scaling.type", std::string("none"));
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{1, 0.01f}));
  set("llama.rope.dimension_count", 2U);
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{1}));
}

TEST_F(GgufConfig, BiasesAndHeadsAreWhatTheFileHas) {
  EXPECT_FALSE(read().sources.head || read().sources.layers[0].attention.query.bias);
  add("output.weight", {11, 8});
  add("blk.0.attn_q.bias", {8});
  const Decoder d = read();
  EXPECT_EQ(d.sources.head, (Source{"output.weight", {11, 8}}));
  EXPECT_EQ(d.sources.layers[0].attention.query.bias, (Source{"blk.0.attn_q.bias", {8}}));
  EXPECT_FALSE(d.sources.layers[1].attention.query.bias);
}

TEST_F(GgufConfig, RefusesByName) {
  set("general.architecture", std::string("mamba"));
  EXPECT_THAT(error(), StartsWith("TL-LLM-001: llm: m: general.architecture is \"mamba\", which is "
                                  "not supported; supported: llama, qwen2"));
  set("general.architecture", std::string("llama"));
  set("llama.expert_count", 8U);
  EXPECT_THAT(error(),
              StartsWith("TL-LLM-001: llm: m: the key \"llama.expert_count\" is not supported"));
}

TEST_F(GgufConfig, RefusesScalingThatIsNotKnown) {
  set("llama.rope.scaling.type", std::string("longrope"));
  EXPECT_THAT(error(), StartsWith("TL-LLM-001: llm: m: llama.rope.scaling.type is \"longrope\""));
}

TEST_F(GgufConfig, Phi3ScalesAsOthersDo) {
  be("phi3");
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{1, 0.01f}));
  set("phi3.rope.scaling.type", std::string("linear"));
  set("phi3.rope.scaling.factor", 2.0f);
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{0.5f, 0.005f}));
  set("phi3.rope.scaling.type", std::string("longrope"));
  set("phi3.rope.scaling.factor", 1.0f);
  EXPECT_THAT(error(), HasSubstr("rope_factors_short.weight is missing"));
}

TEST_F(GgufConfig, Phi3HasFactorsOfFrequencies) {
  be("phi3");
  set("phi3.rope.scaling.original_context_length", 16U);
  add("rope_factors_short.weight", {2}, {1, 2});
  add("rope_factors_long.weight", {2}, {2, 4});
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{0.5f, 0.0025f}));
  set("phi3.rope.scaling.factor", 2.0f);
  EXPECT_THAT(error(), StartsWith("TL-LLM-001: llm: m: phi3.rope.scaling.factor is 2 beside"));
  set("phi3.rope.scaling.type", std::string("yarn"));
  EXPECT_THAT(error(), HasSubstr("phi3.rope.scaling.type is \"yarn\", which is not supported; "
                                 "supported with factors of frequencies: longrope"));
}

TEST_F(GgufConfig, GraniteWithoutPositions) {
  be("granite");
  EXPECT_EQ(read().spec.layers[0].attention.scale, 0.5);  // where the file has no scale
  set("granite.rope.scaling.finetuned", false);
  EXPECT_THAT(error(), HasSubstr("granite.rope.scaling.finetuned is false"));
}

TEST_F(GgufConfig, NamesTheKeyOfTheFile) {
  set("llama.attention.head_count", 3U);
  EXPECT_THAT(error(), StartsWith("TL-LLM-002: llm: m: llama.attention.head_count is 3; it must "
                                  "divide hidden_size, 8"));
  set("llama.attention.head_count", std::string("2"));
  EXPECT_THAT(error(), HasSubstr("TL-GGUF-003"));
}

TEST_F(GgufConfig, RefusesWhatCantBe) {
  set("llama.attention.value_length", 8U);
  EXPECT_THAT(error(), HasSubstr("llama.attention.value_length is 8; keys have 4 elements"));
  set("llama.attention.value_length", 4U);
  set("llama.rope.dimension_count", 6U);
  EXPECT_THAT(error(), HasSubstr("llama.rope.dimension_count is 6; it must be from 2 to 4"));
}

TEST_F(GgufConfig, FactorsOfFrequencies) {
  add("rope_freqs.weight", {2}, {1, 4});
  EXPECT_EQ(read().spec.ropes[0].frequencies, (std::vector<float>{1, 0.0025f}));
}

/// Of a rope with eight frequencies, as Llama 3's converter computes them.
std::vector<float> llama3(float high, float first) {
  std::vector<float> factors;
  for (int i = 0; i < 8; ++i) {
    const float f = std::pow(100.0f, -static_cast<float>(i) / 8);
    const float turns = first * f / (2 * std::numbers::pi_v<float>);
    const float kept = std::clamp((turns - 1) / (high - 1), 0.0f, 1.0f);
    factors.push_back(1 / ((1 - kept) / 32 + kept));
  }
  return factors;
}

class Llama3Factors : public GgufConfig {
 protected:
  Llama3Factors() {
    set("llama.attention.head_count", 1U);
    set("llama.embedding_length", 16U);
    set("llama.rope.freq_base", 100.0f);
  }
  void expect_parameters(float high, float first) {
    const std::vector<float> factors = llama3(high, first);
    add("rope_freqs.weight", {8}, factors);
    const RopeSpec rope = read().spec.ropes[0];
    ASSERT_EQ(rope.parameters.at("rope_type"), "llama3");
    EXPECT_EQ(rope.parameters.at("factor").to_number<float>(), 32);
    EXPECT_EQ(rope.parameters.at("high_freq_factor").to_number<float>(), high);
    EXPECT_EQ(rope.parameters.at("original_max_position_embeddings").to_number<float>(), first);
    const std::vector<float> again = llama3_factors(rope);
    for (std::size_t i = 0; i < again.size(); ++i) {
      EXPECT_NEAR(again[i], factors[i], 1e-5 * static_cast<double>(again[i]));
    }
  }
};

TEST_F(Llama3Factors, AreItsParameters) { expect_parameters(4, 64); }
TEST_F(Llama3Factors, WithOtherBounds) { expect_parameters(8, 64); }

TEST_F(Llama3Factors, OneThatIsAnotherIsWhatItIs) {
  std::vector<float> factors = llama3(4, 64);
  factors[2] *= 1.001f;
  add("rope_freqs.weight", {8}, factors);
  const RopeSpec rope = read().spec.ropes[0];
  EXPECT_EQ(rope.parameters.at("rope_type"), "default");
  EXPECT_EQ(rope.frequencies[0], 1);
  EXPECT_FLOAT_EQ(rope.frequencies[7], std::pow(100.0f, -7.0f / 8) / 32);
}

TEST_F(GgufConfig, FactorsThatAreNone) {
  add("rope_freqs.weight", {2}, {1, 0});
  EXPECT_THAT(error(), HasSubstr("'rope_freqs.weight' has 0 at 1; its numbers must be above 0"));
}

TEST_F(GgufConfig, FactorsOfAnotherNumber) {
  add("rope_freqs.weight", {3}, {1, 1, 1});
  EXPECT_THAT(error(), HasSubstr("TL-LLM-003: llm: m: 'rope_freqs.weight' is [3]"));
}

TEST(GgufTokenizer, IdsThatCantBeAreNone) {
  io::GgufMetadata m("m");
  m.set("tokenizer.ggml.bos_token_id", std::int32_t{-1});
  m.set("tokenizer.ggml.eos_token_id", std::uint32_t{7});
  EXPECT_EQ(token_id_of(m, "bos_token_id"), std::nullopt);
  EXPECT_EQ(token_id_of(m, "eos_token_id"), 7);
  EXPECT_EQ(token_id_of(m, "eot_token_id"), std::nullopt);
}

io::GgufMetadata sentencepiece() {
  io::GgufMetadata m("m");
  m.set("tokenizer.ggml.model", std::string("llama"));
  m.set("tokenizer.ggml.tokens",
        io::GgufArray{std::vector<std::string>{"<unk>", "<s>", "<|end|>", "▁", "a", "▁a"}});
  m.set("tokenizer.ggml.scores", io::GgufArray{std::vector<float>{0, 0, 0, -2, -3, -1}});
  m.set("tokenizer.ggml.token_type", io::GgufArray{std::vector<std::int32_t>{2, 3, 3, 1, 1, 1}});
  return m;
}

TEST(GgufTokenizer, Phi3IsKnownByItsName) {
  io::GgufMetadata m = sentencepiece();
  m.set("general.name", std::string("Llama"));
  EXPECT_EQ(tokenizer_of(m).encode("<|end|> a").ids, (std::vector<text::TokenId>{1, 2, 3, 5}));
  for (const char* name : {"Phi 3 is Phi-3", "phi3 mini", "PHI3"}) {
    m.set("general.name", std::string(name));
    EXPECT_EQ(tokenizer_of(m).encode("<|end|> a").ids, (std::vector<text::TokenId>{1, 2, 5}));
  }
  m.set("tokenizer.ggml.add_space_prefix", false);
  m.set("tokenizer.ggml.add_bos_token", false);
  EXPECT_EQ(tokenizer_of(m).encode("a<|end|> a").ids, (std::vector<text::TokenId>{4, 2, 4}));
}

TEST(GgufTokenizer, TheFirstTokenOfLlama3IsWritten) {
  io::GgufMetadata m("m");
  m.set("tokenizer.ggml.model", std::string("gpt2"));
  m.set("tokenizer.ggml.pre", std::string("llama-bpe"));
  m.set("tokenizer.ggml.tokens", io::GgufArray{std::vector<std::string>{"<s>", "a"}});
  m.set("tokenizer.ggml.bos_token_id", std::uint32_t{0});
  auto written = [&] { return tokenizer_files(m).front().second; };
  EXPECT_EQ(tokenizer_of(m).encode("a").ids, (std::vector<text::TokenId>{0, 1}));
  EXPECT_THAT(written(), HasSubstr("TemplateProcessing"));
  m.set("tokenizer.ggml.add_bos_token", false);
  EXPECT_EQ(tokenizer_of(m).encode("a").ids, (std::vector<text::TokenId>{1}));
  EXPECT_THAT(written(), ::testing::Not(HasSubstr("TemplateProcessing")));
}

TEST(GgufTokenizer, ScoresAreWrittenAsMerges) {
  const FolderFiles files = tokenizer_files(sentencepiece());
  EXPECT_THAT(files.front().second, HasSubstr(R"("merges":[["▁","a"]])"));
  EXPECT_THAT(files.front().second, HasSubstr(R"({"type":"Prepend","prepend":"▁"})"));
}

std::string error_of_scores(const ListedMerges& merges) {
  const std::vector<std::string> tokens = {"<unk>", "a", "b", "c", "ab", "bc", "abc"};
  const std::vector<std::int32_t> types = {2, 1, 1, 1, 1, 1, 1};
  text::GgufVocabulary v;
  v.tokens = tokens;
  v.token_type = types;
  try {
    const std::vector<float> scores = scores_of(merges, v, "t");
    v.scores = scores;
    EXPECT_EQ(listed_merges(v), merges);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(GgufTokenizer, ScoresOfMerges) {
  const ListedMerges merges = {{"a", "b"}, {"b", "c"}, {"ab", "c"}, {"a", "bc"}};
  EXPECT_EQ(error_of_scores(merges), "");
  EXPECT_EQ(error_of_scores({merges[2], merges[3], merges[1], merges[0]}), "");
  EXPECT_THAT(error_of_scores({merges[0], merges[1], merges[2]}),
              HasSubstr("'a' and 'bc' are a token together, and are not in the list"));
  EXPECT_THAT(error_of_scores({merges[0], merges[2], merges[1], merges[3]}),
              HasSubstr("those of 'bc' stand between those of 'abc'"));
  EXPECT_THAT(error_of_scores({merges[0], merges[0], merges[1], merges[2], merges[3]}),
              HasSubstr("'a' and 'b' stand there twice"));
}

}  // namespace
}  // namespace tlaloc::llm
