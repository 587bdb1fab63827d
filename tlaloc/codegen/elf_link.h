// A relocatable object file to position-independent bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::codegen {

struct FlatImage {
  struct Entry {
    std::string name;
    std::uint64_t offset = 0;
  };
  std::vector<std::byte> bytes;  ///< for any address that is a multiple of kMaxAlignment
  std::vector<Entry> entries;    ///< the global functions, by name
};

/// The most that a section may be aligned to: a page.
inline constexpr std::uint64_t kMaxAlignment = 4096;

/// Lays out the code and the constants of an ELF64 x86-64 object and applies the relocations
/// between them, all of which are relative. InternalError for anything that such bytes can't hold:
/// symbols that are defined elsewhere (all are named), writable data, absolute addresses; and for a
/// malformed object. `name` says in errors whose code it is. Allocates at most some hundred times
/// the object's size.
FlatImage link_object(std::span<const std::byte> object, std::string_view name);

}  // namespace tlaloc::codegen
