// The keys of a configuration, each of which must be understood.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::llm {

/// Larger sizes are no model's; products of three of them fit 63 bits.
inline constexpr std::int64_t kMostSize = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostLayers = 4096;
inline constexpr std::int64_t kMostContext = std::int64_t{1} << 30;

/// A JSON object that is asked for its keys. A key that is null says nothing, as if it were not
/// there, except to is_null(). What can't be read so is TL-LLM-002.
class Config {
 public:
  /// What the file calls a key, where that differs.
  using Names = std::map<std::string, std::string, std::less<>>;

  /// `name` is the file's.
  Config(const boost::json::object& values, std::string name, Names names = {})
      : values_(&values), name_(std::move(name)), names_(std::move(names)) {}
  /// What stands in the file under `path`, but for keys that `elsewhere` names: beside it.
  Config part(const boost::json::object& values, const std::string& path,
              const Names& elsewhere = {}) const;

  const boost::json::value* find(std::string_view key);
  bool has(std::string_view key) { return find(key) != nullptr; }
  bool is_null(std::string_view key);
  /// From 1 to `most`. Without `otherwise` the key must be there.
  std::int64_t size(std::string_view key, std::optional<std::int64_t> otherwise = {},
                    std::int64_t most = kMostSize);
  /// Above 0 and finite.
  double positive(std::string_view key, std::optional<double> otherwise = {});
  std::optional<double> number(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string_view otherwise);
  /// Null where there is none.
  const boost::json::object* object(std::string_view key);
  const boost::json::array* list(std::string_view key);
  std::vector<double> numbers(std::string_view key);

  /// What has no meaning for inference.
  void ignore(std::initializer_list<std::string_view> keys);
  /// TL-LLM-001 for keys that nobody asked for.
  void finish() const;

  /// TL-LLM-001: the value of a key is not supported; `hint` says what is.
  [[noreturn]] void refuse(std::string_view key, const std::string& hint) const;
  /// TL-LLM-002: what is wrong with the value of a key.
  [[noreturn]] void contradict(std::string_view key, const std::string& what) const;
  const std::string& name() const { return name_; }

 private:
  std::string shown(std::string_view key) const;
  const boost::json::object* values_;
  std::string name_;
  Names names_;
  std::string path_;  ///< before keys in messages, such as "text_config."
  std::set<std::string, std::less<>> known_;
};

}  // namespace tlaloc::llm
