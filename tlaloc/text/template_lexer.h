// Templates as tokens: text between tags, and what stands in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/base/error.h"

namespace tlaloc::text {

struct TemplateToken {
  enum Kind {
    kText,
    kBlockBegin,
    kBlockEnd,
    kPrintBegin,
    kPrintEnd,
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,
    kEnd
  } kind;
  std::string text;  // of strings without quotes and escapes; of numbers without underscores
  int line = 1, column = 1;
  bool is(Kind k, std::string_view s) const { return kind == k && text == s; }
};

/// UserError TL-TEMPLATE-001 with the place. Newlines, trim_blocks and lstrip_blocks are as
/// transformers sets jinja2 up.
std::vector<TemplateToken> tokenize_template(std::string_view source, const std::string& name);

[[noreturn]] void throw_template_syntax(const std::string& name, int line, int column,
                                        const std::string& message);

/// What Python's str.isspace says.
bool is_python_space(char32_t c);

}  // namespace tlaloc::text
