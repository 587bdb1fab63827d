// What lowerings write with; internal to stablehlo.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::stablehlo {

/// A value of the text: "%7", or "%7#1" of an operation with several results.
struct Value {
  std::uint32_t id = 0;
  std::int32_t part = -1;
  TensorType type;
};
using Values = std::vector<Value>;

/// A size: a constant, or an i64 scalar of the text with a bound that types are made with.
struct Size {
  std::int64_t bound = 0;
  std::optional<Value> length;
};

/// One graph while it is emitted.
struct Frame {
  const ir::Graph& graph;
  std::unordered_map<std::uint32_t, Size> sizes;  ///< by Symbol::id()
  Values values{};                                ///< by ValueId
};

/// One node while it is lowered.
struct Op {
  const ir::Node& node;
  std::span<const Value> in;
  std::span<const TensorType> out;
  Frame& frame;
  template <ir::HasFields A>
  const A& as() const {
    return node.as<A>();
  }
  const char* name() const { return node.op().name; }
};

/// UserError TL-BACKEND-001 with the op's name and the user's line.
[[noreturn]] void refuse(const ir::Node& node, const std::string& why,
                         const std::string& hint = "");

struct Region {
  std::vector<TensorType> params;
  std::function<Values(const Values&)> body;
  const char* terminator = "stablehlo.return";
};

class Emitter {
 public:
  explicit Emitter(const EmitOptions& options) : options_(options) {}
  Emitted module(const ir::Graph& g, std::span<const std::int64_t> sizes);
  const EmitOptions& options() const { return options_; }

  // ---- operations, in generic form ----
  /// `attrs`: what stands between <{ and }>; may be empty.
  Value op(std::string_view name, std::initializer_list<Value> in, TensorType out,
           std::string_view attrs = {});
  Value op(std::string_view name, std::span<const Value> in, TensorType out,
           std::string_view attrs = {});
  Values op(std::string_view name, std::span<const Value> in, std::span<const TensorType> out,
            std::string_view attrs, std::span<const Region> regions);

  // ---- what decompositions are made of ----
  Value constant(const HostArray& value);
  /// `value` everywhere; converted as `convert` would.
  Value splat(double value, const TensorType& type);
  Value index(std::int64_t value);  ///< an i64 scalar
  Value iota(const TensorType& type, std::int64_t axis);
  Value binary(std::string_view name, const Value& a, const Value& b);
  Value compare(std::string_view direction, const Value& a, const Value& b);
  Value select(const Value& p, const Value& a, const Value& b);
  Value convert(const Value& x, DType dtype);
  Value reshape(const Value& x, Extents extents);
  Value broadcast(const Value& x, const TensorType& to, std::span<const std::int64_t> axes);
  Value pad(const Value& x, const Value& value, std::span<const std::int64_t> low,
            std::span<const std::int64_t> high, std::span<const std::int64_t> interior);
  Value slice(const Value& x, std::span<const std::int64_t> start,
              std::span<const std::int64_t> limit, std::span<const std::int64_t> strides);
  Value concatenate(std::span<const Value> parts, std::int64_t axis);
  /// Grows x behind its elements; new ones hold 1, as the interpreter's.
  Value padded(const Value& x, const Extents& extents);
  /// Rank-0 or leading axes of `x` as a value of x's dtype and `to`'s shape.
  Value leading(const Value& x, const TensorType& to);

  /// Row i of x without its axis; writes one.
  Value row(const Value& x, const Value& i);
  Value with_row(const Value& x, const Value& row, const Value& i);

  // ---- graphs ----
  Values graph(Frame& frame, const Values& args);
  /// Emits what `build` makes of values of the operands' types: for ops that are said with others.
  Values decompose(std::span<const Value> in,
                   const std::function<ir::Vals(const ir::Vals&)>& build);
  /// A graph on scalars, as a reducer's region.
  Region scalar_region(const ir::Graph& g);
  /// Runs `emit` and forgets the text.
  void discard(const std::function<void()>& emit);
  Values call_function(const ir::Node& node, Frame& inner, const Values& args);

