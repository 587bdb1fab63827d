#include "tlaloc/llm/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/llm/prompt.h"
#include "tlaloc/llm/testing.h"
#include "tlaloc/text/tokenizer_json.h"

namespace tlaloc::llm {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;
using text::TokenId;

/// Letters are tokens, and so are the bytes of é: 5 and 6.
constexpr const char* kTokenizer = R"json({
  "added_tokens": [{"id": 0, "content": "<end>", "single_word": false, "lstrip": false,
                    "rstrip": false, "normalized": false, "special": true}],
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                    "use_regex": false},
  "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
              "use_regex": false},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<end>": {"id": "<end>", "ids": [0], "tokens": ["<end>"]}}},
  "model": {"type": "BPE", "merges": [],
            "vocab": {"<end>": 0, "a": 1, "b": 2, "c": 3, "d": 4, "Ã": 5, "©": 6, "?": 7}}})json";
constexpr std::size_t kVocabulary = 8;

Checkpoint checkpoint() {
  Checkpoint c;
  c.path = "tiny";
  c.tokenizer.emplace(text::parse_tokenizer(kTokenizer, "tokenizer.json"));
  c.generation.end_tokens = {0};
  return c;
}

std::vector<float> favor(TokenId id) {
  std::vector<float> logits(kVocabulary, -1.0f);
  logits[static_cast<std::size_t>(id)] = 1;
  return logits;
}

/// The answer that logits in favor of the ids make, and its text piece by piece.
struct Told {
  Answer answer;
  std::vector<std::string> pieces;
};
Told tell(const std::vector<TokenId>& ids, GenerateOptions options, std::int64_t room = 100) {
  options.sampling.temperature = 0;
  Told told{Answer(checkpoint(), std::vector<TokenId>{1}, room, options), {}};
  for (const TokenId id : ids) {
    if (told.answer.finished()) break;
    told.pieces.push_back(told.answer.take(favor(id)));
  }
  return told;
}

TEST(Answer, EndsAtAnEndToken) {
  const Told t = tell({1, 2, 0, 3}, {});
  EXPECT_THAT(t.pieces, ElementsAre("a", "b", ""));
  EXPECT_THAT(t.answer.generation.ids, ElementsAre(1, 2, 0));
  EXPECT_EQ(t.answer.generation.text, "ab");
  EXPECT_EQ(t.answer.generation.finish_reason, FinishReason::end_token);
  const Told on = tell({1, 0, 2}, {.ignore_end = true});
  EXPECT_FALSE(on.answer.finished());
  EXPECT_THAT(on.pieces, ElementsAre("a", "", "b"));
}

TEST(Answer, GivesWholeCharacters) {
  const Told t = tell({5, 6, 1, 5}, {});
  EXPECT_THAT(t.pieces, ElementsAre("", "é", "a", ""));
  // A half one at the end is what the tokens decode to.
  Told half = tell({1, 5, 0}, {});
  EXPECT_THAT(half.pieces, ElementsAre("a", "", "\uFFFD"));
  EXPECT_EQ(half.answer.generation.text, "a\uFFFD");
}

TEST(Answer, StopsAtAString) {
  const Told t = tell({1, 2, 3, 4}, {.stop = {"bc"}});
  EXPECT_THAT(t.pieces, ElementsAre("a", "", ""));
  EXPECT_THAT(t.answer.generation.ids, ElementsAre(1, 2, 3));
  EXPECT_EQ(t.answer.generation.text, "a");
  EXPECT_EQ(t.answer.generation.finish_reason, FinishReason::stop_string);
  EXPECT_EQ(t.answer.generation.stop_string, "bc");
  // What was held back is given where it became none.
  const Told none = tell({2, 4, 2, 0}, {.stop = {"bc"}});
  EXPECT_THAT(none.pieces, ElementsAre("", "bd", "", "b"));
  EXPECT_EQ(none.answer.generation.text, "bdb");
  // The half character at the end makes it whole.
  const Told end = tell({2, 5, 0}, {.stop = {"b\uFFFD"}});
  EXPECT_EQ(end.answer.generation.text, "");
  EXPECT_EQ(end.answer.generation.finish_reason, FinishReason::stop_string);
}

TEST(Answer, EndsWhereNoMoreIsWanted) {
  const Told t = tell({2, 2, 2, 2}, {.max_tokens = 3, .stop = {"bc"}});
  EXPECT_THAT(t.pieces, ElementsAre("", "b", "bb"));
  EXPECT_EQ(t.answer.generation.text, "bbb");
  EXPECT_EQ(t.answer.generation.finish_reason, FinishReason::max_tokens);
  // The last token need not be in the context, as it is not run.
  const Told room = tell({1, 1, 1, 1, 1}, {}, 2);
  EXPECT_EQ(room.answer.generation.text, "aaa");
  EXPECT_EQ(room.answer.generation.finish_reason, FinishReason::context);
}

