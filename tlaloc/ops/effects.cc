#include "tlaloc/ops/effects.h"

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "tlaloc/base/array_text.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/ragged.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::ops {
namespace {

struct Hooks {
  std::mutex mutex;
  PrintHook print;
  std::unordered_map<std::string, CustomEval> custom;
  static Hooks& instance() {
    static auto* hooks = new Hooks;  // outlives static objects that print when they are destroyed
    return *hooks;
  }
};

/// Calls text(piece) and value() for the pieces of a format in their order; false if it is
/// malformed.
template <class Text, class Value>
bool walk_format(std::string_view format, const Text& text, const Value& value) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    const std::string_view two = format.substr(i, 2);
    if (two == "{}") {
      value();
      ++i;
    } else if (two == "{{" || two == "}}") {
      text(two.substr(0, 1));
      ++i;
    } else if (format[i] == '{' || format[i] == '}') {
      return false;
    } else {
      text(format.substr(i, 1));
    }
  }
  return true;
}

}  // namespace

PrintHook set_print_hook(PrintHook hook) {
  Hooks& hooks = Hooks::instance();
  std::lock_guard lock(hooks.mutex);
  return std::exchange(hooks.print, std::move(hook));
}
void register_custom_call(std::string name, CustomEval eval) {
  Hooks& hooks = Hooks::instance();
  std::lock_guard lock(hooks.mutex);
  hooks.custom.insert_or_assign(std::move(name), std::move(eval));
}

// ---- debug_print ----

void DebugPrint::infer(InferContext& c) {
  std::size_t places = 0;
  if (!walk_format(c.as<DebugPrintAttrs>().format, [](std::string_view) {}, [&] { ++places; })) {
    c.fail("TL-FORMAT-001", "the format has a brace that is neither {} nor doubled");
  }
  if (places != c.in.size()) {
    c.fail("TL-FORMAT-001", "the format has " + std::to_string(places) + " places for " +
                                std::to_string(c.in.size()) + " values");
  }
  for (const Type t : c.in) {
    if (t.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
  }
}
void DebugPrint::eval(EvalContext& c) {
  std::string text;
  std::size_t next = 0;
  walk_format(
      c.as<DebugPrintAttrs>().format, [&](std::string_view piece) { text += piece; },
      [&] { text += array_text(c.in[next++], ArrayLayout::one_line); });
  Hooks& hooks = Hooks::instance();
  PrintHook hook;
  {
    std::lock_guard lock(hooks.mutex);
    hook = hooks.print;
  }
  // Called without the lock: a hook may set another one.
  if (hook)
    hook(text);
  else
    std::fprintf(stderr, "%s\n", text.c_str());
}
void DebugPrint::batch(const Call& c, BatchContext& ctx) {
  Vals values;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const int i = static_cast<int>(k);
    values.push_back(ctx.batched(i) ? ctx.lifted(i) : c.in[k]);
  }
  debug_print(c.as<DebugPrintAttrs>().format, values);
}

// ---- custom_call ----

void CustomCall::infer(InferContext& c) {
  const CustomCallAttrs& a = c.as<CustomCallAttrs>();
  if (a.results.empty()) c.fail("TL-ARITY-001", "needs at least one result");
  c.out = a.results;
}
void CustomCall::eval(EvalContext& c) {
  const CustomCallAttrs& a = c.as<CustomCallAttrs>();
  Hooks& hooks = Hooks::instance();
  CustomEval run;
  {
    std::lock_guard lock(hooks.mutex);
    if (auto it = hooks.custom.find(a.name); it != hooks.custom.end()) run = it->second;
  }
  if (!run && a.name == kNoForwardRule) {
    throw UserError(
        {"TL-CUSTOM-003",
         "jvp",
         "the backward rule of '" + a.config + "' is not linear, so it has no transpose",
         "use reverse mode, or give the rule by custom_jvp",
         {}});
  }
  if (!run) {
    throw UserError({"TL-CUSTOM-004",
                     kInfo.name,
                     "nothing is registered under the name '" + a.name + "'",
                     "register it by register_custom_call",
                     {}});
  }
  c.out = run(c.in, a.config);
  bool fits = c.out.size() == a.results.size();
  for (std::size_t k = 0; fits && k < c.out.size(); ++k) {
    fits = c.out[k].dtype() == c.out_dtypes[k] && c.out[k].extents() == c.out_extents[k];
  }
  if (!fits) {
    throw UserError({"TL-CUSTOM-002",
                     kInfo.name,
                     "'" + a.name + "' returned other results than the call declares",
                     "",
                     {}});
  }
}

void CustomCall::batch(const Call& c, BatchContext& ctx) {
  const CustomCallAttrs& a = c.as<CustomCallAttrs>();
  Vals lanes;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const int i = static_cast<int>(k);
    for (const Dim d : c.in_types[k].shape()) {
      require_same_in_lanes(ctx, d, *c.op, "shapes of a custom call's operands");
    }
    if (ctx.batched(i)) lanes.push_back(ctx.lifted(i));
  }
  for (Type t : a.results) {
    for (const Dim d : t.shape()) {
      require_same_in_lanes(ctx, d, *c.op, "shapes of a custom call's results");
    }
  }
  const LoopResult r = scan({}, lanes, [&](const Vals& lane) {
    Vals in;
    std::size_t next = 0;
    for (std::size_t k = 0; k < c.in.size(); ++k) {
      in.push_back(ctx.batched(static_cast<int>(k)) ? lane[next++] : c.in[k]);
    }
    return custom_call(a.name, a.config, in, a.results);
  });
  for (std::size_t k = 0; k < r.ys.size(); ++k) ctx.set(static_cast<int>(k), r.ys[k]);
}

TLALOC_ROW(DebugPrint);
TLALOC_ROW(CustomCall);

void debug_print(std::string format, std::span<const Val> values) {
  ir::Builder::current().emit(rows::DebugPrint, ir::make_attr(DebugPrintAttrs{std::move(format)}),
                              values);
}
Vals custom_call(std::string name, std::string config, std::span<const Val> in,
                 std::vector<Type> results) {
  return ir::Builder::current().emit_all(
      rows::CustomCall,
      ir::make_attr(CustomCallAttrs{std::move(name), std::move(config), std::move(results)}), in);
}

}  // namespace tlaloc::ops
