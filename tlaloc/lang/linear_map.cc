#include "tlaloc/lang/linear_map.h"

#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

using transform::Mask;

LinearMap::LinearMap(const LinearMap& other) : data_(other.data_) {
  if (data_) data_->refs.fetch_add(1, std::memory_order_relaxed);
}
LinearMap& LinearMap::operator=(LinearMap other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}
LinearMap::~LinearMap() {
  if (data_ && data_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete data_;
}

namespace {

/// The input of an active slot, checked against the value it is a tangent or cotangent of.
Ref checked_input(const OpCall& call, const LinearMap::Data::Slot& slot, const Ref& x) {
  if (!x) return zeros_like(slot.like);
  if (dtype(x) != dtype(slot.like) || rank(x) != rank(slot.like)) {
    throw UserError(
        {"TL-DTYPE-001", call.name,
         "the value for " + slot.path + " is " + describe(x) + ", needed is " + describe(slot.like),
         "tangents and cotangents have the types of the values they belong to",
         user_place(call.where)});
  }
  for (int k = 0; k < rank(x); ++k) require_same(call, "TL-SHAPE-001", slot.like, k, x, k);
  return x;
}

std::vector<std::vector<AxisLabel>> active_labels(const std::vector<LinearMap::Data::Slot>& slots) {
  std::vector<std::vector<AxisLabel>> labels;
  for (const auto& s : slots) {
    if (s.active) labels.push_back(s.labels);
  }
  return labels;
}

}  // namespace

Leaves linearize_at(const OpCall& call, const Function& f, const Leaves& args,
                    std::span<const int> argnums, Direction direction, LinearMap& map) {
  return with_place(call.where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    const Closure c = trace_closure(f, args, signature_of(args));
    const Mask wanted = leaves_of(args, argnums);
    require_dense(args, wanted);
    Mask active(c.graph->param_count(), false);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      active[i] = wanted[i] && carries_tangents(c.signature.types[i]);
    }
    const transform::Linearized lin = transform::linearize(c.graph, active);
    const auto& values = args.data().values;
    const DimBinding at(c.signature, values);
    CallResult run = call_graph(call, lin.forward, values, c.captures, at, c.result_labels);

    auto* data = new LinearMap::Data;
    map = LinearMap(data);
    data->name = call.name;
    data->graph = direction == Direction::tangent ? lin.tangent : lin.cotangent;
    data->dims = at;
    const auto& dims = lin.residual_dims;
    const std::size_t first = run.result_dims.size() - dims.size();
    for (std::size_t k = 0; k < dims.size(); ++k) {
      data->dims.set(dims[k], run.result_dims[first + k]);
    }
    const std::size_t n = c.result_labels.size();
    data->residuals.assign(run.values.begin() + static_cast<std::ptrdiff_t>(n), run.values.end());
    run.values.resize(n);
    Leaves results = with_values(c.results, run.values);

    std::vector<LinearMap::Data::Slot> of_args, of_results;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      of_args.push_back({active[i], values[i], c.signature.labels[i], args.data().path(i)});
    }
    for (std::size_t k = 0; k < n; ++k) {
      of_results.push_back({is_differentiable(dtype(run.values[k])), run.values[k],
                            c.result_labels[k], c.results.data().path(k)});
    }
    if (direction == Direction::tangent) {
      data->in = std::move(of_args);
      data->out = std::move(of_results);
      data->returned.resize(n);
      std::iota(data->returned.begin(), data->returned.end(), std::size_t{0});
    } else {
      data->in = std::move(of_results);
      data->out = std::move(of_args);
      for (int k : argnums) {
        for (int i = args.argument_begin(k); i < args.argument_end(k); ++i) {
          data->returned.push_back(static_cast<std::size_t>(i));
        }
      }
    }
    return results;
  });
}

Leaves LinearMap::operator()(const Leaves& in, Where where) const {
  if (!data_) {
    throw UserError({"TL-VALUE-001", "linear map", "a linear map that was never made is called",
                     "get it from vjp or linearize", user_place(where)});
  }
  const Data& d = *data_;
  const OpCall call{d.name, where};
  return with_place(where, [&] {
    if (static_cast<std::size_t>(in.size()) != d.in.size()) {
      throw UserError(
          {"TL-TREE-002", call.name,
           std::to_string(in.size()) + " values given, " + std::to_string(d.in.size()) + " needed",
           "give one for each leaf", user_place(where)});
    }
    std::vector<Ref> operands = d.residuals;
    for (std::size_t k = 0; k < d.in.size(); ++k) {
      if (d.in[k].active) {
        operands.push_back(checked_input(call, d.in[k], in[static_cast<int>(k)]));
      }
    }
    std::vector<Ref> out =
        call_graph(call, d.graph, operands, {}, d.dims, active_labels(d.out)).values;
    std::vector<Ref> all;
    std::size_t next = 0;
    for (const Data::Slot& s : d.out) {
      all.push_back(s.active ? std::move(out[next++]) : zeros_like(s.like));
    }
    Leaves results;
    for (std::size_t k : d.returned) results.add(all[k]);
    return results;
  });
}

std::vector<Ref> apply_to_basis(const OpCall& call, const LinearMap::Data& map, std::size_t slot) {
  return with_place(call.where, [&] {
    std::vector<Ref> out(map.out.size());
    const Ref& like = map.in[slot].like;
    if (!map.in[slot].active) return out;
    const ir::Type type = node(like).type;
    const ir::Dim n = type.elements();
    std::vector<Ref> operands = map.residuals;
    std::vector<std::optional<int>> axes(operands.size());
    for (std::size_t k = 0; k < map.in.size(); ++k) {
      if (!map.in[k].active) continue;
      if (k != slot) {
        operands.push_back(zeros_like(map.in[k].like));
        axes.emplace_back(std::nullopt);
        continue;
      }
      // One row of the identity per lane.
      operands.push_back(apply(call, std::array{like}, AxesSpec(), [&](std::span<const ir::Val>) {
        const ir::Type square = ir::Type::get(DType::i64, {n, n});
        const ir::Val unit = ops::convert(
            ops::compare(ops::Comparison::eq, ops::iota(square, 0), ops::iota(square, 1)),
            type.dtype());
        return ops::reshape(unit, type.with_leading(n).shape());
      }));
      axes.emplace_back(0);
    }
    // The graph's own symbols stand for dims of the call: the lanes count in its terms.
    ir::Dim lanes = n;
    if (!n.is_constant()) lanes = ir::Dim(ir::Symbol::fresh("lanes"));
    DimBinding dims = map.dims;
    if (const auto s = lanes.as_symbol()) dims.set(*s, n);
    const ir::GraphRef g = transform::vmap(map.graph, axes, lanes);
    std::vector<Ref> rows = call_graph(call, g, operands, {}, dims, {}).values;
    std::size_t next = 0;
    for (std::size_t k = 0; k < map.out.size(); ++k) {
      if (map.out[k].active) out[k] = std::move(rows[next++]);
    }
    return out;
  });
}

Leaves vjp(const Function& f, const Leaves& args, std::span<const int> argnums, LinearMap& pullback,
           Where where) {
  return linearize_at({"vjp", where}, f, args, argnums, Direction::cotangent, pullback);
}

Leaves linearize(const Function& f, const Leaves& args, LinearMap& tangent_map, Where where) {
  std::vector<int> all(args.data().argument_begin.size());
  std::iota(all.begin(), all.end(), 0);
  return linearize_at({"linearize", where}, f, args, all, Direction::tangent, tangent_map);
}

}  // namespace tlaloc::core
