// GGUF: metadata and tensors in one file; versions 2 and 3, little-endian.
// Format: docs/gguf.md of ggml.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tlaloc/io/tensor_file.h"

namespace tlaloc::io {

struct GgufArray;
/// A value of metadata. The index of the alternative is the type's number in the file. Text is
/// bytes: tokens need not be UTF-8.
using GgufValue = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                               std::uint32_t, std::int32_t, float, bool, std::string, GgufArray,
                               std::uint64_t, std::int64_t, double>;
/// Elements of one type; the index of the alternative is the number of that type.
struct GgufArray {
  std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
               std::vector<std::int16_t>, std::vector<std::uint32_t>, std::vector<std::int32_t>,
               std::vector<float>, std::vector<bool>, std::vector<std::string>,
               std::vector<GgufArray>, std::vector<std::uint64_t>, std::vector<std::int64_t>,
               std::vector<double>>
      elements;

  std::size_t size() const;
  friend bool operator==(const GgufArray& a, const GgufArray& b);
};
/// "u8", "text", "list", …
std::string_view gguf_type_name(std::size_t index);

/// Keys and values, in the file's order.
class GgufMetadata {
 public:
  using Entry = std::pair<std::string, GgufValue>;

  GgufMetadata() = default;
  /// Of the file of the name, which errors say.
  explicit GgufMetadata(std::string file) : file_(std::move(file)) {}

  /// Replaces the value of a key that is there.
  void set(std::string key, GgufValue value);
  const std::vector<Entry>& entries() const { return entries_; }
  const GgufValue* find(std::string_view key) const;

  // The value where it is there, whatever its width. UserError TL-GGUF-003 where it is of another
  // kind, or an integer that 63 bits don't hold.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  const std::string* text(std::string_view key) const;
  const GgufArray* list(std::string_view key) const;

 private:
  template <class T>
  const T* get(std::string_view key) const;
  [[noreturn]] void throw_kind(std::string_view key, const GgufValue& value,
                               std::string_view wanted) const;
  std::string file_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

struct Gguf {
  TensorFile tensors;  ///< in the order in which the file names them
  GgufMetadata metadata;
  std::uint32_t version = 3;
};

/// `owner` keeps the bytes there. UserError TL-GGUF-001 with the place for what is malformed: cut
/// off, tensors that overlap or are not aligned, keys or names that occur twice. TL-GGUF-002 for
/// what is not read: version 1, big-endian files, unknown types, parts of a split model.
Gguf parse_gguf(std::span<const std::byte> file, const std::shared_ptr<const void>& owner,
                const std::string& name);
/// Maps the file; EnvironmentError TL-FILE-001 too.
Gguf open_gguf(const std::string& path);

/// Writes version 3, with the bytes of the gguf package: tensors in the order given, each aligned
/// to general.alignment of the metadata, or 32. `source` is asked for one after the other.
/// UserError TL-GGUF-004 for a storage that GGUF has not, names that occur twice or are no UTF-8,
/// sizes that fill no blocks, and an alignment that is no power of two; EnvironmentError
/// TL-FILE-001.
void write_gguf(const std::string& path, const GgufMetadata& metadata,
                const std::vector<TensorSpec>& tensors, const TensorSource& source);

}  // namespace tlaloc::io
