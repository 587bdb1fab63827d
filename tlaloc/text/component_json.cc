#include "tlaloc/text/component_json.h"

#include <functional>
#include <map>

#include "tlaloc/text/precompiled.h"

namespace tlaloc::text {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 30;

using PreTokenizers = std::vector<PreTokenizerPtr>;

Behavior read_behavior(Fields& f) {
  return choose<Behavior>(f, "behavior",
                          {{"Removed", Behavior::kRemoved},
                           {"Isolated", Behavior::kIsolated},
                           {"Contiguous", Behavior::kContiguous},
                           {"MergedWithPrevious", Behavior::kMergedWithPrevious},
                           {"MergedWithNext", Behavior::kMergedWithNext}});
}

PrependScheme read_scheme(Fields& f) {
  PrependScheme scheme = PrependScheme::kAlways;
  if (f.find("prepend_scheme") != nullptr) {
    scheme = choose<PrependScheme>(f, "prepend_scheme",
                                   {{"first", PrependScheme::kFirst},
                                    {"never", PrependScheme::kNever},
                                    {"always", PrependScheme::kAlways}});
  }
  f.find("str_rep");
  if (!f.flag("add_prefix_space", true)) {
    if (f.find("prepend_scheme") != nullptr && scheme != PrependScheme::kNever) {
      throw_malformed(f.path("add_prefix_space"), "this contradicts prepend_scheme");
    }
    scheme = PrependScheme::kNever;
  }
  return scheme;
}

bool read_byte_level(Fields& f, PreTokenizers& steps) {
  if (f.flag("add_prefix_space")) steps.push_back(make_prefix_space());
  f.flag("trim_offsets");
  if (f.flag("use_regex", true)) {
    steps.push_back(
        make_split(word_pattern_text(WordPattern::kGpt2), Behavior::kIsolated, false, f.path()));
  }
  steps.push_back(make_byte_level_map());
  return true;
}

struct Template {
  bool seen = false;
  PostProcessor post;
};

/// "[CLS]" and its id, from a list of the two.
TokenId read_token_pair(Fields& f, std::string_view name) {
  const boost::json::array& pair = list_of(f, name);
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_int64() || pair[1].as_int64() < 0 ||
      pair[1].as_int64() >= kMostIds) {
    throw_malformed(f.path(name), "this is no list of a token and its id");
  }
  return static_cast<TokenId>(pair[1].as_int64());
}

std::vector<PostProcessor::Piece> read_template(
    Fields& f, std::string_view name, const std::map<std::string, std::vector<TokenId>>& specials) {
  std::vector<PostProcessor::Piece> pieces;
  const boost::json::array& list = list_of(f, name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    Fields piece(list[i], fmt::format("{}/{}", f.path(name), i));
    const bool is_sequence = piece.find("Sequence") != nullptr;
    const std::string_view kind = is_sequence ? "Sequence" : "SpecialToken";
    Fields body(piece.at(kind), piece.path(kind));
    const std::string id = body.text("id");
    const auto type = static_cast<std::int32_t>(body.integer("type_id", 0, kMost));
    body.finish();
    piece.finish();
    if (is_sequence) {
      if (id != "A" && id != "B") throw_malformed(body.path("id"), "a text is A or B");
      pieces.push_back(
          {id == "A" ? PostProcessor::Piece::kFirst : PostProcessor::Piece::kSecond, type, {}});
    } else {
      const auto it = specials.find(id);
      if (it == specials.end()) {
        throw_malformed(body.path("id"), fmt::format("'{}' is not in special_tokens", id));
      }
      pieces.push_back({PostProcessor::Piece::kSpecial, type, it->second});
    }
  }
  return pieces;
}

std::map<std::string, std::vector<TokenId>> read_specials(Fields& f) {
  std::map<std::string, std::vector<TokenId>> specials;
  const boost::json::value& all = f.at("special_tokens");
  const boost::json::object* object = all.if_object();
  if (object == nullptr) throw_malformed(f.path("special_tokens"), "this is no object");
  for (const auto& entry : *object) {
    const std::string key(entry.key().data(), entry.key().size());
    Fields token(entry.value(), f.path("special_tokens") + "/" + key);
    token.text("id");
    list_of(token, "tokens");
    std::vector<TokenId> ids;
    for (const boost::json::value& id : list_of(token, "ids")) {
      if (!id.is_int64() || id.as_int64() < 0 || id.as_int64() >= kMostIds) {
        throw_malformed(token.path("ids"), "these are no ids");
      }
      ids.push_back(static_cast<TokenId>(id.as_int64()));
    }
    token.finish();
    specials.emplace(key, std::move(ids));
  }
  return specials;
}

