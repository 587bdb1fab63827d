#include "tlaloc/ops/sharding.h"

#include "tlaloc/base/error.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/val_sharding.h"

namespace tlaloc::ops {
namespace {

constexpr char kShardingError[] = "TL-MESH-002";

std::string dimension(std::size_t k) { return "dimension " + std::to_string(k); }

std::string uneven(std::size_t k, Dim size, std::int64_t parts) {
  return dimension(k) + " has " + size.to_string() + " elements, which " + std::to_string(parts) +
         " devices can't share equally";
}

constexpr char kManual[] = "manual_computation";
[[noreturn]] void refuse(const std::string& message) {
  throw UserError({kShardingError, kManual, message,
                   "name each axis of the mesh once, and cut into equal parts",
                   ir::OriginScope::current()->place});
}
void check(const std::string& problem, const std::string& what = {}) {
  if (!problem.empty()) refuse(what + problem);
}

}  // namespace

void ShardingConstraint::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  const ir::Sharding& s = c.as<ShardingAttrs>().sharding;
  const Type x = c.in[0];
  if (const std::string p = ir::sharding_problem(s, x.rank()); !p.empty()) {
    c.fail(kShardingError, p);
  }
  for (std::size_t k = 0; k < s.dims.size(); ++k) {
    const std::int64_t parts = s.parts(k);
    const Dim d = x.dim(static_cast<int>(k));
    if (parts == 1 || exact_quotient(d, parts)) continue;
    if (d.is_constant()) {
      c.fail(kShardingError, uneven(k, d, parts));
    }
    c.require_equal(mod(d, parts), 0, "rest of " + dimension(k) + " by the number of devices");
  }
  c.out.push_back(x);
}
void ShardingConstraint::eval(EvalContext& c) { c.out.push_back(c.take(0)); }
Val ShardingConstraint::simplify(const Call& c) {
  const ir::Builder& b = ir::Builder::current();
  const bool same =
      b.op_of(c.in[0]) == &rows::ShardingConstraint && b.attr_of(c.in[0])->equals(*c.attr);
  return same ? c.in[0] : Val{};
}
void ShardingConstraint::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = emit_like(c, {dx[0]});
}
void ShardingConstraint::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, emit_like(c, {ct[0]}));
}
void ShardingConstraint::batch(const Call& c, BatchContext& ctx) {
  ir::Sharding s = c.as<ShardingAttrs>().sharding;
  s.dims.insert(s.dims.begin(), ir::DimSharding{.axes = {}, .open = true, .priority = {}});
  ctx.set(0, sharding_constraint(ctx.lifted(0), std::move(s)));
}

TLALOC_ROW(ShardingConstraint);

Val sharding_constraint(Val x, ir::Sharding sharding) {
  if (ir::sharding_problem(sharding, x.rank()).empty())
    sharding = ir::canonical(std::move(sharding));
  return ir::Builder::current().emit(rows::ShardingConstraint,
                                     ir::make_attr(ShardingAttrs{std::move(sharding)}), {x});
}

std::vector<Type> shard_types(const ir::ManualAttrs& attrs, std::span<const Type> wholes) {
  check(ir::manual_axes_problem(attrs.mesh, attrs.axes));
  if (attrs.in.size() != wholes.size()) {
    refuse("there are " + std::to_string(attrs.in.size()) + " shardings for " +
           std::to_string(wholes.size()) + " operands");
  }
  std::vector<Type> parts;
  for (std::size_t k = 0; k < wholes.size(); ++k) {
    const Type whole = wholes[k];
    const ir::ShardSpec& spec = attrs.in[k];
    const std::string operand = "operand " + std::to_string(k) + ": ";
    check(ir::spec_problem(attrs.mesh, attrs.axes, spec, whole.rank()), operand);
    std::vector<Dim> shape(whole.shape().begin(), whole.shape().end());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::int64_t n = spec.parts(attrs.mesh, i);
      if (shape[i].is_constant() && shape[i].constant() % n != 0) {
        refuse(operand + uneven(i, shape[i], n));
      }
      shape[i] = quotient(shape[i], n);
    }
    parts.push_back(whole.with_shape(shape));
  }
  return parts;
}

void check_results(const ir::ManualAttrs& attrs, std::span<const Type> parts) {
  if (attrs.out.size() != parts.size()) {
    refuse("there are " + std::to_string(attrs.out.size()) + " shardings for " +
           std::to_string(parts.size()) + " results");
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    check(ir::spec_problem(attrs.mesh, attrs.axes, attrs.out[k], parts[k].rank()),
          "result " + std::to_string(k) + ": ");
  }
}

Vals emit_checked_manual(ir::ManualAttrs attrs, const Vals& operands, ir::GraphRef body) {
  std::ranges::sort(attrs.axes, {}, [&](const std::string& axis) {
    return std::ranges::find(attrs.mesh.axes, axis, &ir::NamedAxis::name);
  });
  for (std::size_t k = 0; k < attrs.in.size(); ++k) {
    for (std::size_t i = 0; i < attrs.in[k].dims.size(); ++i) {
      const std::int64_t n = attrs.in[k].parts(attrs.mesh, i);
      const Dim d = operands[k].dim(static_cast<int>(i));
      if (n == 1 || exact_quotient(d, n)) continue;
      ir::Builder::current().require(
          {ir::Constraint::Kind::equal, mod(d, n), 0,
           std::string(kManual) + ": rest of " + dimension(i) + " by the number of devices",
           ir::OriginScope::current()->place});
    }
  }
  for (std::size_t k = attrs.in.size(); k < operands.size(); ++k) {
    attrs.in.push_back({std::vector<std::vector<std::string>>(usize(operands[k].rank()))});
  }
  return ir::emit_manual(std::move(attrs), operands, std::move(body), {});
}

Vals manual(ir::ManualAttrs attrs, const Vals& args, const std::function<Vals(const Vals&)>& body) {
  std::vector<Type> wholes;
  for (Val v : args) wholes.push_back(v.type());
  const Traced traced = trace(shard_types(attrs, wholes), body, "manual");
  check_results(attrs, traced.graph->result_types());
  // What was captured comes last, so that it has no sharding of the caller's.
  std::vector<ir::ParamSpec> params;
  const std::size_t captured = traced.captured.size();
  for (std::size_t k = 0; k < traced.graph->param_count(); ++k) {
    const std::size_t from = (k + captured) % traced.graph->param_count();
    params.push_back({static_cast<std::uint32_t>(from), {}});
  }
  const std::vector<ir::ValueId> results(traced.graph->results().begin(),
                                         traced.graph->results().end());
  Vals operands = args;
  operands.insert(operands.end(), traced.captured.begin(), traced.captured.end());
  return emit_checked_manual(std::move(attrs), operands,
                             ir::with_signature(*traced.graph, params, results));
}

}  // namespace tlaloc::ops
