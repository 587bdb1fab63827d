// Ops that reach outside: printing and calls of foreign code.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

/// Receives each printed text, without a newline at its end.
using PrintHook = std::function<void(std::string_view text)>;
/// Sets where debug_print goes; an empty hook means standard error. Returns the hook before.
PrintHook set_print_hook(PrintHook hook);

struct DebugPrintAttrs {
  std::string format;
  static constexpr auto fields() {
    return std::tuple(ir::field("format", &DebugPrintAttrs::format));
  }
};
/// No results. A scalar prints as its value, an array as nested lists.
struct DebugPrint {
  using Kind = Custom;
  using Attrs = DebugPrintAttrs;
  static constexpr OpInfo kInfo{
      "debug_print", "Prints its operands, in program order.", {.ordered = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp{"it has no result"};
  static constexpr Refusal kNoTranspose{"it has no result"};
  static void batch(const Call& c, BatchContext& ctx);
};

/// Gives the results of a custom call.
using CustomEval =
    std::function<std::vector<HostArray>(std::span<const HostArray> in, const std::string& config)>;
/// Lets the interpreter evaluate custom calls of that name, in place of an earlier registration.
void register_custom_call(std::string name, CustomEval eval);

/// The name of the custom call that stands where the backward rule of a custom_vjp is not linear,
/// so that forward mode can't transpose it. Who evaluates it gets TL-CUSTOM-003; `config` is the
/// name of the function.
inline constexpr char kNoForwardRule[] = "tlaloc.no_forward_rule";

struct CustomCallAttrs {
  std::string name, config;
  std::vector<Type> results;
  static constexpr auto fields() {
    return std::tuple(ir::field("name", &CustomCallAttrs::name),
                      ir::field("config", &CustomCallAttrs::config),
                      ir::field("results", &CustomCallAttrs::results));
  }
};
struct CustomCall {
  using Kind = Custom;
  using Attrs = CustomCallAttrs;
  static constexpr OpInfo kInfo{"custom_call", "Foreign code by name; a pure function."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp{"a custom call says nothing about its derivative"};
  static constexpr Refusal kNoTranspose{"a custom call says nothing about its transpose"};
  static void batch(const Call& c, BatchContext& ctx);  // one call per lane
};

}  // namespace tlaloc::ops
