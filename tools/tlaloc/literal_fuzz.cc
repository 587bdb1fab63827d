// Any text is refused, or is an array that was worth its text.
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/literal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  if (size == 0) return 0;
  constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::i8, DType::u64, DType::boolean};
  const DType dtype = kDTypes[data[0] % std::size(kDTypes)];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const HostArray a = command::parse_literal(text, dtype);
    if (a.dtype() != dtype || static_cast<std::size_t>(a.size()) > text.size()) std::abort();
  } catch (const UserError& e) {
    if (e.code() != "TL-INPUT-001") std::abort();
  }
  return 0;
}
