#include "tlaloc/stablehlo/emitter.h"

#include <algorithm>
#include <utility>

#include "tlaloc/ir/names.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/sharding.h"
#include "tlaloc/stablehlo/mesh_text.h"

namespace tlaloc::stablehlo {
namespace {

constexpr LowerFn kLowerings[] = {
    lowering::If, lowering::While, lowering::Scan, lowering::Call, lowering::Manual,
#define TLALOC_OP(Name) lowering::Name,
#include "tlaloc/ops/op_names.inc"
#undef TLALOC_OP
};
static_assert(std::size(kLowerings) == static_cast<std::size_t>(ops::OpId::Count));

}  // namespace

void refuse(const ir::Node& node, const std::string& why, const std::string& hint) {
  throw UserError({"TL-BACKEND-001", node.op().name, "StableHLO can't say it: " + why, hint,
                   node.origin().place});
}

// ---- operations ----

void Emitter::append(const Value& v) {
  text_ += '%';
  text_ += std::to_string(v.id);
  if (v.part >= 0) {
    text_ += '#';
    text_ += std::to_string(v.part);
  }
}
void Emitter::append_types(std::span<const Value> values) {
  text_ += '(';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) text_ += ", ";
    text_ += type_text(values[i].type);
  }
  text_ += ')';
}

void Emitter::append_attributes(const std::string& some, const std::string& more) {
  if (some.empty() && more.empty()) return;
  text_ += " {" + some + (some.empty() || more.empty() ? "" : ", ") + more + "}";
}

Value Emitter::op(std::string_view name, std::initializer_list<Value> in, TensorType out,
                  std::string_view attrs) {
  return op(name, std::span<const Value>(in.begin(), in.size()), std::move(out), attrs);
}
Value Emitter::op(std::string_view name, std::span<const Value> in, TensorType out,
                  std::string_view attrs) {
  return op(name, in, std::span<const TensorType>(&out, 1), attrs, {}).front();
}
Values Emitter::op(std::string_view name, std::span<const Value> in,
                   std::span<const TensorType> out, std::string_view attrs,
                   std::span<const Region> regions) {
  Values results;
  const std::uint32_t id = next_++;
  for (std::size_t k = 0; k < out.size(); ++k) {
    results.push_back({id, out.size() == 1 ? -1 : static_cast<std::int32_t>(k), out[k]});
  }
  indent();
  if (!out.empty()) {
    text_ += '%' + std::to_string(id);
    if (out.size() > 1) text_ += ':' + std::to_string(out.size());
    text_ += " = ";
  }
  text_ += '"';
  text_ += name;
  text_ += "\"(";
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i) text_ += ", ";
    append(in[i]);
  }
  text_ += ')';
  if (!attrs.empty()) {
    text_ += " <{";
    text_ += attrs;
    text_ += "}>";
  }
  for (std::size_t r = 0; r < regions.size(); ++r) {
    text_ += r ? ", {\n" : " ({\n";
    Values params;
    for (const TensorType& t : regions[r].params) params.push_back(fresh(t));
    if (!params.empty()) {
      indent();
      text_ += "^bb0(";
      for (std::size_t i = 0; i < params.size(); ++i) {
        if (i) text_ += ", ";
        append(params[i]);
        text_ += ": " + type_text(params[i].type);
      }
      text_ += "):\n";
    }
    ++depth_;
    op(regions[r].terminator, regions[r].body(params), std::span<const TensorType>{}, {}, {});
    --depth_;
    indent();
    text_ += '}';
  }
  if (!regions.empty()) text_ += ')';
  text_ += " : ";
  append_types(in);
  text_ += " -> ";
  if (results.size() == 1) {
    text_ += type_text(results[0].type);
  } else {
    append_types(results);
  }
  text_ += '\n';
  return results;
}

// ---- what decompositions are made of ----

