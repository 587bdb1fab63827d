#include "tools/tlaloc/language_model.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <random>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/llm/sampler.h"
#include "tlaloc/llm/stop.h"
#include "tools/tlaloc/progress.h"

namespace tlaloc::command {
namespace {

// Read by the signal handler, which must not take locks.
std::atomic<const runtime::CancelToken*> interrupted{nullptr};

void interrupt(int) {
  if (const runtime::CancelToken* token = interrupted.load()) token->cancel();
}

[[noreturn]] void refuse_bias(const std::string& text) {
  throw UserError({"TL-SAMPLE-001",
                   "tlaloc",
                   "'" + text + "' is no bias of a token",
                   "give --logit-bias ID=NUMBER, such as 42=-1.5, or 42=-inf to forbid the token",
                   {}});
}

std::pair<text::TokenId, float> bias_of(const std::string& text) {
  const char* const end = text.data() + text.size();
  text::TokenId id = 0;
  float bias = 0;
  const auto [equals, id_error] = std::from_chars(text.data(), end, id);
  if (id_error != std::errc() || equals == end || *equals != '=') refuse_bias(text);
  const auto [rest, bias_error] = std::from_chars(equals + 1, end, bias);
  if (bias_error != std::errc() || rest != end) refuse_bias(text);
  return {id, bias};
}

}  // namespace

void add_options(CLI::App& app, ModelArguments& a) {
  app.add_option("--model", a.model, "folder with a model in safetensors, or a GGUF file")
      ->required();
  app.add_option("--context", a.context, "tokens at most, prompt and answer; 0: the model's")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--threads", a.threads, "0: as many as there are processors")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--weights", a.weights, "stored: as the file has them; f32: decoded when loaded")
      ->check(CLI::IsMember({"stored", "f32"}))
      ->capture_default_str();
  app.add_option(
         "--activations", a.activations,
         "what meets block-quantized weights: f32, or q8: rounded to eight bits, which is faster")
      ->check(CLI::IsMember({"q8", "f32"}))
      ->capture_default_str();
}

void add_options(CLI::App& app, AnswerArguments& a) {
  app.add_option("--max-tokens", a.max_tokens, "of an answer; 0: until the context is full")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--temperature", a.temperature,
                 "0 chooses the most probable token; 1 as the model is; the model's makers may "
                 "say another default than 0");
  app.add_option("--top-k", a.top_k, "only that many of the most probable tokens; 0: all");
  app.add_option("--top-p", a.top_p, "only the most probable tokens that have this together");
  app.add_option("--min-p", a.min_p, "only tokens with this much of the largest probability");
  app.add_option("--typical-p", a.typical_p,
                 "only tokens near the entropy that have this together");
  app.add_option("--repetition-penalty", a.repetition_penalty,
                 "divides the logits of tokens that were there; 1: none");
  app.add_option("--presence-penalty", a.presence_penalty,
                 "taken off the logits of tokens in the answer");
  app.add_option("--frequency-penalty", a.frequency_penalty, "the same, for each time");
  app.add_option("--logit-bias", a.logit_bias, "ID=NUMBER, added to a token's logit");
  app.add_option("--seed", a.seed, "the same tokens again; without it, a random one");
  app.add_option("--stop", a.stop, "a string that ends an answer; may be given several times")
      ->allow_extra_args(false);
}

llm::GenerateOptions options_of(const AnswerArguments& a, const llm::GenerationDefaults& defaults) {
  llm::GenerateOptions o;
  o.max_tokens = a.max_tokens;
  o.stop = a.stop;
  o.sampling = llm::default_sampling(defaults);
  llm::SamplingOptions& s = o.sampling;
  s.temperature = a.temperature.value_or(s.temperature);
  s.top_k = a.top_k.value_or(s.top_k);
  s.top_p = a.top_p.value_or(s.top_p);
  s.min_p = a.min_p.value_or(s.min_p);
  s.typical_p = a.typical_p.value_or(s.typical_p);
  s.repetition_penalty = a.repetition_penalty.value_or(s.repetition_penalty);
  s.presence_penalty = a.presence_penalty.value_or(s.presence_penalty);
  s.frequency_penalty = a.frequency_penalty.value_or(s.frequency_penalty);
  for (const std::string& text : a.logit_bias) s.logit_bias.push_back(bias_of(text));
  s.seed = a.seed ? *a.seed : std::random_device()();
  return o;
}

LanguageModel load(const ModelArguments& a, const AnswerArguments& answers) {
  const llm::GenerateOptions asked = options_of(answers, {});
  llm::Sampler{asked.sampling};
  llm::StopStrings{asked.stop};
  if (a.threads > 0) cpu::set_num_threads(a.threads);
  Progress progress("opening the model");
  LanguageModel m;
  llm::LoadOptions options;
  if (a.weights == "f32") options.weights = llm::WeightPolicy::f32;
  options.checkpoint.context = a.context;
  options.progress = [&](const char* phase, std::int64_t done, std::int64_t all) {
    progress.set(phase, done, all);
  };
  m.model = llm::load(a.model, options);
  progress.set("preparing to compute");
  m.engine = std::make_unique<llm::Engine>(
      m.model, llm::EngineOptions{.activations = a.activations == "q8" ? QuantActivation::q8_32
                                                                       : QuantActivation::f32});
  m.load_seconds = progress.seconds();
  return m;
}

Interruption::Interruption() {
  interrupted = &token_;
  struct sigaction action = {};
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESTART;  // what is being written is written
  sigaction(SIGINT, &action, &before_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &before_, nullptr);
  interrupted = nullptr;
}

boost::json::array read_messages(const std::string& json_or_path) {
  const std::size_t first = json_or_path.find_first_not_of(" \t\r\n");
  const bool json =
      first != std::string::npos && (json_or_path[first] == '[' || json_or_path[first] == '{');
  std::string text = json_or_path;
  if (!json) {
    const auto file = MappedFile::open("tlaloc", json_or_path);
    text.assign(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  }
  const std::string name = json ? "--messages" : json_or_path;
  const boost::json::value value = parse_json(text, name);
  const boost::json::array* list = value.if_array();
  bool objects = list != nullptr;
  for (std::size_t i = 0; objects && i < list->size(); ++i) objects = (*list)[i].is_object();
  if (!objects) {
    throw UserError({"TL-GENERATE-004",
                     "tlaloc",
                     name + " is no list of messages",
                     R"(give a list such as [{"role": "user", "content": "Hello"}])",
                     {}});
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const boost::json::value* role = (*list)[i].get_object().if_contains("role");
    if (role != nullptr && role->is_string()) continue;
    throw UserError({"TL-GENERATE-004",
                     "tlaloc",
                     fmt::format("message {} of {} has no role", i + 1, name),
                     R"(give it "role": "user", "assistant" or "system")",
                     {}});
  }
  return *list;
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm time = {};
  localtime_r(&now, &time);
  return time;
}

std::string speed(std::int64_t tokens, double seconds) {
  if (tokens <= 0 || seconds <= 0) return {};
  return fmt::format("{:.1f} tokens/s", static_cast<double>(tokens) / seconds);
}

}  // namespace tlaloc::command
