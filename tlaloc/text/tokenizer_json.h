// Tokenizers from tokenizer.json, the format of the package tokenizers.
#pragma once

#include <string>
#include <string_view>

#include "tlaloc/text/tokenizer.h"

namespace tlaloc::text {

/// The parts that the text of a tokenizer.json describes; `name` is the file's in messages.
/// UserError TL-TOKENIZER-001 for what is malformed, TL-TOKENIZER-002 for a component or field that
/// is not supported, with its path.
Pipeline parse_tokenizer(std::string_view json, const std::string& name);

/// The tokenizer of a file, or of the tokenizer.json in a folder. EnvironmentError TL-FILE-001.
Tokenizer load_tokenizer(const std::string& path);

}  // namespace tlaloc::text