TEST(Answer, IsCancelled) {
  Told t = tell({1, 2}, {.stop = {"bc"}});
  EXPECT_EQ(t.answer.cancel(), "b");
  EXPECT_TRUE(t.answer.finished());
  EXPECT_EQ(t.answer.generation.text, "ab");
  EXPECT_EQ(t.answer.generation.finish_reason, FinishReason::cancelled);
}

TEST(Answer, KeepsLogitsAndProbabilities) {
  GenerateOptions options{.top_logits = 2, .logprobs = true};
  options.sampling.temperature = 0;
  options.sampling.logit_bias = {{3, 10.0f}};  // changes the choice, and not what is kept
  Answer answer(checkpoint(), {}, 9, options);
  answer.take(favor(2));
  EXPECT_THAT(answer.generation.ids, ElementsAre(3));
  EXPECT_THAT(answer.generation.top_logits,
              ElementsAre(ElementsAre(TokenLogit{2, 1.0f}, TokenLogit{0, -1.0f})));
  const double sum = std::exp(1.0) + 7 * std::exp(-1.0);
  EXPECT_THAT(answer.generation.logprobs, ElementsAre(DoubleNear(-1 - std::log(sum), 1e-9)));
}

TEST(Answer, NeedsNoTokenizer) {
  Checkpoint c = checkpoint();
  c.tokenizer.reset();
  Answer answer(c, {}, 9, {});
  EXPECT_EQ(answer.take(favor(2)), "");
  EXPECT_THAT(answer.generation.ids, ElementsAre(2));
  EXPECT_THAT([&] { Answer(c, {}, 9, {.stop = {"a"}}); },
              ThrowsMessage<UserError>(HasSubstr("TL-GENERATE-002: generate: stop strings need a "
                                                 "tokenizer, which tiny lacks")));
}

TEST(Answer, DefaultsAreTheMakers) {
  const SamplingOptions none = default_sampling({});
  EXPECT_EQ(none.temperature, 0);
  EXPECT_EQ(none.top_p, 1);
  GenerationDefaults d;
  d.temperature = 0.6;
  d.top_p = 0.9;
  d.top_k = 20;
  d.min_p = 0.1;
  d.typical_p = 0.7;
  d.repetition_penalty = 1.1;
  const SamplingOptions s = default_sampling(d);
  EXPECT_EQ(s.temperature, 0.6);
  EXPECT_EQ(s.top_p, 0.9);
  EXPECT_EQ(s.top_k, 20);
  EXPECT_EQ(s.min_p, 0.1);
  EXPECT_EQ(s.typical_p, 0.7);
  EXPECT_EQ(s.repetition_penalty, 1.1);
}

TEST(FinishReason, Names) {
  EXPECT_EQ(name(FinishReason::end_token), "end_token");
  EXPECT_EQ(name(FinishReason::stop_string), "stop_string");
  EXPECT_EQ(name(FinishReason::max_tokens), "max_tokens");
  EXPECT_EQ(name(FinishReason::context), "context");
  EXPECT_EQ(name(FinishReason::cancelled), "cancelled");
}

/// Tokens 1 to 7 of the small vocabulary, and others that have no text.
struct Generate : ::testing::Test {
  Generate() {
    const std::shared_ptr<Model> m = tiny_model(tiny_spec());
    Decoder decoder = std::move(m->checkpoint.decoder);
    m->checkpoint = checkpoint();
    m->checkpoint.decoder = std::move(decoder);
    model = m;
  }

  std::shared_ptr<const Model> model;
  std::vector<TokenId> prompt = {3, 14, 15, 9, 26, 5};
  const GenerateOptions sampled = [] {
    GenerateOptions o{.max_tokens = 12, .ignore_end = true};
    o.sampling.seed = 11;
    o.sampling.repetition_penalty = 1.2;
    return o;
  }();
};

TEST_F(Generate, IsTheLoopOverTheEngine) {
  Engine engine(model);
  Context context(engine);
  std::string text;
  GenerateOptions options = sampled;
  options.logprobs = true;
  const Generation g =
      generate(context, prompt, options, [&](std::string_view piece) { text += piece; });
  ASSERT_EQ(g.ids.size(), 12u);
  EXPECT_EQ(g.finish_reason, FinishReason::max_tokens);
  EXPECT_EQ(g.text, text);
  EXPECT_GT(g.prompt_seconds, 0);
  EXPECT_GT(g.decode_seconds, 0);
  EXPECT_EQ(g.reused, 0);

  Sequence sequence = engine.sequence();
  Sampler sampler(options.sampling, prompt);
  std::vector<TokenId> next = prompt, ids;
  for (int i = 0; i < 12; ++i) {
    const Engine::Work work{&sequence, next};
    const HostArray logits = engine.run({&work, 1});
    next = {sampler.next(logits.as<float>())};
    ids.push_back(next[0]);
  }
  EXPECT_EQ(g.ids, ids);
  // All but the last token were run.
  EXPECT_EQ(context.tokens().size(), prompt.size() + 11);
}

