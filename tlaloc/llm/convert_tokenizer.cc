// Byte-level BPE tokenizers as GGUF and as transformers write them: GGUF names the way in which
// words are split, tokenizer.json spells it out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/text/word_scanner.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
using text::TokenId;

// Kinds of tokens in tokenizer.ggml.token_type.
constexpr std::int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5;

struct Splitting {
  const char* name;
  bool digits;  ///< each digit is a word
  text::WordPattern words;
  bool nfc, ignore_merges;
};
constexpr std::array<Splitting, 4> kSplittings{
    {{"smollm", true, text::WordPattern::kGpt2, false, false},
     {"gpt-2", false, text::WordPattern::kGpt2, false, false},
     {"llama-bpe", false, text::WordPattern::kLlama3, false, true},
     {"qwen2", false, text::WordPattern::kQwen2, true, false}}};

json::object byte_level(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

json::object pre_tokenizer(const Splitting& s) {
  json::array list;
  if (s.digits) list.push_back(json::object{{"type", "Digits"}, {"individual_digits", true}});
  // The pattern of GPT-2 is the one that ByteLevel has.
  const bool gpt2 = s.words == text::WordPattern::kGpt2;
  if (!gpt2) {
    const std::string_view pattern = text::word_pattern_text(s.words);
    list.push_back(json::object{{"type", "Split"},
                                {"pattern", json::object{{"Regex", pattern}}},
                                {"behavior", "Isolated"},
                                {"invert", false}});
  }
  list.push_back(byte_level(gpt2));
  if (list.size() == 1) return list[0].get_object();
  return {{"type", "Sequence"}, {"pretokenizers", std::move(list)}};
}

/// What of a pre-tokenizer decides words; fields that concern offsets are left out.
std::string words_of(const json::value& v) {
  const json::object* o = v.if_object();
  if (o == nullptr) return json::serialize(v);
  if (const json::value* list = o->if_contains("pretokenizers")) {
    std::string all;
    for (const json::value& part : list->as_array()) all += words_of(part);
    return all;
  }
  json::object kept;
  for (const auto& [key, value] : *o) {
    if (key != "trim_offsets") kept[key] = value;
  }
  return json::serialize(kept);
}

const Splitting* splitting_of(const json::object& tokenizer) {
  auto null_or = [&](const char* key) {
    const json::value* v = tokenizer.if_contains(key);
    return v == nullptr ? json::value() : *v;
  };
  const json::value normalizer = null_or("normalizer");
  const json::value* merges = tokenizer.at("model").get_object().if_contains("ignore_merges");
  const bool ignore_merges = merges != nullptr && merges->is_bool() && merges->get_bool();
  for (const Splitting& s : kSplittings) {
    const json::value nfc = s.nfc ? json::value(json::object{{"type", "NFC"}}) : json::value();
    if (words_of(null_or("pre_tokenizer")) == words_of(pre_tokenizer(s)) && normalizer == nfc &&
        ignore_merges == s.ignore_merges) {
      return &s;
    }
  }
  return nullptr;
}

json::object piece(const char* kind, std::string_view id, int type) {
  return {{kind, json::object{{"id", id}, {"type_id", type}}}};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> tokenizer_files(const io::GgufMetadata& m) {
  const text::Tokenizer tokenizer = tokenizer_of(m);  // refuses what is not known
  auto list = [&]<class T>(const char* key, const std::vector<T>*& elements) {
    const io::GgufArray* a = m.list(std::string("tokenizer.ggml.") + key);
    elements = a == nullptr ? nullptr : std::get_if<std::vector<T>>(&a->elements);
  };
  const std::vector<std::string>*tokens = nullptr, *merges = nullptr;
  const std::vector<std::int32_t>* types = nullptr;
  list("tokens", tokens);
  list("merges", merges);
  list("token_type", types);
  if (tokens == nullptr) refuse_to_convert("tokenizer.ggml.tokens is empty", "get the model anew");
  if (const std::string& model = *m.text("tokenizer.ggml.model"); model != "gpt2") {
    refuse_to_convert("tokenizer.ggml.model is '" + model + "'",
                      "take the tokenizer.json of the model's makers");
  }
  const std::string& pre = *m.text("tokenizer.ggml.pre");
  const auto split = std::find_if(kSplittings.begin(), kSplittings.end(), [&](const Splitting& s) {
    return s.name == (pre == "llama3" ? "llama-bpe" : pre);
  });
  if (split == kSplittings.end()) {
    refuse_to_convert("tokenizer.ggml.pre is '" + pre + "'",
                      "take the tokenizer.json of the model's makers");
  }

  json::object vocab;
  json::array added, pairs;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const std::string& token = (*tokens)[i];
    vocab[token] = i;
    const std::int32_t type = types == nullptr ? kNormal : (*types)[i];
    if (type != kUnknown && type != kControl && type != kUserDefined) continue;
    added.push_back(json::object{{"id", i},
                                 {"content", token},
                                 {"single_word", false},
                                 {"lstrip", false},
                                 {"rstrip", false},
                                 {"normalized", false},
                                 {"special", type != kUserDefined}});
  }
  if (merges != nullptr) {
    for (const std::string& merge : *merges) {
      const std::size_t space = merge.find(' ', 1);
      pairs.push_back(json::array{merge.substr(0, space), merge.substr(space + 1)});
    }
  }
  json::value post;
  json::object config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                      {"clean_up_tokenization_spaces", false}};
  json::object generation;
  for (const auto& [key, name] : {std::pair("bos", "bos"), std::pair("eos", "eos"),
                                  std::pair("unknown", "unk"), std::pair("padding", "pad")}) {
    const std::optional<TokenId> id = token_id_of(m, std::string(key) + "_token_id");
    if (!id || !tokenizer.is_token(*id)) continue;
    config[std::string(name) + "_token"] = tokenizer.token(*id);
    if (name != std::string_view("unk")) generation[std::string(name) + "_token_id"] = *id;
  }
  // An answer may end with other tokens too.
  const std::vector<TokenId> ends = end_tokens_of(m);
  if (ends.size() > 1) generation["eos_token_id"] = json::array(ends.begin(), ends.end());
  // Where a file doesn't say, Llama 3's have it.
  const bool bos = m.boolean("tokenizer.ggml.add_bos_token")
                       .value_or(split->ignore_merges && config.contains("bos_token"));
  const bool eos = m.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  if (bos || eos) {
    json::array single, pair;
    json::object special;
    auto token = [&](const char* name, int type) {
      const std::string text(config.at(std::string(name) + "_token").get_string());
      const TokenId id = tokenizer.find(text);
      special[text] = {{"id", text}, {"ids", json::array{id}}, {"tokens", json::array{text}}};
      return piece("SpecialToken", text, type);
    };
    for (const auto& [sequence, type] : {std::pair("A", 0), std::pair("B", 1)}) {
      if (bos) pair.push_back(token("bos", type));
      pair.push_back(piece("Sequence", sequence, type));
      if (eos) pair.push_back(token("eos", type));
      if (type == 0) single = pair;
    }
    post = json::object{{"type", "TemplateProcessing"},
                        {"single", single},
                        {"pair", pair},
                        {"special_tokens", special}};
  }
  const json::object file{
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", split->nfc ? json::value(json::object{{"type", "NFC"}}) : json::value()},
      {"pre_tokenizer", pre_tokenizer(*split)},
      {"post_processor", post},
      {"decoder", byte_level(true)},
      {"model", json::object{{"type", "BPE"},
                             {"dropout", nullptr},
                             {"unk_token", nullptr},
                             {"continuing_subword_prefix", nullptr},
                             {"end_of_word_suffix", nullptr},
                             {"fuse_unk", false},
                             {"byte_fallback", false},
                             {"ignore_merges", split->ignore_merges},
                             {"vocab", std::move(vocab)},
                             {"merges", std::move(pairs)}}}};
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back("tokenizer.json", json::serialize(file));
  files.emplace_back("tokenizer_config.json", json::serialize(config));
  if (!generation.empty())
    files.emplace_back("generation_config.json", json::serialize(generation));
  if (const std::string* text = m.text("tokenizer.chat_template")) {
    files.emplace_back("chat_template.jinja", *text);
  }
  return files;
}

