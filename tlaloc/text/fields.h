// The fields of an object of tokenizer.json, each of which must be known.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tlaloc::text {

[[noreturn]] void throw_malformed(const std::string& path, const std::string& message);
[[noreturn]] void throw_unsupported(const std::string& path, const std::string& message,
                                    const std::string& hint);

/// TL-TOKENIZER-002 for a token that is too long to be tried at each place of a text, which takes
/// the time of the longest one.
void check_length(std::string_view token, const std::string& path);

class Fields {
 public:
  /// TL-TOKENIZER-001 where `value` is no object. `path` is such as "tokenizer.json: /normalizer".
  Fields(const boost::json::value& value, std::string path);

  /// Null for a field that is not there, or null.
  const boost::json::value* find(std::string_view name);
  /// TL-TOKENIZER-001 where a field is not there, or of another kind.
  const boost::json::value& at(std::string_view name);
  std::string text(std::string_view name);
  std::optional<std::string> optional_text(std::string_view name);
  bool flag(std::string_view name);
  bool flag(std::string_view name, bool otherwise);
  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most);
  /// One character.
  char32_t character(std::string_view name);

  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }
  /// TL-TOKENIZER-002 for fields that nobody asked for.
  void finish() const;

 private:
  const boost::json::object* object_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace tlaloc::text
