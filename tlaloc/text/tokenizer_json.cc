#include "tlaloc/text/tokenizer_json.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/text/bpe.h"
#include "tlaloc/text/component_json.h"
#include "tlaloc/text/fields.h"
#include "tlaloc/text/json_reader.h"
#include "tlaloc/text/unigram.h"
#include "tlaloc/text/word_models.h"

namespace tlaloc::text {
namespace {

Vocabulary make_vocabulary(const TokenizerDocument& d, const std::string& path) {
  Vocabulary vocabulary;
  vocabulary.reserve(d.tokens.size(), d.tokens.bytes());
  const bool is_list = d.vocab_is_list;
  for (std::size_t i = 0; i < d.tokens.size(); ++i) {
    const std::int64_t id = is_list ? static_cast<std::int64_t>(i) : d.ids[i];
    if (id < 0 || id >= kMostIds) {
      throw_malformed(path, fmt::format("token '{}' has the id {}, which is not from 0 to {}",
                                        d.tokens[i], id, kMostIds - 1));
    }
    if (!vocabulary.add(d.tokens[i], static_cast<TokenId>(id))) {
      throw_malformed(path, fmt::format("the id {} stands twice", id));
    }
  }
  const TokenId twice = vocabulary.index();
  if (twice >= 0 && !is_list) {
    throw_malformed(path, fmt::format("the token '{}' stands twice", vocabulary.token(twice)));
  }
  return vocabulary;
}

void check_lengths(const Vocabulary& v, const std::string& path) {
  for (TokenId id = 0; id < v.bound(); ++id) check_length(v.token(id), path);
}

TokenId known_token(const Vocabulary& v, const std::string& token, const std::string& path) {
  const TokenId id = v.find(token);
  if (id < 0) throw_malformed(path, fmt::format("'{}' is no token of the vocabulary", token));
  return id;
}

/// Ids of the tokens of merges. Tables are larger than caches: places are asked for ahead.
std::vector<Merge> make_merges(const TokenizerDocument& d, const Vocabulary& v,
                               const std::string& prefix, const std::string& path) {
  constexpr std::size_t kAhead = 16;
  const std::size_t n = d.merges.size() / 2;
  struct Hashes {
    std::uint64_t left, right, result;
  };
  std::vector<Merge> merges(n);
  std::array<Hashes, kAhead> hashes{};
  std::array<std::string, kAhead> results;
  auto ask = [&](std::size_t i) {
    const std::string_view left = d.merges[2 * i], right = d.merges[2 * i + 1];
    if (right.size() < prefix.size()) {
      throw_malformed(path,
                      fmt::format("in merge {}, '{}' has not the prefix '{}'", i, right, prefix));
    }
    std::string& result = results[i % kAhead];
    result = left;
    result += right.substr(prefix.size());
    hashes[i % kAhead] = {v.prefetch(left), v.prefetch(right), v.prefetch(result)};
  };
  for (std::size_t i = 0; i < n + kAhead; ++i) {
    if (i >= kAhead) {
      const std::size_t k = i - kAhead;
      const std::string_view left = d.merges[2 * k], right = d.merges[2 * k + 1];
      const Hashes& h = hashes[k % kAhead];
      const std::string& result = results[k % kAhead];
      merges[k] = {v.find(left, h.left), v.find(right, h.right), v.find(result, h.result),
                   static_cast<std::uint32_t>(k)};
      for (const auto& [id, token] :
           {std::pair{merges[k].left, left}, std::pair{merges[k].right, right},
            std::pair{merges[k].result, std::string_view(result)}}) {
        if (id < 0) {
          throw_malformed(path,
                          fmt::format("in merge {}, '{}' is no token of the vocabulary", k, token));
        }
      }
    }
    if (i < n) ask(i);
    if (i >= kAhead / 2 && i < n + kAhead / 2) {
      const Hashes& h = hashes[(i - kAhead / 2) % kAhead];
      for (const std::uint64_t hash : {h.left, h.right, h.result}) v.prefetch_text(hash);
    }
  }
  return merges;
}

ModelPtr read_bpe(Fields& f, const TokenizerDocument& d, Vocabulary v, const Pipeline& pipeline) {
  BpeOptions options;
  options.unk_token = f.optional_text("unk_token");
  options.continuing_subword_prefix = f.optional_text("continuing_subword_prefix").value_or("");
  options.end_of_word_suffix = f.optional_text("end_of_word_suffix").value_or("");
  options.fuse_unk = f.flag("fuse_unk", false);
  options.byte_fallback = f.flag("byte_fallback", false);
  options.ignore_merges = f.flag("ignore_merges", false);
  if (const boost::json::value* dropout = f.find("dropout")) {
    if (!dropout->is_number() || dropout->to_number<double>() != 0) {
      throw_unsupported(f.path("dropout"), "merges left out at random have no stable tokens",
                        "set it to null, as for using a model");
    }
  }
  f.find("merges");
  if (!d.has_merges) throw_malformed(f.path("merges"), "this is no list of merges");
  std::vector<Merge> merges =
      make_merges(d, v, options.continuing_subword_prefix, f.path("merges"));
  if (options.unk_token && !pipeline.byte_level) {
    known_token(v, *options.unk_token, f.path("unk_token"));
  }
  return make_bpe(std::move(v), std::move(merges), std::move(options),
                  pipeline.byte_level != nullptr);
}

ModelPtr read_unigram(Fields& f, const TokenizerDocument& d, Vocabulary v) {
  UnigramOptions options;
  if (d.scores.size() != v.size()) {
    throw_malformed(f.path("vocab"), "this is no list of tokens with scores");
  }
  if (f.find("unk_id") != nullptr) {
    options.unk =
        static_cast<TokenId>(f.integer("unk_id", 0, static_cast<std::int64_t>(v.size()) - 1));
  }
  options.byte_fallback = f.flag("byte_fallback", false);
  check_lengths(v, f.path("vocab"));
  for (const char* name : {"alpha", "nbest_size"}) {
    if (f.find(name) != nullptr) {
      throw_unsupported(f.path(name), "sampling has no stable tokens", "set it to null");
    }
  }
  return make_unigram(std::move(v), d.scores, options);
}

ModelPtr read_model(const TokenizerDocument& d, const boost::json::value& value,
                    const std::string& path, const Pipeline& pipeline) {
  Fields f(value, path);
  f.find("vocab");
  if (!d.has_vocab) throw_malformed(f.path("vocab"), "this is no vocabulary");
  // Files of old have no type: what has merges is BPE.
  std::string type = f.optional_text("type").value_or(d.has_merges ? "BPE" : "");
  Vocabulary v = make_vocabulary(d, f.path("vocab"));
  if ((type == "Unigram") != d.vocab_is_list) {
    throw_malformed(f.path("vocab"), "the vocabulary is not of the kind that the model has");
  }
  ModelPtr model;
  if (type == "BPE") {
    model = read_bpe(f, d, std::move(v), pipeline);
  } else if (type == "Unigram") {
    model = read_unigram(f, d, std::move(v));
  } else if (type == "WordPiece") {
    check_lengths(v, f.path("vocab"));
    WordPieceOptions options;
    options.unk = known_token(v, f.text("unk_token"), f.path("unk_token"));
    options.continuing_subword_prefix = f.text("continuing_subword_prefix");
    options.max_input_chars_per_word =
        static_cast<std::uint32_t>(f.integer("max_input_chars_per_word", 0, std::int64_t{1} << 31));
    model = make_wordpiece(std::move(v), std::move(options));
  } else if (type == "WordLevel") {
    const TokenId unk = known_token(v, f.text("unk_token"), f.path("unk_token"));
    model = make_wordlevel(std::move(v), unk);
  } else {
    throw_unsupported(f.path("type"), fmt::format("a model of type '{}'", type),
                      "supported are BPE, Unigram, WordPiece and WordLevel");
  }
  f.finish();
  return model;
}

std::string normalized(const std::string& s, const Normalizer* normalizer) {
  if (normalizer == nullptr) return s;
  AlignedText text(s, {0, static_cast<std::uint32_t>(s.size())});
  normalizer->apply(text);
  return std::string(text.view());
}

std::vector<AddedToken> read_added_tokens(const boost::json::value* value, const std::string& path,
                                          const Vocabulary& v, const Normalizer* normalizer) {
  std::vector<AddedToken> tokens;
  if (value == nullptr) return tokens;
  const boost::json::array* list = value->if_array();
  if (list == nullptr) throw_malformed(path, "this is no list");
  std::set<std::string> contents;
  std::map<std::string, std::string> normal_forms;  // of tokens that are looked for so
  auto next_id = static_cast<TokenId>(v.size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    Fields f((*list)[i], fmt::format("{}/{}", path, i));
    AddedToken t;
    t.id = static_cast<TokenId>(f.integer("id", 0, kMostIds - 1));
    t.content = f.text("content");
    t.single_word = f.flag("single_word");
    t.lstrip = f.flag("lstrip");
    t.rstrip = f.flag("rstrip");
    t.normalized = f.flag("normalized");
    t.special = f.flag("special");
    f.finish();
    if (t.content.empty()) continue;
    check_length(t.content, f.path("content"));
    if (!contents.insert(t.content).second) {
      throw_malformed(f.path("content"), fmt::format("'{}' stands twice", t.content));
    }
    // The package gives a token the id that it has in the vocabulary, and else the next free one,
    // whatever the file says.
    const TokenId known = v.find(t.content);
    const TokenId expected = known >= 0 ? known : next_id++;
    if (t.id != expected) {
      throw_unsupported(f.path("id"),
                        fmt::format("'{}' has the id {} where the package tokenizers gives it {}",
                                    t.content, t.id, expected),
                        "correct the file: the two disagree about what the model was trained with");
    }
    if (t.normalized) {
      const std::string form = normalized(t.content, normalizer);
      check_length(form, f.path("content"));
      if (form.empty()) {
        throw_unsupported(f.path("content"),
                          fmt::format("'{}' is nothing once it is normalized", t.content),
                          "leave the token out, or set its 'normalized' to false");
      }
      if (const auto [it, is_new] = normal_forms.emplace(form, t.content); !is_new) {
        throw_unsupported(f.path("content"),
                          fmt::format("'{}' and '{}' are both '{}' once they are normalized, and "
                                      "which one the package tokenizers finds is left to chance",
                                      it->second, t.content, form),
                          "leave one of them out, or set its 'normalized' to false");
      }
    }
    tokens.push_back(std::move(t));
  }
  return tokens;
}

std::optional<Truncation> read_truncation(const boost::json::value* value,
                                          const std::string& path) {
  if (value == nullptr) return std::nullopt;
  Fields f(*value, path);
  Truncation t;
  t.max_length = static_cast<std::size_t>(f.integer("max_length", 0, std::int64_t{1} << 40));
  t.stride = static_cast<std::size_t>(f.integer("stride", 0, std::int64_t{1} << 40));
  t.strategy = choose<Truncation::Strategy>(f, "strategy",
                                            {{"LongestFirst", Truncation::Strategy::kLongestFirst},
                                             {"OnlyFirst", Truncation::Strategy::kOnlyFirst},
                                             {"OnlySecond", Truncation::Strategy::kOnlySecond}});
  if (f.find("direction") != nullptr) {
    t.direction = choose<Side>(f, "direction", {{"Left", Side::kLeft}, {"Right", Side::kRight}});
  }
  f.finish();
  return t;
}

std::optional<Padding> read_padding(const boost::json::value* value, const std::string& path) {
  if (value == nullptr) return std::nullopt;
  Fields f(*value, path);
  Padding p;
  const boost::json::value& strategy = f.at("strategy");
  if (strategy.is_object()) {
    Fields fixed(strategy, f.path("strategy"));
    p.fixed_length = static_cast<std::size_t>(fixed.integer("Fixed", 1, kMostIds));
    fixed.finish();
  } else {
    choose<int>(f, "strategy", {{"BatchLongest", 0}});
  }
  p.direction = choose<Side>(f, "direction", {{"Left", Side::kLeft}, {"Right", Side::kRight}});
  if (f.find("pad_to_multiple_of") != nullptr) {
    p.multiple_of = static_cast<std::size_t>(f.integer("pad_to_multiple_of", 0, kMostIds));
  }
  p.id = static_cast<TokenId>(f.integer("pad_id", 0, kMostIds - 1));
  p.type_id = static_cast<std::int32_t>(f.integer("pad_type_id", 0, 1 << 30));
  f.text("pad_token");
  f.finish();
  return p;
}

}  // namespace

Pipeline parse_tokenizer(std::string_view json, const std::string& name) {
  const TokenizerDocument d = read_tokenizer_document(json, name);
  Fields f(d.root, name + ": ");
  if (const std::optional<std::string> version = f.optional_text("version");
      version && *version != "1.0") {
    throw_unsupported(f.path("version"), fmt::format("version '{}' of the format", *version),
                      "supported is 1.0");
  }
  Pipeline p;
  p.name = name;
  p.truncation = read_truncation(f.find("truncation"), f.path("truncation"));
  p.padding = read_padding(f.find("padding"), f.path("padding"));
  if (const auto* value = f.find("normalizer")) {
    p.normalizer = read_normalizer(*value, f.path("normalizer"));
  }
  if (const auto* value = f.find("pre_tokenizer")) {
    if (read_pre_tokenizer(*value, f.path("pre_tokenizer"), p.pre_tokenizers)) {
      p.byte_level = std::move(p.pre_tokenizers.back());
      p.pre_tokenizers.pop_back();
    }
  }
  p.model = read_model(d, f.at("model"), f.path("model"), p);
  p.added_tokens = read_added_tokens(f.find("added_tokens"), f.path("added_tokens"),
                                     p.model->vocabulary(), p.normalizer.get());
  if (const auto* value = f.find("post_processor")) {
    p.post_processor = read_post_processor(*value, f.path("post_processor"));
  }
  if (const auto* value = f.find("decoder")) {
    p.decoder = read_decoder(*value, f.path("decoder"));
  }
  f.finish();
  return p;
}

Tokenizer load_tokenizer(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path file = path;
  if (fs::is_directory(file, ignored)) file /= "tokenizer.json";
  const auto mapped = MappedFile::open("tokenizer", file.string());
  const std::string_view text(reinterpret_cast<const char*>(mapped->bytes().data()),
                              mapped->bytes().size());
  return Tokenizer(parse_tokenizer(text, file.string()));
}

}  // namespace tlaloc::text