void add_tokenizer(const json::object& tokenizer, const std::string& name, std::int64_t vocabulary,
                   io::GgufMetadata& m) {
  const json::object& model = tokenizer.at("model").get_object();
  const json::value* type = model.if_contains("type");
  const Splitting* split = type != nullptr && *type == "BPE" ? splitting_of(tokenizer) : nullptr;
  if (split == nullptr) {
    refuse_to_convert(name + " splits words in a way that GGUF has no name for",
                      "the known ones are those of SmolLM, GPT-2, Llama 3 and Qwen 2");
  }
  std::vector<std::string> tokens(static_cast<std::size_t>(vocabulary));
  std::vector<std::int32_t> types(tokens.size(), kUnused);
  auto set = [&](std::int64_t id, std::string_view token, std::int32_t kind) {
    if (id < 0 || id >= vocabulary) {
      refuse_to_convert(fmt::format("{} has token {}, and the model {}", name, id, vocabulary),
                        "take the tokenizer that belongs to the model");
    }
    tokens[static_cast<std::size_t>(id)] = token;
    types[static_cast<std::size_t>(id)] = kind;
  };
  for (const auto& [token, id] : model.at("vocab").get_object()) {
    set(id.to_number<std::int64_t>(), token, kNormal);
  }
  if (const json::value* added = tokenizer.if_contains("added_tokens")) {
    for (const json::value& v : added->get_array()) {
      set(v.at("id").to_number<std::int64_t>(), v.at("content").get_string(),
          v.at("special").get_bool() ? kControl : kUserDefined);
    }
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (types[i] == kUnused) tokens[i] = fmt::format("[PAD{}]", i);  // as llama.cpp names them
  }
  std::vector<std::string> merges;
  for (const json::value& v : model.at("merges").get_array()) {
    const json::array* pair = v.if_array();
    merges.push_back(pair == nullptr ? std::string(v.get_string())
                                     : std::string(pair->at(0).get_string()) + " " +
                                           std::string(pair->at(1).get_string()));
  }
  m.set("tokenizer.ggml.model", std::string("gpt2"));
  m.set("tokenizer.ggml.pre", std::string(split->name));
  m.set("tokenizer.ggml.tokens", io::GgufArray{std::move(tokens)});
  m.set("tokenizer.ggml.token_type", io::GgufArray{std::move(types)});
  m.set("tokenizer.ggml.merges", io::GgufArray{std::move(merges)});
}

}  // namespace tlaloc::llm