Value Emitter::constant(const HostArray& value) {
  return op("stablehlo.constant", std::span<const Value>{}, {value.dtype(), value.extents()},
            "value = " + constant_text(value));
}
Value Emitter::splat(double value, const TensorType& type) {
  const HostArray element = dispatch(type.dtype, [&]<class T>(TypeTag<T>) {
    return HostArray::scalar<T>(ops::convert_element<T>(value));
  });
  std::string text = constant_text(element);
  text.resize(text.find(" : "));
  return op("stablehlo.constant", std::span<const Value>{}, type,
            "value = " + (type.empty() ? "dense<>" : text) + " : " + type_text(type));
}
Value Emitter::index(std::int64_t value) { return constant(HostArray::scalar(value)); }
Value Emitter::iota(const TensorType& type, std::int64_t axis) {
  return op("stablehlo.iota", std::span<const Value>{}, type,
            "iota_dimension = " + std::to_string(axis) + " : i64");
}
Value Emitter::binary(std::string_view name, const Value& a, const Value& b) {
  return op("stablehlo." + std::string(name), {a, b}, a.type);
}
Value Emitter::compare(std::string_view direction, const Value& a, const Value& b) {
  const DType t = a.type.dtype;
  const char* kind = is_float(t) ? "FLOAT" : is_signed_integer(t) ? "SIGNED" : "UNSIGNED";
  return op("stablehlo.compare", {a, b}, a.type.with(DType::boolean),
            "comparison_direction = #stablehlo<comparison_direction " + std::string(direction) +
                ">, compare_type = #stablehlo<comparison_type " + kind + ">");
}
Value Emitter::select(const Value& p, const Value& a, const Value& b) {
  return op("stablehlo.select", {p, a, b}, a.type);
}
Value Emitter::convert(const Value& x, DType dtype) {
  return x.type.dtype == dtype ? x : op("stablehlo.convert", {x}, x.type.with(dtype));
}
Value Emitter::reshape(const Value& x, Extents extents) {
  if (x.type.extents == extents) return x;
  return op("stablehlo.reshape", {x}, x.type.with(std::move(extents)));
}
Value Emitter::broadcast(const Value& x, const TensorType& to, std::span<const std::int64_t> axes) {
  return op("stablehlo.broadcast_in_dim", {x}, x.type.with(to.extents),
            "broadcast_dimensions = " + array_attr(axes));
}
Value Emitter::leading(const Value& x, const TensorType& to) {
  if (x.type.extents == to.extents) return x;
  Extents axes;
  for (std::size_t i = 0; i < x.type.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return broadcast(x, to, axes);
}
Value Emitter::pad(const Value& x, const Value& value, std::span<const std::int64_t> low,
                   std::span<const std::int64_t> high, std::span<const std::int64_t> interior) {
  TensorType out = x.type;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    const std::int64_t n = out.extents[i];
    out.extents[i] = low[i] + n + high[i] + std::max<std::int64_t>(n - 1, 0) * interior[i];
  }
  return op("stablehlo.pad", {x, value}, std::move(out),
            "edge_padding_low = " + array_attr(low) + ", edge_padding_high = " + array_attr(high) +
                ", interior_padding = " + array_attr(interior));
}
Value Emitter::slice(const Value& x, std::span<const std::int64_t> start,
                     std::span<const std::int64_t> limit, std::span<const std::int64_t> strides) {
  TensorType out = x.type;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    out.extents[i] = (limit[i] - start[i] + strides[i] - 1) / strides[i];
  }
  return op("stablehlo.slice", {x}, std::move(out),
            "start_indices = " + array_attr(start) + ", limit_indices = " + array_attr(limit) +
                ", strides = " + array_attr(strides));
}
Value Emitter::concatenate(std::span<const Value> parts, std::int64_t axis) {
  TensorType out = parts[0].type;
  for (const Value& p : parts.subspan(1)) {
    out.extents[usize(axis)] += p.type.extents[usize(axis)];
  }
  return op("stablehlo.concatenate", parts, std::move(out),
            "dimension = " + std::to_string(axis) + " : i64");
}
Value Emitter::padded(const Value& x, const Extents& extents) {
  if (x.type.extents == extents) return x;
  const Extents zeros(extents.size(), 0);
  Extents high;
  for (std::size_t i = 0; i < extents.size(); ++i) high.push_back(extents[i] - x.type.extents[i]);
  return pad(x, splat(1, {x.type.dtype, {}}), zeros, high, zeros);
}