void read_processor(const boost::json::value& value, const std::string& path, Template& t) {
  Fields f(value, path);
  const std::string type = f.text("type");
  auto claim = [&] {
    if (t.seen) {
      throw_unsupported(f.path("type"), "a second processor that adds tokens", "join the two");
    }
    t.seen = true;
  };
  using Piece = PostProcessor::Piece;
  if (type == "TemplateProcessing") {
    claim();
    const auto specials = read_specials(f);
    t.post.single = read_template(f, "single", specials);
    t.post.pair = read_template(f, "pair", specials);
    for (const Piece& piece : t.post.single) {
      if (piece.kind == Piece::kSecond) {
        throw_malformed(f.path("single"), "the template of one text has a second one");
      }
    }
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    claim();
    const bool roberta = type == "RobertaProcessing";
    const Piece cls{Piece::kSpecial, 0, {read_token_pair(f, "cls")}};
    const Piece sep{Piece::kSpecial, 0, {read_token_pair(f, "sep")}};
    Piece second{Piece::kSecond, roberta ? 0 : 1, {}}, last = sep;
    last.type_id = second.type_id;
    const Piece first{Piece::kFirst, 0, {}};
    t.post.single = {cls, first, sep};
    t.post.pair = {cls, first, sep};
    if (roberta) t.post.pair.push_back(sep);
    t.post.pair.insert(t.post.pair.end(), {second, last});
    if (roberta) {
      t.post.trim_offsets |= f.flag("trim_offsets");
      t.post.add_prefix_space = f.flag("add_prefix_space");
    }
  } else if (type == "ByteLevel") {
    t.post.trim_offsets |= f.flag("trim_offsets");
    t.post.add_prefix_space = f.flag("add_prefix_space");
    f.flag("use_regex", true);
  } else if (type == "Sequence") {
    const boost::json::array& list = list_of(f, "processors");
    for (std::size_t i = 0; i < list.size(); ++i) {
      read_processor(list[i], fmt::format("{}/{}", f.path("processors"), i), t);
    }
  } else {
    throw_unknown_type(f, "post-processor", type);
  }
  f.finish();
}

}  // namespace

const boost::json::array& list_of(Fields& f, std::string_view name) {
  const boost::json::array* list = f.at(name).if_array();
  if (list == nullptr) throw_malformed(f.path(name), "this is no list");
  return *list;
}

std::string read_pattern(Fields& f, std::string_view name) {
  Fields pattern(f.at(name), f.path(name));
  const bool literal = pattern.find("String") != nullptr;
  std::string regex = literal ? escape_regex(pattern.text("String")) : pattern.text("Regex");
  pattern.finish();
  return regex;
}

void throw_unknown_type(const Fields& f, const std::string& what, const std::string& type) {
  throw_unsupported(f.path("type"), fmt::format("a {} of type '{}'", what, type),
                    "the README of tlaloc/text lists what is supported");
}

NormalizerPtr read_normalizer(const boost::json::value& value, const std::string& path) {
  Fields f(value, path);
  const std::string type = f.text("type");
  NormalizerPtr result;
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    result = make_form(type == "NFC"    ? Form::kNfc
                       : type == "NFD"  ? Form::kNfd
                       : type == "NFKC" ? Form::kNfkc
                                        : Form::kNfkd);
  } else if (type == "Lowercase") {
    result = make_lowercase();
  } else if (type == "Strip") {
    const bool left = f.flag("strip_left");
    result = make_strip(left, f.flag("strip_right"));
  } else if (type == "StripAccents") {
    result = make_strip_accents();
  } else if (type == "Nmt") {
    result = make_nmt();
  } else if (type == "Prepend") {
    result = make_prepend(f.text("prepend"));
  } else if (type == "Replace") {
    Regex regex(read_pattern(f, "pattern"), f.path("pattern"));
    result = make_replace(std::move(regex), f.text("content"));
  } else if (type == "BertNormalizer") {
    BertOptions options;
    options.clean_text = f.flag("clean_text");
    options.handle_chinese_chars = f.flag("handle_chinese_chars");
    options.lowercase = f.flag("lowercase");
    options.strip_accents = f.flag("strip_accents", options.lowercase);
    result = make_bert(options);
  } else if (type == "ByteLevel") {
    result = make_byte_level();
  } else if (type == "Sequence") {
    std::vector<NormalizerPtr> parts;
    const boost::json::array& list = list_of(f, "normalizers");
    for (std::size_t i = 0; i < list.size(); ++i) {
      parts.push_back(read_normalizer(list[i], fmt::format("{}/{}", f.path("normalizers"), i)));
    }
    result = make_sequence(std::move(parts));
  } else if (type == "Precompiled") {
    result = make_precompiled(f.text("precompiled_charsmap"), f.path("precompiled_charsmap"));
  } else {
    throw_unknown_type(f, "normalizer", type);
  }
  f.finish();
  return result;
}

