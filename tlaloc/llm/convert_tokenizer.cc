// Tokenizers as GGUF and as transformers write them. For byte-level BPE, GGUF names the way in
// which words are split, and tokenizer.json spells it out; convert_sentencepiece.cc has those with
// scores.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "tlaloc/base/json.h"
#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/llm/gguf_keys.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/text/gguf_words.h"
#include "tlaloc/text/tokenizer_json.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
using text::TokenId;

/// Tokens with a part to play: what keys of GGUF call them, and names of transformers.
struct Role {
  const char *gguf, *config;
  bool of_generation;
};
constexpr Role kRoles[] = {{"bos", "bos", true},
                           {"eos", "eos", true},
                           {"unknown", "unk", false},
                           {"padding", "pad", true}};

std::string role_key(const Role& r) { return std::string(r.gguf) + "_token_id"; }
std::string full_key(const std::string& key) { return "tokenizer.ggml." + key; }

json::object piece(const char* kind, std::string_view id, int type) {
  return {{kind, json::object{{"id", id}, {"type_id", type}}}};
}

/// What stands before and behind a text.
struct Ends {
  std::vector<TokenId> before, behind;
};
Ends ends_of(const text::PostProcessor& p) {
  Ends ends;
  bool first = false;
  for (const text::PostProcessor::Piece& part : p.single) {
    if (part.kind != text::PostProcessor::Piece::kSpecial) {
      first = true;
      continue;
    }
    std::vector<TokenId>& side = first ? ends.behind : ends.before;
    side.insert(side.end(), part.ids.begin(), part.ids.end());
  }
  return ends;
}

json::value post_processor(const Ends& ends, const text::Tokenizer& tokenizer) {
  if (ends.before.empty() && ends.behind.empty()) return nullptr;
  json::array single, pair;
  json::object special;
  auto add = [&](const std::vector<TokenId>& ids, int type) {
    for (const TokenId id : ids) {
      const std::string text(tokenizer.token(id));
      special[text] = {{"id", text}, {"ids", json::array{id}}, {"tokens", json::array{text}}};
      pair.push_back(piece("SpecialToken", text, type));
    }
  };
  for (const auto& [sequence, type] : {std::pair("A", 0), std::pair("B", 1)}) {
    add(ends.before, type);
    pair.push_back(piece("Sequence", sequence, type));
    add(ends.behind, type);
    if (type == 0) single = pair;
  }
  return json::object{{"type", "TemplateProcessing"},
                      {"single", single},
                      {"pair", pair},
                      {"special_tokens", special}};
}

json::array added_tokens(const std::vector<text::AddedToken>& tokens) {
  json::array list;
  for (const text::AddedToken& t : tokens) {
    list.push_back(json::object{{"id", t.id},
                                {"content", t.content},
                                {"single_word", t.single_word},
                                {"lstrip", t.lstrip},
                                {"rstrip", t.rstrip},
                                {"normalized", t.normalized},
                                {"special", t.special}});
  }
  return list;
}

json::object generation_of(const io::GgufMetadata& m, const text::Tokenizer& tokenizer) {
  json::object generation;
  for (const Role& r : kRoles) {
    const std::optional<TokenId> id = token_id_of(m, role_key(r));
    if (!r.of_generation || !id || !tokenizer.is_token(*id)) continue;
    generation[std::string(r.config) + "_token_id"] = *id;
  }
  // An answer may end with other tokens too.
  const std::vector<TokenId> ends = end_tokens_of(m);
  if (ends.size() > 1) generation["eos_token_id"] = json::array(ends.begin(), ends.end());
  bool samples = false;
  for (const GgufSamplingKey& key : kGgufSampling) {
    const std::optional<double> x = meant_number(m, key.gguf);
    if (!x) continue;
    generation[key.config] = *x;
    samples |= key.value != &GenerationDefaults::repetition_penalty;
  }
  if (const std::optional<std::int64_t> k = m.integer(kGgufTopK)) {
    generation["top_k"] = *k;
    samples = true;
  }
  if (samples) generation["do_sample"] = true;
  return generation;
}

