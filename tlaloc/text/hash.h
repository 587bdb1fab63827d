// Hashes of tables whose keys come from files and texts.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tlaloc::text {

/// Drawn once per process, so that nobody can write a file whose keys all meet. Results never
/// depend on it.
std::uint64_t hash_seed();

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_integer(std::uint64_t key, std::uint64_t seed) {
  return mix(key ^ seed, 0x9E3779B97F4A7C15u);
}

inline std::uint64_t hash_bytes(std::string_view s, std::uint64_t seed) {
  std::uint64_t h = seed ^ s.size();
  const char* p = s.data();
  std::size_t n = s.size();
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix(h ^ word, 0x9E3779B97F4A7C15u);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, p, n);
  return mix(h ^ rest, 0xD6E8FEB86659FD93u);
}

}  // namespace tlaloc::text
