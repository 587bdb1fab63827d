#include "tlaloc/cpu/native.h"

#include <string_view>

#include "tlaloc/cpu/compiler.h"
#include "tlaloc/cpu/settings.h"

namespace tlaloc::cpu {
namespace {

/// Instructions up to which a program becomes one function: what LLVM does with a function grows
/// faster than the function.
constexpr std::size_t kMaxInstructions = 20'000;

}  // namespace

std::shared_ptr<const LoadedImage> compile_native(const Program& p) {
  if (std::string_view(TLALOC_LLVM_VERSION).empty()) return nullptr;
  static const bool wanted = settings_from_environment().codegen;
  if (!wanted || p.code.size() > kMaxInstructions) return nullptr;
  const std::string name = p.graph->name().empty() ? "program" : p.graph->name();
  return compile_ir(generate(p), {.name = name, .passes = std::string(kScalarPasses)});
}

}  // namespace tlaloc::cpu
