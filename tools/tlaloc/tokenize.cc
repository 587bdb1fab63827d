#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/gguf.h"
#include "tlaloc/text/gguf_vocabulary.h"
#include "tlaloc/text/tokenizer_json.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

namespace json = boost::json;
using text::TokenId;

template <class T>
std::span<const T> list_of(const io::GgufMetadata& m, const std::string& key) {
  const io::GgufArray* list = m.list("tokenizer.ggml." + key);
  const auto* elements = list == nullptr ? nullptr : std::get_if<std::vector<T>>(&list->elements);
  return elements == nullptr ? std::span<const T>() : std::span<const T>(*elements);
}

text::Tokenizer of_gguf(const std::string& path) {
  const io::Gguf file = io::open_gguf(path);
  const io::GgufMetadata& m = file.metadata;
  auto text_of = [&](const char* key) {
    const std::string* s = m.text(std::string("tokenizer.ggml.") + key);
    return s == nullptr ? std::string() : *s;
  };
  auto id_of = [&](const char* key) -> std::optional<TokenId> {
    const std::optional<std::int64_t> id = m.integer(std::string("tokenizer.ggml.") + key);
    if (!id || *id < 0 || *id >= text::kMostIds) return std::nullopt;
    return static_cast<TokenId>(*id);
  };
  text::GgufVocabulary v;
  v.model = text_of("model");
  v.pre = text_of("pre");
  v.tokens = list_of<std::string>(m, "tokens");
  v.merges = list_of<std::string>(m, "merges");
  v.token_type = list_of<std::int32_t>(m, "token_type");
  v.bos_token_id = id_of("bos_token_id");
  v.eos_token_id = id_of("eos_token_id");
  v.add_bos_token = m.boolean("tokenizer.ggml.add_bos_token").value_or(false);
  v.add_eos_token = m.boolean("tokenizer.ggml.add_eos_token").value_or(false);
  return text::gguf_tokenizer(v);
}

std::vector<TokenId> ids_of(const json::value& value, const std::string& place) {
  const json::object* o = value.if_object();
  const json::value* list = o == nullptr ? &value : o->if_contains("ids");
  std::vector<TokenId> ids;
  for (const json::value& v :
       list != nullptr && list->is_array() ? list->get_array() : json::array()) {
    const std::int64_t* i = v.if_int64();
    if (i == nullptr || *i < 0 || *i >= text::kMostIds) list = nullptr;
    if (list == nullptr) break;
    ids.push_back(static_cast<TokenId>(*i));
  }
  if (list == nullptr || !list->is_array()) {
    throw UserError({"TL-TOKENIZER-007",
                     "tlaloc",
                     place + " has no list of ids",
                     R"(give lines such as {"ids": [1, 2]})",
                     {}});
  }
  return ids;
}

void tokenize_line(const text::Tokenizer& t, const TokenizeArguments& a, const std::string& line,
                   const std::string& place) {
  const json::value value = parse_json(line, place);
  if (a.decode) {
    std::cout << json_quoted(t.decode(ids_of(value, place), a.no_special)) << "\n";
    return;
  }
  if (!value.is_string()) {
    throw UserError({"TL-TOKENIZER-007",
                     "tlaloc",
                     place + " is no JSON string",
                     R"(give lines such as "some text")",
                     {}});
  }
  text::EncodeOptions options;
  options.add_special_tokens = !a.no_special;
  const text::Encoding e =
      t.encode(std::string_view(value.get_string().data(), value.get_string().size()), options);
  std::cout << json::serialize(json::object{{"ids", json::array(e.ids.begin(), e.ids.end())}})
            << "\n";
}

}  // namespace

void tokenize(const TokenizeArguments& a) {
  const bool gguf = a.model.ends_with(".gguf");
  const text::Tokenizer t = gguf ? of_gguf(a.model) : text::load_tokenizer(a.model);
  if (a.jsonl) {
    std::size_t number = 0;
    for (std::string line; std::getline(std::cin, line);) {
      tokenize_line(t, a, line, "line " + std::to_string(++number));
    }
    return;
  }
  const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  if (a.decode) {
    const std::string list = input.find_first_not_of(" \t\r\n") == input.npos ? "[]" : input;
    std::string with_commas;
    bool inside = false;
    for (char c : list) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !inside && !with_commas.empty()) with_commas += ',';
      if (digit) with_commas += c;
      inside = digit;
      if (!digit && std::string_view(" \t\r\n,[]").find(c) == std::string_view::npos) {
        throw UserError({"TL-TOKENIZER-007",
                         "tlaloc",
                         "the input has what is no id",
                         "give ids with spaces between",
                         {}});
      }
    }
    std::cout << t.decode(ids_of(parse_json("[" + with_commas + "]", "ids"), "the input"),
                          a.no_special);
    return;
  }
  text::EncodeOptions options;
  options.add_special_tokens = !a.no_special;
  const char* between = "";
  for (const TokenId id : t.encode(input, options).ids) {
    std::cout << between << id;
    between = " ";
  }
  std::cout << "\n";
}

}  // namespace tlaloc::command
