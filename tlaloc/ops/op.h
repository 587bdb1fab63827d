// Turns an op's struct into a row of the table, and checks at compile time that no rule is missing.
//
// An op is one struct:
//   static constexpr OpInfo kInfo{"tanh", "Hyperbolic tangent, elementwise."};
//   using Kind = ...;        // from kinds.h: supplies what ops of that kind share
//   rules                    // the kind says which, and in which short form
// An op of no kind (`Kind = Custom`) has the full signatures of ir/op_def.h: infer, eval, jvp,
// transpose, batch. A rule that cannot exist is written down:
//   static constexpr Refusal kNoJvp{"an integer result has no tangent"};
#pragma once

#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/op_def.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::ops {

using ir::BatchContext;
using ir::Call;
using ir::CotangentSink;
using ir::Dim;
using ir::EvalContext;
using ir::InferContext;
using ir::Type;
using ir::Val;
using ir::Vals;

struct OpInfo {
  const char* name;
  const char* doc;
  ir::Traits traits = {};
};
/// Why a rule does not exist, for the error that names it.
struct Refusal {
  const char* reason;
};

/// Full signatures are members of the op itself.
struct Custom {
  template <class O>
  static void infer(InferContext& c) {
    O::infer(c);
  }
  template <class O>
  static void eval(EvalContext& c) {
    O::eval(c);
  }
  template <class O>
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
    O::jvp(c, dx, dy);
  }
  template <class O>
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
    O::transpose(c, ct, sink);
  }
  template <class O>
  static void batch(const Call& c, BatchContext& ctx) {
    O::batch(c, ctx);
  }
};

template <class O>
concept HasInfo = requires {
  { O::kInfo } -> std::convertible_to<OpInfo>;
  typename O::Kind;
};
template <class O>
concept HasJvpRuleOrRefusal = requires { O::kNoJvp.reason; } || requires { &O::jvp; } ||
                              requires { &O::jvp_x; } || requires { O::Kind::kJvp; };
template <class O>
concept HasTransposeRuleOrRefusal = requires { O::kNoTranspose.reason; } || requires {
  &O::transpose;
} || requires { O::Kind::kTranspose; };
template <class O>
concept HasBatchRuleOrRefusal =
    requires { O::kNoBatch.reason; } || requires { &O::batch; } || requires { O::Kind::kBatch; };

template <class O>
constexpr ir::OpDef make_row(OpId id) {
  static_assert(HasInfo<O>, "the op lacks kInfo or Kind");
  static_assert(HasJvpRuleOrRefusal<O>, "the op lacks a jvp rule (or kNoJvp with the reason)");
  static_assert(HasTransposeRuleOrRefusal<O>,
                "the op lacks a transpose rule (or kNoTranspose with the reason)");
  static_assert(HasBatchRuleOrRefusal<O>, "the op lacks a batching rule (or kNoBatch)");
  using K = typename O::Kind;
  ir::OpDef d{};
  d.name = O::kInfo.name;
  d.doc = O::kInfo.doc;
  d.id = static_cast<std::uint16_t>(id);
  d.traits = O::kInfo.traits;
  if constexpr (requires { K::kElementwise; }) d.traits.elementwise = true;
  if constexpr (requires { typename O::Attrs; }) {
    d.parse_attr = [](ir::Parser& p) -> ir::AttrRef {
      typename O::Attrs a;
      ir::parse_fields(p, a);
      return ir::make_attr(std::move(a));
    };
  }
  d.infer = K::template infer<O>;
  d.eval = K::template eval<O>;
  if constexpr (requires { &O::simplify; }) d.simplify = O::simplify;
  if constexpr (requires { O::kNoJvp.reason; })
    d.jvp.refusal = O::kNoJvp.reason;
  else
    d.jvp.fn = K::template jvp<O>;
  if constexpr (requires { O::kNoTranspose.reason; })
    d.transpose.refusal = O::kNoTranspose.reason;
  else
    d.transpose.fn = K::template transpose<O>;
  if constexpr (requires { O::kNoBatch.reason; })
    d.batch.refusal = O::kNoBatch.reason;
  else
    d.batch.fn = K::template batch<O>;
  return d;
}

/// Defines the row of op `Name`; once, in its family's .cc.
#define TLALOC_ROW(Name) constinit const ir::OpDef rows::Name = make_row<ops::Name>(OpId::Name)

/// Refuses a transpose where the op is not linear in what is absent: UserError TL-GRAD-002.
void require_linear(const Call& c, bool is, const char* why);

}  // namespace tlaloc::ops