  // ---- sizes ----
  TensorType type(const Frame& f, ir::Type t, const ir::Node* node = nullptr) const;
  Size size(const Frame& f, ir::Dim d, const ir::Node* node = nullptr);
  std::int64_t extent(const Frame& f, ir::Dim d, const ir::Node* node = nullptr) const;
  Extents extents(const Op& op, std::span<const ir::Dim> dims) const;
  /// The size as an i64 scalar.
  Value size_value(const Frame& f, ir::Dim d);
  Frame region_frame(const Op& op, std::size_t k);
  bool is_dynamic(const Frame& f, ir::Type t) const;

  // ---- loops that must end within some trips ----
  /// True if the graph has such a loop: then its regions hand the flag on.
  bool may_exceed(const ir::Graph& g);
  std::int64_t trips_limit(const ir::Node& loop) const;
  std::optional<Value> exceeded;  ///< where the flag stands now; unset: nothing was exceeded
  Value exceeded_flag();
  void add_exceeded(const Value& flag);

  // ---- meshes ----
  /// The manual computations that are being emitted, outermost first.
  std::vector<const ir::ManualAttrs*> manual;
  /// The name under which the module declares the mesh.
  std::string mesh_symbol(const ir::Node& node, const ir::Mesh& mesh);
  std::string sharding_attribute(const ir::Node& node, const ir::Sharding& sharding);
  /// x, not cut where EmitOptions::fixed_layouts holds.
  Value whole(const ir::Node& node, const Value& x);
  /// Collectives run over that many replicas.
  void use_devices(const ir::Node& node, const std::string& mesh_axis, std::int64_t devices);

 private:
  void lower(Frame& f, const ir::Node& n);
  void find_mesh(const ir::Graph& g);
  void check_dynamic(const Frame& f, const ir::Node& n) const;
  /// Those between entry dims, before anything is emitted; the others afterwards.
  void check_constraints(const Frame& f, bool at_entry) const;
  void append(const Value& v);
  void append_attributes(const std::string& some, const std::string& more);
  void fix_layouts(Layouts& layouts, const Values& params, const Values& results) const;
  std::string layout_attribute(const std::optional<ir::Sharding>& layout) const;
  std::string mesh_declarations() const;
  void append_types(std::span<const Value> values);
  Value fresh(TensorType type) { return {next_++, -1, std::move(type)}; }
  void append_signature(std::string_view header, const Values& args,
                        std::span<const TensorType> out);
  void indent() { text_.append(depth_ * 2, ' '); }

  const EmitOptions& options_;
  std::string text_, functions_;
  std::size_t depth_ = 2;
  std::uint32_t next_ = 0;
  std::unordered_map<std::string, std::string> function_names_;
  std::map<std::string, int> name_counts_;
  std::unordered_map<const ir::Graph*, bool> may_exceed_;
  std::vector<ir::GraphRef> decompositions_;  // kept alive: functions are named by address
  std::string mesh_axis_;
  std::int64_t devices_ = 1;
  std::vector<std::pair<std::string, ir::Mesh>> meshes_;  // by the names that declare them
  std::optional<ir::Mesh> mesh_;  // one that the graph has; before it is emitted, too
};

using LowerFn = Values (*)(Emitter&, const Op&);

/// One function per op of the table; one that is missing does not link.
namespace lowering {
Values If(Emitter&, const Op&);
Values While(Emitter&, const Op&);
Values Scan(Emitter&, const Op&);
Values Call(Emitter&, const Op&);
Values Manual(Emitter&, const Op&);
#define TLALOC_OP(Name) Values Name(Emitter&, const Op&);
#include "tlaloc/ops/op_names.inc"
#undef TLALOC_OP
}  // namespace lowering

}  // namespace tlaloc::stablehlo
