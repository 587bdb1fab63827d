#include "tools/tlaloc/chat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/llm/prompt.h"
#include "tools/tlaloc/line_reader.h"
#include "tools/tlaloc/terminal_text.h"

namespace tlaloc::command {
namespace {

namespace json = boost::json;

constexpr const char* kHelp =
    R"(/system TEXT     what the model is told before all messages; without a text, nothing
/set NAME VALUE  a setting, such as temperature; without both, shows all
/retry           another answer to the last message
/reset           begins anew; the system's message stays
/save FILE       writes the conversation as JSON
/load FILE       goes on with one
/quit            as Ctrl-D
Ctrl-C stops an answer. A \ at the end of a line goes on in the next; """ begins and ends a text
of several lines. A line that begins with a space is a message, whatever it says.
)";

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw UserError({"TL-GENERATE-004", "tlaloc", message, hint, {}});
}

template <class T>
T number_of(const std::string& name, const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) {
    refuse(fmt::format("'{}' is no value of {}", text, name), "give a number");
  }
  return value;
}

class Chat {
 public:
  explicit Chat(const ChatArguments& a)
      : messages_(a.messages ? read_messages(*a.messages) : json::array()),
        model_(load(a.model, a.answer)),
        context_(*model_.engine),
        options_(options_of(a.answer, model_.checkpoint().generation)),
        timings_(a.timings || reader_.interactive()) {
    if (a.system) set_system(*a.system);
    // A model that can't chat is refused before somebody writes to it.
    llm::encode_messages(model_.checkpoint(), example(), local_time());
    name_ = std::filesystem::path(a.model.model).filename().string();
  }

  void run() {
    if (reader_.interactive()) {
      std::signal(SIGINT, SIG_IGN);  // it ends answers and lines, and not the program
      fmt::print("{}; context of {} tokens; /help says what else you can type\n", plain(name_),
                 model_.engine->context());
    }
    while (const std::optional<std::string> text = read()) {
      if (text->find_first_not_of(" \t\n") == std::string::npos) continue;
      try {
        if (text->front() != '/') {
          json::array before = messages_;
          messages_.push_back(json::object{{"role", "user"}, {"content", *text}});
          answer(std::move(before));
        } else if (!command(*text)) {
          return;
        }
      } catch (const UserError& e) {
        // Who reads the answers from a pipe must not miss one.
        if (!reader_.interactive()) throw;
        fmt::print(stderr, "{}\n", e.what());
      } catch (const EnvironmentError& e) {
        if (!reader_.interactive()) throw;
        fmt::print(stderr, "{}\n", e.what());
      }
    }
  }

 private:
  static json::array example() { return {json::object{{"role", "user"}, {"content", "Hello"}}}; }

  /// A message or a command; nothing where the input ends.
  std::optional<std::string> read() {
    for (;;) {
      if (std::optional<std::string> text = read_text()) return text;
      if (!reader_.interrupted()) return std::nullopt;
    }
  }
  std::optional<std::string> read_text() {
    constexpr std::string_view kQuotes = R"(""")";
    std::optional<std::string> line = reader_.read("> ");
    if (!line) return std::nullopt;
    std::string text = *line;
    if (text.starts_with(kQuotes)) {
      text.erase(0, kQuotes.size());
      while (!text.ends_with(kQuotes)) {
        line = reader_.read(". ");
        if (!line) return std::nullopt;
        text += "\n" + *line;
      }
      text.resize(text.size() - kQuotes.size());
      return text;
    }
    while (text.ends_with('\\')) {
      line = reader_.read(". ");
      if (!line) return std::nullopt;
      text.back() = '\n';
      text += *line;
    }
    return text;
  }

  /// To the last message. `before` is what the conversation is where there is none.
  void answer(json::array before) {
    std::vector<text::TokenId> prompt;
    llm::Generation g;
    try {
      prompt = llm::encode_messages(model_.checkpoint(), messages_, local_time());
      llm::GenerateOptions options = options_;
      options.sampling.seed += answers_;  // another stream for each
      const Interruption interruption;
      options.cancel = interruption.token();
      g = llm::generate(context_, prompt, options, [&](std::string_view text) {
        std::cout << (to_terminal_ ? plain(text, true) : text) << std::flush;
      });
    } catch (...) {
      messages_ = std::move(before);
      throw;
    }
    ++answers_;
    std::cout << "\n" << std::flush;
    if (g.finish_reason == llm::FinishReason::cancelled && g.text.empty()) {
      // A model that finds an empty answer of its own gives more of them.
      messages_ = std::move(before);
      fmt::print(stderr, "there is no answer: the conversation is what it was before\n");
    } else {
      messages_.push_back(json::object{{"role", "assistant"}, {"content", g.text}});
    }
    report(std::ssize(prompt), g);
  }

  void report(std::int64_t prompt, const llm::Generation& g) {
    if (timings_) {
      const std::string rate = speed(std::ssize(g.ids) - 1, g.decode_seconds);
      fmt::print(
          stderr, "{}[{} tokens{}; prompt of {} tokens, {} of them kept; context {} of {}{}]{}\n",
          reader_.interactive() ? "\x1b[2m" : "", g.ids.size(), rate.empty() ? "" : ", " + rate,
          prompt, g.reused, prompt + std::ssize(g.ids), model_.engine->context(),
          g.finish_reason == llm::FinishReason::end_token
              ? ""
              : fmt::format("; ended by {}", llm::name(g.finish_reason)),
          reader_.interactive() ? "\x1b[0m" : "");
    }
    if (g.finish_reason == llm::FinishReason::context) {
      fmt::print(stderr, "the context is full: /save keeps the conversation, /reset begins anew\n");
    }
  }

  /// False where it ends the conversation.
  bool command(const std::string& line) {
    const std::size_t space = std::min(line.find_first_of(" \n"), line.size());
    const std::string name = line.substr(0, space);
    const std::size_t begin = line.find_first_not_of(" \n", space);
    const std::string argument = begin == std::string::npos ? "" : line.substr(begin);
    if (name == "/quit") return false;
    if (name == "/help") {
      std::cout << kHelp << std::flush;
    } else if (name == "/system") {
      set_system(argument);
    } else if (name == "/set") {
      set(argument);
    } else if (name == "/reset") {
      const bool system = has_system();
      messages_.resize(system ? 1 : 0);
    } else if (name == "/retry") {
      if (messages_.empty() || !is_of(messages_.back(), "assistant")) {
        refuse("there is no answer yet", "write a message first");
      }
      json::array before = messages_;
      messages_.pop_back();
      answer(std::move(before));
    } else if (name == "/save") {
      const std::string text = json::serialize(messages_) + "\n";
      write_files("tlaloc", {{argument, std::as_bytes(std::span(text))}});
    } else if (name == "/load") {
      messages_ = read_messages(argument);
    } else {
      refuse("there is no command '" + plain(name) + "'",
             "/help lists them; begin a message with a space to send it as it is");
    }
    return true;
  }

  static bool is_of(const json::value& message, std::string_view who) {
    const json::value* role = message.get_object().if_contains("role");
    return role != nullptr && *role == json::string_view(who);
  }
  bool has_system() const { return !messages_.empty() && is_of(messages_.front(), "system"); }
  void set_system(const std::string& text) {
    if (has_system()) messages_.erase(messages_.begin());
    if (text.empty()) return;
    messages_.insert(messages_.begin(), json::object{{"role", "system"}, {"content", text}});
  }

  void set(const std::string& argument) {
    llm::GenerateOptions changed = options_;
    llm::SamplingOptions& s = changed.sampling;
    const std::array<std::pair<const char*, double*>, 7> numbers{
        {{"temperature", &s.temperature},
         {"top_p", &s.top_p},
         {"min_p", &s.min_p},
         {"typical_p", &s.typical_p},
         {"repetition_penalty", &s.repetition_penalty},
         {"presence_penalty", &s.presence_penalty},
         {"frequency_penalty", &s.frequency_penalty}}};
    const std::array<std::pair<const char*, std::int64_t*>, 2> integers{
        {{"top_k", &s.top_k}, {"max_tokens", &changed.max_tokens}}};
    if (argument.empty()) {
      for (const auto& [name, value] : numbers) fmt::print("{} {}\n", name, *value);
      for (const auto& [name, value] : integers) fmt::print("{} {}\n", name, *value);
      fmt::print("seed {}\n", s.seed);
      return;
    }
    const std::size_t space = std::min(argument.find(' '), argument.size());
    std::string name = argument.substr(0, space);
    std::replace(name.begin(), name.end(), '-', '_');
    const std::string text = argument.substr(std::min(space + 1, argument.size()));
    bool known = false;
    for (const auto& [known_name, value] : numbers) {
      if (name != known_name) continue;
      known = true;
      *value = number_of<double>(name, text);
    }
    for (const auto& [known_name, value] : integers) {
      if (name != known_name) continue;
      known = true;
      *value = number_of<std::int64_t>(name, text);
    }
    if (name == "seed") {
      known = true;
      s.seed = number_of<std::uint64_t>(name, text);
      answers_ = 0;
    }
    if (!known) refuse("there is no setting '" + plain(name) + "'", "/set lists them");
    if (changed.max_tokens < 0) refuse("max_tokens is negative", "give 0 for as many as fit");
    llm::Sampler{changed.sampling};  // refuses what is out of its range
    options_ = std::move(changed);
  }

  LineReader reader_;
  json::array messages_;
  LanguageModel model_;
  llm::Context context_;
  llm::GenerateOptions options_;
  bool timings_;
  const bool to_terminal_ = isatty(STDOUT_FILENO) == 1;
  std::uint64_t answers_ = 0;
  std::string name_;
};

}  // namespace

void add_options(CLI::App& app, ChatArguments& a) {
  add_options(app, a.model);
  app.add_option("--system", a.system, "what the model is told before all messages");
  app.add_option("--messages", a.messages,
                 "a conversation to go on with: JSON, or a file that /save wrote");
  add_options(app, a.answer);
  app.add_flag("--timings", a.timings,
               "say on stderr how fast each answer was, as on a terminal in any case");
}

void chat(const ChatArguments& a) { Chat(a).run(); }

}  // namespace tlaloc::command
