#include "tlaloc/cpu/planner.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/attention.h"
#include "tlaloc/cpu/conv.h"
#include "tlaloc/cpu/cumulative.h"
#include "tlaloc/cpu/direct_conv.h"
#include "tlaloc/cpu/dot.h"
#include "tlaloc/cpu/lifetimes.h"
#include "tlaloc/cpu/linalg.h"
#include "tlaloc/cpu/paged.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/cpu/quantized.h"
#include "tlaloc/cpu/reference.h"
#include "tlaloc/cpu/sort.h"
#include "tlaloc/cpu/widened_rights.h"
#include "tlaloc/cpu/windows.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/joining.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/reduce_general.h"
#include "tlaloc/ops/slice.h"
#include "tlaloc/ops/sort_loops.h"
#include "tlaloc/transform/inline_calls.h"
#include "tlaloc/transform/one_device.h"

namespace tlaloc::cpu {

using ir::Dim;
using ir::Type;
using ir::ValueId;
using ops::OpId;

Type Planner::Context::type(ValueId v) const {
  const Type t = ops::storage_type(g.type(v));
  return dims.empty() ? t : t.substitute(dims);
}

std::shared_ptr<const Program> plan(const ir::GraphRef& g, const PlanOptions& options) {
  const auto claims = [&](const ir::Node& call) {
    return options.kernels != Kernels::written &&
           (claims_attention(call) || claims_paged_attention(call));
  };
  const ir::GraphRef local = transform::on_one_device(*g);
  return Planner(transform::inline_calls(local ? local : g, claims), options).run();
}

std::shared_ptr<const Program> Planner::run() {
  Program& p = e_.program;
  const ir::GraphRef g = p.graph;
  for (ir::Symbol s : g->dims()) {
    p.entry.push_back(e_.sizes.define(s, 0));
  }
  Values args;
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    const Type t = ops::storage_type(g->type(static_cast<ValueId>(k)));
    Storage s;
    s.kind = Storage::Kind::argument;
    s.dtype = t.dtype();
    s.index = static_cast<std::uint32_t>(k);
    s.elements = e_.sizes.of(t.elements());
    p.storages.push_back(s);
    args.push_back(dense_value(t, static_cast<StorageId>(k)));
  }
  e_.emit_point(0);
  const Planned out = graph(g, {}, args);
  for (Dim d : out.dims) p.result_dims.push_back(e_.sizes.of(d));
  for (const Value& v : out.results) {
    StorageId s = e_.dense(v, "result");
    // The first rows of a storage are dense too, but a result is all of one.
    if (p.storages[s].elements != e_.sizes.of(v.type.elements())) s = e_.copy(v, "result");
    Program::Result r{s, v.type.dtype(), {}};
    for (Dim d : v.type.shape()) r.extents.push_back(e_.sizes.of(d));
    p.results.push_back(std::move(r));
  }
  finish_storages(e_, aliases_);
  for (std::uint32_t k = 0; k < p.results.size(); ++k) {
    Storage& s = p.storages[p.results[k].storage];
    if (s.kind != Storage::Kind::planned) continue;
    s.kind = Storage::Kind::result;
    s.index = k;
  }
  e_.sizes.each_symbol([&](std::uint32_t id, Slot slot) { p.symbols.push_back({id, slot}); });
  p.points = e_.sizes.take_code();
  p.slots = e_.sizes.take_slots();
  return std::make_shared<const Program>(std::move(p));
}

