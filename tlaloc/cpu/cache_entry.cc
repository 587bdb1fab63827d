#include "tlaloc/cpu/cache_entry.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tlaloc::cpu {
namespace {

struct Header {
  char magic[8] = {'T', 'L', 'C', 'O', 'D', 'E', '\r', '\n'};  // broken by copying as text
  std::uint64_t version = 1;
  std::uint64_t size = 0;  // of the image that follows
  Digest digest{};         // of all of the above, of the key and of the image
};
static_assert(sizeof(Header) == 8 + 8 + 8 + 32);

Header header_for(const Digest& key, std::span<const std::byte> image) {
  Header header;
  header.size = image.size();
  header.digest = Hasher()
                      .add(std::string_view(header.magic, sizeof header.magic))
                      .add(header.version)
                      .add(std::as_bytes(std::span(key)))
                      .add(image)
                      .finish();
  return header;
}

}  // namespace

std::vector<std::byte> write_entry(const Digest& key, const CodeImage& image) {
  const std::vector<std::byte> body = image.serialize();
  const Header header = header_for(key, body);
  std::vector<std::byte> entry(sizeof header + body.size());
  std::memcpy(entry.data(), &header, sizeof header);
  std::ranges::copy(body, entry.begin() + sizeof header);
  return entry;
}

std::optional<CodeImage> read_entry(const Digest& key, std::span<const std::byte> from) {
  if (from.size() < sizeof(Header)) return std::nullopt;
  const auto body = from.subspan(sizeof(Header));
  const Header expected = header_for(key, body);
  if (std::memcmp(from.data(), &expected, sizeof expected) != 0) return std::nullopt;
  return CodeImage::deserialize(body);
}

}  // namespace tlaloc::cpu
