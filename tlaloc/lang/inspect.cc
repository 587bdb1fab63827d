#include "tlaloc/lang/inspect.h"

#include "tlaloc/base/array_text.h"
#include "tlaloc/lang/closure.h"

namespace tlaloc::core {
std::string type_text(const Ref& x) { return describe(x); }

std::string value_text(const Ref& x) {
  if (!x) return "(empty)";
  const Node& n = node(x);
  if (n.traced()) return describe(x) + " (traced)";
  return array_text(n.array(), ArrayLayout::lines);
}

std::string graph_text(const Function& f, const Leaves& args, Where where) {
  const OpCall call{"graph_of", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    return trace_closure(f, args, signature_of(args)).graph->to_string();
  });
}

}  // namespace tlaloc::core
