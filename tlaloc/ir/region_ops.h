// The five ops with regions. A region is a closed graph whose params are all it reads.
//
//   if    (pred, args…)                 regions then, else: args… -> results…
//   while (invariants…, carries…)       regions cond: inv, c -> bool;  body: inv, c -> c, ys…
//         results: carries…, ys…, trips (i64). Binds the trip count T, then one flat length for
//         each group of appended ys.
//   scan  (invariants…, carries…, xs…)  region body: inv, c, x -> c, ys…
//   call  (args…)                       region callee; derivative graphs after it, see CallKind
//   manual_computation (args…)          region body, which every device of a mesh runs on its own
//         part of the args; the results are put together of all devices' ones
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/sharding.h"

namespace tlaloc::ir {

extern const OpDef kIf, kWhile, kScan, kCall, kManual;

/// How the per-iteration values of one loop output are laid out.
struct Append {
  /// Flat: concatenated along their leading dim instead of stacked.
  bool flat = false;
  /// The flat length when it is known from ragged xs; otherwise the node binds it.
  std::optional<Dim> length;
  bool operator==(const Append&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("flat", &Append::flat), field("length", &Append::length));
  }
};

struct IfAttrs {
  /// -1, or the branch (0 then, 1 else) that an operand or result belongs to alone: residuals,
  /// which are never lane-selected.
  std::vector<std::int64_t> arg_owner, out_owner;
  static constexpr auto fields() {
    return std::tuple(field("arg_owner", &IfAttrs::arg_owner),
                      field("out_owner", &IfAttrs::out_owner));
  }
};

struct WhileAttrs {
  std::int64_t n_inv = 0, n_carry = 0;
  std::vector<Append> append;  ///< one per y
  std::int64_t max_trips = 0;  ///< exceeding it is an error; 0 means no limit
  static constexpr auto fields() {
    return std::tuple(field("n_inv", &WhileAttrs::n_inv), field("n_carry", &WhileAttrs::n_carry),
                      field("append", &WhileAttrs::append),
                      field("max_trips", &WhileAttrs::max_trips));
  }
};

/// Entry dim `dim` (position in the body's dims) is bound in each iteration from xs `xs`.
struct Ragged {
  std::int64_t dim = 0, xs = 0;
  bool operator==(const Ragged&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("dim", &Ragged::dim), field("xs", &Ragged::xs));
  }
};

struct ScanAttrs {
  std::int64_t n_inv = 0, n_carry = 0;
  Dim length;
  bool reverse = false;
  std::vector<Ragged> ragged;
  std::vector<bool> xrag;      ///< xs k is flat, cut by a ragged dim
  std::vector<Append> append;  ///< one per y
  static constexpr auto fields() {
    return std::tuple(field("n_inv", &ScanAttrs::n_inv), field("n_carry", &ScanAttrs::n_carry),
                      field("length", &ScanAttrs::length), field("reverse", &ScanAttrs::reverse),
                      field("ragged", &ScanAttrs::ragged), field("xrag", &ScanAttrs::xrag),
                      field("append", &ScanAttrs::append));
  }
};

/// What a call's regions are.
enum class CallKind : std::uint8_t {
  plain,       ///< callee
  custom_jvp,  ///< callee, jvp: (x…, dx…) -> (y…, dy…)
  custom_vjp,  ///< callee, fwd: x… -> (y…, res…), bwd: (res…, ct y…) -> ct x…
  linear,      ///< lin: (res…, dx…) -> dy…, bwd. The transpose of lin is a call of bwd.
  remat,       ///< callee; its derivative computes again what `policy` does not keep
};
constexpr std::array<std::string_view, 5> enum_names(CallKind) {
  return {"plain", "custom_jvp", "custom_vjp", "linear", "remat"};
}

