// Graphs from text, as Graph::to_string prints them:
//
//   graph @loss {n in 1..128} (%x: f32[n, 4], %in.w {hidden, out}: f32[4, 10]) -> (f32[]) {
//     %2 = dot_general(%x, %in.w) {lhs_contracting=[1], rhs_contracting=[0]} : f32[n, 10]
//     %loss = call(%2) {name="mean", ...} : f32[]
//       callee {m=n} graph {m} (%0: f32[m, 10]) -> (f32[]) {
//         ...
//       }
//     require n <= 4096 "what it is about"
//     return %loss
//   }
//
// Sizes stand in braces: behind the graph's name what it takes, behind the arrow what it gives back
// (`-> {T} (f32[T])`), behind an op what its node binds (`while {T} (...)`). With each goes what is
// known of it: `n in 1..128 % 8 ~ 64` has bounds, a divisor and a typical size.
//
// A param is named by its label; `%w "any text"` gives it another one. Braces behind it hold the
// names of its axes, `_` for one without.
//
// A region is preceded by the sizes that its graph takes; `L=_` is bound in each iteration.
//
// `//` starts a comment. Types of results are stated, not inferred.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tlaloc/ir/graph.h"

namespace tlaloc::ir {

/// The op of that name, or null. `if`, `while`, `scan` and `call` are known without it.
using OpLookup = std::function<const OpDef*(std::string_view)>;

/// Reads one graph; nodes are kept exactly as written. Names are checked, meaning is not: that is
/// `verify`'s. Errors: UserError TL-TEXT-001 at "source:line:column". Safe on hostile text: graphs
/// nest at most 64 deep, and memory stays proportional to the text (see kSplatBytes).
GraphRef parse_graph(std::string_view text, const OpLookup& find_op, std::string source = "<text>");

}  // namespace tlaloc::ir
