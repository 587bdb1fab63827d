#include "tools/tlaloc/generate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <iterator>

#include "tlaloc/cpu/kept_right.h"
#include "tlaloc/llm/prompt.h"
#include "tools/tlaloc/report_text.h"
#include "tools/tlaloc/terminal_text.h"

namespace tlaloc::command {
namespace {

namespace json = boost::json;

std::string standard_input() {
  if (isatty(STDIN_FILENO) == 1) std::cerr << "tlaloc: the prompt, which Ctrl-D ends:\n";
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::vector<text::TokenId> prompt_ids(const GenerateArguments& a, json::array messages,
                                      const llm::Checkpoint& c) {
  const bool template_wanted = a.messages || a.system || a.chat;
  std::string text;
  if (!a.messages) text = a.prompt ? *a.prompt : standard_input();
  if (a.raw || (!template_wanted && !c.chat_template && !c.chat_template_error))
    return llm::encode_text(c, text);
  if (a.system) {
    messages.insert(messages.begin(), json::object{{"role", "system"}, {"content", *a.system}});
  }
  if (!a.messages) {
    // A line's end is that of the command which wrote it.
    if (!a.prompt && text.ends_with('\n')) text.pop_back();
    messages.push_back(json::object{{"role", "user"}, {"content", text}});
  }
  return llm::encode_messages(c, messages, local_time());
}

json::object timings_of(const LanguageModel& m, std::int64_t prompt, const llm::Generation& g) {
  auto rate = [](std::int64_t tokens, double seconds) {
    return tokens > 0 && seconds > 0 ? json::value(static_cast<double>(tokens) / seconds)
                                     : json::value();
  };
  // The first token of an answer comes of the prompt.
  const auto decoded = std::max<std::int64_t>(std::ssize(g.ids) - 1, 0);
  return {{"load_seconds", m.load_seconds},
          {"prompt_tokens", prompt},
          {"prompt_seconds", g.prompt_seconds},
          {"prompt_tokens_per_second", rate(prompt, g.prompt_seconds)},
          {"decode_tokens", decoded},
          {"decode_seconds", g.decode_seconds},
          {"decode_tokens_per_second", rate(decoded, g.decode_seconds)}};
}

void print_json(const GenerateArguments& a, const LanguageModel& m,
                const std::vector<text::TokenId>& prompt, const llm::GenerateOptions& options,
                const llm::Generation& g) {
  json::object o{{"model", a.model.model},
                 {"prompt_ids", json::array(prompt.begin(), prompt.end())},
                 {"ids", json::array(g.ids.begin(), g.ids.end())},
                 {"text", g.text},
                 {"finish_reason", llm::name(g.finish_reason)}};
  if (g.finish_reason == llm::FinishReason::stop_string) o["stop_string"] = g.stop_string;
  if (options.sampling.temperature > 0) o["seed"] = options.sampling.seed;
  o["timings"] = timings_of(m, std::ssize(prompt), g);
  o["weights"] = json::object{{"mapped_bytes", m.model->mapped_bytes},
                              {"decoded_bytes", m.model->decoded_bytes},
                              {"packed_bytes", cpu::kept_right_bytes()}};
  if (a.logprobs) o["logprobs"] = json::array(g.logprobs.begin(), g.logprobs.end());
  if (a.top_logits > 0) {
    json::array steps;
    for (const std::vector<llm::TokenLogit>& step : g.top_logits) {
      json::array top;
      for (const auto& [id, logit] : step) {
        top.push_back(json::object{
            {"id", id}, {"text", m.checkpoint().tokenizer->decode({&id, 1})}, {"logit", logit}});
      }
      steps.push_back(std::move(top));
    }
    o["top_logits"] = std::move(steps);
  }
  std::cout << o << "\n";
}

}  // namespace

void add_options(CLI::App& app, GenerateArguments& a) {
  add_options(app, a.model);
  CLI::Option* prompt = app.add_option("--prompt", a.prompt, "text; without it, that of stdin");
  CLI::Option* messages =
      app.add_option("--messages", a.messages,
                     R"([{"role": "user", "content": "..."}, ...], or a file with such a list)")
          ->excludes(prompt);
  CLI::Option* system = app.add_option("--system", a.system, "a message from the system before");
  CLI::Option* raw =
      app.add_flag("--raw", a.raw,
                   "go on from the text itself; without it, a model with a chat template takes the "
                   "text as a user's message")
          ->excludes(messages)
          ->excludes(system);
  app.add_flag("--chat", a.chat, "fail where the model has no chat template")->excludes(raw);
  add_options(app, a.answer);
  app.add_flag("--ignore-end", a.ignore_end, "go on where the model ends its answer");
  CLI::Option* json = app.add_flag(
      "--json", a.json,
      "write one object: prompt_ids, ids, text, finish_reason, seed, timings, weights");
  app.add_flag("--logprobs", a.logprobs, "with --json: log probabilities of the tokens")
      ->needs(json);
  app.add_option("--top-logits", a.top_logits, "with --json: the largest logits of each step")
      ->check(CLI::NonNegativeNumber)
      ->needs(json);
  app.add_flag("--timings", a.timings, "say on stderr how fast it was, and what the weights take");
}

void generate(const GenerateArguments& a) {
  // What is wrong with it is said before a model is loaded for it.
  json::array messages;
  if (a.messages) messages = read_messages(*a.messages);
  const LanguageModel m = load(a.model, a.answer);
  const std::vector<text::TokenId> prompt = prompt_ids(a, std::move(messages), m.checkpoint());
  llm::GenerateOptions options = options_of(a.answer, m.checkpoint().generation);
  options.ignore_end = a.ignore_end;
  options.logprobs = a.logprobs;
  options.top_logits = a.top_logits;

  const Interruption interruption;
  options.cancel = interruption.token();
  llm::Context context(*m.engine);
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const llm::Generation g = llm::generate(context, prompt, options, [&](std::string_view text) {
    if (!a.json) std::cout << (terminal ? plain(text, true) : text) << std::flush;
  });
  if (a.json) {
    print_json(a, m, prompt, options, g);
  } else if (!g.text.ends_with('\n')) {
    std::cout << "\n";
  }
  if (a.timings) {
    fmt::print(stderr,
               "tlaloc: loaded in {:.2f} s; prompt: {} tokens in {:.2f} s; answer: {} tokens, {}\n",
               m.load_seconds, prompt.size(), g.prompt_seconds, g.ids.size(),
               speed(std::ssize(g.ids) - 1, g.decode_seconds));
    fmt::print(stderr, "tlaloc: weights: {} read as the file has them, {} decoded, {} packed\n",
               bytes_text(m.model->mapped_bytes), bytes_text(m.model->decoded_bytes),
               bytes_text(static_cast<std::int64_t>(cpu::kept_right_bytes())));
  }
  if (!a.json && (g.finish_reason == llm::FinishReason::max_tokens ||
                  g.finish_reason == llm::FinishReason::context)) {
    // On a terminal it looks like an end otherwise.
    if (terminal) fmt::print(stderr, "tlaloc: cut off: {}\n", llm::name(g.finish_reason));
  }
  // As shells say it of a program that Ctrl-C ended.
  if (g.finish_reason == llm::FinishReason::cancelled) throw CLI::RuntimeError(130);
}

}  // namespace tlaloc::command
