#include "tlaloc/cpu/dot.h"

#include <algorithm>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/contraction.h"
#include "tlaloc/cpu/count_text.h"
#include "tlaloc/cpu/generate_convert.h"
#include "tlaloc/cpu/kept_right.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;
using ops::AxisList;

/// The step's integers: k and its strides in lhs and rhs; the offsets of lhs, rhs and result; then,
/// for each axis of the result, the size and the strides in lhs, rhs and result. An axis that one
/// operand has not got has stride 0 there.
struct Dot {
  DType dtype, rhs_dtype;            ///< of rhs: as it lies
  std::size_t batch, rows, columns;  ///< numbers of axes
  std::shared_ptr<const KeptRight> kept;
};

void run_dot(const KernelCall& call) {
  const Dot& dot = *static_cast<const Dot*>(call.data);
  const std::int64_t* ints = call.ints + 6;
  // Another size, or a stride, may be too large for 64 bits where one is 0.
  for (std::size_t i = 0; i < dot.batch + dot.rows + dot.columns; ++i) {
    if (ints[4 * i] == 0) return;
  }
  auto axes = [&](std::size_t count) {
    std::vector<ContractionAxis> r;
    for (; count > 0; --count, ints += 4) r.push_back({ints[0], ints[1], ints[2], ints[3]});
    return r;
  };
  Contraction c;
  c.dtype = dot.dtype;
  c.shared = true;
  c.batch = axes(dot.batch);
  c.rows = axes(dot.rows);
  c.columns = axes(dot.columns);
  c.depth = {{call.ints[0], call.ints[1], call.ints[2], 0}};
  const std::int64_t bytes = byte_size(dot.dtype);
  const std::byte* const b = call.storages[1] + call.ints[4] * byte_size(dot.rhs_dtype);
  if (dot.kept) c.packed_b = dot.kept->packed();
  contract(std::move(c), call.storages[0] + call.ints[3] * bytes, b,
           call.storages[2] + call.ints[5] * bytes, call.scratch);
}

Cost dot_cost(const void* data, const std::int64_t* ints) {
  const Dot& dot = *static_cast<const Dot*>(data);
  const auto k = static_cast<double>(ints[0]);
  double sizes[3] = {1, 1, 1};  // of batch, rows, columns
  const std::size_t counts[] = {dot.batch, dot.rows, dot.columns};
  ints += 6;
  for (std::size_t part = 0; part < 3; ++part) {
    for (std::size_t i = 0; i < counts[part]; ++i, ints += 4) {
      sizes[part] *= static_cast<double>(ints[0]);
    }
  }
  const auto [batch, m, n] = sizes;
  Cost c;
  c.elements = {batch * m * k, batch * n * k, batch * m * n};
  c.flops = 2 * batch * m * n * k;
  c.space = (dot.batch ? count_text(batch) + " times " : "") + count_text(m) + "x" + count_text(k) +
            "x" + count_text(n);
  return c;
}

/// Stride and size of these axes as one; nullopt if they aren't.
std::optional<std::pair<Dim, Dim>> as_one(const Value& v, const AxisList& axes) {
  Dim size = 1, stride = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const Dim n = v.type.dim(static_cast<int>(axes[i])), s = v.expr->at.strides[usize(axes[i])];
    if (n == Dim(1)) continue;
    if (size == Dim(1)) {
      stride = s;
    } else if (s != size * stride) {
      return std::nullopt;
    }
    size *= n;
  }
  return std::pair(size, stride);
}

