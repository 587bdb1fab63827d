#include "tlaloc/llm/prompt.h"

#include "tlaloc/base/error.h"

namespace tlaloc::llm {
namespace {

const text::Tokenizer& tokenizer_of(const Checkpoint& c) {
  if (c.tokenizer) return *c.tokenizer;
  if (c.tokenizer_error) throw *c.tokenizer_error;
  throw UserError({"TL-GENERATE-002",
                   "generate",
                   c.path + " has no tokenizer",
                   "put the model's tokenizer.json beside its weights",
                   {}});
}

}  // namespace

std::vector<text::TokenId> encode_text(const Checkpoint& checkpoint, std::string_view text) {
  return tokenizer_of(checkpoint).encode(text).ids;
}

std::vector<text::TokenId> encode_messages(const Checkpoint& checkpoint,
                                           const boost::json::array& messages,
                                           std::optional<std::tm> now) {
  const text::Tokenizer& tokenizer = tokenizer_of(checkpoint);
  if (checkpoint.chat_template_error) throw *checkpoint.chat_template_error;
  if (!checkpoint.chat_template) {
    throw UserError({"TL-GENERATE-002",
                     "generate",
                     checkpoint.path + " has no chat template, so it takes no messages",
                     "give it text to go on with, or a model that was trained to chat",
                     {}});
  }
  boost::json::object variables = checkpoint.template_variables;
  // As transformers has them where there are none: templates ask whether they are None.
  variables.insert({{"tools", nullptr}, {"documents", nullptr}});
  variables["messages"] = messages;
  variables["add_generation_prompt"] = true;
  const text::Rendered rendered = checkpoint.chat_template->render(variables, {}, now);
  return tokenizer.encode(rendered.text, {.add_special_tokens = false}).ids;
}

}  // namespace tlaloc::llm
