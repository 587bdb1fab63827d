// Any bytes are either refused, or an array that is written and read back to the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  HostArray array;
  try {
    array = io::parse_npy(std::as_bytes(std::span(data, size)), "input");
  } catch (const UserError& e) {
    if (e.code().starts_with("TL-NPY-") || e.code() == "TL-SIZE-001") return 0;
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  if (!identical(io::parse_npy(io::npy_bytes(array), "copy"), array)) std::abort();
  return 0;
}