/// A value whose contracted axes can be walked as one, and that axis's size and stride.
std::pair<Dim, Dim> contract(Emitter& e, Value& v, const AxisList& axes) {
  v = e.lying(v, "dot_general");
  if (const auto one = as_one(v, axes)) return *one;
  // A copy with those axes last.
  AxisList order;
  for (std::int64_t i = 0; i < v.type.rank(); ++i) {
    if (std::ranges::find(axes, i) == axes.end()) order.push_back(i);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  std::vector<Dim> shape;
  for (std::int64_t axis : order) shape.push_back(v.type.dim(static_cast<int>(axis)));
  const auto moved = transpose(v, Type::get(v.type.dtype(), shape), order);
  const Value copy = dense_value(moved->type, e.copy(*moved, "dot_general"));
  AxisList back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[usize(order[i])] = static_cast<int>(i);
  v = *transpose(copy, v.type, back);
  const auto one = as_one(v, axes);
  internal_check(one.has_value(), "the axes of a dense array are not one");
  return *one;
}

/// The matrix [k, n] that a right side is, if all of it is known now and the same in every run:
/// another place in the same array, such as a layer's weights in a loop over layers, is another
/// matrix.
struct FixedRight {
  FixedMatrix matrix;
  Value of;  ///< a view of it
};

bool contains(const AxisList& axes, std::int64_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

/// The elements that a value widens to f32, where it does.
std::optional<Value> widened_halves(const Value& v) {
  const Expr& e = *v.expr;
  if (e.kind != Expr::Kind::op || e.op != &ops::rows::Convert || e.dtype != DType::f32)
    return std::nullopt;
  const ExprRef& from = e.args[0];
  if (from->kind != Expr::Kind::read || (from->dtype != DType::f16 && from->dtype != DType::bf16))
    return std::nullopt;
  return Value{v.type.with_dtype(from->dtype), from};
}

std::optional<FixedRight> fixed_right(Emitter& e, const Value& rhs, const ops::DotDims& dims) {
  const Value v = widened_halves(rhs).value_or(rhs);
  if (v.expr->kind != Expr::Kind::read || !v.expr->indirect.empty()) return std::nullopt;
  if (!e.is_fixed(v.expr->storage) || !dims.rhs_batch.empty()) return std::nullopt;
  Dim columns = 1, column = 0;
  int free = 0;
  for (int axis = 0; axis < v.type.rank(); ++axis) {
    if (contains(dims.rhs_contract, axis)) continue;
    columns = v.type.dim(axis);
    column = v.expr->at.strides[usize(axis)];
    ++free;
  }
  const auto depth = as_one(v, dims.rhs_contract);
  const auto is_known = [](Dim d) { return d.is_constant(); };
  const Affine& at = v.expr->at;
  if (free != 1 || !depth || !is_known(depth->first) || !is_known(columns)) return std::nullopt;
  if (!is_known(at.offset) || !std::ranges::all_of(at.strides, is_known)) return std::nullopt;
  const auto packing = packing_of(v.type.dtype());
  if (!packing || !is_known(depth->second)) return std::nullopt;
  return FixedRight{{v.expr->storage, *packing, depth->first.constant(), columns.constant(),
                     at.offset.constant(), depth->second.constant(), column.constant()},
                    v};
}

/// The element, converted if it has another type.
ExprRef as(DType t, ExprRef e) {
  if (e->dtype == t) return e;
  return apply(ops::rows::Convert, ir::make_attr(ops::ConvertAttrs{t}), t, {std::move(e)});
}

/// `fused`: as Loop::fused.
void emit_loop(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
               const Target& target, bool fused) {
  // Each element is read many times: it is computed once.
  const Value a = e.lying(lhs, "dot_general"), b = e.lying(rhs, "dot_general");
  // The index space: batch axes, free axes of lhs, those of rhs; contracted axes behind or before
  // the last one.
  std::vector<Dim> space, a_strides, b_strides;
  auto add = [&](Dim size, Dim a_stride, Dim b_stride) {
    space.push_back(size);
    a_strides.push_back(a_stride);
    b_strides.push_back(b_stride);
  };
  auto add_pairs = [&](const AxisList& of_a, const AxisList& of_b) {
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      add(a.type.dim(static_cast<int>(of_a[i])), a.expr->at.strides[usize(of_a[i])],
          b.expr->at.strides[usize(of_b[i])]);
    }
  };
  add_pairs(dims.lhs_batch, dims.rhs_batch);
  for (int axis = 0; axis < a.type.rank(); ++axis) {
    if (contains(dims.lhs_batch, axis) || contains(dims.lhs_contract, axis)) continue;
    add(a.type.dim(axis), a.expr->at.strides[usize(axis)], 0);
  }
  std::vector<int> free;
  for (int axis = 0; axis < b.type.rank(); ++axis) {
    if (contains(dims.rhs_batch, axis) || contains(dims.rhs_contract, axis)) continue;
    free.push_back(axis);
  }
  auto add_free = [&](int axis) { add(b.type.dim(axis), 0, b.expr->at.strides[usize(axis)]); };
  // A loop runs by vectors along its last axis: neighbours in rhs and in the result, if those are
  // any, else what is contracted.
  const bool rows = !free.empty() && b.expr->at.strides[usize(free.back())] == Dim(1);
  for (int axis : std::span(free).first(free.size() - (rows ? 1 : 0))) add_free(axis);
  std::vector<std::int64_t> contracted;
  for (std::size_t i = 0; i < dims.lhs_contract.size(); ++i) {
    contracted.push_back(static_cast<std::int64_t>(space.size() + i));
  }
  add_pairs(dims.lhs_contract, dims.rhs_contract);
  if (rows) add_free(free.back());
  // Elements of 16 bits are multiplied and added in f32, and rounded once at the end.
  const DType t = a.type.dtype(), wide = computed_as(t);
  auto element = [&](const Value& v, std::vector<Dim> strides) {
    return as(wide, read(t, v.expr->storage, {v.expr->at.offset, std::move(strides)}));
  };
  const Value product{
      Type::get(wide, space),
      apply(ops::rows::Mul, nullptr, wide, {element(a, a_strides), element(b, b_strides)})};
  const Fold& sum = *find_fold(ops::rows::ReduceSum, wide);
  if (wide == t) return e.fold(product, sum, contracted, target, "dot_general", fused);
  std::vector<Dim> kept;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!contains(contracted, static_cast<std::int64_t>(i))) kept.push_back(space[i]);
  }
  const Type type = Type::get(wide, kept);
  const Value sums = dense_value(type, e.storage(type));
  e.fold(product, sum, contracted, {sums.expr->storage, sums.expr->at}, "dot_general");
  e.compute({type.with_dtype(t), as(t, sums.expr)}, target, "dot_general");
}

