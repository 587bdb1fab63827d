#include "tlaloc/llm/config.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cmath>

#include "tlaloc/base/error.h"

namespace tlaloc::llm {

namespace json = boost::json;

Config Config::part(const json::object& values, const std::string& path,
                    const Names& elsewhere) const {
  Config c(values, name_, names_);
  c.path_ = path_ + path + ".";
  for (const auto& [key, other] : elsewhere) {
    const auto named = names_.find(other);
    c.names_[key] = named == names_.end() ? path_ + other : named->second;
  }
  return c;
}

const json::value* Config::find(std::string_view key) {
  known_.emplace(key);
  const json::value* v = values_->if_contains(key);
  return v == nullptr || v->is_null() ? nullptr : v;
}

bool Config::is_null(std::string_view key) {
  known_.emplace(key);
  const json::value* v = values_->if_contains(key);
  return v != nullptr && v->is_null();
}

std::int64_t Config::size(std::string_view key, std::optional<std::int64_t> otherwise,
                          std::int64_t most) {
  const json::value* v = find(key);
  if (v == nullptr && otherwise) return *otherwise;
  const std::int64_t* i = v == nullptr ? nullptr : v->if_int64();
  if (i == nullptr || *i < 1 || *i > most) {
    contradict(key, fmt::format("it must be a size from 1 to {}", most));
  }
  return *i;
}

std::optional<double> Config::number(std::string_view key) {
  const json::value* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_number() || !std::isfinite(v->to_number<double>())) {
    contradict(key, "it must be a number");
  }
  return v->to_number<double>();
}

std::optional<std::int64_t> Config::integer(std::string_view key) {
  const json::value* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_int64()) contradict(key, "it must be an integer");
  return v->get_int64();
}

double Config::positive(std::string_view key, std::optional<double> otherwise) {
  const std::optional<double> x = number(key);
  if (!x && otherwise) return *otherwise;
  if (!x || *x <= 0) contradict(key, "it must be a number above 0");
  return *x;
}

bool Config::flag(std::string_view key, bool otherwise) {
  const json::value* v = find(key);
  if (v == nullptr) return otherwise;
  if (!v->is_bool()) contradict(key, "it must be true or false");
  return v->get_bool();
}

std::string Config::text(std::string_view key, std::string_view otherwise) {
  const json::value* v = find(key);
  if (v == nullptr) return std::string(otherwise);
  if (!v->is_string()) contradict(key, "it must be a text");
  return std::string(v->get_string());
}

const json::object* Config::object(std::string_view key) {
  const json::value* v = find(key);
  if (v != nullptr && !v->is_object()) contradict(key, "it must be an object");
  return v == nullptr ? nullptr : &v->get_object();
}

const json::array* Config::list(std::string_view key) {
  const json::value* v = find(key);
  if (v != nullptr && !v->is_array()) contradict(key, "it must be a list");
  return v == nullptr ? nullptr : &v->get_array();
}

std::vector<double> Config::numbers(std::string_view key) {
  const json::array* all = list(key);
  if (all == nullptr) contradict(key, "it must be a list of numbers");
  std::vector<double> result;
  for (const json::value& v : *all) {
    if (!v.is_number() || !std::isfinite(v.to_number<double>())) {
      contradict(key, "it must be a list of numbers");
    }
    result.push_back(v.to_number<double>());
  }
  return result;
}

void Config::ignore(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) known_.emplace(key);
}

void Config::finish() const {
  for (const auto& [key, value] : *values_) {
    if (!value.is_null() && !known_.contains(std::string_view(key))) {
      refuse(key, "Tlaloc does not know this key, which may change what the model computes");
    }
  }
}

std::string Config::shown(std::string_view key) const {
  constexpr std::size_t kMost = 60;
  const json::value* v = values_->if_contains(key);
  const auto named = names_.find(key);
  const std::string path = named == names_.end() ? path_ + std::string(key) : named->second;
  if (v == nullptr) return fmt::format("{}: {} is missing", name_, path);
  std::string value = json::serialize(*v);
  if (value.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
    value = value.substr(0, end) + "...";
  }
  return fmt::format("{}: {} is {}", name_, path, value);
}

void Config::refuse(std::string_view key, const std::string& hint) const {
  throw UserError({"TL-LLM-001", "llm", shown(key) + ", which is not supported", hint, {}});
}

void Config::contradict(std::string_view key, const std::string& what) const {
  throw UserError({"TL-LLM-002", "llm", shown(key), what, {}});
}

}  // namespace tlaloc::llm
