#include "tlaloc/cpu/paged.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/paged_passes.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/dim_quotient.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;

std::optional<Paged> understand(const ir::Node& n) {
  const auto& a = n.as<ir::CallAttrs>();
  if (a.name != "paged_attention" || a.version != 0 || !n.bound().empty()) return std::nullopt;
  if (n.operands().size() != 6 || n.result_count() != 1) return std::nullopt;
  const auto param = [&](std::string_view name) -> const ir::CallParam* {
    const auto it = std::ranges::find(a.params, name, &ir::CallParam::name);
    return it == a.params.end() ? nullptr : &*it;
  };
  const auto *scale = param("scale"), *window = param("window"), *soft_cap = param("soft_cap");
  // Somebody else's call of that name has not got all of these.
  if (!scale || !window || !soft_cap || scale->reals.size() != 1 || window->ints.size() != 1 ||
      soft_cap->reals.size() != 1) {
    return std::nullopt;
  }
  Paged p;
  p.scale = scale->reals[0];
  p.window = window->ints[0];
  p.soft_cap = soft_cap->reals[0];
  return p;
}

/// Whether the types are those of the composite; the callee's body is not looked at.
bool fits(const ir::Graph& g) {
  const auto t = g.param_types();
  const std::array<int, 6> ranks{3, 4, 4, 1, 1, 2};
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (t[k].rank() != ranks[k]) return false;
    if (k > 2 && t[k].dtype() != DType::i32) return false;
  }
  const DType pool = t[1].dtype();
  if (t[0].dtype() != DType::f32 || t[2].dtype() != pool) return false;
  if (pool != DType::f32 && pool != DType::f16 && pool != DType::bf16) return false;
  // Equal, or the callee requires that, which is checked before the call.
  const auto same = [&](Dim a, Dim b) {
    return a == b || std::ranges::any_of(g.constraints(), [&](const ir::Constraint& c) {
             return c.kind == ir::Constraint::Kind::equal &&
                    ((c.a == a && c.b == b) || (c.a == b && c.b == a));
           });
  };
  for (int i : {0, 1, 2}) {
    if (!same(t[1].dim(i), t[2].dim(i))) return false;
  }
  const Dim heads = t[0].dim(1), shared = t[1].dim(2);
  if (heads != shared && !ops::exact_quotient(heads, shared)) return false;
  if (!same(t[0].dim(2), t[1].dim(3)) || !same(t[0].dim(0), t[3].dim(0)) ||
      !same(t[0].dim(0), t[4].dim(0))) {
    return false;
  }
  const Type out = g.type(g.results()[0]);
  return out.dtype() == DType::f32 && out.rank() == 3 && same(out.dim(0), t[0].dim(0)) &&
         same(out.dim(1), heads) && same(out.dim(2), t[2].dim(3));
}

/// What all tokens read at most, and the products with all of that.
Cost paged_cost(const void*, const std::int64_t* ints) {
  const auto size = [&](std::size_t k) { return static_cast<double>(ints[k]); };
  const double tokens = size(0), heads = size(1), width = size(2), value_width = size(3);
  const double shared = size(4), places = size(6) * size(8);
  const double keys = std::min(size(5) * size(6), tokens * places) * shared;
  Cost c;
  c.elements = {tokens * heads * width,
                keys * width,
                keys * value_width,
                tokens,
                tokens,
                size(7) * size(8),
                tokens * heads * value_width};
  c.space = std::to_string(ints[0]) + " tokens, " + std::to_string(ints[1]) + " heads";
  return c;
}

}  // namespace

bool claims_paged_attention(const ir::Node& n) {
  return understand(n).has_value() && fits(*n.region(0).graph);
}

Value emit_paged_attention(Emitter& e, const ir::Node& n, const std::vector<Value>& operands,
                           Type type) {
  auto data = std::make_shared<Paged>(*understand(n));
  Step step;
  step.name = "paged_attention";
  step.run = run_paged_attention;
  step.cost = paged_cost;
  const Type q = operands[0].type, keys = operands[1].type, values = operands[2].type,
             tables = operands[5].type;
  data->pool = keys.dtype();
  const auto add = [&](std::initializer_list<Dim> dims) {
    for (Dim d : dims) step.ints.push_back(e.sizes.of(d));
  };
  add({q.dim(0), q.dim(1), q.dim(2), values.dim(3), keys.dim(2), keys.dim(0), keys.dim(1),
       tables.dim(0), tables.dim(1)});
  step.storages.push_back(e.dense(operands[0], step.name));
  for (std::size_t k : {1, 2}) {
    // A slice of a pool is read where it lies.
    Value pool = e.lying(operands[k], step.name);
    if (pool.expr->at.strides[3] != Dim(1)) {
      pool = dense_value(pool.type, e.copy(pool, step.name));
    }
    const Affine& at = pool.expr->at;
    step.storages.push_back(pool.expr->storage);
    add({at.offset, at.strides[0], at.strides[1], at.strides[2]});
  }
  for (std::size_t k : {3, 4, 5}) step.storages.push_back(e.dense(operands[k], step.name));
  internal_check(step.ints.size() == kPagedSizes, "sizes of paged attention");
  step.reads = static_cast<std::uint32_t>(step.storages.size());
  const StorageId out = e.storage(type);
  step.storages.push_back(out);
  step.data = std::move(data);
  e.emit_step(std::move(step));
  return dense_value(type, out);
}

}  // namespace tlaloc::cpu