Value Emitter::row(const Value& x, const Value& i) {
  Values in{x, i};
  for (std::size_t k = 1; k < x.type.rank(); ++k) in.push_back(index(0));
  Extents sizes = x.type.extents;
  sizes[0] = 1;
  const Value y =
      op("stablehlo.dynamic_slice", in, x.type.with(sizes), "slice_sizes = " + array_attr(sizes));
  return reshape(y, {sizes.begin() + 1, sizes.end()});
}
Value Emitter::with_row(const Value& x, const Value& row, const Value& i) {
  Extents extents = row.type.extents;
  extents.insert(extents.begin(), 1);
  Values in{x, reshape(row, std::move(extents)), i};
  for (std::size_t k = 1; k < x.type.rank(); ++k) in.push_back(index(0));
  return op("stablehlo.dynamic_update_slice", in, x.type);
}

// ---- graphs ----

Values Emitter::graph(Frame& f, const Values& args) {
  f.values.assign(f.graph.value_count(), {});
  std::ranges::copy(args, f.values.begin());
  check_constraints(f, true);
  for (std::uint32_t i = 0; i < f.graph.node_count(); ++i) lower(f, f.graph.node(i));
  check_constraints(f, false);
  Values out;
  for (ir::ValueId v : f.graph.results()) out.push_back(f.values[v]);
  return out;
}

void Emitter::lower(Frame& f, const ir::Node& n) {
  check_dynamic(f, n);
  Values in, results;
  for (ir::ValueId v : n.operands()) in.push_back(f.values[v]);
  std::vector<TensorType> out;
  if (n.region_kind() == ir::RegionKind::none) {
    for (ir::Type t : n.result_types()) out.push_back(type(f, t, &n));
    // Where there is nothing to compute, no rule about sizes matters. A constraint declares its
    // mesh.
    if (!out.empty() && !n.op().traits.ordered && &n.op() != &ops::rows::ShardingConstraint &&
        std::ranges::all_of(out, [](const TensorType& t) { return t.empty(); })) {
      for (const TensorType& t : out) results.push_back(splat(0, t));
    }
  }
  if (results.empty()) results = kLowerings[n.op().id](*this, {n, in, out, f});
  internal_check(results.size() == n.result_count(), "a lowering has another number of results");
  for (std::size_t k = 0; k < results.size(); ++k) {
    internal_check(out.empty() || results[k].type == out[k], n.op().name);
    f.values[n.result(k)] = std::move(results[k]);
  }
}

Values Emitter::decompose(std::span<const Value> in,
                          const std::function<ir::Vals(const ir::Vals&)>& build) {
  ir::Builder b;
  ir::Vals params;
  for (const Value& v : in) {
    std::vector<ir::Dim> shape(v.type.extents.begin(), v.type.extents.end());
    params.push_back(b.param(ir::Type::get(v.type.dtype, shape)));
  }
  const ir::GraphRef g = b.build(build(params));
  decompositions_.push_back(g);
  Frame f{*g, {}};
  return graph(f, Values(in.begin(), in.end()));
}

Region Emitter::scalar_region(const ir::Graph& g) {
  Region r;
  for (ir::Type t : g.param_types()) r.params.push_back({t.dtype(), {}});
  r.body = [this, &g](const Values& args) {
    Frame f{g, {}};
    return graph(f, args);
  };
  return r;
}

void Emitter::discard(const std::function<void()>& emit) {
  const std::size_t length = text_.size();
  const std::uint32_t next = next_;
  const auto flag = exceeded;
  emit();
  text_.resize(length);
  next_ = next;
  exceeded = flag;
}

