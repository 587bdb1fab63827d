// How tokenizers of byte-level BPE split words: GGUF has names for it, tokenizer.json spells it
// out.
#include <algorithm>
#include <boost/json/array.hpp>

#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/text/word_scanner.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;

const std::string_view kGpt2 = text::word_pattern_text(text::WordPattern::kGpt2);

/// Appends what a component splits by. False where it does something else.
bool add_patterns(const json::value& component, std::vector<std::string>& patterns, bool& bytes) {
  const json::object* o = component.if_object();
  if (o == nullptr || bytes) return false;  // nothing follows what makes characters of bytes
  if (says(*o, "type", "Sequence")) {
    return std::ranges::all_of(o->at("pretokenizers").as_array(), [&](const json::value& part) {
      return add_patterns(part, patterns, bytes);
    });
  }
  if (says(*o, "type", "Digits") && says(*o, "individual_digits", true)) {
    patterns.emplace_back(text::kOneNumber);
    return true;
  }
  if (says(*o, "type", "ByteLevel") && says(*o, "add_prefix_space", false)) {
    bytes = true;
    if (!says(*o, "use_regex", false)) patterns.emplace_back(kGpt2);
    return true;
  }
  if (!says(*o, "type", "Split")) return false;
  const json::value* regex = o->at("pattern").as_object().if_contains("Regex");
  if (regex == nullptr) return false;
  patterns.emplace_back(regex->as_string());
  if (says(*o, "behavior", "Isolated")) return !says(*o, "invert", true);
  // What lies between matches is removed: nothing, where all of a text matches.
  return says(*o, "behavior", "Removed") && says(*o, "invert", true) &&
         text::word_pattern(patterns.back()) != text::WordPattern::kNone;
}

}  // namespace

bool says(const json::object& o, const char* key, const json::value& value) {
  const json::value* v = o.if_contains(key);
  return v != nullptr && *v == value;
}

json::object byte_level_component(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

json::value words_pre_tokenizer(std::vector<std::string> patterns) {
  // The pattern of GPT-2 is the one that ByteLevel has.
  const bool gpt2 = !patterns.empty() && patterns.back() == kGpt2;
  if (gpt2) patterns.pop_back();
  json::array list;
  for (const std::string& pattern : patterns) {
    if (pattern == text::kOneNumber) {
      list.push_back(json::object{{"type", "Digits"}, {"individual_digits", true}});
      continue;
    }
    list.push_back(json::object{{"type", "Split"},
                                {"pattern", json::object{{"Regex", pattern}}},
                                {"behavior", "Isolated"},
                                {"invert", false}});
  }
  list.push_back(byte_level_component(gpt2));
  if (list.size() == 1) return list[0];
  return {{"type", "Sequence"}, {"pretokenizers", std::move(list)}};
}

const text::GgufWords* words_of_tokenizer(const json::object& tokenizer) {
  auto member = [&](const char* key) {
    const json::value* v = tokenizer.if_contains(key);
    return v == nullptr ? json::value() : *v;
  };
  std::vector<std::string> patterns;
  bool bytes = false;
  if (!add_patterns(member("pre_tokenizer"), patterns, bytes) || !bytes) return nullptr;
  const json::value normalizer = member("normalizer");
  const bool nfc = normalizer == json::value(json::object{{"type", "NFC"}});
  if (!nfc && !normalizer.is_null()) return nullptr;
  return text::gguf_words_of(patterns, nfc,
                             says(tokenizer.at("model").get_object(), "ignore_merges", true));
}

}  // namespace tlaloc::llm
