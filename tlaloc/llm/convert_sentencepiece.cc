// Tokenizers of SentencePiece's BPE models: GGUF has a score for each token, and tokenizer.json the
// pairs that merge, in their order.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <tuple>
#include <unordered_map>

#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
using text::TokenId;

json::object replace(const char* pattern, const char* content) {
  return {
      {"type", "Replace"}, {"pattern", json::object{{"String", pattern}}}, {"content", content}};
}

json::value member(const json::object& o, const char* key) {
  const json::value* v = o.if_contains(key);
  return v == nullptr ? json::value() : *v;
}

/// A sequence of one component is that component.
json::value alone(const json::value& v, const char* parts) {
  const json::object* o = v.if_object();
  const json::value* list = o == nullptr ? nullptr : o->if_contains(parts);
  const bool one = list != nullptr && list->is_array() && list->get_array().size() == 1;
  return one ? list->get_array()[0] : v;
}

/// Splits only at spaces, of which the normalizer leaves none.
bool splits_nothing(const json::value& pre) {
  return pre.is_null() || pre == json::value({{"type", "Split"},
                                              {"pattern", json::object{{"String", " "}}},
                                              {"behavior", "MergedWithPrevious"},
                                              {"invert", false}});
}

/// Others are found in a text before anything merges, or stand for what has no token.
bool is_normal(const text::GgufVocabulary& v, TokenId id) {
  return v.token_type[static_cast<std::size_t>(id)] == text::kGgufNormal;
}

bool starts_character(char c) { return !text::is_continuation(c); }

/// Where in a list of merges a token is made.
struct Places {
  std::size_t first, last;
  TokenId id;
};

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  refuse_to_convert(fmt::format("{} has merges that no scores of tokens stand for: {}", name, what),
                    "GGUF has scores for a tokenizer of SentencePiece's kind; get it anew");
}

}  // namespace

json::value scored_normalizer(bool space_before) {
  json::object spaces = replace(" ", text::kGgufSpace);
  if (!space_before) return spaces;
  return {
      {"type", "Sequence"},
      {"normalizers", json::array{json::object{{"type", "Prepend"}, {"prepend", text::kGgufSpace}},
                                  std::move(spaces)}}};
}

json::value scored_decoder(bool space_before) {
  json::array parts{replace(text::kGgufSpace, " "), json::object{{"type", "ByteFallback"}},
                    json::object{{"type", "Fuse"}}};
  if (space_before) {
    parts.push_back(json::object{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", std::move(parts)}};
}

std::optional<bool> has_scored_shape(const json::object& t) {
  const json::value normalizer = alone(member(t, "normalizer"), "normalizers");
  for (const bool space_before : {true, false}) {
    if (normalizer != scored_normalizer(space_before)) continue;
    const bool same = splits_nothing(alone(member(t, "pre_tokenizer"), "pretokenizers")) &&
                      member(t, "decoder") == scored_decoder(space_before);
    if (same) return space_before;
  }
  return std::nullopt;
}

ListedMerges listed_merges(const text::GgufVocabulary& v) {
  std::vector<text::Merge> merges = text::gguf_scored_merges(v);
  auto text = [&](TokenId id) -> const std::string& {
    return v.tokens[static_cast<std::size_t>(id)];
  };
  // Where tokens have one score, transformers puts those with a longer left part first.
  auto characters = [&](TokenId id) { return -std::ranges::count_if(text(id), starts_character); };
  auto order = [&](const text::Merge& m) {
    return std::tuple(m.rank, characters(m.left), characters(m.right));
  };
  std::stable_sort(merges.begin(), merges.end(),
                   [&](const text::Merge& a, const text::Merge& b) { return order(a) < order(b); });
  ListedMerges list;
  for (const text::Merge& m : merges) list.emplace_back(text(m.left), text(m.right));
  return list;
}

std::vector<float> scores_of(const ListedMerges& merges, const text::GgufVocabulary& v,
                             const std::string& name) {
  std::unordered_map<std::string_view, TokenId> ids;
  for (std::size_t i = 0; i < v.tokens.size(); ++i) {
    ids.emplace(v.tokens[i], static_cast<TokenId>(i));
  }
  using Pair = std::pair<TokenId, TokenId>;
  std::vector<Pair> pairs;
  std::unordered_map<TokenId, Places> places;
  for (const auto& [left, right] : merges) {
    const TokenId a = ids.at(left), b = ids.at(right), id = ids.at(left + right);
    if (!is_normal(v, a) || !is_normal(v, b) || !is_normal(v, id)) continue;
    const std::size_t at = pairs.size();
    pairs.emplace_back(a, b);
    places.try_emplace(id, Places{at, at, id}).first->second.last = at;
  }
  std::vector<Places> made;
  for (const auto& [id, place] : places) made.push_back(place);
  std::ranges::sort(made, {}, &Places::first);

  std::vector<float> scores(v.tokens.size(), 0.0f);
  std::int64_t made_tokens = 0;
  const Places* before = nullptr;
  for (const Places& p : made) {
    if (before != nullptr && p.first < before->last) {
      refuse(name, fmt::format("those of '{}' stand between those of '{}'",
                               v.tokens[static_cast<std::size_t>(p.id)],
                               v.tokens[static_cast<std::size_t>(before->id)]));
    }
    scores[static_cast<std::size_t>(p.id)] = -static_cast<float>(made_tokens++);
    before = &p;
  }
  // What nothing is merged to, such as single characters, comes behind.
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!is_normal(v, id) || places.contains(id)) continue;
    scores[i] = -static_cast<float>(made_tokens++);
  }

  text::GgufVocabulary scored = v;
  scored.scores = scores;
  std::vector<Pair> stood_for;
  for (const text::Merge& m : text::gguf_scored_merges(scored)) {
    if (!is_normal(v, m.left) || !is_normal(v, m.right) || !is_normal(v, m.result)) continue;
    stood_for.emplace_back(m.left, m.right);
  }
  std::ranges::sort(pairs);
  std::ranges::sort(stood_for);
  if (pairs == stood_for) return scores;
  std::vector<Pair> others;
  std::ranges::set_symmetric_difference(pairs, stood_for, std::back_inserter(others));
  const auto& [a, b] = others.front();
  refuse(name, fmt::format("'{}' and '{}' {}", v.tokens[static_cast<std::size_t>(a)],
                           v.tokens[static_cast<std::size_t>(b)],
                           std::ranges::binary_search(pairs, Pair(a, b))
                               ? "stand there twice"
                               : "are a token together, and are not in the list"));
}

}  // namespace tlaloc::llm
