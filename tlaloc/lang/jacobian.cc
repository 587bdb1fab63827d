// Jacobians by batched linear maps, and second derivatives by nesting.
#include <array>
#include <numeric>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/linear_map.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

/// `rows`: [elements of lead, rest...] as [lead..., rest...]; swapped: [rest..., lead...].
Ref unflatten(const OpCall& call, const Ref& rows, const Ref& lead, bool swapped,
              std::vector<AxisLabel> labels, DType dtype) {
  return apply(call, std::array{rows, lead}, std::move(labels), [&](std::span<const ir::Val> in) {
    std::vector<ir::Dim> shape(in[1].shape().begin(), in[1].shape().end());
    const auto rest = in[0].shape().subspan(1);
    shape.insert(shape.end(), rest.begin(), rest.end());
    ir::Val y = ops::reshape(in[0], shape);
    if (swapped) {
      std::vector<std::int64_t> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::rotate(order.begin(), order.begin() + in[1].rank(), order.end());
      y = ops::transpose(y, order);
    }
    return y.dtype() == dtype ? y : ops::convert(y, dtype);
  });
}

Ref zero_jacobian(const OpCall& call, const Ref& result, const Ref& argument,
                  std::vector<AxisLabel> labels) {
  return apply(call, std::array{result, argument}, std::move(labels),
               [&](std::span<const ir::Val> in) {
                 std::vector<ir::Dim> shape(in[0].shape().begin(), in[0].shape().end());
                 shape.insert(shape.end(), in[1].shape().begin(), in[1].shape().end());
                 return ops::zeros(ir::Type::get(in[1].dtype(), shape));
               });
}

std::vector<AxisLabel> concatenated(const std::vector<AxisLabel>& a, int rank_a,
                                    const std::vector<AxisLabel>& b, int rank_b) {
  if (a.empty() && b.empty()) return {};
  std::vector<AxisLabel> all = a;
  all.resize(static_cast<std::size_t>(rank_a));
  all.insert(all.end(), b.begin(), b.end());
  all.resize(static_cast<std::size_t>(rank_a + rank_b));
  return all;
}

Leaves jacobian(const OpCall& call, const Function& f, const Leaves& args,
                std::span<const int> argnums, Direction direction) {
  return with_place(call.where, [&] {
    LinearMap map;
    const Leaves results = linearize_at(call, f, args, argnums, direction, map);
    const bool forward = direction == Direction::tangent;
    const LinearMap::Data& d = *map.data();
    const auto& of_args = forward ? d.in : d.out;
    const auto& of_results = forward ? d.out : d.in;
    std::vector<std::vector<Ref>> rows;  // per input slot, per output slot
    for (std::size_t k = 0; k < d.in.size(); ++k) rows.push_back(apply_to_basis(call, d, k));

    std::vector<std::size_t> columns;
    for (int k : argnums) {
      for (int i = args.argument_begin(k); i < args.argument_end(k); ++i) {
        columns.push_back(static_cast<std::size_t>(i));
      }
    }
    Leaves out;
    for (std::size_t r = 0; r < of_results.size(); ++r) {
      for (std::size_t a : columns) {
        const Ref &y = of_results[r].like, &x = of_args[a].like;
        auto labels = concatenated(of_results[r].labels, rank(y), of_args[a].labels, rank(x));
        const Ref& block = forward ? rows[a][r] : rows[r][a];
        if (!block) {
          out.add(zero_jacobian(call, y, x, std::move(labels)));
        } else {
          out.add(unflatten(call, block, forward ? x : y, forward, std::move(labels), dtype(x)));
        }
      }
    }
    return out;
  });
}

/// The gradient of a scalar function as a function.
struct GradientOf {
  const Function& f;
  std::span<const int> argnums;
  Where where;

  Function function() { return {&GradientOf::call, this, f.type, f.name}; }
  static void call(void* self, const Leaves& in, Leaves& out) {
    const auto& g = *static_cast<GradientOf*>(self);
    const Leaves all = value_and_grad(g.f, in, g.argnums, g.where);
    int leaves = 0;
    for (int k : g.argnums) leaves += in.argument_end(k) - in.argument_begin(k);
    for (int i = all.size() - leaves; i < all.size(); ++i) out.add(all[i]);
  }
};

}  // namespace

Leaves jacfwd(const Function& f, const Leaves& args, std::span<const int> argnums, Where where) {
  return jacobian({"jacfwd", where}, f, args, argnums, Direction::tangent);
}
Leaves jacrev(const Function& f, const Leaves& args, std::span<const int> argnums, Where where) {
  return jacobian({"jacrev", where}, f, args, argnums, Direction::cotangent);
}

Leaves hessian(const Function& f, const Leaves& args, std::span<const int> argnums, Where where) {
  GradientOf gradient{f, argnums, where};
  return jacobian({"hessian", where}, gradient.function(), args, argnums, Direction::tangent);
}

Leaves hvp(const Function& f, const Leaves& args, const Leaves& v, std::span<const int> argnums,
           Where where) {
  const OpCall call{"hvp", where};
  return with_place(where, [&] {
    GradientOf gradient{f, argnums, where};
    std::vector<Ref> tangents(static_cast<std::size_t>(args.size()));
    int next = 0;
    for (int k : argnums) {
      for (int i = args.argument_begin(k); i < args.argument_end(k); ++i, ++next) {
        if (next < v.size()) tangents[static_cast<std::size_t>(i)] = v[next];
      }
    }
    if (next != v.size()) {
      throw UserError(
          {"TL-TREE-002", call.name,
           std::to_string(v.size()) + " values given, " + std::to_string(next) + " needed",
           "give a vector of the structure of the arguments", user_place(where)});
    }
    const Leaves both =
        jvp(gradient.function(), args, with_values(args, std::move(tangents)), where);
    Leaves out;
    for (int i = both.size() / 2; i < both.size(); ++i) out.add(both[i]);
    return out;
  });
}

}  // namespace tlaloc::core
