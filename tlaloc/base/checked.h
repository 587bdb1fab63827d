// Integers that stand for sizes and positions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tlaloc {

/// An index or a size that is known not to be negative.
constexpr std::size_t usize(std::int64_t i) { return static_cast<std::size_t>(i); }

/// UserError TL-SIZE-001: 64 bits don't hold a size.
[[noreturn]] void throw_size_overflow();

// Arithmetic on what a user may have made as large as 64 bits allow; TL-SIZE-001 beyond.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw_size_overflow();
  return r;
}
inline std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) throw_size_overflow();
  return r;
}
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw_size_overflow();
  return r;
}

}  // namespace tlaloc