/// A parameter of a composite that a back end needs to claim it, such as softmax's axis.
struct CallParam {
  std::string name;
  std::vector<std::int64_t> ints;
  std::vector<double> reals;
  bool operator==(const CallParam&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("name", &CallParam::name), field("ints", &CallParam::ints),
                      field("reals", &CallParam::reals));
  }
};

struct CallAttrs {
  std::string name;
  CallKind kind = CallKind::plain;
  std::int64_t n_residuals = 0;  ///< kind linear: leading operands that are residuals
  std::string policy;            ///< kind remat: "nothing", "everything", "dots", "names:a,b"
  std::vector<CallParam> params;
  std::int64_t version = 0;  ///< raised when a claimable composite changes its meaning
  static constexpr auto fields() {
    return std::tuple(field("name", &CallAttrs::name), field("kind", &CallAttrs::kind),
                      field("n_residuals", &CallAttrs::n_residuals),
                      field("policy", &CallAttrs::policy), field("params", &CallAttrs::params),
                      field("version", &CallAttrs::version));
  }
};

struct ManualAttrs {
  Mesh mesh;
  std::vector<std::string> axes;   ///< those that the body knows of, in the mesh's order
  std::vector<ShardSpec> in, out;  ///< by operand and result
  static constexpr auto fields() {
    return std::tuple(field("mesh", &ManualAttrs::mesh), field("axes", &ManualAttrs::axes),
                      field("in", &ManualAttrs::in), field("out", &ManualAttrs::out));
  }
  /// How many devices run the body, along the manual axes.
  std::int64_t devices() const;
};

/// What the regions of a node of this op and these attributes are called in text, in order; none
/// for an op without.
std::span<const std::string_view> region_names(const OpDef& op, const Attr* attr);

// ---- emission. Result types follow from the regions; `map` gives entry symbols of a region in
// terms of the caller (identity when unmapped). ----

/// `types` in terms of the caller and of `bound`. Owners may be empty (all -1).
Builder::NodeResult emit_if(Val pred, std::span<const Val> args, std::vector<Region> regions,
                            std::span<const Type> types, std::vector<Symbol> bound = {},
                            std::vector<std::int64_t> arg_owner = {},
                            std::vector<std::int64_t> out_owner = {});

struct WhileParts {
  Vals inv, init;
  GraphRef cond, body;
  DimMap cond_map, body_map;
  std::vector<Append> append;  ///< empty: all stacked
  std::int64_t max_trips = 0;
};
/// bound[0] is T.
Builder::NodeResult emit_while(WhileParts parts);

struct ScanParts {
  Vals inv, init, xs;
  GraphRef body;
  DimMap map;
  Dim length;
  bool reverse = false;
  std::vector<std::pair<Symbol, std::int64_t>> ragged;  ///< body entry symbol, index of its xs
  std::vector<bool> xrag;                               ///< empty: none
  std::vector<Append> append;                           ///< empty: all stacked
};
Builder::NodeResult emit_scan(ScanParts parts);

/// `types` in terms of the caller and of `bound`.
Builder::NodeResult emit_call(CallAttrs attrs, std::span<const Val> args,
                              std::vector<Region> regions, std::span<const Type> types,
                              std::vector<Symbol> bound = {});
/// A call of a graph without derivative graphs: entry dims from the arguments' shapes.
Vals call_graph(CallAttrs attrs, GraphRef g, std::span<const Val> args);

/// Result types: the body's, with cut dimensions as large as all parts of them.
Vals emit_manual(ManualAttrs attrs, std::span<const Val> args, GraphRef body, const DimMap& map);

/// A graph with the same nodes and other params and results. `params`: indices into the old ones,
/// or kNoNode with a type for a new, unused param.
struct ParamSpec {
  std::uint32_t index = kNoNode;
  Type type;  ///< for a new param
};
GraphRef with_signature(const Graph& g, std::span<const ParamSpec> params,
                        std::span<const ValueId> results);

}  // namespace tlaloc::ir
