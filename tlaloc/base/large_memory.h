// Memory for large arrays, which is kept for the next one instead of going back to the system.
#pragma once

#include <cstddef>

namespace tlaloc {

/// Arrays of fewer bytes are left to the C library, which keeps their memory itself.
inline constexpr std::size_t kLargeMemory = std::size_t{1} << 20;

/// `bytes` of memory, of any content and aligned to pages; nullptr where there are none. First use
/// of a fresh page takes several times as long as writing it, so a block that was given back serves
/// again. What is kept and in use together is at most what was in use at once within the last ten
/// to twenty seconds in which large arrays came or went. Thread-safe.
void* take_large(std::size_t bytes) noexcept;
/// Ends the use of a block that take_large(bytes) gave.
void give_large(void* block, std::size_t bytes) noexcept;

/// The same for any number of bytes: small blocks, and all where AddressSanitizer looks after
/// memory, are the C library's. std::bad_alloc where there are none.
void* take_memory(std::size_t bytes);
void give_memory(void* block, std::size_t bytes) noexcept;

/// Gives all that is kept back to the system. Returns how many bytes that were.
std::size_t release_memory() noexcept;

}  // namespace tlaloc
