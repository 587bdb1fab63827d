#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "tlaloc/base/error.h"
#include "tlaloc/io/gguf.h"

namespace tlaloc::io {

void GgufMetadata::throw_kind(std::string_view key, const GgufValue& value,
                              std::string_view wanted) const {
  throw UserError(
      {"TL-GGUF-003",
       "gguf",
       fmt::format("{}{}{} is of the type {}, where {} is due", file_, file_.empty() ? "" : ": ",
                   key, gguf_type_name(value.index()), wanted),
       "convert the model anew",
       {}});
}

std::size_t GgufArray::size() const {
  return std::visit([](const auto& v) { return v.size(); }, elements);
}
bool operator==(const GgufArray& a, const GgufArray& b) { return a.elements == b.elements; }

std::string_view gguf_type_name(std::size_t index) {
  constexpr std::string_view kNames[] = {"u8",   "i8",   "u16",  "i16", "u32", "i32", "f32",
                                         "bool", "text", "list", "u64", "i64", "f64"};
  static_assert(std::size(kNames) == std::variant_size_v<GgufValue>);
  return kNames[index];
}

void GgufMetadata::set(std::string key, GgufValue value) {
  const auto [it, added] = index_.emplace(key, entries_.size());
  if (added) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[it->second].second = std::move(value);
  }
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto it = index_.find(std::string(key));
  return it == index_.end() ? nullptr : &entries_[it->second].second;
}

std::optional<std::int64_t> GgufMetadata::integer(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return std::visit(
      [&]<class T>(const T& v) -> std::int64_t {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          if (std::in_range<std::int64_t>(v)) return static_cast<std::int64_t>(v);
        }
        throw_kind(key, *value, "an integer of 63 bits");
      },
      *value);
}

std::optional<double> GgufMetadata::number(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  return std::visit(
      [&]<class T>(const T& v) -> double {
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
          return static_cast<double>(v);
        }
        throw_kind(key, *value, "a number");
      },
      *value);
}

template <class T>
const T* GgufMetadata::get(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return nullptr;
  const T* v = std::get_if<T>(value);
  if (!v) throw_kind(key, *value, gguf_type_name(GgufValue(T()).index()));
  return v;
}

std::optional<bool> GgufMetadata::boolean(std::string_view key) const {
  const bool* v = get<bool>(key);
  if (!v) return std::nullopt;
  return *v;
}
const std::string* GgufMetadata::text(std::string_view key) const { return get<std::string>(key); }
const GgufArray* GgufMetadata::list(std::string_view key) const { return get<GgufArray>(key); }

}  // namespace tlaloc::io
