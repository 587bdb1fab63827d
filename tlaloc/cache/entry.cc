#include "tlaloc/cache/entry.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tlaloc::cache {
namespace {

struct Header {
  char magic[8] = {'T', 'L', 'C', 'O', 'D', 'E', '\r', '\n'};  // broken by copying as text
  std::uint64_t version = 1;
  std::uint64_t size = 0;  // of the body that follows
  Digest digest{};         // of all of the above, of the key and of the body
};
static_assert(sizeof(Header) == 8 + 8 + 8 + 32);

Header header_for(const Digest& key, std::span<const std::byte> body) {
  Header header;
  header.size = body.size();
  header.digest = Hasher()
                      .add(std::string_view(header.magic, sizeof header.magic))
                      .add(header.version)
                      .add(std::as_bytes(std::span(key)))
                      .add(body)
                      .finish();
  return header;
}

}  // namespace

std::vector<std::byte> write_entry(const Digest& key, std::span<const std::byte> body) {
  const Header header = header_for(key, body);
  std::vector<std::byte> entry(sizeof header + body.size());
  std::memcpy(entry.data(), &header, sizeof header);
  std::ranges::copy(body, entry.begin() + sizeof header);
  return entry;
}

std::optional<std::span<const std::byte>> read_entry(const Digest& key,
                                                     std::span<const std::byte> from) {
  if (from.size() < sizeof(Header)) return std::nullopt;
  const auto body = from.subspan(sizeof(Header));
  const Header expected = header_for(key, body);
  if (std::memcmp(from.data(), &expected, sizeof expected) != 0) return std::nullopt;
  return body;
}

}  // namespace tlaloc::cache
