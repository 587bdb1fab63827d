// Machine code: as bytes that can be kept, and as code that can be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::cpu {

/// Position-independent machine code and its constants. It refers to nothing outside of itself and
/// runs at any page-aligned address.
struct CodeImage {
  struct Entry {
    std::string name;
    std::uint64_t offset = 0;  ///< of the function's first instruction in `bytes`
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<std::byte> bytes;
  std::vector<Entry> entries;
  friend bool operator==(const CodeImage&, const CodeImage&) = default;

  std::vector<std::byte> serialize() const;
  /// nullopt unless `from` is what serialize() makes. Allocates no more than `from` holds.
  static std::optional<CodeImage> deserialize(std::span<const std::byte> from);
};

/// Code in memory of its own, which is never writable and executable at once, and is unmapped with
/// this object. Calling from several threads is safe; whoever calls keeps the object alive.
class LoadedImage {
 public:
  /// EnvironmentError TL-MEM-001 without memory, TL-CODEGEN-002 where the system forbids to make
  /// memory executable.
  explicit LoadedImage(const CodeImage& image);
  ~LoadedImage();
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  /// The function of that name, as `Signature`, such as void(float*, std::int64_t). InternalError
  /// when there is none.
  template <typename Signature>
  Signature* function(std::string_view name) const {
    return reinterpret_cast<Signature*>(address(name));
  }
  void* address(std::string_view name) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<CodeImage::Entry> entries_;
};

}  // namespace tlaloc::cpu