Planner::Planned Planner::graph(const ir::GraphRef& g, ir::DimMap dims, const Values& args,
                                const std::vector<std::optional<Target>>& wanted) {
  Context c(g, std::move(dims));
  c.groups = find_groups(*g);
  c.widened = widened_rights(*g, std::vector<bool>(g->param_count()));
  internal_check(args.size() == g->param_count(), "a region got a wrong number of arguments");
  std::ranges::copy(args, c.env.begin());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (wanted[k]) c.wanted.emplace(g->results()[k], *wanted[k]);
  }

  // Constraints by the node after which their sizes are known.
  std::unordered_map<std::uint32_t, std::uint32_t> binder;
  for (std::uint32_t i = 0; i < g->node_count(); ++i) {
    for (ir::Symbol s : g->node(i).bound()) binder.emplace(s.id(), i + 1);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // (node + 1, constraint)
  for (std::uint32_t k = 0; k < g->constraints().size(); ++k) {
    std::uint32_t after = 0;
    for (Dim d : {g->constraints()[k].a, g->constraints()[k].b}) {
      if (d.is_constant()) continue;
      d.each_symbol([&](ir::Symbol s) {
        const auto it = binder.find(s.id());
        if (it != binder.end()) after = std::max(after, it->second);
      });
    }
    order.emplace_back(after, k);
  }
  std::ranges::stable_sort(order, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
  std::size_t next = 0;
  constraints(c, 0, next, order);
  const ir::OriginRef outer = e_.origin;
  for (std::uint32_t i = 0; i < g->node_count(); ++i) {
    const ir::Node n = g->node(i);
    e_.origin = n.origin().place.known() || !outer ? n.origin_ref() : outer;
    node(c, n);
    constraints(c, i + 1, next, order);
  }
  e_.origin = outer;
  Planned r;
  for (ValueId v : g->results()) r.results.push_back(c.env[v]);
  for (Dim d : g->result_dims()) r.dims.push_back(c.dim(d));
  return r;
}

void Planner::constraints(Context& c, std::uint32_t node, std::size_t& next,
                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& order) {
  for (; next < order.size() && order[next].first == node; ++next) {
    constraint(c.ref, order[next].second, c.dims);
  }
}
void Planner::constraint(const ir::GraphRef& g, std::uint32_t number, const ir::DimMap& dims) {
  const ir::Constraint& k = g->constraints()[number];
  Check check{.kind = Check::Kind::constraint};
  check.slots = {e_.sizes.of(k.a.substitute(dims)), e_.sizes.of(k.b.substitute(dims))};
  check.graph = g;
  check.constraint = number;
  check.dims = dims;
  check.origin = e_.origin;
  e_.emit({.code = Code::check, .index = static_cast<std::uint32_t>(e_.program.checks.size())});
  e_.program.checks.push_back(std::move(check));
}

// ---- nodes ----

void Planner::node(Context& c, const ir::Node& n) {
  if (n.regions().empty()) check(c, n);
  if (c.groups.absorbed[n.index()]) return;
  switch (c.groups.classes[n.index()]) {
    case NodeClass::leaf: {
      Value& v = c.env[n.result()];
      v.type = c.type(n.result());
      if (const auto* a = ir::attr_if<ops::ConstantAttrs>(n.attr().get())) {
        const HostArray& array = a->value.value;
        v = array.rank() == 0 ? Value{v.type, literal(array)}
                              : dense_value(v.type, e_.constant(array));
        return;
      }
      auto e = std::make_shared<Expr>();
      e->kind = Expr::Kind::position;
      e->dtype = v.type.dtype();
      e->at.strides.assign(usize(v.type.rank()), Dim(0));
      if (const auto* a = ir::attr_if<ops::DimValueAttrs>(n.attr().get())) {
        e->at.offset = c.dim(a->dim);
      } else {
        e->at.strides[usize(n.as<ops::IotaAttrs>().axis)] = 1;
      }
      v.expr = e;
      return;
    }
    case NodeClass::elementwise:
      return elementwise(c, n);
    case NodeClass::moved:
      return moved(c, n);
    case NodeClass::fold:
      return reduction(c, n);
    case NodeClass::other:
      break;
  }
  switch (n.region_kind()) {
    case ir::RegionKind::branch:
      return branch(c, n);
    case ir::RegionKind::loop:
      return while_loop(c, n);
    case ir::RegionKind::scan:
      return scan(c, n);
    case ir::RegionKind::call:
      return call(c, n);
    case ir::RegionKind::manual:  // not on one device
    case ir::RegionKind::none:
      break;
  }
  switch (static_cast<OpId>(n.op().id)) {
    case OpId::ArgMax:
    case OpId::ArgMin:
      return position_of_extreme(c, n);
    case OpId::Cholesky:
    case OpId::TriangularSolve:
      return factor(c, n);
    case OpId::Concatenate:
      return concatenate(c, n);
    case OpId::CumSum:
    case OpId::CumProd:
    case OpId::CumMax:
    case OpId::CumMin:
    case OpId::CumLogSumExp:
      c.env[n.result()] =
          emit_cumulative(e_, n.op(), c.env[n.operand(0)], n.as<ops::CumulativeAttrs>());
      return;
    case OpId::Convolution:
      return convolution(c, n);
    case OpId::DotGeneral:
      return dot(c, n);
    case OpId::Dequantize:
    case OpId::QuantGather:
    case OpId::QuantMatmul:
      return quantized(c, n);
    case OpId::Pad:
      return pad(c, n);
    case OpId::DynamicSlice:
      return dynamic_slice(c, n);
    case OpId::DynamicUpdateSlice:
      return dynamic_update_slice(c, n);
    case OpId::Gather:
      return gather(c, n);
    case OpId::Sort:
    case OpId::TopK:
      return sort(c, n);
    case OpId::Scatter:
      return scatter(c, n);
    case OpId::Reduce:
      return in_loops(c, n, [&](const ir::Vals& in) {
        return ops::reduce_by_scan(n.as<ops::FoldAttrs>(), in);
      });
    case OpId::ReduceWindow:
    case OpId::SelectAndGather:
    case OpId::SelectAndScatter:
      return windows(c, n);
    default:
      return reference(c, n, "it has no kernel");
  }
}

void Planner::check(Context& c, const ir::Node& n) {
  for (std::size_t k = 0; k < n.result_count(); ++k) {
    e_.check_type(c.type(n.result(k)), c.g.type(n.result(k)), n.op().name);
  }
}

Target Planner::target(Context& c, ValueId v) {
  const auto it = c.wanted.find(v);
  if (it != c.wanted.end()) return it->second;
  const Type t = c.type(v);
  return {e_.storage(t), {0, dense_strides(t.shape())}};
}

Target Planner::turned_target(Context& c, ValueId v) {
  const auto it = c.groups.turned.find(v);
  if (it == c.groups.turned.end() || c.wanted.contains(v)) return target(c, v);
  const ir::Node n = c.g.node(it->second);
  if (c.wanted.contains(n.result())) return target(c, v);
  Target t = target(c, n.result());
  const ops::AxisList& from = n.as<ops::TransposeAttrs>().permutation;
  std::vector<Dim> strides(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) strides[usize(from[k])] = t.at.strides[k];
  t.at.strides = std::move(strides);
  return t;
}

Value Planner::spread(const Value& v, Type like) {
  const Type t = like.with_dtype(v.type.dtype());
  if (v.type.rank() == like.rank()) return v;
  if (auto b = broadcast(v, t, {})) return *b;
  return *broadcast(e_.lying(v, "broadcast_in_dim"), t, {});
}

void Planner::elementwise(Context& c, const ir::Node& n) {
  const ValueId out = n.result();
  Value v{c.type(out), nullptr};
  auto e = std::make_shared<Expr>();
  e->kind = Expr::Kind::op;
  e->dtype = v.type.dtype();
  e->op = &n.op();
  e->attr = n.attr();
  e->origin = e_.origin;
  for (ValueId a : n.operands()) e->args.push_back(spread(c.env[a], v.type).expr);
  v.expr = e;
  // A product takes the narrow elements themselves, if it can keep them.
  const bool stays = e_.keeps && c.widened[n.index()] && e->args[0]->kind == Expr::Kind::read &&
                     e_.is_fixed(e->args[0]->storage);
  if (c.groups.root[n.index()] == n.index() && !stays) {
    const Target t = target(c, out);
    e_.compute(v, t, n.op().name);
    v.expr = read(v.type.dtype(), t.storage, t.at);
  }
  c.env[out] = std::move(v);
}

void Planner::moved(Context& c, const ir::Node& n) {
  const Type type = c.type(n.result());
  const ValueId x = n.operand(0);
  auto dims = [&](const std::vector<Dim>& ds) {
    std::vector<Dim> r;
    for (Dim d : ds) r.push_back(c.dim(d));
    return r;
  };
  auto give = [&](const auto& view) { c.env[n.result()] = viewed(c, x, view); };
  switch (static_cast<OpId>(n.op().id)) {
    case OpId::BroadcastInDim:
      return give([&](const Value& v) {
        return broadcast(v, type, n.as<ops::BroadcastInDimAttrs>().axes);
      });
    case OpId::Reshape:
      return give([&](const Value& v) { return reshape(v, type); });
    case OpId::Transpose:
      return give([&](const Value& v) {
        return transpose(v, type, n.as<ops::TransposeAttrs>().permutation);
      });
    case OpId::Slice: {
      const auto& a = n.as<ops::SliceAttrs>();
      return give([&](const Value& v) { return slice(v, type, dims(a.start), dims(a.strides)); });
    }
    case OpId::Reverse:
      return give([&](const Value& v) { return reverse(v, type, n.as<ops::ReverseAttrs>().axes); });
    default:  // identities
      c.env[n.result()] = c.env[x];
  }
}

void Planner::reduction(Context& c, const ir::Node& n) {
  const ValueId out = n.result();
  const Value& x = c.env[n.operand(0)];
  const Type type = c.type(out);
  const Target t = target(c, out);
  e_.fold(x, *find_fold(n.op(), x.type.dtype()), n.as<ops::ReduceAttrs>().axes, t, n.op().name);
  c.env[out] = {type, read(type.dtype(), t.storage, t.at)};
}

void Planner::concatenate(Context& c, const ir::Node& n) {
  const auto axis = usize(n.as<ops::ConcatenateAttrs>().axis);
  const ValueId out = n.result();
  const Type type = c.type(out);
  const Target t = target(c, out);
  Dim at = 0;
  for (ValueId a : n.operands()) {
    const Value& v = c.env[a];
    Target part = t;
    part.at.offset += at * t.at.strides[axis];
    e_.compute(v, part, n.op().name);
    at += v.type.dim(static_cast<int>(axis));
  }
  c.env[out] = {type, read(type.dtype(), t.storage, t.at)};
}

void Planner::dot(Context& c, const ir::Node& n) {
  const ValueId out = n.result();
  const Type type = c.type(out);
  const Target t = turned_target(c, out);
  const Value &lhs = c.env[n.operand(0)], &rhs = c.env[n.operand(1)];
  const auto& dims = n.as<ops::DotDims>();
  if (kernels_ == Kernels::written) {
    emit_dot_as_loop(e_, lhs, rhs, dims, t);
  } else if (kernels_ == Kernels::compiled && is_small_dot(type, lhs.type, dims)) {
    emit_small_dot(e_, lhs, rhs, dims, t);
  } else {
    emit_dot(e_, lhs, rhs, dims, t);
  }
  c.env[out] = {type, read(type.dtype(), t.storage, t.at)};
}

void Planner::convolution(Context& c, const ir::Node& n) {
  const ValueId out = n.result();
  const Type type = c.type(out);
  ir::AttrRef attr = n.attr();
  if (attr->has_dims() && !c.dims.empty()) attr = attr->substitute(c.dims);
  const auto& attrs = *ir::attr_if<ops::ConvAttrs>(attr.get());
  const auto emit = [&](const Value& lhs, const Value& rhs, Type of, const Target& t) {
    if (kernels_ == Kernels::written) return emit_convolution_as_loop(e_, lhs, rhs, attrs, t, of);
    if (is_float(of.dtype()) && emit_direct_convolution(e_, lhs, rhs, attrs, t, of)) return;
    e_.compute(filled(of, 0), t, n.op().name);
    emit_convolution(e_, lhs, rhs, attrs, t, of);
  };
  const Value &lhs = c.env[n.operand(0)], &rhs = c.env[n.operand(1)];
  if (!is_float(type.dtype()) || byte_size(type.dtype()) >= 4) {
    const Target t = target(c, out);
    emit(lhs, rhs, type, t);
    c.env[out] = {type, read(type.dtype(), t.storage, t.at)};
    return;
  }
  const Type wide = type.with_dtype(DType::f32);
  const Value sums = dense_value(wide, e_.storage(wide));
  emit(converted(lhs, DType::f32), converted(rhs, DType::f32), wide,
       {*whole_storage(sums), sums.expr->at});
  round_to_16_bits(c, n, sums);
}

void Planner::round_to_16_bits(Context& c, const ir::Node& n, const Value& sums) {
  c.env[n.result()] = converted(sums, c.type(n.result()).dtype());
  settle(c, n);
}

void Planner::quantized(Context& c, const ir::Node& n) {
  const Type type = c.type(n.result());
  Value& result = c.env[n.result()];
  if (const auto* a = ir::attr_if<ops::QuantAttrs>(n.attr().get())) {
    const Value& weights = c.env[n.operand(0)];
    result = n.operands().size() == 1
                 ? emit_dequantize(e_, weights, a->encoding, type)
                 : emit_quant_gather(e_, weights, c.env[n.operand(1)], a->encoding, type);
    return;
  }
  const auto& a = n.as<ops::QuantMatmulAttrs>();
  const Value &x = c.env[n.operand(0)], &weights = c.env[n.operand(1)];
  if (byte_size(type.dtype()) > 2) {
    result = emit_quant_matmul(e_, x, weights, a, type);
    return;
  }
  const Value wide = converted(x, DType::f32);
  round_to_16_bits(c, n, emit_quant_matmul(e_, wide, weights, a, type.with_dtype(DType::f32)));
}

void Planner::windows(Context& c, const ir::Node& n) {
  const Type type = c.type(n.result());
  const bool fits = std::ranges::all_of(
      n.operands(), [&](ValueId v) { return c.env[v].type.dtype() == type.dtype(); });
  if (!fits || (type.dtype() != DType::f32 && type.dtype() != DType::f64)) {
    return reference(c, n, "its kernel takes f32 and f64 only");
  }
  ir::AttrRef attr = n.attr();
  if (attr->has_dims() && !c.dims.empty()) attr = attr->substitute(c.dims);
  const Value out = dense_value(type, e_.storage(type));
  const auto id = static_cast<OpId>(n.op().id);
  if (id == OpId::ReduceWindow) {
    const auto& a = *ir::attr_if<ops::ReduceWindowAttrs>(attr.get());
    emit_reduce_window(e_, c.env[n.operand(0)], a.monoid, a.window, out);
  } else {
    emit_select_window(e_, c.env[n.operand(0)], c.env[n.operand(1)],
                       *ir::attr_if<ops::SelectWindowAttrs>(attr.get()),
                       id == OpId::SelectAndScatter, out);
  }
  c.env[n.result()] = out;
}

void Planner::in_loops(Context& c, const ir::Node& n,
                       const std::function<ir::Vals(const ir::Vals&)>& f) {
  const Values args = operands(c, n);
  ir::Builder b(n.op().name);
  ir::Vals in;
  for (const Value& v : args) in.push_back(b.param(v.type));
  const ir::GraphRef g = b.build(f(in));
  const Planned p = graph(g, {}, args);
  for (std::size_t k = 0; k < p.results.size(); ++k) c.env[n.result(k)] = p.results[k];
}

void Planner::factor(Context& c, const ir::Node& n) {
  const Value& a = c.env[n.operand(0)];
  const DType t = a.type.dtype();
  // What has 16 bits is computed in 32, and rounded at the end.
  if (t != DType::f32 && t != DType::f64)
    return reference(c, n, "its kernel takes f32 and f64 only");
  c.env[n.result()] =
      n.operands().size() == 1
          ? emit_cholesky(e_, a)
          : emit_triangular_solve(e_, a, c.env[n.operand(1)], n.as<ops::TriangularAttrs>());
}

void Planner::sort(Context& c, const ir::Node& n) {
  Values results;
  if (const auto* a = ir::attr_if<ops::SortAttrs>(n.attr().get())) {
    if (a->comparator) {
      return in_loops(c, n, [&](const ir::Vals& in) { return ops::sort_by_merging(*a, in); });
    }
    results = emit_sort(e_, operands(c, n), *a);
  } else {
    const auto& top = n.as<ops::TopKAttrs>();
    results = emit_top_k(e_, c.env[n.operand(0)], c.dim(top.k), top.dtype);
  }
  for (std::size_t k = 0; k < results.size(); ++k) c.env[n.result(k)] = results[k];
}

void Planner::pad(Context& c, const ir::Node& n) {
  const auto& a = n.as<ops::PadAttrs>();
  const ValueId out = n.result();
  const Type type = c.type(out);
  // Cropping takes work on sizes that only constants make simple.
  const bool grows = std::ranges::all_of(a.low, [](Dim d) { return ir::bounds(d).lower >= 0; }) &&
                     std::ranges::all_of(a.high, [](Dim d) { return ir::bounds(d).lower >= 0; });
  if (!grows) return reference(c, n, "it may crop, which its kernel does not do");
  const Target t = target(c, out);
  e_.compute(spread(c.env[n.operand(1)], type), t, n.op().name);
  Target inside = t;
  for (std::size_t k = 0; k < a.low.size(); ++k) {
    inside.at.offset += c.dim(a.low[k]) * t.at.strides[k];
    inside.at.strides[k] = (c.dim(a.interior[k]) + 1) * t.at.strides[k];
  }
  e_.compute(c.env[n.operand(0)], inside, n.op().name);
  c.env[out] = {type, read(type.dtype(), t.storage, t.at)};
}

void Planner::reference(Context& c, const ir::Node& n, const char* why) {
  auto r = std::make_shared<Reference>();
  r->op = &n.op();
  r->attr = n.attr();
  if (r->attr && r->attr->has_dims() && !c.dims.empty()) r->attr = r->attr->substitute(c.dims);
  Step s;
  s.name = n.op().name;
  s.run = run_reference;
  s.runs_on = "reference";
  s.why = why;
  for (ValueId v : n.operands()) {
    const StorageId lies = e_.dense(c.env[v], n.op().name);
    s.storages.push_back(lies);
    const Type t = c.env[v].type;
    r->in.push_back({t.dtype(), static_cast<std::uint32_t>(t.rank())});
    for (Dim d : t.shape()) s.ints.push_back(e_.sizes.of(d));
  }
  s.reads = static_cast<std::uint32_t>(s.storages.size());
  for (std::size_t k = 0; k < n.result_count(); ++k) {
    const Type t = c.type(n.result(k));
    c.env[n.result(k)] = dense_value(t, e_.storage(t));
    s.storages.push_back(*whole_storage(c.env[n.result(k)]));
    r->out.push_back({t.dtype(), static_cast<std::uint32_t>(t.rank())});
    for (Dim d : t.shape()) s.ints.push_back(e_.sizes.of(d));
  }
  if (r->attr && r->attr->has_dims()) {
    std::uint32_t position = 0;
    r->attr->each_dim([&](Dim d) {
      if (d.is_constant() || r->dims.contains(d.word())) return;
      r->dims.emplace(d.word(), position++);
      s.ints.push_back(e_.sizes.of(d));
    });
  }
  s.data = std::move(r);
  e_.emit_step(std::move(s));
}

void Planner::settle(Context& c, const ir::Node& n) {
  Value& v = c.env[n.result()];
  const Target t = target(c, n.result());
  e_.compute(v, t, n.op().name);
  v.expr = read(v.type.dtype(), t.storage, t.at);
}

Value Planner::filled(Type type, double value) {
  HostArray scalar = HostArray::uninitialized(type.dtype(), {});
  dispatch(type.dtype(), [&]<class T>(TypeTag<T>) {
    *static_cast<T*>(scalar.mutable_data()) = ops::convert_element<T>(value);
  });
  return {type, literal(std::move(scalar))};
}

}  // namespace tlaloc::cpu
