// The components of a tokenizer.json.
#pragma once

#include <fmt/format.h>

#include <boost/json/value.hpp>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/text/fields.h"
#include "tlaloc/text/pipeline.h"

namespace tlaloc::text {

/// The value that a field's text names. TL-TOKENIZER-002 for another text.
template <class T>
T choose(Fields& f, std::string_view name,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
  const std::string text = f.text(name);
  std::string known;
  for (const auto& [choice, value] : choices) {
    if (text == choice) return value;
    known += (known.empty() ? "" : ", ") + std::string(choice);
  }
  throw_unsupported(f.path(name), fmt::format("'{}'", text), "supported: " + known);
}

NormalizerPtr read_normalizer(const boost::json::value& value, const std::string& path);
/// Appends the steps. True where the last one makes characters of bytes.
bool read_pre_tokenizer(const boost::json::value& value, const std::string& path,
                        std::vector<PreTokenizerPtr>& steps);
PostProcessor read_post_processor(const boost::json::value& value, const std::string& path);
DecoderPtr read_decoder(const boost::json::value& value, const std::string& path);

/// The elements of a list.
const boost::json::array& list_of(Fields& f, std::string_view name);
/// The expression of {"String": …} or {"Regex": …}.
std::string read_pattern(Fields& f, std::string_view name);
[[noreturn]] void throw_unknown_type(const Fields& f, const std::string& what,
                                     const std::string& type);

}  // namespace tlaloc::text