/// Pairs, which older files write with a space between.
ListedMerges merges_of(const json::object& model) {
  ListedMerges merges;
  for (const json::value& v : model.at("merges").get_array()) {
    if (const json::array* pair = v.if_array()) {
      merges.emplace_back(pair->at(0).get_string(), pair->at(1).get_string());
      continue;
    }
    const std::string both(v.get_string());
    const std::size_t space = both.find(' ', 1);
    merges.emplace_back(both.substr(0, space), both.substr(space + 1));
  }
  return merges;
}

/// The metadata of a tokenizer.json.
class Writer {
 public:
  Writer(const Checkpoint& c, const std::string& text, const std::string& name, io::GgufMetadata& m)
      : checkpoint_(c), name_(name), m_(m), pipeline_(text::parse_tokenizer(text, name)) {
    file_ = parse_json(text, name).get_object();
  }

  void write() {
    if (pipeline_.truncation || pipeline_.padding) {
      refuse_to_convert(name_ + " cuts or fills up texts, which GGUF can't say",
                        "set truncation and padding to null there");
    }
    const json::object& model = file_.at("model").get_object();
    const json::value* type = model.if_contains("type");
    const text::GgufWords* words = nullptr;
    std::optional<bool> space_before;
    if (type != nullptr && *type == "BPE") {
      words = words_of_tokenizer(file_);
      // A character without a token is one unknown token, unless its bytes are tokens.
      const bool unknown = says(model, "fuse_unk", true) || says(model, "byte_fallback", true);
      if (words == nullptr && unknown) space_before = has_scored_shape(file_);
    }
    const bool affixes =
        !is_empty(model, "continuing_subword_prefix") || !is_empty(model, "end_of_word_suffix");
    if ((words == nullptr && !space_before) || affixes) {
      refuse_to_convert(name_ + " splits words in a way that GGUF has no name for",
                        "known are those of SentencePiece's BPE models, and of byte-level BPE: " +
                            text::gguf_words_names());
    }
    set_tokens(model, space_before.has_value());
    if (words != nullptr) {
      std::vector<std::string> merges;
      for (const auto& [left, right] : merges_of(model)) merges.push_back(left + " " + right);
      set("pre", words->names.front());
      set("merges", io::GgufArray{std::move(merges)});
    } else {
      set("add_space_prefix", *space_before);
      text::GgufVocabulary v = gguf_vocabulary_of(m_);
      set("scores", io::GgufArray{scores_of(merges_of(model), v, name_)});
    }
    set_roles(model);
    set_ends();
    set_generation();
    check_added_tokens();
  }

 private:
  void set(const std::string& key, io::GgufValue value) { m_.set(full_key(key), std::move(value)); }
  static bool is_empty(const json::object& o, const char* key) {
    const json::value* v = o.if_contains(key);
    return v == nullptr || v->is_null() || *v == "";
  }

  void set_tokens(const json::object& model, bool scored) {
    const std::int64_t count = checkpoint_.decoder.spec.vocabulary;
    std::vector<std::string> tokens(static_cast<std::size_t>(count));
    std::vector<std::int32_t> types(tokens.size(), text::kGgufUnused);
    auto put = [&](std::int64_t id, std::string_view token, std::int32_t kind) {
      if (id < 0 || id >= count) {
        refuse_to_convert(fmt::format("{} has token {}, and the model {}", name_, id, count),
                          "take the tokenizer that belongs to the model");
      }
      tokens[static_cast<std::size_t>(id)] = token;
      types[static_cast<std::size_t>(id)] = kind;
    };
    const json::value* unknown = model.if_contains("unk_token");
    const bool bytes = scored && says(model, "byte_fallback", true);
    for (const auto& [token, id] : model.at("vocab").get_object()) {
      const bool byte = bytes && token.size() == 6 && token.starts_with("<0x");
      put(id.to_number<std::int64_t>(), token, byte ? text::kGgufByte : text::kGgufNormal);
    }
    for (const text::AddedToken& t : pipeline_.added_tokens) {
      const bool no_text = scored && unknown != nullptr && *unknown == json::string(t.content);
      put(t.id, t.content,
          no_text     ? text::kGgufUnknown
          : t.special ? text::kGgufControl
                      : text::kGgufUserDefined);
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      // As llama.cpp names them.
      if (types[i] == text::kGgufUnused) tokens[i] = fmt::format("[PAD{}]", i);
    }
    set("model", std::string(scored ? "llama" : "gpt2"));
    set("tokens", io::GgufArray{std::move(tokens)});
    set("token_type", io::GgufArray{std::move(types)});
  }

