#include "tlaloc/text/fields.h"

#include <fmt/format.h>

#include "tlaloc/base/error.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {

void throw_malformed(const std::string& path, const std::string& message) {
  throw UserError({"TL-TOKENIZER-001",
                   "tokenizer",
                   path + ": " + message,
                   "correct the file, or write it anew with the program that made it",
                   {}});
}

void throw_unsupported(const std::string& path, const std::string& message,
                       const std::string& hint) {
  throw UserError({"TL-TOKENIZER-002", "tokenizer", path + ": " + message, hint, {}});
}

void check_length(std::string_view token, const std::string& path) {
  constexpr std::size_t kLongest = 1024;
  if (token.size() > kLongest) {
    throw_unsupported(path,
                      fmt::format("the token '{}…' has {} bytes, where at most {} are supported",
                                  replace_ill_formed(token.substr(0, 20)), token.size(), kLongest),
                      "leave the token out");
  }
}

Fields::Fields(const boost::json::value& value, std::string path)
    : object_(value.if_object()), path_(std::move(path)) {
  if (object_ == nullptr) throw_malformed(path_, "this is no object");
}

const boost::json::value* Fields::find(std::string_view name) {
  known_.emplace(name);
  const auto it = object_->find(boost::json::string_view(name.data(), name.size()));
  return it == object_->end() || it->value().is_null() ? nullptr : &it->value();
}

const boost::json::value& Fields::at(std::string_view name) {
  const boost::json::value* value = find(name);
  if (value == nullptr) throw_malformed(path_, fmt::format("there is no '{}'", name));
  return *value;
}

std::string Fields::text(std::string_view name) {
  const boost::json::string* s = at(name).if_string();
  if (s == nullptr) throw_malformed(path(name), "this is no text");
  return std::string(s->data(), s->size());
}

std::optional<std::string> Fields::optional_text(std::string_view name) {
  if (find(name) == nullptr) return std::nullopt;
  return text(name);
}

bool Fields::flag(std::string_view name) {
  const bool* b = at(name).if_bool();
  if (b == nullptr) throw_malformed(path(name), "this is neither true nor false");
  return *b;
}

bool Fields::flag(std::string_view name, bool otherwise) {
  return find(name) == nullptr ? otherwise : flag(name);
}

std::int64_t Fields::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::int64_t* i = at(name).if_int64();
  if (i == nullptr || *i < least || *i > most) {
    throw_malformed(path(name), fmt::format("this is no integer from {} to {}", least, most));
  }
  return *i;
}

char32_t Fields::character(std::string_view name) {
  const std::string s = text(name);
  const char* p = s.data();
  if (!s.empty()) {
    const char32_t c = next_char(p);
    if (p == s.data() + s.size()) return c;
  }
  throw_malformed(path(name), "this is not one character");
}

void Fields::finish() const {
  for (const auto& field : *object_) {
    const std::string_view name(field.key().data(), field.key().size());
    if (known_.contains(name)) continue;
    throw_unsupported(path(name), "a field that Tlaloc does not know",
                      "a newer Tlaloc may; without the field the tokens might be others");
  }
}

}  // namespace tlaloc::text
