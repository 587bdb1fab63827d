#include "tlaloc/ir/region_ops.h"

#include <algorithm>

namespace tlaloc::ir {
namespace {

template <class A>
AttrRef parse(Parser& p) {
  A a;
  parse_fields(p, a);
  return make_attr(std::move(a));
}
void no_inference(InferContext& c) {
  throw InternalError(std::string(c.op->name) + " is emitted with explicit types");
}
constexpr const char* kHandled = "handled by the transform itself";

template <class A>
constexpr OpDef region_op(const char* name, const char* doc, std::uint16_t id, RegionKind kind) {
  OpDef d{};
  d.name = name;
  d.doc = doc;
  d.id = id;
  d.region_kind = kind;
  d.parse_attr = parse<A>;
  d.infer = no_inference;
  d.jvp.refusal = d.transpose.refusal = d.batch.refusal = kHandled;
  return d;
}

std::vector<Type> types_of(const Graph& g, std::size_t from, std::size_t count) {
  std::vector<Type> r;
  for (std::size_t k = 0; k < count; ++k) r.push_back(g.type(g.results()[from + k]));
  return r;
}

/// The flat length of an appended output. Outputs cut by the same body dim share one, so that a
/// tangent's history provably fits its primal's.
class FlatLengths {
 public:
  explicit FlatLengths(std::vector<Symbol>& bound) : bound_(bound) {}
  Dim of(Dim body_dim) {
    for (auto& [d, flat] : known_) {
      if (d == body_dim) return flat;
    }
    bound_.push_back(Symbol::fresh("N"));
    known_.emplace_back(body_dim, Dim(bound_.back()));
    return known_.back().second;
  }

