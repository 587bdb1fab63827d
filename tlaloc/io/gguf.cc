#include "tlaloc/io/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/base/utf8.h"
#include "tlaloc/io/gguf_format.h"
#include "tlaloc/io/recognize.h"

namespace tlaloc::io {
namespace {

/// Reads one thing after the other and never beyond the end.
class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return file_.size() - at_; }

  [[noreturn]] void refuse(const std::string& message,
                           const std::string& hint = "get the file anew") const {
    throw UserError({"TL-GGUF-001",
                     "gguf",
                     name_ + " at byte " + std::to_string(at_) + ": " + message,
                     hint,
                     {}});
  }
  [[noreturn]] void unsupported(const std::string& message, const std::string& hint) const {
    throw UserError({"TL-GGUF-002", "gguf", name_ + ": " + message, hint, {}});
  }

  std::span<const std::byte> bytes(std::uint64_t count) {
    if (count > left()) {
      refuse(std::to_string(count) + " bytes are due, and " + std::to_string(left()) +
             " are left: the file is cut off");
    }
    const auto taken = file_.subspan(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }
  template <class T>
  T read() {
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  /// A number of things that take at least so many bytes each.
  std::size_t count(std::size_t least_bytes) {
    const auto n = read<std::uint64_t>();
    if (n > left() / least_bytes) {
      refuse(std::to_string(n) + " things of at least " + std::to_string(least_bytes) +
             " bytes are due, and " + std::to_string(left()) + " bytes are left");
    }
    return static_cast<std::size_t>(n);
  }
  std::string text() {
    const std::span<const std::byte> all = bytes(read<std::uint64_t>());
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
  std::string name() {
    std::string name = text();
    if (!is_utf8(name)) refuse("the name before it is no UTF-8");
    return name;
  }

 private:
  std::span<const std::byte> file_;
  const std::string& name_;
  std::size_t at_ = 0;
};

class MetadataReader {
 public:
  explicit MetadataReader(Reader& in) : in_(in) {}

  GgufValue value() {
    return of_type(in_.read<std::uint32_t>(),
                   [&]<class T>(TypeOf<T>) -> GgufValue { return element<T>(0); });
  }

 private:
  template <class T>
  struct TypeOf {};

  /// Calls f with the C++ type that has the number.
  template <class F>
  GgufValue of_type(std::uint32_t type, F f) {
    return of_type_from<0>(type, f);
  }
  template <std::size_t i, class F>
  GgufValue of_type_from(std::uint32_t type, F f) {
    if constexpr (i == std::variant_size_v<GgufValue>) {
      in_.unsupported("metadata has the type " + std::to_string(type) + ", which is not known",
                      "a newer version of Tlaloc may read it");
    } else {
      if (type == i) return f(TypeOf<std::variant_alternative_t<i, GgufValue>>());
      return of_type_from<i + 1>(type, f);
    }
  }

  template <class T>
  T element(int depth) {
    if constexpr (std::is_same_v<T, GgufArray>) {
      return array(depth + 1);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return in_.text();
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto byte = in_.read<std::uint8_t>();
      if (byte > 1) in_.refuse("a bool is neither 0 nor 1");
      return byte == 1;
    } else {
      return in_.read<T>();
    }
  }
  /// What an element takes at least: texts their length, lists their type and length.
  template <class T>
  static constexpr std::size_t least_bytes() {
    if constexpr (std::is_same_v<T, GgufArray>) {
      return 12;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return 8;
    } else {
      return sizeof(T);
    }
  }
  GgufArray array(int depth) {
    if (depth > kGgufMaxDepth) in_.refuse("lists are nested too deep");
    return std::get<GgufArray>(
        of_type(in_.read<std::uint32_t>(), [&]<class T>(TypeOf<T>) -> GgufValue {
          const std::size_t n = in_.count(least_bytes<T>());
          std::vector<T> elements;
          elements.reserve(n);
          for (std::size_t i = 0; i < n; ++i) elements.push_back(element<T>(depth));
          return GgufArray{std::move(elements)};
        }));
  }

  Reader& in_;
};

void read_version(Reader& in, std::span<const std::byte> all, Gguf& file) {
  const std::span<const std::byte> magic = in.bytes(kGgufMagic.size());
  if (std::memcmp(magic.data(), kGgufMagic.data(), magic.size()) != 0) {
    const Recognized r = recognize(all);
    if (r.what.empty()) in.refuse("this is no GGUF file");
    in.refuse("this is " + std::string(r.what) + ", where a GGUF file is due", std::string(r.hint));
  }
  file.version = in.read<std::uint32_t>();
  if (file.version == 2 || file.version == 3) return;
  if ((file.version & 0xffff) == 0 && file.version != 0) {
    in.unsupported("the file is big-endian", "convert it for little-endian machines");
  }
  in.unsupported("version " + std::to_string(file.version) + ", where 2 and 3 are read",
                 "convert the model anew with current programs");
}

struct Info : TensorSpec {
  std::uint64_t offset = 0;
};

/// The name of a ggml_type that was taken back; empty for other numbers.
std::string_view removed_type(std::uint32_t number) {
  constexpr std::pair<std::uint32_t, std::string_view> kRemoved[] = {
      {4, "Q4_2"},      {5, "Q4_3"},        {31, "Q4_0_4_4"},   {32, "Q4_0_4_8"},
      {33, "Q4_0_8_8"}, {36, "IQ4_NL_4_4"}, {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"},
  };
  for (const auto& [removed, name] : kRemoved) {
    if (removed == number) return name;
  }
  return {};
}

Info read_info(Reader& in) {
  Info info;
  info.name = in.name();
  const auto rank = in.read<std::uint32_t>();
  if (rank > kGgufMaxRank) in.refuse("'" + info.name + "' has " + std::to_string(rank) + " axes");
  for (std::uint32_t d = 0; d < rank; ++d) {
    const auto size = in.read<std::uint64_t>();
    if (!std::in_range<std::int64_t>(size)) in.refuse("'" + info.name + "' is too large");
    // The first axis of the file is the one along which elements are neighbours.
    info.shape.insert(info.shape.begin(), static_cast<std::int64_t>(size));
  }
  const auto number = in.read<std::uint32_t>();
  const std::optional<Storage> storage = gguf_storage(number);
  if (!storage) {
    if (const std::string_view removed = removed_type(number); !removed.empty()) {
      in.unsupported("tensor '" + info.name + "' has the type " + std::to_string(number) + ", " +
                         std::string(removed) + ", which ggml has no longer",
                     "quantize the model anew with current programs");
    }
    in.unsupported("tensor '" + info.name + "' has the type " + std::to_string(number) +
                       ", which is not known",
                   "quantize the model to a current type");
  }
  info.storage = *storage;
  info.offset = in.read<std::uint64_t>();
  return info;
}

std::uint64_t alignment_of(const Reader& in, const GgufMetadata& metadata) {
  const GgufValue* value = metadata.find(kGgufAlignmentKey);
  if (!value) return kGgufAlignment;
  const auto* alignment = std::get_if<std::uint32_t>(value);
  if (!alignment || !std::has_single_bit(*alignment) || *alignment > kGgufMaxAlignment) {
    in.refuse("general.alignment is no u32 that is a power of two up to 2^20");
  }
  return *alignment;
}

/// Where the infos say the tensors are, once they are found to be there.
std::vector<Tensor> locate(const Reader& in, std::vector<Info> infos,
                           std::span<const std::byte> content, std::uint64_t alignment,
                           const std::shared_ptr<const void>& owner) {
  std::vector<Tensor> tensors;
  tensors.reserve(infos.size());
  for (Info& info : infos) {
    const std::string what = "tensor '" + info.name + "', " + std::string(name(info.storage)) +
                             to_string(info.shape) + ",";
    const std::optional<std::int64_t> bytes = storage_bytes(info.storage, info.shape);
    if (!bytes) in.refuse(what + " fills no whole blocks, or more than 63 bits count");
    if (info.offset % alignment != 0) {
      in.refuse(what + " is at " + std::to_string(info.offset) + ", which is not aligned to " +
                std::to_string(alignment));
    }
    if (info.offset > content.size() || usize(*bytes) > content.size() - info.offset) {
      in.refuse(what + " takes " + std::to_string(*bytes) + " bytes at " +
                std::to_string(info.offset) + " of " + std::to_string(content.size()) +
                ": the file is cut off");
    }
    tensors.push_back({std::move(info), content.subspan(info.offset, usize(*bytes)), owner});
  }
  std::vector<const Tensor*> by_place;
  for (const Tensor& t : tensors) {
    if (!t.bytes.empty()) by_place.push_back(&t);
  }
  std::sort(by_place.begin(), by_place.end(),
            [](const Tensor* a, const Tensor* b) { return a->bytes.data() < b->bytes.data(); });
  for (std::size_t i = 1; i < by_place.size(); ++i) {
    const Tensor &before = *by_place[i - 1], &after = *by_place[i];
    if (before.bytes.data() + before.bytes.size() > after.bytes.data()) {
      in.refuse("tensors '" + before.name + "' and '" + after.name + "' overlap");
    }
  }
  return tensors;
}

}  // namespace

Gguf parse_gguf(std::span<const std::byte> file, const std::shared_ptr<const void>& owner,
                const std::string& name) {
  Reader in(file, name);
  Gguf result;
  result.metadata = GgufMetadata(name);
  read_version(in, file, result);
  // An info takes a name's length, a rank, a type and an offset; a value a key's length and a type.
  const std::size_t tensors = in.count(8 + 4 + 4 + 8);
  const std::size_t values = in.count(8 + 4 + 1);
  for (std::size_t i = 0; i < values; ++i) {
    std::string key = in.name();
    if (result.metadata.find(key)) in.refuse("the key '" + key + "' occurs twice");
    result.metadata.set(std::move(key), MetadataReader(in).value());
  }
  const std::int64_t parts = result.metadata.integer("split.count").value_or(1);
  if (parts < 0) in.refuse("split.count is " + std::to_string(parts));
  if (parts > 1) {
    in.unsupported("this is one of " + std::to_string(parts) + " parts of a model",
                   "merge them first, with llama-gguf-split --merge");
  }
  std::vector<Info> infos;
  infos.reserve(tensors);
  for (std::size_t i = 0; i < tensors; ++i) infos.push_back(read_info(in));
  const std::uint64_t alignment = alignment_of(in, result.metadata);
  const std::uint64_t padding = (alignment - in.at() % alignment) % alignment;
  const auto content = file.subspan(in.at() + std::min<std::uint64_t>(padding, in.left()));
  result.tensors =
      TensorFile("TL-GGUF-001", name, locate(in, std::move(infos), content, alignment, owner));
  return result;
}

Gguf open_gguf(const std::string& path) {
  const auto file = MappedFile::open("gguf", path);
  return parse_gguf(file->bytes(), file, path);
}

}  // namespace tlaloc::io
