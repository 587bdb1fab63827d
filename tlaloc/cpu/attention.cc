#include "tlaloc/cpu/attention.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/attention_passes.h"
#include "tlaloc/cpu/count_text.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/dim_quotient.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;
using Role = AttentionArray;

/// A call by roles. Forward results that are operands have those roles.
struct Call {
  Attention attention;
  bool backward = false;
  int rank = 0;  ///< of q, k and v where the composite was made; vmap's lanes lie in front
  std::vector<Role> operands, results;
};

/// A composite's parameters as they were stated.
class Params {
 public:
  explicit Params(const ir::CallAttrs& a) : a_(a) {}
  std::optional<std::int64_t> integer(std::string_view name) const {
    const ir::CallParam* p = find(name);
    return p && p->ints.size() == 1 ? std::optional(p->ints[0]) : std::nullopt;
  }
  std::optional<double> real(std::string_view name) const {
    const ir::CallParam* p = find(name);
    return p && p->reals.size() == 1 ? std::optional(p->reals[0]) : std::nullopt;
  }
  /// Those of `all` that dead code left.
  std::vector<Role> left(std::string_view which, const std::vector<Role>& all) const {
    const ir::CallParam* p = find(which);
    if (!p) return all;
    std::vector<Role> r;
    for (std::int64_t k : p->ints) {
      if (k >= 0 && k < static_cast<std::int64_t>(all.size())) r.push_back(all[usize(k)]);
    }
    return r;
  }

 private:
  const ir::CallParam* find(std::string_view name) const {
    const auto it = std::ranges::find(a_.params, name, &ir::CallParam::name);
    return it == a_.params.end() ? nullptr : &*it;
  }
  const ir::CallAttrs& a_;
};

bool has(const std::vector<Role>& roles, Role r) {
  return std::ranges::find(roles, r) != roles.end();
}

std::optional<Call> understand(const ir::Node& n) {
  const auto& a = n.as<ir::CallAttrs>();
  constexpr std::string_view kName = "attention";
  if (!a.name.starts_with(kName) || a.version != 0 || !n.bound().empty()) return std::nullopt;
  const std::string_view suffix = std::string_view(a.name).substr(kName.size());
  Call call;
  call.backward = suffix == ".bwd";
  const bool forward = suffix == ".fwd";
  if (!suffix.empty() && !forward && !call.backward) return std::nullopt;
  // Somebody else's call of that name has not got all of these.
  const Params params(a);
  const auto causal = params.integer("causal"), window = params.integer("window");
  const auto rank = params.integer("rank"), masked = params.integer("masked");
  const auto scale = params.real("scale"), soft_cap = params.real("soft_cap");
  if (!causal || !window || !rank || !masked || !scale || !soft_cap) return std::nullopt;
  call.attention.causal = *causal != 0;
  call.attention.window = *window;
  call.attention.scale = *scale;
  call.attention.soft_cap = *soft_cap;
  call.rank = static_cast<int>(*rank);

  std::vector<Role> operands{Role::q, Role::k, Role::v}, results;
  if (*masked) operands.push_back(Role::mask);
  if (call.backward) {
    operands.insert(operands.end(), {Role::out, Role::lse, Role::d_out});
    results = {Role::dq, Role::dk, Role::dv, Role::d_mask};
  } else {
    results = {Role::out};
    if (forward) {
      results.insert(results.end(), operands.begin(), operands.end());
      results.insert(results.end(), {Role::out, Role::lse});
    }
  }
  call.operands = params.left("left.operands", operands);
  call.results = params.left("left.results", results);
  // A mask that nobody differentiates has no gradient.
  if (call.backward && call.results.size() == n.result_count() + 1) call.results.pop_back();
  if (call.operands.size() != n.operands().size() || call.results.size() != n.result_count()) {
    return std::nullopt;
  }
  // Backward to v alone wants neither v nor the result.
  for (Role r : operands) {
    const bool needless = call.results == std::vector{Role::dv} && (r == Role::v || r == Role::out);
    if (!needless && !has(call.operands, r)) return std::nullopt;
  }
  return call;
}

