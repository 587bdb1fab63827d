// Any bytes are either refused with an InternalError or become an image whose entries lie inside.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tlaloc/base/error.h"
#include "tlaloc/codegen/elf_link.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  try {
    const codegen::FlatImage image =
        codegen::link_object(std::as_bytes(std::span(data, size)), "fuzz");
    if (image.bytes.size() > 100 * size) std::abort();
    for (const auto& entry : image.entries)
      if (entry.offset > image.bytes.size()) std::abort();
  } catch (const InternalError&) {
  }
  return 0;
}
