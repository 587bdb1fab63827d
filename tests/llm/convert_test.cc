// The tiny models of goldens/ from a folder to GGUF and back: each is the same model, to the bits
// of its weights and of its logits.
#include "tlaloc/llm/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "tests/llm/tiny_models.h"
#include "tlaloc/base/error.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/io/testdata/temporary_folder.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/llm/decoder.h"
#include "tlaloc/llm/model.h"

namespace tlaloc::llm {
namespace {

using ::testing::HasSubstr;

/// Models that GGUF can't say, and what of them.
const std::map<std::string, std::string> kRefused = {
    {"gemma3", "the scale of scores of this gemma3_text model can't be said in GGUF"},
    {"llama_dynamic", "GGUF's architecture llama has no positions of rope_type dynamic"},
    {"llama_yarn_mscale", "the positions, their frequencies or the layers that know them"},
    {"mistral", "the windows of layers of this mistral model can't be said in GGUF"},
    {"muse_glimmer", "GGUF has no architecture for the family muse_glimmer"},
    {"qwen2", "the windows of layers of this qwen2 model can't be said in GGUF"},
};

std::shared_ptr<const Model> load_f32(const std::string& path, const std::string& name) {
  LoadOptions options;
  options.weights = WeightPolicy::f32;
  if (name == "phi3_longrope_short") options.checkpoint.context = 64;
  return load(path, options);
}

std::vector<float> logits_of(const DecoderSpec& spec, const Weights& weights,
                             const std::vector<text::TokenId>& ids) {
  const std::vector<std::int32_t> list(ids.begin(), ids.end());
  const auto n = static_cast<std::int64_t>(ids.size());
  const Array out = logits(spec, weights, Array::from<std::int32_t>(list, {1, n}));
  const HostArray all = core::node(out.ref()).array();
  const auto values = all.as<float>();
  return {values.begin(), values.end()};
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> values_of(const io::TensorFile& tensors, const std::string& name) {
  const HostArray array = io::to_f32(tensors.at(name));
  const auto values = array.as<float>();
  return {values.begin(), values.end()};
}
/// Whether a file has the same tensors, to the bit.
bool same_tensors(const io::TensorFile& a, const io::TensorFile& b) {
  bool same = a.tensors().size() == b.tensors().size();
  for (const io::Tensor& t : a.tensors()) {
    const io::Tensor* other = b.find(t.name);
    same = same && other != nullptr && *other == static_cast<const io::TensorSpec&>(t) &&
           std::equal(t.bytes.begin(), t.bytes.end(), other->bytes.begin());
  }
  return same;
}

class Conversions : public ::testing::TestWithParam<std::string> {
 protected:
  Conversions() : golden_(read_golden(GetParam())) {
    for (const char* name : {"model", "back", "again"}) {
      std::filesystem::create_directory(folder_.path(name));
    }
    write_checkpoint(golden_, folder_.path("model"));
  }
  io::testing::TemporaryFolder folder_;
  Golden golden_;
};

TEST_P(Conversions, ThereAndBack) {
  const std::string hf = folder_.path("model"), gguf = folder_.path("model.gguf");
  const std::string back = folder_.path("back/model"), again = folder_.path("again.gguf");
  if (const auto refused = kRefused.find(GetParam()); refused != kRefused.end()) {
    try {
      convert(hf, gguf);
      FAIL() << "GGUF has learnt to say this: take the model off the list";
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), "TL-CONVERT-001");
      EXPECT_THAT(e.what(), HasSubstr(refused->second));
    }
    EXPECT_FALSE(std::filesystem::exists(gguf));
    return;
  }
  convert(hf, gguf);
  convert(gguf, back);
  convert(back, again);
  const auto a = load_f32(hf, GetParam()), b = load_f32(gguf, GetParam()),
             c = load_f32(back, GetParam());

  // The same configuration, and the same weights.
  EXPECT_EQ(a->spec(), c->spec());
  EXPECT_EQ(a->checkpoint.decoder.sources.head.has_value(),
            c->checkpoint.decoder.sources.head.has_value());
  ASSERT_EQ(c->checkpoint.tensors.tensors().size(), golden_.tensors.size());
  const bool around_zero = a->spec().norm.around_zero;
  for (const auto& [name, recipe] : golden_.tensors) {
    const std::vector<float> wanted = tensor_values(name, recipe);
    const std::vector<float> got = values_of(c->checkpoint.tensors, name);
    ASSERT_EQ(got.size(), wanted.size()) << name;
    if (!around_zero || !name.ends_with("norm.weight")) {
      EXPECT_TRUE(same_bits(got, wanted)) << name;
      continue;
    }
    // GGUF has 1 in them, which rounds, to half of a last bit of what it has.
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float sum = 1 + wanted[i];
      EXPECT_EQ(got[i], sum - 1) << name;
      EXPECT_LE(std::abs(got[i] - wanted[i]), (std::nextafter(sum, HUGE_VALF) - sum) / 2) << name;
    }
  }
  // A second time nothing rounds.
  EXPECT_TRUE(same_tensors(b->checkpoint.tensors, open_checkpoint(again).tensors));
  EXPECT_EQ(io::open_gguf(gguf).metadata.entries(), io::open_gguf(again).metadata.entries());

  const std::vector<float> logits = logits_of(a->spec(), a->weights, golden_.ids);
  EXPECT_TRUE(same_bits(logits, logits_of(b->spec(), b->weights, golden_.ids)));
  EXPECT_TRUE(same_bits(logits, logits_of(c->spec(), c->weights, golden_.ids)));

  // Where the formats lay weights out in their own ways, taking one for the other shows.
  const bool laid_out = around_zero || b->spec().layers[0].attention.interleaved != 0;
  EXPECT_EQ(same_bits(logits, logits_of(a->spec(), b->weights, golden_.ids)), !laid_out);
  EXPECT_EQ(same_tensors(a->checkpoint.tensors, c->checkpoint.tensors), !around_zero);
}

INSTANTIATE_TEST_SUITE_P(Goldens, Conversions, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tlaloc::llm