/// What the kernels compute in f32.
bool is_narrow(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

/// Whether the types are what the kernels know: one of f32, f16 and bf16, with all of vmap's lanes
/// in front or none.
bool ranks_fit(const Call& c, const ir::Node& n) {
  const auto types = n.region(0).graph->param_types();
  int full = 0;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const bool grouped = c.backward && c.operands[k] == Role::out;
    full = std::max(full, types[k].rank() - grouped);
  }
  if (c.rank < 2 || c.rank > full) return false;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const Role role = c.operands[k];
    const bool grouped = c.backward && role == Role::out;
    const int rank = types[k].rank() - grouped;
    if (rank != c.rank && rank != full) return false;
    const bool keeps = role == Role::mask && types[k].dtype() == DType::boolean;
    if (!keeps && (types[k].dtype() != types[0].dtype() || !is_narrow(types[k].dtype()))) {
      return false;
    }
  }
  for (std::size_t k = 0; k < n.result_count(); ++k) {
    const Type t = n.result_types()[k];
    const auto it = std::ranges::find(c.operands, c.results[k]);
    const bool passed = !c.backward && it != c.operands.end();
    const int rank = passed ? types[usize(it - c.operands.begin())].rank() : full;
    const bool grouped = c.results[k] == Role::out && t.rank() == rank + 1;
    if (t.rank() - grouped != rank) return false;
  }
  return true;
}

/// The sizes of one call, in the symbols of its callee.
class CallSizes {
 public:
  CallSizes(const Call& c, const ir::Node& n) : call_(c), g_(*n.region(0).graph) {
    for (std::size_t k = 0; k < c.operands.size(); ++k) {
      const Type t = g_.param_types()[k];
      types_[static_cast<std::size_t>(c.operands[k])] = t;
      const int lanes = t.rank() - is_grouped(c.operands[k], k, true) - c.rank;
      if (lanes > static_cast<int>(lanes_.size())) {
        lanes_.assign(t.shape().begin(), t.shape().begin() + lanes);
      }
    }
  }
  /// Whether all of them are as the sizes of q, k and v say; the callee's body is not looked at.
  bool fit() const {
    const int r = call_.rank;
    const auto q = own(Role::q), k = own(Role::k);
    const auto v = own(has(call_.operands, Role::v) ? Role::v : Role::d_out);
    Shape heads, shared, grouped;
    if (r > 2) {
      const Dim all = q[usize(r) - 3], few = k[usize(r) - 3];
      const auto group = all == few ? Dim(1) : ops::exact_quotient(all, few);
      if (!group) return false;
      heads.assign(q.begin(), q.end() - 2);
      shared.assign(q.begin(), q.end() - 3);
      shared.push_back(few);
      grouped = shared;
      grouped.push_back(*group);
    } else {
      grouped.push_back(1);
    }
    const Dim queries = q[usize(r) - 2], keys = k[usize(r) - 2];
    auto of = [&](const Shape& front, std::initializer_list<Dim> rest) {
      Shape s = front;
      s.insert(s.end(), rest);
      return s;
    };
    auto expected = [&](Role role, bool by_groups) {
      switch (role) {
        case Role::q:
        case Role::dq:
          return of(heads, {queries, q.back()});
        case Role::k:
        case Role::dk:
          return of(shared, {keys, q.back()});
        case Role::v:
        case Role::dv:
          return of(shared, {keys, v.back()});
        case Role::mask:
        case Role::d_mask:
          return of(heads, {queries, keys});
        case Role::lse:
          return of(grouped, {queries});
        default:
          return of(by_groups ? grouped : heads, {queries, v.back()});
      }
    };
    auto right = [&](Type t, Role role, bool by_groups) {
      Shape want = expected(role, by_groups);
      const std::size_t lanes = usize(t.rank()) - std::min(usize(t.rank()), want.size());
      if (lanes != 0) want.insert(want.begin(), lanes_.begin(), lanes_.end());
      return std::ranges::equal(t.shape(), want, [&](Dim a, Dim b) { return same(a, b); });
    };
    for (std::size_t i = 0; i < call_.operands.size(); ++i) {
      const Role role = call_.operands[i];
      if (!right(g_.param_types()[i], role, is_grouped(role, i, true))) return false;
    }
    for (std::size_t i = 0; i < call_.results.size(); ++i) {
      const Role role = call_.results[i];
      if (!right(g_.type(g_.results()[i]), role, is_grouped(role, i, false))) return false;
    }
    return true;
  }

