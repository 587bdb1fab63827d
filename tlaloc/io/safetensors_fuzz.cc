// Any bytes are either refused, or tensors that lie one after the other and fill the file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  io::Safetensors s;
  try {
    s = io::parse_safetensors(file, nullptr, "input");
  } catch (const UserError& e) {
    if (e.code().starts_with("TL-SAFETENSORS-") || e.code() == "TL-JSON-001") return 0;
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  const std::byte* end = nullptr;
  for (const io::Tensor& t : s.tensors.tensors()) {
    if (io::storage_bytes(t.storage, t.shape) != static_cast<std::int64_t>(t.bytes.size())) {
      std::abort();
    }
    if (end != nullptr && t.bytes.data() != end) std::abort();
    end = t.bytes.data() + t.bytes.size();
    if (s.tensors.find(t.name) != &t) std::abort();
  }
  if (end != nullptr && end != file.data() + file.size()) std::abort();
  return 0;
}
