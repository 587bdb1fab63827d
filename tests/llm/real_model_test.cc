// SmolLM2-135M-Instruct, which ./setup --data fetches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/llm/engine.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using text::TokenId;

const char kModel[] = "data/SmolLM2-135M-Instruct.Q4_1.gguf";

json::object read_goldens() {
  const auto file = MappedFile::open("golden", "tests/llm/smollm2.json");
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  return parse_json(text, file->path()).as_object();
}
template <class T>
std::vector<T> list_of(const json::value& v) {
  std::vector<T> all;
  for (const json::value& x : v.as_array()) all.push_back(x.to_number<T>());
  return all;
}

TEST(RealModel, IsWhatItsMakersSay) {
  const Checkpoint c = open_checkpoint(kModel);
  const DecoderSpec& s = c.decoder.spec;
  EXPECT_EQ(s.family, "llama");
  EXPECT_EQ(s.vocabulary, 49152);
  EXPECT_EQ(s.width, 576);
  EXPECT_EQ(s.context, 8192);
  EXPECT_EQ(s.norm, (NormSpec{1e-5, false}));
  ASSERT_EQ(s.ropes.size(), 1U);
  ASSERT_EQ(s.ropes[0].frequencies.size(), 32U);
  EXPECT_EQ(s.ropes[0].frequencies[16], static_cast<float>(1 / std::sqrt(100000.0)));
  LayerSpec layer;
  layer.attention = {
      .heads = 9, .kv_heads = 3, .width = 64, .scale = 0.125, .rope = 0, .interleaved = 64};
  layer.mlp.width = 1536;
  layer.attention_norm = layer.mlp_norm = s.norm;
  EXPECT_EQ(s.layers, std::vector<LayerSpec>(30, layer));
  EXPECT_FALSE(c.decoder.sources.head);
  EXPECT_EQ(c.decoder.sources.layers[29].attention.output.weight,
            (Source{"blk.29.attn_output.weight", {576, 576}}));
  EXPECT_EQ(c.template_variables.at("bos_token"), "<|im_start|>");
  EXPECT_EQ(c.template_variables.at("eos_token"), "<|im_end|>");
  EXPECT_THAT(c.generation.end_tokens, ElementsAre(2));
  ASSERT_TRUE(c.tokenizer && c.chat_template);
  const json::object user = {{"role", "user"}, {"content", "What is the capital of France?"}};
  json::object variables = c.template_variables;
  variables["messages"] = json::array{user};
  variables["add_generation_prompt"] = true;
  const json::object goldens = read_goldens();
  EXPECT_EQ(c.chat_template->render(variables).text, goldens.at("chat").at("text").as_string());
  for (const auto& [name, golden] : goldens) {
    EXPECT_EQ(c.tokenizer->encode(std::string_view(golden.at("text").as_string())).ids,
              list_of<TokenId>(golden.at("ids")))
        << name;
  }
}

struct Bounds {
  double first;        ///< of a logit of the first choice, as a part of the largest one
  std::size_t tokens;  ///< that are equal
};
void expect_transformers(WeightPolicy weights, const Bounds& bounds,
                         QuantActivation activations = QuantActivation::f32) {
  const auto model = load(kModel, {.weights = weights});
  Engine engine(model, {.context = 1024, .activations = activations});
  for (const auto& [name, golden] : read_goldens()) {
    const auto ids = list_of<TokenId>(golden.at("ids")),
               tokens = list_of<TokenId>(golden.at("tokens"));
    Sequence sequence = engine.sequence();
    Engine::Work work{&sequence, ids};
    for (std::size_t i = 0; i < std::max<std::size_t>(bounds.tokens, 1); ++i) {
      const HostArray logits = engine.run({&work, 1});
      const auto row = logits.as<float>();
      if (i == 0) {
        const auto kept = list_of<std::size_t>(golden.at("logit_ids"));
        const auto wanted = list_of<double>(golden.at("logits"));
        const double largest = *std::max_element(wanted.begin(), wanted.end());
        double worst = 0;
        for (std::size_t k = 0; k < kept.size(); ++k) {
          worst = std::max(worst, std::abs(static_cast<double>(row[kept[k]]) - wanted[k]));
        }
        EXPECT_LT(worst / largest, bounds.first) << std::string(name);
      }
      if (i >= bounds.tokens) break;
      const auto best = std::max_element(row.begin(), row.end()) - row.begin();
      ASSERT_EQ(best, tokens[i]) << std::string(name) << ", token " << i;
      work.tokens = {&tokens[i], 1};
    }
  }
}

TEST(RealModel, InF32AsTransformers) { expect_transformers(WeightPolicy::f32, {1e-5, 32}); }

/// Rounded to eight bits, as llama.cpp does it too: near ties may go the other way.
TEST(RealModel, WithRoundedActivationsNearTransformers) {
  expect_transformers(WeightPolicy::stored, {6e-2, 0}, QuantActivation::q8_32);
}

TEST(RealModel, AsStoredNearTransformers) { expect_transformers(WeightPolicy::stored, {1e-4, 16}); }

}  // namespace
}  // namespace tlaloc::llm
