// Each family computes what transformers computes: goldens/ has tiny models and their logits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "tests/llm/tiny_models.h"
#include "tlaloc/lang/composites.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/llm/decoder.h"
#include "tlaloc/llm/engine.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {
namespace {

using text::TokenId;

constexpr float kTolerance = 1e-4f;

std::vector<float> row(const HostArray& logits, std::size_t r) {
  const auto n = static_cast<std::size_t>(logits.extents().back());
  const auto all = logits.as<float>().subspan(r * n, n);
  return {all.begin(), all.end()};
}
float distance(const std::vector<float>& a, const std::vector<float>& b) {
  float most = a.size() == b.size() ? 0 : HUGE_VALF;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
TokenId likeliest(const std::vector<float>& logits) {
  return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// The logits behind tokens of a text, from the dense program.
Golden::Rows dense(const DecoderSpec& spec, const Weights& weights, std::vector<TokenId> ids,
                   const std::vector<std::size_t>& positions) {
  const std::vector<std::int32_t> list(ids.begin(), ids.end());
  const auto n = static_cast<std::int64_t>(ids.size());
  const Array out = logits(spec, weights, Array::from<std::int32_t>(list, {1, n}));
  Golden::Rows rows;
  for (const std::size_t p : positions) rows.push_back(row(core::node(out.ref()).array(), p));
  return rows;
}

class Families : public ::testing::TestWithParam<std::string> {};

TEST_P(Families, AsTransformersComputes) {
  const Golden g = read_golden(GetParam());
  const auto model = load_golden(GetParam(), g);
  const Golden::Rows rows = dense(model->spec(), model->weights, g.ids, g.positions);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_LT(distance(rows[i], g.logits[i]), kTolerance) << "dense, behind " << g.positions[i];
  }

  Engine engine(model, {.tokens = 512});
  Sequence whole = engine.sequence(), single = engine.sequence();
  auto run = [&](Sequence& s, std::span<const TokenId> ids) {
    const Engine::Work work{&s, ids};
    return row(engine.run({&work, 1}), 0);
  };
  std::vector<float> last = run(whole, g.ids), last_single;
  for (std::size_t i = 0, p = 0; i < g.ids.size(); ++i) {
    last_single = run(single, {&g.ids[i], 1});
    if (p == g.positions.size() || g.positions[p] != i) continue;
    EXPECT_LT(distance(last_single, g.logits[p++]), kTolerance) << "token by token, behind " << i;
  }
  EXPECT_EQ(distance(last, last_single), 0);
  for (std::size_t step = 0; step < g.step_ids.size(); ++step) {
    EXPECT_LT(distance(last, g.step_logits[step]), kTolerance) << "step " << step;
    ASSERT_EQ(likeliest(last), g.step_ids[step]) << "step " << step;
    last = run(whole, {&g.step_ids[step], 1});
  }
}

/// What training takes: the gradient with respect to all weights, in f64 against differences.
TEST_P(Families, HasAGradient) {
  const Golden g = read_golden(GetParam());
  const auto model = load_golden(GetParam(), g);
  const auto wide =
      map_leaves<Array>(model->weights, [](const Array& w) { return cast<double>(w); });
  const std::vector<std::int32_t> list(g.ids.begin(), g.ids.begin() + 12);
  const Array ids = Array::from<std::int32_t>({list.data(), 11}, {1, 11});
  const Array next = Array::from<std::int32_t>({list.data() + 1, 11}, {1, 11});
  const auto loss = [&](const Weights& w) {
    return as<Scalar<double>>(mean(cross_entropy(logits(model->spec(), w, ids), next)));
  };
  check_grads(loss)(wide);
}

/// Changes of what a decoder computes. Each that is one of a family's decoder must be seen in its
/// logits: else the goldens would not show whether the feature is right.
struct Change {
  const char* name;
  std::function<void(DecoderSpec&)> make;
  /// That go with it; whether any did.
  std::function<bool(Weights&)> make_weights = {};
};
void each_layer(DecoderSpec& spec, const std::function<void(LayerSpec&)>& f) {
  for (LayerSpec& l : spec.layers) f(l);
}
/// Of a layer's description or its weights: norms on the other side of what they are for.
template <class Layer>
bool swap_norms(Layer& l) {
  bool swapped = false;
  auto swap = [&](auto& before, auto& after) {
    if (before.has_value() == after.has_value()) return;
    std::swap(before, after);
    swapped = true;
  };
  swap(l.attention_norm, l.attention_output_norm);
  swap(l.mlp_norm, l.mlp_output_norm);
  return swapped;
}
/// The same where both sides have one: that of the results is left out.
template <class Layer>
bool drop_output_norms(Layer& l) {
  bool dropped = false;
  auto drop = [&](const auto& before, auto& after) {
    if (!before || !after) return;
    after.reset();
    dropped = true;
  };
  drop(l.attention_norm, l.attention_output_norm);
  drop(l.mlp_norm, l.mlp_output_norm);
  return dropped;
}
std::vector<Change> changes() {
  auto weights = [](bool (*f)(LayerOf<Array>&)) {
    return [f](Weights& w) {
      bool any = false;
      for (auto& l : w.layers) any = f(l) || any;
      return any;
    };
  };
  auto layers = [](const std::function<void(LayerSpec&)>& f) {
    return [f](DecoderSpec& s) { each_layer(s, f); };
  };
  auto attention = [](const std::function<void(AttentionSpec&)>& f) {
    return [f](DecoderSpec& s) { each_layer(s, [&](LayerSpec& l) { f(l.attention); }); };
  };
  auto wider = [](std::int64_t by) {
    return [by](AttentionSpec& a) { a.window += a.window == 0 ? 0 : by; };
  };
  return {
      {"a wider window", attention(wider(1))},
      {"a narrower window", attention(wider(-1))},
      {"windows elsewhere",
       [](DecoderSpec& s) {
         const bool all = s.layers.front().attention.window == s.layers.back().attention.window;
         if (!all) std::reverse(s.layers.begin(), s.layers.end());
       }},
      {"no cap of scores", attention([](AttentionSpec& a) { a.soft_cap = 0; })},
      {"no cap of logits", [](DecoderSpec& s) { s.logit_cap = 0; }},
      {"no factor of logits", [](DecoderSpec& s) { s.logit_factor = 1; }},
      {"no factor of embeddings", [](DecoderSpec& s) { s.embedding_factor = 1; }},
      {"no norm of embeddings", [](DecoderSpec& s) { s.embedding_norm.reset(); }},
      {"no factor of residuals", layers([](LayerSpec& l) { l.residual_factor = 1; })},
      {"no factor of queries", attention([](AttentionSpec& a) { a.query_factor = 1; })},
      {"no gate", attention([](AttentionSpec& a) { a.gated = false; })},
      {"no norm of heads", attention([](AttentionSpec& a) { a.head_norm = HeadNorm::none; })},
      {"another scale", attention([](AttentionSpec& a) {
         a.scale = 1.1 / std::sqrt(static_cast<double>(a.width));
       })},
      {"another activation", layers([](LayerSpec& l) { l.mlp.activation = MlpActivation::gelu; })},
      {"another epsilon", layers([](LayerSpec& l) {
         for (auto* n : {&l.attention_norm, &l.attention_output_norm}) {
           if (*n) (*n)->epsilon += 1e-2;
         }
       })},
      {"head weights around 1", attention([](AttentionSpec& a) {
         if (a.head_norm != HeadNorm::weightless) a.head_norm_spec.around_zero = false;
       })},
      {"weights around 1", layers([](LayerSpec& l) {
         for (auto* n :
              {&l.attention_norm, &l.attention_output_norm, &l.mlp_norm, &l.mlp_output_norm}) {
           if (*n) (*n)->around_zero = false;
         }
       })},
      {"the last norm the other way", [](DecoderSpec& s) { s.norm.around_zero ^= true; }},
      {"norms on the other side", layers([](LayerSpec& l) { swap_norms(l); }),
       weights(swap_norms<LayerOf<Array>>)},
      {"no norms of results", layers([](LayerSpec& l) { drop_output_norms(l); }),
       weights(drop_output_norms<LayerOf<Array>>)},
      {"no biases", [](DecoderSpec&) {}, weights([](LayerOf<Array>& l) {
         bool any = false;
         AttentionOf<Array>& a = l.attention;
         for (auto* part :
              {&a.query, &a.key, &a.value, &a.output, &l.mlp.gate, &l.mlp.up, &l.mlp.down}) {
           any = part->bias.has_value() || any;
           part->bias.reset();
         }
         return any;
       })},
      {"positions everywhere", attention([](AttentionSpec& a) { a.rope = a.rope.value_or(0); })},
      {"one embedding of positions",
       attention([](AttentionSpec& a) { a.rope = a.rope ? std::optional<int>(0) : a.rope; })},
      {"pairs of neighbours",
       [](DecoderSpec& s) {
         const auto turned = static_cast<std::int64_t>(2 * s.ropes[0].frequencies.size());
         each_layer(s, [&](LayerSpec& l) { l.attention.interleaved = turned; });
       }},
      {"no factor of positions",
       [](DecoderSpec& s) {
         for (RopeSpec& r : s.ropes) r.factor = 1;
       }},
      {"frequencies without scaling",
       [](DecoderSpec& s) {
         for (RopeSpec& r : s.ropes) {
           const auto size = static_cast<float>(r.frequencies.size());
           for (std::size_t i = 0; i < r.frequencies.size(); ++i) {
             const float plain = std::pow(10000.0f, -static_cast<float>(i) / size);
             if (std::abs(r.frequencies[i] / plain - 1) > 1e-6f) r.frequencies[i] = plain;
           }
         }
       }},
      {"all of a head turned",
       [](DecoderSpec& s) {
         for (RopeSpec& r : s.ropes) {
           const auto half = static_cast<std::size_t>(s.layers[0].attention.width / 2);
           r.frequencies.resize(std::max(r.frequencies.size(), half), 0.1f);
         }
       }},
  };
}

/// What each golden has beside what a plain decoder has, by the changes that take it away.
const std::map<std::string, std::set<std::string>>& features() {
  const std::set<std::string> window = {"a wider window", "a narrower window"};
  auto with = [](std::set<std::string> all, const std::set<std::string>& more) {
    all.insert(more.begin(), more.end());
    return all;
  };
  const std::set<std::string> some_windows = with(window, {"windows elsewhere"});
  const std::set<std::string> scaled = {"frequencies without scaling"};
  const std::set<std::string> yarn = with(scaled, {"no factor of positions"});
  const std::set<std::string> gemma3 =
      with(some_windows, {"no factor of embeddings", "no norm of heads", "head weights around 1",
                          "weights around 1", "one embedding of positions",
                          "frequencies without scaling", "no norms of results"});
  static const std::map<std::string, std::set<std::string>> all = {
      {"gemma2",
       with(some_windows, {"no cap of scores", "no cap of logits", "no factor of embeddings",
                           "weights around 1", "no norms of results"})},
      {"gemma3", gemma3},
      {"gemma3_text", gemma3},
      {"granite", {"no factor of logits", "no factor of embeddings", "no factor of residuals"}},
      {"llama", {}},
      {"llama_biases", {"no biases"}},
      {"llama_dynamic", {}},  // within the first length nothing is scaled
      {"llama_linear", scaled},
      {"llama_llama3", scaled},
      {"llama_yarn", yarn},
      {"llama_yarn_mscale", yarn},
      {"mistral", window},
      {"muse_glimmer",
       with(window, {"no cap of logits", "no factor of logits", "no norm of embeddings",
                     "no factor of queries", "no gate", "no norm of heads", "weights around 1",
                     "positions everywhere"})},
      {"olmo2", {"no norm of heads", "norms on the other side"}},
      {"phi3", with(window, {"all of a head turned"})},
      {"phi3_longrope_long", with(yarn, {"all of a head turned"})},
      {"phi3_longrope_short", with(yarn, {"all of a head turned"})},
      {"qwen2", with(some_windows, {"no biases"})},
      {"qwen2_full", {"no biases"}},
      {"qwen3", {"no norm of heads"}},
      {"smollm3", {"positions everywhere"}},
  };
  return all;
}

TEST_P(Families, EveryFeatureShows) {
  const Golden g = read_golden(GetParam());
  const auto model = load_golden(GetParam(), g);
  std::set<std::string> made;
  for (const Change& change : changes()) {
    DecoderSpec spec = model->spec();
    Weights weights = model->weights;
    change.make(spec);
    const bool others = change.make_weights && change.make_weights(weights);
    if (spec == model->spec() && !others) continue;
    made.insert(change.name);
    const Golden::Rows rows = dense(spec, weights, g.ids, {g.positions.back()});
    EXPECT_GT(distance(rows[0], g.logits.back()), 3 * kTolerance) << change.name;
  }
  // Those of any decoder.
  EXPECT_THAT(made, ::testing::IsSupersetOf({"another scale", "another activation",
                                             "another epsilon", "pairs of neighbours"}));
  // Of each layer some norm lies before or behind, or both do.
  EXPECT_THAT(made, ::testing::AnyOf(::testing::Contains(std::string("norms on the other side")),
                                     ::testing::Contains(std::string("no norms of results"))));
  ASSERT_TRUE(features().contains(GetParam())) << "say which features it has";
  EXPECT_THAT(made, ::testing::IsSupersetOf(features().at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Goldens, Families, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tlaloc::llm