 private:
  std::vector<Symbol>& bound_;
  std::vector<std::pair<Dim, Dim>> known_;
};

Type loop_output(Type y, const Append& append, Dim stacked, const DimMap& map, FlatLengths& flats) {
  if (!append.flat) return y.substitute(map).with_leading(stacked);
  const Dim lead = append.length ? *append.length : flats.of(y.dim(0));
  return y.without_leading().substitute(map).with_leading(lead);
}

}  // namespace

constinit const OpDef kIf =
    region_op<IfAttrs>("if", "Runs one of two regions.", 0, RegionKind::branch);
constinit const OpDef kWhile =
    region_op<WhileAttrs>("while", "Runs its body while the condition holds.", 1, RegionKind::loop);
constinit const OpDef kScan =
    region_op<ScanAttrs>("scan", "Runs its body once per element of xs.", 2, RegionKind::scan);
constinit const OpDef kCall =
    region_op<CallAttrs>("call", "Calls a graph by name.", 3, RegionKind::call);
constinit const OpDef kManual = region_op<ManualAttrs>(
    "manual_computation", "Runs its body on each device of a mesh.", 4, RegionKind::manual);

std::int64_t ManualAttrs::devices() const {
  std::int64_t n = 1;
  for (const std::string& axis : axes) n *= mesh.size_of(axis);
  return n;
}

std::span<const std::string_view> region_names(const OpDef& op, const Attr* attr) {
  static constexpr std::array<std::string_view, 2> kIfNames{"then", "else"};
  static constexpr std::array<std::string_view, 2> kWhileNames{"cond", "body"};
  static constexpr std::array<std::string_view, 2> kJvpNames{"callee", "jvp"};
  static constexpr std::array<std::string_view, 3> kVjpNames{"callee", "fwd", "bwd"};
  static constexpr std::array<std::string_view, 2> kLinearNames{"lin", "bwd"};
  switch (op.region_kind) {
    case RegionKind::none:
      return {};
    case RegionKind::branch:
      return kIfNames;
    case RegionKind::loop:
      return kWhileNames;
    case RegionKind::scan:
      return std::span(kWhileNames).last(1);
    case RegionKind::manual:
      return std::span(kWhileNames).last(1);
    case RegionKind::call:
      break;
  }
  const auto* call = attr_if<CallAttrs>(attr);
  switch (call ? call->kind : CallKind::plain) {
    case CallKind::custom_jvp:
      return kJvpNames;
    case CallKind::custom_vjp:
      return kVjpNames;
    case CallKind::linear:
      return kLinearNames;
    default:
      return std::span(kJvpNames).first(1);
  }
}

Builder::NodeResult emit_if(Val pred, std::span<const Val> args, std::vector<Region> regions,
                            std::span<const Type> types, std::vector<Symbol> bound,
                            std::vector<std::int64_t> arg_owner,
                            std::vector<std::int64_t> out_owner) {
  if (arg_owner.empty()) arg_owner.assign(args.size(), -1);
  if (out_owner.empty()) out_owner.assign(types.size(), -1);
  Vals in{pred};
  in.insert(in.end(), args.begin(), args.end());
  return Builder::current().emit_region(
      kIf, make_attr(IfAttrs{std::move(arg_owner), std::move(out_owner)}), in, types,
      std::move(regions), std::move(bound));
}

Builder::NodeResult emit_while(WhileParts p) {
  const std::size_t nc = p.init.size();
  const std::size_t ny = p.body->results().size() - nc;
  if (p.append.empty()) p.append.resize(ny);
  std::vector<Symbol> bound{Symbol::fresh("T")};
  FlatLengths flats(bound);
  std::vector<Type> types;
  for (Val v : p.init) types.push_back(v.type());
  const auto ys = types_of(*p.body, nc, ny);
  const Dim trips(bound[0]);
  for (std::size_t k = 0; k < ny; ++k) {
    types.push_back(loop_output(ys[k], p.append[k], trips, p.body_map, flats));
  }
  types.push_back(Type::scalar(DType::i64));
  Vals in = p.inv;
  in.insert(in.end(), p.init.begin(), p.init.end());
  WhileAttrs attrs{static_cast<std::int64_t>(p.inv.size()), static_cast<std::int64_t>(nc),
                   std::move(p.append), p.max_trips};
  return Builder::current().emit_region(
      kWhile, make_attr(std::move(attrs)), in, types,
      {make_region(std::move(p.cond), p.cond_map), make_region(std::move(p.body), p.body_map)},
      std::move(bound));
}

Builder::NodeResult emit_scan(ScanParts p) {
  const std::size_t nc = p.init.size();
  const std::size_t ny = p.body->results().size() - nc;
  if (p.append.empty()) p.append.resize(ny);
  if (p.xrag.empty()) p.xrag.resize(p.xs.size());
  std::vector<Symbol> bound;
  FlatLengths flats(bound);
  std::vector<Type> types;
  for (Val v : p.init) types.push_back(v.type());
  const auto ys = types_of(*p.body, nc, ny);
  for (std::size_t k = 0; k < ny; ++k) {
    types.push_back(loop_output(ys[k], p.append[k], p.length, p.map, flats));
  }
  Region region = make_region(p.body, p.map);
  ScanAttrs attrs{static_cast<std::int64_t>(p.inv.size()),
                  static_cast<std::int64_t>(nc),
                  p.length,
                  p.reverse,
                  {},
                  p.xrag,
                  std::move(p.append)};
  for (const auto& [symbol, xs] : p.ragged) {
    const auto dims = p.body->dims();
    const auto at = std::ranges::find(dims, symbol);
    internal_check(at != dims.end(), "a ragged dim is not an entry dim of the body");
    const auto position = static_cast<std::size_t>(at - dims.begin());
    region.dims[position] = std::nullopt;
    attrs.ragged.push_back({static_cast<std::int64_t>(position), xs});
  }
  Vals in = p.inv;
  in.insert(in.end(), p.init.begin(), p.init.end());
  in.insert(in.end(), p.xs.begin(), p.xs.end());
  return Builder::current().emit_region(kScan, make_attr(std::move(attrs)), in, types,
                                        {std::move(region)}, std::move(bound));
}

Builder::NodeResult emit_call(CallAttrs attrs, std::span<const Val> args,
                              std::vector<Region> regions, std::span<const Type> types,
                              std::vector<Symbol> bound) {
  return Builder::current().emit_region(kCall, make_attr(std::move(attrs)), args, types,
                                        std::move(regions), std::move(bound));
}

Vals call_graph(CallAttrs attrs, GraphRef g, std::span<const Val> args) {
  DimMap map;
  std::vector<Type> arg_types;
  for (Val v : args) arg_types.push_back(v.type());
  bind_entry_dims(*g, arg_types, map);
  std::vector<Symbol> bound;
  for (Dim d : g->result_dims()) {
    // An entry dim stays what the caller gave; a computed one is this node's.
    const auto s = d.as_symbol();
    bound.push_back(s ? Symbol::like(*s) : Symbol::fresh("D"));
    if (s && !map.find(*s)) map.set(*s, bound.back());
  }
  std::vector<Type> types;
  for (Type t : g->result_types()) types.push_back(t.substitute(map));
  Region region = make_region(std::move(g), map);
  return emit_call(std::move(attrs), args, {std::move(region)}, types, std::move(bound)).out;
}

Vals emit_manual(ManualAttrs attrs, std::span<const Val> args, GraphRef body, const DimMap& map) {
  std::vector<Type> types;
  for (std::size_t k = 0; k < body->results().size(); ++k) {
    const Type local = body->type(body->results()[k]).substitute(map);
    std::vector<Dim> shape(local.shape().begin(), local.shape().end());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      shape[i] = shape[i] * attrs.out[k].parts(attrs.mesh, i);
    }
    types.push_back(local.with_shape(shape));
  }
  return Builder::current()
      .emit_region(kManual, make_attr(std::move(attrs)), args, types,
                   {make_region(std::move(body), map)})
      .out;
}

GraphRef with_signature(const Graph& g, std::span<const ParamSpec> params,
                        std::span<const ValueId> results) {
  Builder b(g.name());
  b.expect(g);
  Copier c(g);
  Vals order;
  for (const ParamSpec& p : params) {
    order.push_back(p.index == kNoNode ? b.param(p.type) : c.declare(p.index));
  }
  // Nodes that read a dropped param can only be dead.
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    if (std::ranges::all_of(c.operands(n), [](Val v) { return static_cast<bool>(v); })) {
      c.copy_as_is(n);
    }
  }
  c.copy_constraints();
  Vals out;
  for (ValueId v : results) out.push_back(c.env[v]);
  Builder::Close close;
  close.result_dims = c.result_dims();
  close.params = order;
  return b.build(out, std::move(close));
}

}  // namespace tlaloc::ir
