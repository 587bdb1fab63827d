// Any bytes are either refused, or arrays whose entries fit the file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  io::NamedArrays arrays;
  try {
    arrays = io::parse_npz(std::as_bytes(std::span(data, size)), "input");
  } catch (const UserError& e) {
    const bool known =
        e.code().starts_with("TL-NPY-") || e.code() == "TL-ZIP-001" || e.code() == "TL-SIZE-001";
    if (known) return 0;
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  std::size_t together = 0;
  for (const auto& [name, array] : arrays) together += array.bytes();
  if (together > 1032 * size) std::abort();  // what deflate can make of it
  return 0;
}
