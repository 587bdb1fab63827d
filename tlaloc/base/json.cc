#include "tlaloc/base/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <unordered_set>
#include <vector>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

namespace json = boost::json;
using json::error_code;

/// Builds the value. Boost's own parser takes the last of equal keys without a word.
class Handler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  bool on_document_begin(error_code&) {
    stack_.reset();
    return true;
  }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    keys_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t n, error_code&) {
    keys_.pop_back();
    stack_.push_object(n);
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t n, error_code&) {
    stack_.push_array(n);
    return true;
  }
  bool on_key_part(json::string_view s, std::size_t, error_code&) {
    key_.append(s.data(), s.size());
    stack_.push_chars(s);
    return true;
  }
  bool on_key(json::string_view s, std::size_t, error_code& error) {
    key_.append(s.data(), s.size());
    stack_.push_key(s);
    if (!keys_.back().insert(key_).second) {
      duplicate_ = true;
      error = json::error::syntax;
      return false;
    }
    key_.clear();
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, error_code&) {
    stack_.push_chars(s);
    return true;
  }
  bool on_string(json::string_view s, std::size_t, error_code&) {
    stack_.push_string(s);
    return true;
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t i, json::string_view, error_code&) {
    stack_.push_int64(i);
    return true;
  }
  bool on_uint64(std::uint64_t u, json::string_view, error_code&) {
    stack_.push_uint64(u);
    return true;
  }
  bool on_double(double d, json::string_view s, error_code&) {
    // Boost's own value may be off by the last bit. Beyond the range of doubles it stays.
    std::from_chars(s.data(), s.data() + s.size(), d);
    stack_.push_double(d);
    return true;
  }
  bool on_bool(bool b, error_code&) {
    stack_.push_bool(b);
    return true;
  }
  bool on_null(error_code&) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

  json::value release() { return stack_.release(); }
  /// The key that an object has twice, if that is what is wrong.
  const std::string* duplicate() const { return duplicate_ ? &key_ : nullptr; }

 private:
  json::value_stack stack_;
  std::vector<std::unordered_set<std::string>> keys_;  ///< of the objects that are open
  std::string key_;
  bool duplicate_ = false;
};

}  // namespace

json::value parse_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
  auto refuse = [&](std::size_t at, const std::string& message) {
    const std::string_view before = text.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw UserError({"TL-JSON-001",
                     "json",
                     message,
                     "correct the file, or get it anew",
                     {name, static_cast<int>(line) + 1, static_cast<int>(at - start) + 1}});
  };
  if (text.size() > limits.bytes) {
    refuse(0, std::to_string(text.size()) + " bytes of JSON, where at most " +
                  std::to_string(limits.bytes) + " are read");
  }
  json::parse_options options;
  options.max_depth = limits.depth;
  json::basic_parser<Handler> parser(options);
  error_code error;
  const std::size_t at = parser.write_some(false, text.data(), text.size(), error);
  if (const std::string* key = parser.handler().duplicate()) {
    refuse(at, "an object has the key " + json_quoted(*key) + " twice");
  }
  if (error) refuse(at, error.message());
  if (at < text.size()) refuse(at, "more than one value");
  return parser.handler().release();
}

std::string json_quoted(std::string_view text) {
  return json::serialize(json::string_view(text.data(), text.size()));
}

}  // namespace tlaloc
