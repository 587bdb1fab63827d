#include "tlaloc/llm/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/llm/checkpoint.h"

namespace tlaloc::llm {
namespace {

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

TEST(Config, RefusesByName) {
  EXPECT_THAT(error(R"({"model_type": "mamba"})"),
              StartsWith("TL-LLM-001: llm: c: model_type is \"mamba\", which is not supported; "
                         "supported: llama"));
  EXPECT_THAT(error(R"({})"), StartsWith("TL-LLM-002: llm: c: model_type is missing"));
  EXPECT_EQ(error(R"({"model_type": "llama", "quantization_config": null})"), "");
  EXPECT_THAT(error(R"({"model_type": "llama", "quantization_config": {"bits": 4}})"),
              StartsWith("TL-LLM-001: llm: c: quantization_config is {\"bits\":4}, which is not"));
  EXPECT_THAT(error(R"({"model_type": "llama", "hidden_act": "relu"})"),
              StartsWith("TL-LLM-001: llm: c: hidden_act is \"relu\", which is not supported; "
                         "supported: silu"));
  EXPECT_THAT(error(R"({"model_type": "llama", "is_encoder_decoder": true})"),
              HasSubstr("only decoders are supported"));
  EXPECT_THAT(error(R"({"model_type": "llama", "pruned_heads": {"1": [0]}})"),
              HasSubstr("it must be empty"));
  EXPECT_THAT(error(R"({"model_type": "llama", "new_key": ")" + std::string(100, 'x') + "\"}"),
              HasSubstr("new_key is \"" + std::string(59, 'x') + "..., which"));
}

TEST(Config, RefusesWhatCantBe) {
  const auto with = [](const std::string& more) {
    return error(R"({"model_type": "llama", )" + more + "}");
  };
  EXPECT_THAT(with(R"("hidden_size": -4)"),
              StartsWith("TL-LLM-002: llm: c: hidden_size is -4; it must be a size from 1 to"));
  EXPECT_THAT(with(R"("hidden_size": 4.5)"), HasSubstr("it must be a size"));
  EXPECT_THAT(with(R"("num_hidden_layers": 1000000000000)"), HasSubstr("from 1 to 4096"));
  EXPECT_THAT(with(R"("rms_norm_eps": 0)"), HasSubstr("it must be a number above 0"));
  EXPECT_THAT(with(R"("rms_norm_eps": "a")"), HasSubstr("it must be a number"));
  EXPECT_THAT(with(R"("attention_bias": 1)"), HasSubstr("it must be true or false"));
  EXPECT_THAT(with(R"("hidden_act": 1)"), HasSubstr("it must be a text"));
  EXPECT_THAT(with(R"("rope_scaling": 1)"), HasSubstr("it must be an object"));
  EXPECT_THAT(with(R"("num_attention_heads": 7)"), HasSubstr("it must divide hidden_size, 4096"));
  EXPECT_THAT(with(R"("num_key_value_heads": 7)"),
              HasSubstr("it must divide num_attention_heads, 32"));
  EXPECT_THAT(with(R"("head_dim": 1000000)"), HasSubstr("are too many"));
  EXPECT_THAT(with(R"("head_dim": 3)"), HasSubstr("an even number of the 3 elements"));
}

TEST(Config, AContextThatTheModelHasNot) {
  const auto config = parse_json(R"({"model_type": "llama"})", "c").get_object();
  EXPECT_EQ(read_config(config, "c", {.context = 100}).spec.context, 100);
  EXPECT_EQ(read_config(config, "c").spec.context, 2048);
  EXPECT_THROW(read_config(config, "c", {.context = 2049}), UserError);
}

}  // namespace
}  // namespace tlaloc::llm