  void set_role(const Role& r, TokenId id) { set(role_key(r), static_cast<std::uint32_t>(id)); }

  void set_roles(const json::object& model) {
    const text::Tokenizer& tokenizer = *checkpoint_.tokenizer;
    for (const Role& r : kRoles) {
      const json::value* text =
          checkpoint_.template_variables.if_contains(std::string(r.config) + "_token");
      if (text == nullptr && std::string_view(r.config) == "unk") {
        text = model.if_contains("unk_token");
      }
      if (text == nullptr || !text->is_string()) continue;
      const TokenId id = tokenizer.find(text->get_string());
      if (id >= 0) set_role(r, id);
    }
  }

  void set_ends() {
    const Ends ends = ends_of(pipeline_.post_processor);
    auto add = [&](const std::vector<TokenId>& ids, const Role& r) {
      const std::optional<TokenId> known = token_id_of(m_, role_key(r));
      if (ids.size() == 1 && !known) set_role(r, ids[0]);
      if (ids.size() > 1 || (ids.size() == 1 && known.value_or(ids[0]) != ids[0])) {
        refuse_to_convert(name_ + " adds other tokens around a text than GGUF can say",
                          "one at the beginning and one at the end is what it has");
      }
      set(fmt::format("add_{}_token", r.gguf), ids.size() == 1);
    };
    add(ends.before, kRoles[0]);
    add(ends.behind, kRoles[1]);
  }

  void set_generation() {
    const GenerationDefaults& g = checkpoint_.generation;
    for (const GgufSamplingKey& key : kGgufSampling) {
      if (g.*key.value) m_.set(key.gguf, static_cast<float>(*(g.*key.value)));
    }
    if (g.top_k) m_.set(kGgufTopK, static_cast<std::int32_t>(*g.top_k));
    // Each further token that ends answers has a key of its own.
    std::vector<TokenId> further = g.end_tokens;
    if (const std::optional<TokenId> eos = token_id_of(m_, role_key(kRoles[1]))) {
      std::erase(further, *eos);
    } else if (!further.empty()) {
      set_role(kRoles[1], further.front());
      further.erase(further.begin());
    }
    constexpr const char* kKeys[] = {"eot_token_id", "eom_token_id"};
    if (further.size() > std::size(kKeys)) {
      refuse_to_convert(fmt::format("{} tokens end answers, and GGUF names 3", g.end_tokens.size()),
                        "leave some of them out of generation_config.json");
    }
    for (std::size_t i = 0; i < further.size(); ++i) {
      set(kKeys[i], static_cast<std::uint32_t>(further[i]));
    }
    // Where no key says what ends a turn, readers take tokens whose text says so.
    const std::vector<TokenId> ends = end_tokens_of(m_);
    const std::size_t named = further.size() + 1;
    if (!g.end_tokens.empty() && further.empty() && ends.size() > named) {
      set(kKeys[0], static_cast<std::uint32_t>(ends.front()));
    }
  }

  /// How texts are searched for tokens is no part of GGUF; of Phi-3 it is known by the name.
  void check_added_tokens() {
    if (std::ranges::any_of(pipeline_.added_tokens, &text::AddedToken::rstrip)) {
      const std::string* name = m_.text("general.name");
      m_.set("general.name", "Phi-3 " + (name == nullptr ? std::string() : *name));
    }
    const bool scored = *m_.text(full_key("model")) == "llama";
    std::vector<text::AddedToken> known = text::gguf_pipeline(gguf_vocabulary_of(m_)).added_tokens;
    for (const text::AddedToken& t : pipeline_.added_tokens) {
      const auto k = std::ranges::find(known, t.id, &text::AddedToken::id);
      const bool same = k != known.end() && k->special == t.special && k->lstrip == t.lstrip &&
                        k->rstrip == t.rstrip && k->single_word == t.single_word &&
                        (k->normalized == t.normalized || !scored);
      if (same) continue;
      refuse_to_convert(fmt::format("{}: the token {} is looked for in another way than GGUF can "
                                    "say (lstrip, rstrip, single_word, normalized)",
                                    name_, json_quoted(t.content)),
                        "run the model as it is");
    }
  }

