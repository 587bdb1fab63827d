// SHA-256.
#pragma once

#include <nettle/sha2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tlaloc {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

/// Of a sequence of parts. Each part counts with its length, so that "ab", "c" is not "a", "bc".
class Hasher {
 public:
  Hasher() { sha256_init(&state_); }
  Hasher& add(std::span<const std::byte> part) {
    const std::uint64_t size = part.size();
    update({reinterpret_cast<const std::byte*>(&size), sizeof size});
    update(part);
    return *this;
  }
  Hasher& add(std::string_view part) { return add(std::as_bytes(std::span(part))); }
  Hasher& add(std::uint64_t number) {
    update({reinterpret_cast<const std::byte*>(&number), sizeof number});
    return *this;
  }
  /// Once.
  Digest finish() {
    Digest digest;
    sha256_digest(&state_, digest.size(), digest.data());
    return digest;
  }

 private:
  void update(std::span<const std::byte> bytes) {
    sha256_update(&state_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  }
  sha256_ctx state_;
};

/// Of the bytes alone: what sha256sum prints of a file.
Digest sha256(std::string_view bytes);

std::string to_hex(const Digest& digest);

}  // namespace tlaloc