void Emitter::append_signature(std::string_view header, const Values& args,
                               std::span<const TensorType> out) {
  text_ += header;
  text_ += '(';
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i) text_ += ", ";
    append(args[i]);
    text_ += ": " + type_text(args[i].type);
  }
  text_ += ") -> (";
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i) text_ += ", ";
    text_ += type_text(out[i]);
  }
  text_ += ") {\n";
}

Values Emitter::call_function(const ir::Node& node, Frame& inner, const Values& args) {
  std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(&inner.graph));
  for (ir::Symbol s : inner.graph.dims()) {
    key += ',' + std::to_string(inner.sizes.at(s.id()).bound);
  }
  const bool flagged = may_exceed(inner.graph);
  auto [known, is_new] = function_names_.emplace(std::move(key), "");
  std::string& name = known->second;
  std::vector<TensorType> out;
  for (std::size_t i = 0; i < inner.graph.results().size(); ++i) {
    out.push_back(type(inner, inner.graph.type(inner.graph.results()[i]), &node));
  }
  if (flagged) out.push_back({DType::boolean, {}});
  if (is_new) {
    const auto& wanted = node.as<ir::CallAttrs>().name;
    name = ir::to_identifier(wanted.empty() ? "f" : wanted);
    name += '_' + std::to_string(name_counts_[name]++);
    const std::string function = name;
    std::string text = std::exchange(text_, {});
    const std::uint32_t next = std::exchange(next_, 0);
    const std::size_t depth = std::exchange(depth_, 2);
    auto flag = std::exchange(exceeded, std::nullopt);
    Values params;
    for (const Value& a : args) params.push_back(fresh(a.type));
    append_signature("  func.func private @" + function, params, out);
    Values results = graph(inner, params);
    if (flagged) results.push_back(exceeded_flag());
    op("func.return", results, std::span<const TensorType>{}, {}, {});
    functions_ += text_ + "  }\n";
    text_ = std::move(text);
    next_ = next;
    depth_ = depth;
    exceeded = std::move(flag);
    // What was found before may have moved: functions inside of this one were added.
    return call_function(node, inner, args);
  }
  Values results;
  const auto& a = node.as<ir::CallAttrs>();
  if (options_.composites && !a.name.empty() && a.kind == ir::CallKind::plain) {
    std::string attrs;
    for (const ir::CallParam& p : a.params) {
      if (!attrs.empty()) attrs += ", ";
      attrs += ir::to_identifier(p.name) + " = ";
      if (!p.reals.empty()) {
        attrs += constant_text(HostArray::from(std::span<const double>(p.reals),
                                               {static_cast<std::int64_t>(p.reals.size())}));
      } else {
        attrs += array_attr(p.ints);
      }
    }
    results = op("stablehlo.composite", args, out,
                 "name = " + quoted("tlaloc." + a.name) + ", composite_attributes = {" + attrs +
                     "}, decomposition = @" + name + ", version = " + std::to_string(a.version) +
                     " : i32",
                 {});
  } else {
    results = op("func.call", args, out, "callee = @" + name, {});
  }
  if (flagged) {
    add_exceeded(results.back());
    results.pop_back();
  }
  return results;
}

// ---- loops that must end ----

Value Emitter::exceeded_flag() { return exceeded ? *exceeded : splat(0, {DType::boolean, {}}); }
void Emitter::add_exceeded(const Value& flag) {
  exceeded = exceeded ? binary("or", *exceeded, flag) : flag;
}
std::int64_t Emitter::trips_limit(const ir::Node& loop) const {
  const auto& a = loop.as<ir::WhileAttrs>();
  return a.max_trips > 0 || a.append.empty() ? a.max_trips : options_.recorded_trips;
}
bool Emitter::may_exceed(const ir::Graph& g) {
  auto known = may_exceed_.find(&g);
  if (known != may_exceed_.end()) return known->second;
  bool found = false;
  for (std::uint32_t i = 0; i < g.node_count() && !found && g.has_regions(); ++i) {
    const ir::Node n = g.node(i);
    if (n.region_kind() == ir::RegionKind::loop) found = trips_limit(n) > 0;
    const std::size_t used = n.region_kind() == ir::RegionKind::call ? 1 : n.regions().size();
    for (std::size_t k = 0; k < used && !found; ++k) found = may_exceed(*n.region(k).graph);
  }
  may_exceed_.emplace(&g, found);
  return found;
}