  const Checkpoint& checkpoint_;
  const std::string& name_;
  io::GgufMetadata& m_;
  text::Pipeline pipeline_;
  json::object file_;
};

}  // namespace

FolderFiles tokenizer_files(const io::GgufMetadata& m) {
  const text::GgufVocabulary v = gguf_vocabulary_of(m);
  text::Pipeline pipeline = text::gguf_pipeline(v);  // refuses what is not known
  const json::array added = added_tokens(pipeline.added_tokens);
  const Ends ends = ends_of(pipeline.post_processor);
  const text::Tokenizer tokenizer(std::move(pipeline));
  const bool scored = v.model == "llama", space_before = v.add_space_prefix.value_or(true);

  json::object vocab;
  for (std::size_t i = 0; i < v.tokens.size(); ++i) vocab[v.tokens[i]] = i;
  json::array pairs;
  json::value normalizer, unknown, pre;
  bool ignore_merges = false, bytes = false;
  if (scored) {
    for (const auto& [left, right] : listed_merges(v)) pairs.push_back(json::array{left, right});
    normalizer = scored_normalizer(space_before);
    const TokenId id = v.unknown_token_id.value_or(0);
    if (tokenizer.is_token(id)) unknown = tokenizer.token(id);
    bytes = std::ranges::count(v.token_type, text::kGgufByte) > 0;
  } else {
    for (const std::string& merge : v.merges) {
      const std::size_t space = merge.find(' ', 1);
      pairs.push_back(json::array{merge.substr(0, space), merge.substr(space + 1)});
    }
    const text::GgufWords& words = *text::gguf_words(v.pre);
    pre = words_pre_tokenizer(words.patterns);
    if (words.nfc) normalizer = json::object{{"type", "NFC"}};
    ignore_merges = words.ignore_merges;
  }
  const json::object file{
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", normalizer},
      {"pre_tokenizer", pre},
      {"post_processor", post_processor(ends, tokenizer)},
      {"decoder", scored ? scored_decoder(space_before) : json::value(byte_level_component(true))},
      {"model", json::object{{"type", "BPE"},
                             {"dropout", nullptr},
                             {"unk_token", unknown},
                             {"continuing_subword_prefix", nullptr},
                             {"end_of_word_suffix", nullptr},
                             {"fuse_unk", scored},
                             {"byte_fallback", bytes},
                             {"ignore_merges", ignore_merges},
                             {"vocab", std::move(vocab)},
                             {"merges", std::move(pairs)}}}};

  json::object config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                      {"clean_up_tokenization_spaces", false}};
  for (const Role& r : kRoles) {
    const std::optional<TokenId> id = token_id_of(m, role_key(r));
    if (!id || !tokenizer.is_token(*id)) continue;
    config[std::string(r.config) + "_token"] = tokenizer.token(*id);
  }
  if (const std::string* text = m.text("tokenizer.chat_template")) {
    config["chat_template"] = *text;
  }
  FolderFiles files;
  files.emplace_back("tokenizer.json", json::serialize(file));
  files.emplace_back("tokenizer_config.json", json::serialize(config));
  const json::object generation = generation_of(m, tokenizer);
  if (!generation.empty()) {
    files.emplace_back("generation_config.json", json::serialize(generation));
  }
  return files;
}

void add_tokenizer(const Checkpoint& c, const std::string& text, const std::string& name,
                   io::GgufMetadata& m) {
  Writer(c, text, name, m).write();
}

void check_same(const text::Tokenizer& from, const text::Tokenizer& to, const std::string& name) {
  std::string probe =
      "Hello  world, it's 12345 x\u00b2\n\n\tDON'T \u0110a\u0300 \u4f60\u597d \U0001f44d.  ";
  constexpr int kMostTokens = 64;
  int tokens = 0;
  for (TokenId id = 0; id < from.bound() && tokens < kMostTokens; ++id) {
    if (!from.is_special(id)) continue;
    probe += " x ";
    probe += from.token(id);
    probe += "\n y";
    ++tokens;
  }
  const std::vector<TokenId> ids = from.encode(probe).ids;
  if (ids == to.encode(probe).ids && from.decode(ids) == to.decode(ids)) return;
  refuse_to_convert("the tokenizer of " + name + " is another one in that format",
                    "take the tokenizer.json of the model's makers");
}

}  // namespace tlaloc::llm
