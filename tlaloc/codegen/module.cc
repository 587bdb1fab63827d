// The entry of libtlaloc_codegen.so.
#include <exception>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/codegen/api.h"
#include "tlaloc/codegen/elf_link.h"
#include "tlaloc/codegen/llvm.h"

namespace tlaloc::codegen {
namespace {

void answer(const Request& request, Sink sink, void* to) {
  const Compiled compiled = compile(request);
  const auto put = [&](Part part, const auto& data, std::uint64_t number = 0) {
    sink(to, part, data.data(), data.size(), number);
  };
  if (request.object != 0) {
    put(Part::object, compiled.object);
  } else {
    const FlatImage image = link_object(compiled.object, request.name);
    put(Part::image, image.bytes);
    for (const FlatImage::Entry& entry : image.entries) put(Part::entry, entry.name, entry.offset);
  }
  if (request.explain != 0) {
    put(Part::optimized_ir, compiled.optimized_ir);
    put(Part::assembly, compiled.assembly);
  }
}

/// Exceptions stay inside: the caller may have been built with another compiler.
void compile_or_explain(const Request& request, Sink sink, void* to) {
  const auto fail = [&](std::string_view text) {
    sink(to, Part::error, text.data(), text.size(), 0);
  };
  try {
    answer(request, sink, to);
  } catch (const Error& e) {
    fail(e.info().message);
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

}  // namespace
}  // namespace tlaloc::codegen

extern "C" __attribute__((visibility("default"))) tlaloc::codegen::Compile tlaloc_codegen(
    std::uint32_t version) {
  using namespace tlaloc::codegen;
  return version == kApiVersion ? compile_or_explain : nullptr;
}
