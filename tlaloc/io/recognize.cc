#include "tlaloc/io/recognize.h"

#include <filesystem>
#include <fstream>

#include "tlaloc/io/gguf_format.h"

namespace tlaloc::io {

Recognized recognize(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with(kGgufMagic)) return {"a GGUF file", "open it as GGUF"};
  if (text.starts_with("PK\x03\x04")) {
    return {"a ZIP archive, as PyTorch saves (.bin, .pt)", "get the model as safetensors"};
  }
  if (text.starts_with("version https://git-lfs")) {
    return {"a pointer of git-lfs, not the file itself", "get the file with git lfs pull"};
  }
  if (text.starts_with("<!DOCTYPE") || text.starts_with("<html")) {
    return {"a page of HTML", "the download failed: get the file anew"};
  }
  constexpr std::size_t kLength = 8;  // of a safetensors header, which follows it
  if (text.substr(0, kLength + 2).ends_with("{\"") && text.size() >= kLength + 2) {
    return {"a safetensors file", "open it as safetensors"};
  }
  return {};
}

bool is_gguf(const std::string& path) {
  if (path.ends_with(".gguf")) return true;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string start(kGgufMagic.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kGgufMagic;
}

}  // namespace tlaloc::io
