// Text and messages as the tokens that a model is given.
#pragma once

#include <boost/json/array.hpp>
#include <ctime>
#include <optional>
#include <string_view>
#include <vector>

#include "tlaloc/llm/checkpoint.h"

namespace tlaloc::llm {

/// The text as it is, with what the tokenizer adds around one. UserError TL-GENERATE-002 for a
/// checkpoint without a tokenizer; the reason of one that can't be used.
std::vector<text::TokenId> encode_text(const Checkpoint& checkpoint, std::string_view text);

/// The messages by the checkpoint's chat template, up to where an answer begins: what transformers'
/// apply_chat_template makes of them with add_generation_prompt. Special tokens that are written in
/// a message are those tokens, as they are there. `now` is what the template says of time.
/// UserErrors as of encode_text, for templates too; what the template refuses is TL-TEMPLATE-002 to
/// 004.
std::vector<text::TokenId> encode_messages(const Checkpoint& checkpoint,
                                           const boost::json::array& messages,
                                           std::optional<std::tm> now = {});

}  // namespace tlaloc::llm