TEST_F(Generate, TakesText) {
  Engine engine(model);
  Context context(engine), other(engine);
  const Generation g = generate_text(context, "abc", sampled);
  EXPECT_EQ(g.ids, generate(other, std::vector<TokenId>{0, 1, 2, 3}, sampled).ids);
  EXPECT_EQ(context.tokens().size(), 4 + g.ids.size() - 1);
}

TEST_F(Generate, RunsOnlyWhatIsNew) {
  Engine engine(model);
  Context context(engine);
  const Generation first = generate(context, prompt, sampled);
  std::vector<TokenId> longer = prompt;
  longer.insert(longer.end(), first.ids.begin(), first.ids.begin() + 5);
  longer.insert(longer.end(), {40, 41});
  // The answer went on with another token than 40.
  ASSERT_NE(first.ids[5], 40);
  const Generation second = generate(context, longer, sampled);
  EXPECT_EQ(second.reused, static_cast<std::int64_t>(prompt.size()) + 5);
  Context fresh(engine);
  const Generation alone = generate(fresh, longer, sampled);
  EXPECT_EQ(alone.reused, 0);
  EXPECT_EQ(second.ids, alone.ids);
  // The last token of a prompt is run again, for its logits.
  const Generation again = generate(context, longer, sampled);
  EXPECT_EQ(again.reused, static_cast<std::int64_t>(longer.size()) - 1);
  EXPECT_EQ(again.ids, alone.ids);
}

TEST_F(Generate, NothingToRunChangesNoContext) {
  Engine engine(model);
  Context context(engine), other(engine);
  context.run(prompt);
  EXPECT_THROW(context.run({}), InternalError);
  EXPECT_EQ(context.tokens(), prompt);
  std::vector<TokenId> longer = prompt;
  longer.push_back(40);
  const HostArray logits = context.run(longer), due = other.run(longer);
  EXPECT_THAT(logits.as<float>(), ::testing::ElementsAreArray(due.as<float>()));
}

TEST_F(Generate, EndsWithTheContext) {
  Engine engine(model, {.context = 16});
  Context context(engine);
  GenerateOptions options = sampled;
  options.max_tokens = 0;
  const Generation g = generate(context, prompt, options);
  EXPECT_EQ(g.finish_reason, FinishReason::context);
  EXPECT_EQ(g.ids.size(), 16 - prompt.size() + 1);
  // A prompt may fill the context.
  prompt.resize(16, 8);
  EXPECT_EQ(generate(context, prompt, options).ids.size(), 1u);
  prompt.push_back(8);
  EXPECT_THAT([&] { generate(context, prompt, options); },
              ThrowsMessage<UserError>(HasSubstr("TL-LLM-004")));
  EXPECT_THAT([&] { generate(context, {}, options); },
              ThrowsMessage<UserError>(HasSubstr("TL-GENERATE-003: generate: the prompt has no "
                                                 "tokens")));
}

TEST_F(Generate, IsCancelledBetweenSteps) {
  Engine engine(model);
  Context context(engine);
  GenerateOptions options = sampled;
  options.cancel.emplace();
  int pieces = 0;
  const Generation g = generate(context, prompt, options, [&](std::string_view) {
    if (++pieces == 1) options.cancel->cancel();
  });
  const Generation whole = generate(context, prompt, sampled);
  EXPECT_EQ(g.finish_reason, FinishReason::cancelled);
  ASSERT_FALSE(g.ids.empty());
  ASSERT_LT(g.ids.size(), whole.ids.size());
  EXPECT_TRUE(std::equal(g.ids.begin(), g.ids.end(), whole.ids.begin()));
  // Before the first step there is nothing.
  const Generation none = generate(context, prompt, options);
  EXPECT_EQ(none.finish_reason, FinishReason::cancelled);
  EXPECT_THAT(none.ids, IsEmpty());
}

boost::json::array messages(const char* text) { return parse_json(text, "messages").get_array(); }

TEST(Prompt, Messages) {
  Checkpoint c = checkpoint();
  EXPECT_THAT(encode_text(c, "ab<end>"), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT([&] { encode_messages(c, {}); },
              ThrowsMessage<UserError>(HasSubstr("TL-GENERATE-002: generate: tiny has no chat "
                                                 "template, so it takes no messages")));
  c.template_variables = {{"eos_token", "<end>"}};
  c.chat_template.emplace(
      "{% for m in messages %}{{ m.content + eos_token }}{% endfor %}"
      "{% if add_generation_prompt and tools is none %}d{% endif %}",
      "template");
  EXPECT_THAT(encode_messages(c, messages(R"([{"role": "user", "content": "ab"},
                                              {"role": "assistant", "content": "c"}])")),
              ElementsAre(1, 2, 0, 3, 0, 4));
  c.tokenizer.reset();
  EXPECT_THAT([&] { encode_text(c, "a"); },
              ThrowsMessage<UserError>(HasSubstr("tiny has no tokenizer")));
}

}  // namespace
}  // namespace tlaloc::llm
