#include <bit>
#include <cstring>
#include <unordered_set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/utf8.h"
#include "tlaloc/io/gguf.h"
#include "tlaloc/io/gguf_format.h"

namespace tlaloc::io {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw UserError({"TL-GGUF-004", "gguf", message, hint, {}});
}

class Writer {
 public:
  const std::string& bytes() const { return bytes_; }

  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view s) {
    number<std::uint64_t>(s.size());
    bytes_ += s;
  }
  void name(const std::string& s) {
    if (!is_utf8(s)) refuse("a name is no UTF-8", "rename it");
    text(s);
  }
  void value(const GgufValue& v) {
    number(static_cast<std::uint32_t>(v.index()));
    std::visit([&](const auto& x) { element(x, 0); }, v);
  }
  void pad(std::uint64_t alignment) {
    bytes_.append((alignment - bytes_.size() % alignment) % alignment, '\0');
  }

 private:
  template <class T>
  void element(const T& x, int depth) {
    if constexpr (std::is_same_v<T, GgufArray>) {
      if (depth == kGgufMaxDepth) refuse("lists are nested too deep", "flatten them");
      number(static_cast<std::uint32_t>(x.elements.index()));
      number<std::uint64_t>(x.size());
      std::visit(
          [&]<class U>(const std::vector<U>& all) {
            for (const U& e : all) element(e, depth + 1);
          },
          x.elements);
    } else if constexpr (std::is_same_v<T, std::string>) {
      text(x);
    } else {
      number(x);
    }
  }

  std::string bytes_ = std::string(kGgufMagic);
};

std::uint64_t alignment_of(const GgufMetadata& metadata) {
  const GgufValue* value = metadata.find(kGgufAlignmentKey);
  if (!value) return kGgufAlignment;
  const auto* alignment = std::get_if<std::uint32_t>(value);
  if (!alignment || !std::has_single_bit(*alignment) || *alignment > kGgufMaxAlignment) {
    refuse("general.alignment is no u32 that is a power of two up to 2^20", "set it to 32");
  }
  return *alignment;
}

}  // namespace

void write_gguf(const std::string& path, const GgufMetadata& metadata,
                const std::vector<TensorSpec>& tensors, const TensorSource& source) {
  const std::uint64_t alignment = alignment_of(metadata);
  Writer head;
  head.number<std::uint32_t>(3);
  head.number<std::uint64_t>(tensors.size());
  head.number<std::uint64_t>(metadata.entries().size());
  for (const auto& [key, value] : metadata.entries()) {
    head.name(key);
    head.value(value);
  }
  std::unordered_set<std::string_view> names;
  std::vector<std::int64_t> sizes;
  std::int64_t offset = 0;
  for (const TensorSpec& t : tensors) {
    if (!names.insert(t.name).second)
      refuse("two tensors are named '" + t.name + "'", "rename one");
    const std::optional<std::uint32_t> number = gguf_number(t.storage);
    if (!number) {
      refuse("'" + t.name + "' is stored as " + std::string(name(t.storage)) +
                 ", which GGUF files don't have",
             "convert it first");
    }
    const std::optional<std::int64_t> bytes = storage_bytes(t.storage, t.shape);
    if (!bytes || t.shape.size() > kGgufMaxRank) {
      refuse("'" + t.name + "' is " + std::string(name(t.storage)) + to_string(t.shape) +
                 ", which fills no whole blocks, or more than 63 bits count, or has more than " +
                 std::to_string(kGgufMaxRank) + " axes",
             "use another storage for it");
    }
    head.name(t.name);
    head.number(static_cast<std::uint32_t>(t.shape.size()));
    for (std::size_t d = t.shape.size(); d-- > 0;) {
      head.number(static_cast<std::uint64_t>(t.shape[d]));
    }
    head.number(*number);
    head.number(static_cast<std::uint64_t>(offset));
    const auto padded = static_cast<std::int64_t>(alignment);
    sizes.push_back(*bytes);
    offset = checked_mul(checked_add(offset, checked_add(*bytes, padded - 1)) / padded, padded);
  }
  head.pad(alignment);

  NewFile file("gguf", path);
  file.write(std::as_bytes(std::span(head.bytes())));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::span<const std::byte> bytes = source(i);
    internal_check(bytes.size() == usize(sizes[i]), "a tensor's bytes don't fit its shape");
    file.write(bytes);
    const std::string padding((alignment - bytes.size() % alignment) % alignment, '\0');
    file.write(std::as_bytes(std::span(padding)));
  }
  file.put();
}

}  // namespace tlaloc::io