void Emitter::use_devices(const ir::Node& node, const std::string& mesh_axis,
                          std::int64_t devices) {
  if (!meshes_.empty()) refuse(node, "collectives run over replicas, outside of the mesh");
  if (devices_ > 1 && mesh_axis_ != mesh_axis) {
    refuse(node, "collectives run over the axes '" + mesh_axis_ + "' and '" + mesh_axis +
                     "', and one module has one axis of replicas");
  }
  mesh_axis_ = mesh_axis;
  devices_ = devices;
}

// ---- modules ----

Emitted Emitter::module(const ir::Graph& g, std::span<const std::int64_t> sizes) {
  Frame f{g, {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) f.sizes[g.dims()[i].id()] = {sizes[i], {}};
  if (options_.fixed_layouts) find_mesh(g);
  Emitted e;
  Values args;
  for (ir::Type t : g.param_types()) {
    args.push_back(fresh(type(f, t)));
    e.params.push_back(args.back().type);
  }
  Values results = graph(f, args);
  e.result_count = results.size();
  std::vector<std::pair<ir::Dim, std::size_t>> outputs;
  auto output_of = [&](ir::Dim d) {
    const auto known = std::ranges::find(outputs, d, [](const auto& o) { return o.first; });
    if (known != outputs.end()) return known->second;
    outputs.emplace_back(d, results.size());
    results.push_back(size_value(f, d));
    return outputs.back().second;
  };
  for (std::size_t r = 0; r < e.result_count; ++r) {
    const ir::Type t = g.type(g.results()[r]);
    for (int axis = 0; axis < t.rank(); ++axis) {
      if (size(f, t.dim(axis)).length) {
        e.lengths.push_back({r, usize(axis), output_of(t.dim(axis))});
      }
    }
  }
  for (ir::Dim d : g.result_dims()) {
    const Size s = size(f, d);
    if (s.length) {
      e.result_dims.push_back({0, output_of(d)});
    } else {
      e.result_dims.push_back({s.bound, {}});
    }
  }
  if (may_exceed(g)) {
    e.exceeded = results.size();
    results.push_back(exceeded_flag());
  }
  op("func.return", results, std::span<const TensorType>{}, {}, {});
  e.layouts = layouts_of(g, options_.fixed_layouts);
  e.layouts.results.resize(results.size());
  if (!meshes_.empty()) e.partitions = meshes_[0].second.devices();
  if (options_.fixed_layouts) fix_layouts(e.layouts, args, results);

  const std::string body = std::exchange(text_, {});
  text_ = "// Made by Tlaloc, for StableHLO " + std::string(kMinimumVersion) + " and later.\n";
  text_ += "module @" + ir::to_identifier(g.name().empty() ? "tlaloc" : g.name()) + " {\n";
  text_ += mesh_declarations();
  text_ += "  func.func public @main(";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i) text_ += ", ";
    append(args[i]);
    text_ += ": " + type_text(args[i].type);
    const auto alias =
        std::ranges::find(options_.aliases, i, [](const auto& a) { return a.first; });
    std::string attrs;
    if (alias != options_.aliases.end()) {
      attrs = "tf.aliasing_output = " + std::to_string(alias->second) + " : i32";
    } else if (std::ranges::find(options_.donors, i) != options_.donors.end()) {
      attrs = "jax.buffer_donor = true";
    }
    append_attributes(attrs, layout_attribute(e.layouts.params[i]));
  }
  text_ += ") -> (";
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i) text_ += ", ";
    e.results.push_back(results[i].type);
    text_ += type_text(results[i].type);
    append_attributes({}, layout_attribute(e.layouts.results[i]));
  }
  text_ += ") {\n" + body + "  }\n" + functions_ + "}\n";
  e.text = std::move(text_);
  e.devices = devices_;
  return e;
}

}  // namespace tlaloc::stablehlo