bool read_pre_tokenizer(const boost::json::value& value, const std::string& path,
                        PreTokenizers& steps) {
  Fields f(value, path);
  const std::string type = f.text("type");
  bool byte_level_last = false;
  if (type == "ByteLevel") {
    byte_level_last = read_byte_level(f, steps);
  } else if (type == "Split") {
    const std::string regex = read_pattern(f, "pattern");
    const Behavior behavior = read_behavior(f);
    steps.push_back(make_split(regex, behavior, f.flag("invert"), f.path("pattern")));
  } else if (type == "Digits") {
    steps.push_back(make_digits(f.flag("individual_digits")));
  } else if (type == "Punctuation") {
    steps.push_back(make_punctuation(f.find("behavior") ? read_behavior(f) : Behavior::kIsolated));
  } else if (type == "Whitespace") {
    steps.push_back(make_whitespace());
  } else if (type == "WhitespaceSplit") {
    steps.push_back(make_whitespace_split());
  } else if (type == "UnicodeScripts") {
    steps.push_back(make_script_split());
  } else if (type == "BertPreTokenizer") {
    steps.push_back(make_bert_split());
  } else if (type == "CharDelimiterSplit") {
    steps.push_back(make_char_delimiter(f.character("delimiter")));
  } else if (type == "FixedLength") {
    steps.push_back(make_fixed_length(
        static_cast<std::uint32_t>(f.find("length") ? f.integer("length", 1, kMost) : 5)));
  } else if (type == "Metaspace") {
    const char32_t replacement = f.character("replacement");
    const PrependScheme scheme = read_scheme(f);
    steps.push_back(make_metaspace(replacement, scheme, f.flag("split", true)));
  } else if (type == "Sequence") {
    const boost::json::array& list = list_of(f, "pretokenizers");
    for (std::size_t i = 0; i < list.size(); ++i) {
      byte_level_last =
          read_pre_tokenizer(list[i], fmt::format("{}/{}", f.path("pretokenizers"), i), steps);
    }
  } else {
    throw_unknown_type(f, "pre-tokenizer", type);
  }
  f.finish();
  return byte_level_last;
}

PostProcessor read_post_processor(const boost::json::value& value, const std::string& path) {
  Template t;
  read_processor(value, path, t);
  return std::move(t.post);
}

DecoderPtr read_decoder(const boost::json::value& value, const std::string& path) {
  Fields f(value, path);
  const std::string type = f.text("type");
  DecoderPtr result;
  if (type == "ByteLevel") {
    f.flag("add_prefix_space", true);
    f.flag("trim_offsets", true);
    f.flag("use_regex", true);
    result = make_byte_level_decoder();
  } else if (type == "WordPiece") {
    std::string prefix = f.text("prefix");
    result = make_wordpiece_decoder(std::move(prefix), f.flag("cleanup"));
  } else if (type == "BPEDecoder") {
    result = make_bpe_decoder(f.text("suffix"));
  } else if (type == "Metaspace") {
    const char32_t replacement = f.character("replacement");
    f.flag("split", true);
    result = make_metaspace_decoder(replacement, read_scheme(f) != PrependScheme::kNever);
  } else if (type == "ByteFallback") {
    result = make_byte_fallback_decoder();
  } else if (type == "Fuse") {
    result = make_fuse_decoder();
  } else if (type == "Strip") {
    const char32_t content = f.character("content");
    const auto start = static_cast<std::size_t>(f.integer("start", 0, kMost));
    result =
        make_strip_decoder(content, start, static_cast<std::size_t>(f.integer("stop", 0, kMost)));
  } else if (type == "Replace") {
    Regex regex(read_pattern(f, "pattern"), f.path("pattern"));
    result = make_replace_decoder(std::move(regex), f.text("content"));
  } else if (type == "CTC") {
    std::string pad = f.text("pad_token"), delimiter = f.text("word_delimiter_token");
    result = make_ctc_decoder(std::move(pad), std::move(delimiter), f.flag("cleanup"));
  } else if (type == "Sequence") {
    std::vector<DecoderPtr> parts;
    const boost::json::array& list = list_of(f, "decoders");
    for (std::size_t i = 0; i < list.size(); ++i) {
      parts.push_back(read_decoder(list[i], fmt::format("{}/{}", f.path("decoders"), i)));
    }
    result = make_decoder_sequence(std::move(parts));
  } else {
    throw_unknown_type(f, "decoder", type);
  }
  f.finish();
  return result;
}

}  // namespace tlaloc::text
