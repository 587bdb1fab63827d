#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/gguf.h"
#include "tlaloc/io/recognize.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/text/tokenizer_json.h"
#include "tools/tlaloc/commands.h"

namespace tlaloc::command {
namespace {

namespace json = boost::json;
using text::TokenId;

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
  const text::Tokenizer t = io::is_gguf(a.model)
                                ? llm::tokenizer_of(io::open_gguf(a.model).metadata)
                                : text::load_tokenizer(a.model);
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
