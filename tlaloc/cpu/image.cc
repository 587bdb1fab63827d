#include "tlaloc/cpu/image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {
namespace {

void put(std::vector<std::byte>& to, std::uint64_t number) {
  const auto* p = reinterpret_cast<const std::byte*>(&number);
  to.insert(to.end(), p, p + sizeof number);
}
void put(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  put(to, bytes.size());
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Takes what put() wrote from the front; nothing more once something was missing.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> from) : rest_(from) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto taken = take(sizeof value);
    if (good_) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> bytes() { return take(number()); }
  bool good() const { return good_; }
  bool done() const { return good_ && rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return {};
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::span<const std::byte> rest_;
  bool good_ = true;
};

}  // namespace

std::vector<std::byte> CodeImage::serialize() const {
  std::vector<std::byte> to;
  put(to, bytes);
  put(to, entries.size());
  for (const Entry& e : entries) {
    put(to, std::as_bytes(std::span(e.name)));
    put(to, e.offset);
  }
  return to;
}

std::optional<CodeImage> CodeImage::deserialize(std::span<const std::byte> from) {
  Reader reader(from);
  CodeImage image;
  const auto bytes = reader.bytes();
  image.bytes.assign(bytes.begin(), bytes.end());
  for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
    const auto name = reader.bytes();
    const std::uint64_t offset = reader.number();
    if (offset >= image.bytes.size()) return std::nullopt;
    image.entries.push_back(
        {std::string(reinterpret_cast<const char*>(name.data()), name.size()), offset});
  }
  if (!reader.done()) return std::nullopt;
  return image;
}

LoadedImage::LoadedImage(const CodeImage& image)
    : size_(image.bytes.size()), entries_(image.entries) {
  if (size_ == 0) return;
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw EnvironmentError({"TL-MEM-001", "load code", "could not allocate memory", "", {}});
  std::memcpy(memory, image.bytes.data(), size_);
  if (mprotect(memory, size_, PROT_READ | PROT_EXEC) != 0) {
    const std::string reason = std::generic_category().message(errno);
    munmap(memory, size_);
    throw EnvironmentError(
        {"TL-CODEGEN-002",
         "load code",
         "the system refuses to make memory executable: " + reason,
         "allow it (a policy such as SELinux's execmem or MemoryDenyWriteExecute forbids it), or "
         "use the interpreter",
         {}});
  }
  base_ = static_cast<std::byte*>(memory);
}

LoadedImage::~LoadedImage() {
  if (base_ != nullptr) munmap(base_, size_);
}

void* LoadedImage::address(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &CodeImage::Entry::name);
  if (found == entries_.end() || found->offset >= size_)
    throw InternalError("the code has no function " + std::string(name));
  return base_ + found->offset;
}

}  // namespace tlaloc::cpu
