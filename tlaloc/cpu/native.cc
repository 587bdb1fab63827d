#include "tlaloc/cpu/native.h"

#include <string_view>
#include <utility>

#include "tlaloc/cpu/compiler.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/settings.h"

namespace tlaloc::cpu {
namespace {

/// Operations beyond which not even the text is written, and characters of text up to which a
/// program becomes one function: LLVM's time follows the text, and this is about a second of it.
constexpr std::size_t kMaxOperations = 40'000, kMaxText = 1'500'000;

std::size_t operations(const Program& p) {
  std::size_t n = p.code.size();
  for (const Step& s : p.steps) {
    if (s.run == run_loop) n += static_cast<const Loop*>(s.data.get())->ops.size();
  }
  return n;
}

const Settings& settings() {
  static const Settings all = settings_from_environment();
  return all;
}
constexpr bool kHasLlvm = !std::string_view(TLALOC_LLVM_VERSION).empty();

}  // namespace

bool compiles_programs() { return kHasLlvm && settings().codegen; }

Native compile_native(const Program& p, std::vector<bool>* timed) {
  auto not_worth = [](const char* why) { return Native{.why_not = why}; };
  if (!kHasLlvm) return not_worth("Tlaloc was built without LLVM");
  if (!settings().codegen) return not_worth("TLALOC_CODEGEN=off");
  if (operations(p) > kMaxOperations) return not_worth("it has more than 40000 operations");
  const std::string name = p.graph->name().empty() ? "program" : p.graph->name();
  NativeText text = generate(p, settings().contract, timed, kMaxText);
  if (text.ir.size() > kMaxText) return not_worth("its code would be too long to compile soon");
  Native r;
  r.image = compile_ir(text.ir, {.name = name,
                                 .graph = [&] { return p.graph->to_string(); },
                                 .passes = std::string(kScalarPasses)});
  r.run = reinterpret_cast<NativeFn>(r.image->address("run"));
  r.loops = std::move(text.loops);
  r.driven = std::move(text.driven);
  for (SharedLoop& l : r.loops) {
    if (!l.entry.empty()) l.code = r.image->address(l.entry);
  }
  for (const NativeText::Row& row : text.rows)
    r.rows.push_back(driven_row(p, row.begin, row.end, r.loops, r.driven));
  return r;
}

}  // namespace tlaloc::cpu
