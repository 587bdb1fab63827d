// Any bytes are either refused or exactly what is written for the image that was read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tlaloc/cpu/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc::cpu;
  const auto input = std::as_bytes(std::span(data, size));
  if (const auto image = CodeImage::deserialize(input))
    if (!std::ranges::equal(image->serialize(), input)) std::abort();
  return 0;
}
