// Any bytes are either refused or exactly what is written for the body that was read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tlaloc/cache/entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc::cache;
  const auto input = std::as_bytes(std::span(data, size));
  const tlaloc::Digest key{};
  if (const auto body = read_entry(key, input))
    if (!std::ranges::equal(write_entry(key, *body), input)) std::abort();
  const auto entry = write_entry(key, input);
  const auto body = read_entry(key, entry);
  if (!body || !std::ranges::equal(*body, input)) std::abort();
  return 0;
}