 private:
  using Shape = std::vector<Dim>;
  /// Backward gets the result with its heads in groups; forward gives it last, beside the plain
  /// one.
  bool is_grouped(Role role, std::size_t i, bool operand) const {
    return role == Role::out && (operand ? call_.backward : i != 0);
  }
  /// The axes behind the lanes.
  Shape own(Role role) const {
    const auto shape = types_[static_cast<std::size_t>(role)].shape();
    return {shape.end() - call_.rank, shape.end()};
  }
  /// Equal, or the callee requires that, which is checked before the call.
  bool same(Dim a, Dim b) const {
    return a == b || std::ranges::any_of(g_.constraints(), [&](const ir::Constraint& c) {
             return c.kind == ir::Constraint::Kind::equal &&
                    ((c.a == a && c.b == b) || (c.a == b && c.b == a));
           });
  }
  const Call& call_;
  const ir::Graph& g_;
  std::array<Type, kAttentionArrays> types_;
  Shape lanes_;
};

bool fits(const Call& c, const ir::Node& n) { return ranks_fit(c, n) && CallSizes(c, n).fit(); }

/// Dims of a shape from its end.
Dim from_end(Type t, int k) { return t.dim(t.rank() - k); }

/// Products that a mask hides are counted too.
Cost attention_cost(const void* data, const std::int64_t* ints) {
  const auto& a = *static_cast<const Attention*>(data);
  auto size = [&](std::size_t k) { return static_cast<double>(ints[k]); };
  double heads = 1;
  for (std::size_t i = 0; i < a.batch; ++i) heads *= size(5 + i);
  const bool backward = a.array[static_cast<std::size_t>(Role::d_out)] >= 0;
  const double products = backward ? 3 * size(2) + 2 * size(3) : size(2) + size(3);
  Cost c;
  c.flops = 2 * heads * size(0) * size(1) * products;
  c.space =
      count_text(heads) + " heads of " + std::to_string(ints[0]) + "x" + std::to_string(ints[1]);
  return c;
}

