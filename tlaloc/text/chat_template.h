// Chat templates: messages to the text that a model was trained with.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/text/aligned_text.h"

namespace tlaloc::text {

struct RenderLimits {
  std::size_t steps = 10'000'000;               ///< statements and operations
  std::size_t output = std::size_t{64} << 20;   ///< bytes
  std::size_t memory = std::size_t{256} << 20;  ///< bytes of values made meanwhile
};

struct Rendered {
  std::string text;
  std::vector<Range> generations;  ///< what stands in {% generation %} blocks
};

/// A template in the part of Jinja that chat templates are written in, rendered as transformers'
/// apply_chat_template does.
class ChatTemplate {
 public:
  /// UserError TL-TEMPLATE-001 with line and column; `name` is the file's.
  ChatTemplate(std::string_view source, std::string name);

  /// `variables` are such as messages, tools, add_generation_prompt, bos_token. `now` is what
  /// strftime_now says. UserError TL-TEMPLATE-002 for what can't be done with the values,
  /// TL-TEMPLATE-003 beyond the limits, TL-TEMPLATE-004 for what the template itself refuses
  /// (raise_exception).
  Rendered render(const boost::json::object& variables, const RenderLimits& limits = {},
                  std::optional<std::tm> now = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace tlaloc::text
