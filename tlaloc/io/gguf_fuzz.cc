// Any bytes are either refused, or tensors that lie apart in the file and decode as their type
// says.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/io/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  io::Gguf g;
  try {
    g = io::parse_gguf(file, nullptr, "input");
  } catch (const UserError& e) {
    if (e.code().starts_with("TL-GGUF-")) return 0;
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  std::size_t together = 0;
  for (const io::Tensor& t : g.tensors.tensors()) {
    if (io::storage_bytes(t.storage, t.shape) != static_cast<std::int64_t>(t.bytes.size())) {
      std::abort();
    }
    if (!t.bytes.empty() && (t.bytes.data() < file.data() ||
                             t.bytes.data() + t.bytes.size() > file.data() + file.size())) {
      std::abort();
    }
    together += t.bytes.size();
    if (io::can_dequantize(t.storage)) io::to_f32(t);
  }
  if (together > size) std::abort();
  return 0;
}