class Emission {
 public:
  Emission(Emitter& e, const Call& call, std::vector<Value> operands)
      : e_(e), call_(call), given_(std::move(operands)), operands_(given_) {
    // Wide enough for sums; of queries times keys products this is little.
    for (Value& v : operands_) {
      if (is_float(v.type.dtype())) v = in(v, DType::f32);
    }
    Type widest = type(Role::q);
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const Type t = operands_[k].type;
      if (call_.operands[k] != Role::out && t.rank() > widest.rank()) widest = t;
    }
    const int lanes = widest.rank() - call.rank;
    // Axes in front of q's queries; those of k and v have fewer heads.
    for (int i = 0; i < lanes; ++i) batch_.push_back(widest.dim(i));
    const Type q = type(Role::q);
    for (int i = q.rank() - call.rank; i < q.rank() - 2; ++i) batch_.push_back(q.dim(i));
    shared_ = batch_;
    // Lanes alone are heads that k and v have got too.
    if (call.rank > 2) shared_.back() = from_end(type(Role::k), 3);
    queries_ = from_end(q, 2);
    width_ = from_end(q, 1);
    keys_ = from_end(type(Role::k), 2);
    value_width_ = from_end(type(has(call.operands, Role::v) ? Role::v : Role::d_out), 1);
  }

  std::vector<Value> run(const std::vector<Type>& types) {
    Attention a = call_.attention;
    a.batch = batch_.size();
    std::ranges::fill(a.array, std::int8_t{-1});
    step_.name = call_.backward ? "attention.bwd" : "attention";
    step_.run = call_.backward ? run_attention_backward : run_attention;
    step_.cost = attention_cost;
    step_.scratch = attention_scratch_bytes();
    add({queries_, keys_, width_, value_width_, shared_.empty() ? Dim(1) : shared_.back()});
    for (Dim d : batch_) add({d});
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const Role role = call_.operands[k];
      if (role == Role::mask) a.boolean_mask = operands_[k].type.dtype() == DType::boolean;
      const Value v = by_heads(operands_[k], role);
      array(a, role, v.expr->storage, v.expr->at);
    }
    step_.reads = static_cast<std::uint32_t>(step_.storages.size());
    std::vector<Value> results;
    for (std::size_t k = 0; k < types.size(); ++k) {
      const Role role = call_.results[k];
      const auto it = std::ranges::find(call_.operands, role);
      if (!call_.backward && it != call_.operands.end()) {
        results.push_back(given_[usize(it - call_.operands.begin())]);
        continue;
      }
      auto& index = a.array[static_cast<std::size_t>(role)];
      if (index < 0) {
        const Type t = head_type(role, DType::f32);
        array(a, role, e_.storage(t), {0, dense_strides(t.shape())});
      }
      const Type wide = types[k].with_dtype(DType::f32);
      results.push_back(in(dense_value(wide, step_.storages[usize(index)]), types[k].dtype()));
    }
    if (step_.reads == step_.storages.size()) return results;
    step_.data = std::make_shared<const Attention>(a);
    e_.emit_step(std::move(step_));
    return results;
  }

 private:
  static Value in(const Value& v, DType t) { return v.type.dtype() == t ? v : converted(v, t); }
  Type type(Role r) const {
    const auto it = std::ranges::find(call_.operands, r);
    return operands_[usize(it - call_.operands.begin())].type;
  }
  void add(std::initializer_list<Dim> dims) {
    for (Dim d : dims) step_.ints.push_back(e_.sizes.of(d));
  }
  /// With all axes in front, and heads in one axis.
  Type head_type(Role r, DType dtype) const {
    const bool shared = r == Role::k || r == Role::v || r == Role::dk || r == Role::dv;
    std::vector<Dim> shape = shared ? shared_ : batch_;
    shape.push_back(shared ? keys_ : queries_);
    if (r == Role::mask || r == Role::d_mask) {
      shape.push_back(keys_);
    } else if (r == Role::q || r == Role::k || r == Role::dq || r == Role::dk) {
      shape.push_back(width_);
    } else if (r != Role::lse) {
      shape.push_back(value_width_);
    }
    return Type::get(dtype, shape);
  }
  Value by_heads(const Value& operand, Role role) {
    Value v = e_.lying(operand, "attention");
    const Type full = head_type(role, v.type.dtype());
    const bool grouped = call_.backward && (role == Role::out || role == Role::lse);
    const int lanes = full.rank() + grouped - v.type.rank();
    const Type own = Type::get(v.type.dtype(), full.shape().subspan(usize(lanes)));
    if (grouped) {
      std::optional<Value> one = reshape(v, own);
      v = one ? *one : *reshape(dense_value(v.type, e_.copy(v, "attention")), own);
    }
    if (lanes == 0) return {full, v.expr};
    std::vector<std::int64_t> axes;
    for (int i = lanes; i < full.rank(); ++i) axes.push_back(i);
    return *broadcast(v, full, axes);
  }
  void array(Attention& a, Role role, StorageId storage, const Affine& at) {
    a.array[static_cast<std::size_t>(role)] = static_cast<std::int8_t>(step_.storages.size());
    step_.storages.push_back(storage);
    add({at.offset});
    for (Dim d : at.strides) add({d});
    if (role == Role::lse) add({0});
  }

  Emitter& e_;
  const Call& call_;
  std::vector<Value> given_, operands_;  ///< operands_: in f32
  std::vector<Dim> batch_, shared_;
  Dim queries_, keys_, width_, value_width_;
  Step step_;
};

}  // namespace

bool claims_attention(const ir::Node& n) {
  const auto call = understand(n);
  return call && fits(*call, n);
}

std::vector<Value> emit_attention(Emitter& e, const ir::Node& n, std::vector<Value> operands,
                                  const std::vector<Type>& types) {
  const auto call = understand(n);
  return Emission(e, *call, std::move(operands)).run(types);
}

}  // namespace tlaloc::cpu
