#include "tlaloc/cpu/codegen_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/codegen/api.h"

namespace tlaloc::cpu {
namespace {

constexpr const char* kName = "libtlaloc_codegen.so";

/// The folder of the program or the shared library that this code is part of; empty where unknown.
std::filesystem::path own_folder() {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(&kName, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  if (map->l_name != nullptr && *map->l_name != '\0')
    return std::filesystem::path(map->l_name).parent_path();
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::vector<std::string> candidates(const std::string& path) {
  if (!path.empty()) return {path};
  std::vector<std::string> all;
  if (const auto folder = own_folder(); !folder.empty()) all.push_back(folder / kName);
  all.emplace_back(kName);
  all.emplace_back(std::string(TLALOC_LIBDIR) + "/" + kName);
  return all;
}

/// Null when there is no such library of our version; then `why` is extended.
codegen::Compile open(const std::string& file, std::string& why) {
  why += (why.empty() ? "" : "; ");
  // Never unloaded: LLVM keeps state for the life of the process.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    why += dlerror();
    return nullptr;
  }
  if (void* entry = dlsym(library, "tlaloc_codegen"))
    if (auto compile = reinterpret_cast<decltype(tlaloc_codegen)*>(entry)(codegen::kApiVersion))
      return compile;
  why += file + ": not of this version of Tlaloc";
  return nullptr;
}

codegen::Compile load(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, codegen::Compile> loaded;
  const std::lock_guard lock(mutex);
  codegen::Compile& compile = loaded[path];
  if (compile != nullptr) return compile;
  std::string why;
  for (const std::string& file : candidates(path))
    if ((compile = open(file, why)) != nullptr) return compile;
  throw EnvironmentError(
      {"TL-CODEGEN-001",
       "compile",
       "the library that generates code can't be loaded: " + why,
       "build Tlaloc where LLVM 19 is (Debian: llvm-19-dev), and set TLALOC_CODEGEN_LIBRARY to the "
       "path of libtlaloc_codegen.so where it is not found, or set TLALOC_CODEGEN=off",
       {}});
}

struct Answer {
  Generated generated;
  std::optional<std::string> error;
};

void take(void* to, codegen::Part part, const void* data, std::size_t size, std::uint64_t number) {
  auto& answer = *static_cast<Answer*>(to);
  const auto* bytes = static_cast<const std::byte*>(data);
  std::string text(static_cast<const char*>(data), size);
  switch (part) {
    case codegen::Part::image:
      answer.generated.image.bytes.assign(bytes, bytes + size);
      break;
    case codegen::Part::entry:
      answer.generated.image.entries.push_back({std::move(text), number});
      break;
    case codegen::Part::optimized_ir:
      answer.generated.optimized_ir = std::move(text);
      break;
    case codegen::Part::assembly:
      answer.generated.assembly = std::move(text);
      break;
    case codegen::Part::object:
      answer.generated.object.assign(bytes, bytes + size);
      break;
    case codegen::Part::error:
      answer.error = std::move(text);
      break;
  }
}

}  // namespace

namespace {

Generated call(const std::string& path, std::string_view ir, const CompileOptions& options,
               bool explain, bool object) {
  Answer answer;
  load(path)({.name = options.name.c_str(),
              .ir = ir.data(),
              .ir_size = ir.size(),
              .passes = options.passes.c_str(),
              .cpu = options.cpu.c_str(),
              .features = options.features.c_str(),
              .level = options.level,
              .explain = explain ? 1 : 0,
              .object = object ? 1 : 0},
             take, &answer);
  if (answer.error) throw InternalError(*answer.error);
  return std::move(answer.generated);
}

}  // namespace

Generated generate(const std::string& path, std::string_view ir, const CompileOptions& options,
                   bool explain) {
  return call(path, ir, options, explain, false);
}
std::vector<std::byte> generate_object(const std::string& path, std::string_view ir,
                                       const CompileOptions& options) {
  return call(path, ir, options, false, true).object;
}

}  // namespace tlaloc::cpu
