// UTF-8: checking, reading and writing characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tlaloc/base/utf8.h"

namespace tlaloc::text {

/// `s` with U+FFFD for each maximal part of an ill-formed sequence: Python's errors="replace",
/// WHATWG's decoder and Rust's from_utf8_lossy do the same.
std::string replace_ill_formed(std::string_view s);

/// Bytes of the character that starts with `lead`, in well-formed text.
inline std::size_t length_of(char lead) {
  const auto b = static_cast<unsigned char>(lead);
  return b < 0x80 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
}
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Behind ASCII characters, most of them: up to seven may be left.
inline const char* skip_ascii(const char* p, const char* end) {
  for (std::uint64_t word; end - p >= 8; p += 8) {
    std::memcpy(&word, p, 8);
    if (word & 0x8080808080808080u) break;
  }
  return p;
}

/// The character at `p` of well-formed text; moves `p` behind it.
inline char32_t next_char(const char*& p) {
  const auto b = static_cast<unsigned char>(*p++);
  if (b < 0x80) return b;
  auto more = [&] { return static_cast<char32_t>(static_cast<unsigned char>(*p++) & 0x3F); };
  if (b < 0xE0) return (b & 0x1Fu) << 6 | more();
  if (b < 0xF0) {
    const char32_t high = more();
    return (b & 0x0Fu) << 12 | high << 6 | more();
  }
  const char32_t high = more(), middle = more();
  return (b & 0x07u) << 18 | high << 12 | middle << 6 | more();
}

inline void append_char(std::string& out, char32_t c) {
  auto put = [&](char32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

}  // namespace tlaloc::text
