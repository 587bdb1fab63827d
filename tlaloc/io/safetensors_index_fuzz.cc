// Any text is either refused, or an index that asks for files beside it and has each tensor once.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tlaloc/base/error.h"
#include "tlaloc/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::set<std::string> asked;
  auto shard = [&](const std::string& file) {
    if (file.empty() || file == "." || file == ".." || file.ends_with(".index.json")) std::abort();
    if (file.find('/') != file.npos || file.find('\0') != file.npos) std::abort();
    if (!asked.insert(file).second) std::abort();
    std::vector<io::Tensor> tensors;
    for (const char* name : {"a", "b"}) tensors.push_back({{name, io::Storage::u8, {0}}, {}, {}});
    io::Safetensors s;
    s.tensors = io::TensorFile("", file, std::move(tensors));
    return s;
  };
  try {
    const io::Safetensors s = io::parse_safetensors_index(text, shard, "input");
    for (const io::Tensor& t : s.tensors.tensors()) {
      if (s.tensors.find(t.name) != &t) std::abort();
    }
  } catch (const UserError& e) {
    if (e.code() == "TL-SAFETENSORS-003" || e.code() == "TL-JSON-001") return 0;
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  return 0;
}