/// Multiplications up to which a product is small: a call takes as long as several hundred.
constexpr std::int64_t kSmall = 512;

}  // namespace

void emit_dot_as_loop(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
                      const Target& target) {
  emit_loop(e, lhs, rhs, dims, target, false);
}

void emit_small_dot(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
                    const Target& target) {
  emit_loop(e, lhs, rhs, dims, target, true);
}
bool is_small_dot(Type result, Type lhs, const ops::DotDims& dims) {
  if (result.dtype() != DType::f32 && result.dtype() != DType::f64) return false;
  std::int64_t n = 1;
  const auto times = [&](Dim d) {
    if (!d.is_constant() || d.constant() < 1 || d.constant() > kSmall / n) return false;
    n *= d.constant();
    return true;
  };
  return std::ranges::all_of(result.shape(), times) &&
         std::ranges::all_of(dims.lhs_contract, [&](std::int64_t axis) {
           return times(lhs.dim(static_cast<int>(axis)));
         });
}

void emit_dot(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
              const Target& target) {
  Step s;
  Value a = lhs, b = rhs;
  const auto [k, a_stride] = contract(e, a, dims.lhs_contract);
  std::shared_ptr<const KeptRight> kept;
  // The kernels write rows.
  if (!target.at.strides.empty() && target.at.strides.back() == Dim(1)) {
    const auto right = fixed_right(e, rhs, dims);
    if (right && is_worth_packing(right->matrix.packing, right->matrix.k, right->matrix.n)) {
      kept = keep_right(e, right->matrix, s.why);
      if (kept) b = right->of;
    }
  }
  const Dim b_stride = contract(e, b, dims.rhs_contract).second;
  const Affine &at_a = a.expr->at, &at_b = b.expr->at;

  s.name = "dot_general";
  s.run = run_dot;
  s.cost = dot_cost;
  s.runs_on = "matrix kernel";
  s.storages = {a.expr->storage, b.expr->storage, target.storage};
  s.reads = 2;
  s.scratch = contraction_scratch_bytes(a.type.dtype());
  auto add = [&](std::initializer_list<Dim> list) {
    for (Dim d : list) s.ints.push_back(e.sizes.of(d));
  };
  add({k, a_stride, b_stride, at_a.offset, at_b.offset, target.at.offset});
  std::size_t out = 0;
  Dot dot{a.type.dtype(), b.type.dtype(), dims.lhs_batch.size(), 0, 0, std::move(kept)};
  for (std::size_t i = 0; i < dot.batch; ++i) {
    const std::int64_t axis = dims.lhs_batch[i];
    add({a.type.dim(static_cast<int>(axis)), at_a.strides[usize(axis)],
         at_b.strides[usize(dims.rhs_batch[i])], target.at.strides[out++]});
  }
  auto is_free = [](const AxisList& batch, const AxisList& contracted, std::int64_t axis) {
    return !contains(batch, axis) && !contains(contracted, axis);
  };
  for (int axis = 0; axis < a.type.rank(); ++axis) {
    if (!is_free(dims.lhs_batch, dims.lhs_contract, axis)) continue;
    add({a.type.dim(axis), at_a.strides[usize(axis)], 0, target.at.strides[out++]});
    ++dot.rows;
  }
  for (int axis = 0; axis < b.type.rank(); ++axis) {
    if (!is_free(dims.rhs_batch, dims.rhs_contract, axis)) continue;
    add({b.type.dim(axis), 0, at_b.strides[usize(axis)], target.at.strides[out++]});
    ++dot.columns;
  }
  if (dot.kept) s.runs_on = "matrix kernel, right side packed once";
  s.data = std::make_shared<const Dot>(dot);
  e.emit_step(std::move(s));
}

}  // namespace tlaloc::cpu
