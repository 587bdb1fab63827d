#include "tlaloc/text/json_reader.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <set>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// What stands outside of the two large lists is small: a thousand added tokens have seven values
// each.
constexpr std::size_t kMostValues = 4'000'000;
// What the package's own reader takes.
constexpr std::size_t kMostDepth = 127;

/// What the parser calls. Lists are read while nothing else is, so one of them at a time.
class Handler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) {
    document.root = stack_.release();
    return true;
  }

  bool on_object_begin(error_code&) {
    if (list_ != List::kNone) return refuse("an object in a list of tokens or merges");
    ++depth_;
    if (depth_ == 3 && starts(List::kVocabObject, "vocab")) {
      document.has_vocab = true;
    } else {
      keys_.emplace_back();
    }
    return true;
  }
  bool on_object_end(std::size_t n, error_code&) {
    --depth_;
    if (list_ == List::kVocabObject) return end_list();
    keys_.pop_back();
    stack_.push_object(n);
    return count();
  }
  bool on_array_begin(error_code&) {
    ++depth_;
    if (list_ != List::kNone) {
      items_ = 0;
      return depth_ == 4 && list_ != List::kVocabObject ? true
                                                        : refuse("a list in tokens or merges");
    }
    if (depth_ != 3) return true;
    if (starts(List::kVocabList, "vocab")) document.has_vocab = document.vocab_is_list = true;
    if (starts(List::kMerges, "merges")) document.has_merges = true;
    return true;
  }
  bool on_array_end(std::size_t n, error_code&) {
    --depth_;
    if (list_ != List::kNone) {
      if (depth_ == 2) return end_list();
      return items_ == 2 ? true : refuse("an entry of tokens or merges that has not two parts");
    }
    stack_.push_array(n);
    return count();
  }

  bool on_key_part(string_view s, std::size_t, error_code&) {
    buffer_.append(s.data(), s.size());
    return true;
  }
  bool on_key(string_view s, std::size_t, error_code&) {
    buffer_.append(s.data(), s.size());
    if (list_ == List::kVocabObject) {
      document.tokens.add(buffer_);
    } else {
      if (!keys_.back().insert(buffer_).second) {
        return refuse(fmt::format("an object with the key '{}' twice", buffer_));
      }
      if (depth_ == 1) section_ = buffer_;
      if (depth_ == 2) field_ = buffer_;
      stack_.push_key(buffer_);
    }
    buffer_.clear();
    return true;
  }
  bool on_string_part(string_view s, std::size_t, error_code&) {
    buffer_.append(s.data(), s.size());
    return true;
  }
  bool on_string(string_view s, std::size_t, error_code&) {
    std::string_view whole(s.data(), s.size());
    if (!buffer_.empty()) whole = buffer_.append(s.data(), s.size());
    bool goes_on = true;
    switch (list_) {
      case List::kNone:
        stack_.push_string(whole);
        goes_on = count();
        break;
      case List::kVocabObject:
        goes_on = refuse("a token whose id is text");
        break;
      case List::kVocabList:
        if (depth_ != 4 || items_++ != 0) goes_on = refuse("a token without a score");
        document.tokens.add(whole);
        break;
      case List::kMerges:
        goes_on = add_merge(whole);
        break;
    }
    buffer_.clear();
    return goes_on;
  }
  bool on_number_part(string_view s, error_code&) {
    buffer_.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, string_view, error_code&) {
    buffer_.clear();
    if (list_ == List::kNone) {
      stack_.push_int64(i);
      return count();
    }
    if (list_ == List::kVocabObject) {
      document.ids.push_back(i);
      return true;
    }
    return add_score(static_cast<double>(i));
  }
  bool on_uint64(std::uint64_t i, string_view, error_code&) {
    buffer_.clear();
    if (list_ == List::kNone) {
      stack_.push_uint64(i);
      return count();
    }
    if (list_ == List::kVocabObject) return refuse("an id beyond 64 bits");
    return add_score(static_cast<double>(i));
  }
  bool on_double(double, string_view s, error_code&) {
    // Boost's own value is not always the nearest one, and scores decide between equal paths.
    buffer_.append(s.data(), s.size());
    double d = 0;
    const std::from_chars_result read =
        std::from_chars(buffer_.data(), buffer_.data() + buffer_.size(), d);
    buffer_.clear();
    if (read.ec != std::errc()) return refuse("a number that no double holds");
    if (list_ == List::kNone) {
      stack_.push_double(d);
      return count();
    }
    if (list_ == List::kVocabObject) return refuse("a token whose id is no integer");
    return add_score(d);
  }
  bool on_bool(bool b, error_code&) {
    if (list_ != List::kNone) return refuse("a boolean in a list of tokens or merges");
    stack_.push_bool(b);
    return count();
  }
  bool on_null(error_code&) {
    if (list_ != List::kNone) return refuse("a null in a list of tokens or merges");
    stack_.push_null();
    return count();
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

  TokenizerDocument document;
  std::string refusal;  // why it stopped

 private:
  enum class List { kNone, kVocabObject, kVocabList, kMerges };

  bool refuse(std::string why) {
    refusal = std::move(why);
    return false;
  }
  bool count() {
    return ++values_ <= kMostValues ? true : refuse("more values than a tokenizer has");
  }
  bool starts(List list, std::string_view field) {
    if (section_ != "model" || field_ != field) return false;
    list_ = list;
    return true;
  }
  bool end_list() {
    list_ = List::kNone;
    stack_.push_null();
    return count();
  }
  bool add_score(double d) {
    if (list_ != List::kVocabList || depth_ != 4 || items_++ != 1) {
      return refuse("a number in a list of tokens or merges");
    }
    document.scores.push_back(d);
    return true;
  }
  /// Files of before 2024 have one text with a space for a merge.
  bool add_merge(std::string_view s) {
    if (depth_ == 4) {
      ++items_;
      document.merges.add(s);
      return true;
    }
    if (s.starts_with("#version")) return true;
    const std::size_t space = s.find(' ');
    if (space == s.npos || s.find(' ', space + 1) != s.npos) {
      return refuse(fmt::format("the merge '{}', which is not two tokens", s));
    }
    document.merges.add(s.substr(0, space));
    document.merges.add(s.substr(space + 1));
    return true;
  }

  boost::json::value_stack stack_;
  std::string buffer_, section_, field_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
  List list_ = List::kNone;
  int depth_ = 0, items_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

TokenizerDocument read_tokenizer_document(std::string_view json, const std::string& name) {
  boost::json::parse_options options;
  options.max_depth = kMostDepth;
  boost::json::basic_parser<Handler> parser{options};
  // What is not used of it is never touched. An entry of either list takes ten bytes and more.
  TokenizerDocument& document = parser.handler().document;
  document.tokens.reserve(json.size() / 10, json.size());
  document.ids.reserve(json.size() / 10);
  document.merges.reserve(json.size() / 10, json.size());
  error_code error;
  std::size_t read = parser.write_some(false, json.data(), json.size(), error);
  if (!error && read < json.size() && parser.handler().refusal.empty()) {
    error = boost::json::error::extra_data;
  }
  if (!error && parser.handler().refusal.empty()) return std::move(parser.handler().document);
  const std::string_view before = json.substr(0, read);
  const std::size_t line_start = before.rfind('\n') + 1;
  Place place{name, 1, static_cast<int>(before.size() - line_start) + 1};
  for (char c : before) place.line += c == '\n';
  const std::string& refusal = parser.handler().refusal;
  if (!refusal.empty()) {
    throw UserError({"TL-TOKENIZER-001", "tokenizer", "the file has " + refusal,
                     "save the tokenizer with the package tokenizers, which writes no such thing",
                     place});
  }
  if (error == boost::json::error::too_deep) {
    throw UserError({"TL-TOKENIZER-001", "tokenizer",
                     fmt::format("the file nests lists and objects more than {} deep", kMostDepth),
                     "put sequences that lie in each other into one", place});
  }
  throw UserError({"TL-TOKENIZER-001", "tokenizer", "the file is no JSON: " + error.message(),
                   "get the file again: it may be cut off", place});
}

}  // namespace tlaloc::text
