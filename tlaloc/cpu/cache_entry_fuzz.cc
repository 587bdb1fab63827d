// Any bytes are either refused or exactly what is written for the image that was read. Entries with
// a right checksum are reached by way of the image inside of them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tlaloc/cpu/cache_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc::cpu;
  const auto input = std::as_bytes(std::span(data, size));
  const Digest key{};
  if (const auto image = read_entry(key, input))
    if (!std::ranges::equal(write_entry(key, *image), input)) std::abort();
  if (const auto image = CodeImage::deserialize(input)) {
    if (!std::ranges::equal(image->serialize(), input)) std::abort();
    if (read_entry(key, write_entry(key, *image)) != image) std::abort();
  }
  return 0;
}
