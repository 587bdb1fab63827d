#include "tlaloc/cpu/expr.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "tlaloc/base/checked.h"
#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::cpu {

using ir::Dim;
using ir::Type;

std::vector<Dim> dense_strides(std::span<const Dim> shape) {
  std::vector<Dim> strides(shape.size(), Dim(0));
  // Without elements strides mean nothing, and their products may be too large.
  if (std::ranges::find(shape, Dim(0)) != shape.end()) return strides;
  Dim step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    strides[k] = step;
    step *= shape[k];
  }
  return strides;
}

bool is_dense(const Affine& at, std::span<const Dim> shape) {
  if (at.offset != Dim(0)) return false;
  const auto dense = dense_strides(shape);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] != Dim(1) && at.strides[k] != dense[k]) return false;
  }
  return true;
}

ExprRef read(DType dtype, StorageId storage, Affine at) {
  return std::make_shared<Expr>(
      Expr{.kind = Expr::Kind::read, .dtype = dtype, .storage = storage, .at = std::move(at)});
}
Value dense_value(Type type, StorageId storage) {
  return {type, read(type.dtype(), storage, {0, dense_strides(type.shape())})};
}
ExprRef literal(HostArray value) {
  const DType dtype = value.dtype();
  return std::make_shared<Expr>(
      Expr{.kind = Expr::Kind::literal, .dtype = dtype, .value = std::move(value)});
}

std::optional<StorageId> whole_storage(const Value& v) {
  const Expr& e = *v.expr;
  if (e.kind != Expr::Kind::read || !e.indirect.empty() || !is_dense(e.at, v.type.shape())) {
    return std::nullopt;
  }
  return e.storage;
}

bool reads(const ExprRef& e, StorageId storage) {
  if (e->kind == Expr::Kind::read && e->storage == storage) return true;
  return std::ranges::any_of(e->args, [&](const ExprRef& a) { return reads(a, storage); }) ||
         std::ranges::any_of(e->indirect,
                             [&](const Indirect& i) { return reads(i.index, storage); });
}

ExprRef apply(const ir::OpDef& op, ir::AttrRef attr, DType dtype, std::vector<ExprRef> args) {
  return std::make_shared<Expr>(Expr{.kind = Expr::Kind::op,
                                     .dtype = dtype,
                                     .op = &op,
                                     .attr = std::move(attr),
                                     .args = std::move(args)});
}
ExprRef number(Dim d, DType dtype, Type like) {
  return std::make_shared<Expr>(Expr{.kind = Expr::Kind::position,
                                     .dtype = dtype,
                                     .at = {d, std::vector<Dim>(usize(like.rank()), Dim(0))}});
}
Value converted(const Value& v, DType to) {
  return {v.type.with_dtype(to),
          apply(ops::rows::Convert, ir::make_attr(ops::ConvertAttrs{to}), to, {v.expr})};
}
Value as_index(const Value& v) {
  const DType t = v.type.dtype();
  if (t == DType::i64) return v;
  ExprRef e = v.expr;
  if (t == DType::u64) {
    e = apply(ops::rows::Min, nullptr, t,
              {e, literal(HostArray::scalar(
                      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())))});
  }
  return converted({v.type, e}, DType::i64);
}

namespace {

using Change = std::function<std::optional<Affine>(const Affine&)>;

/// Groups of fused operations are small, so this recursion is too.
class Rewriter {
 public:
  explicit Rewriter(const Change& change) : change_(change) {}
  ExprRef run(const ExprRef& e) {
    if (e->kind == Expr::Kind::literal) return e;
    auto [it, added] = done_.try_emplace(e.get());
    if (!added) return it->second;
    auto copy = std::make_shared<Expr>(*e);
    if (e->kind == Expr::Kind::op) {
      for (ExprRef& arg : copy->args) {
        arg = run(arg);
        if (!arg) return nullptr;
      }
    } else {
      auto at = change_(e->at);
      if (!at) return nullptr;
      copy->at = std::move(*at);
      for (Indirect& i : copy->indirect) {
        i.index = run(i.index);
        if (!i.index) return nullptr;
      }
    }
    return done_[e.get()] = copy;
  }

 private:
  const Change& change_;
  std::unordered_map<const Expr*, ExprRef> done_;
};

}  // namespace

std::optional<Value> view(const Value& v, Type type, const Change& change) {
  ExprRef e = Rewriter(change).run(v.expr);
  if (!e) return std::nullopt;
  return Value{type, std::move(e)};
}

std::optional<Value> broadcast(const Value& v, Type type, std::span<const std::int64_t> axes) {
  // Computing what is stretched again and again costs more than keeping it.
  if (v.expr->kind == Expr::Kind::op) return std::nullopt;
  return view(v, type, [&](const Affine& at) -> std::optional<Affine> {
    Affine r{at.offset, std::vector<Dim>(usize(type.rank()), Dim(0))};
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const bool stretched = v.type.dim(static_cast<int>(k)) == Dim(1);
      if (!stretched) r.strides[usize(axes[k])] = at.strides[k];
    }
    return r;
  });
}

std::optional<Value> transpose(const Value& v, Type type,
                               std::span<const std::int64_t> permutation) {
  return view(v, type, [&](const Affine& at) -> std::optional<Affine> {
    Affine r{at.offset, {}};
    for (std::int64_t axis : permutation) r.strides.push_back(at.strides[usize(axis)]);
    return r;
  });
}

std::optional<Value> slice(const Value& v, Type type, std::span<const Dim> start,
                           std::span<const Dim> strides) {
  return view(v, type, [&](const Affine& at) -> std::optional<Affine> {
    Affine r{at.offset, {}};
    for (std::size_t k = 0; k < start.size(); ++k) {
      r.offset += start[k] * at.strides[k];
      // No farther than the axis goes: more would skip to the same place, and may overflow.
      const Dim size = v.type.dim(static_cast<int>(k));
      const bool known = strides[k].is_constant() && size.is_constant();
      r.strides.push_back((known ? min(strides[k], max(size, 1)) : strides[k]) * at.strides[k]);
    }
    return r;
  });
}

std::optional<Value> reverse(const Value& v, Type type, std::span<const std::int64_t> axes) {
  return view(v, type, [&](const Affine& at) -> std::optional<Affine> {
    Affine r = at;
    for (std::int64_t axis : axes) {
      const Dim stride = at.strides[usize(axis)];
      r.offset += (v.type.dim(static_cast<int>(axis)) - 1) * stride;
      r.strides[usize(axis)] = Dim(0) - stride;
    }
    return r;
  });
}

namespace {

/// Strides under another shape of as many elements, where axes are only split, merged, put in or
/// taken away; nullopt where the elements would have to move.
std::optional<Affine> reshaped(const Affine& at, std::span<const Dim> from,
                               std::span<const Dim> to) {
  Affine r{at.offset, std::vector<Dim>(to.size(), Dim(0))};
  std::size_t i = from.size(), j = to.size();
  while (true) {
    while (i > 0 && from[i - 1] == Dim(1)) --i;
    while (j > 0 && to[j - 1] == Dim(1)) --j;
    if (i == 0 || j == 0) break;
    // Axes [i0, i) become axes [j0, j): the fewest whose sizes have one product.
    std::size_t i0 = i - 1, j0 = j - 1;
    Dim a = from[i0], b = to[j0];
    const Dim stride = at.strides[i0];
    auto merge = [&] {
      if (i0 == 0) return false;
      --i0;
      if (from[i0] != Dim(1) && at.strides[i0] != a * stride) return false;
      a *= from[i0];
      return true;
    };
    auto split = [&] {
      if (j0 == 0) return false;
      b *= to[--j0];
      return true;
    };
    while (a != b) {
      // Sizes with symbols: all that is in front as one block, if that is what there is.
      const bool comparable = a.is_constant() && b.is_constant();
      const bool more_from = comparable ? a.constant() < b.constant() : i0 > 0;
      if (!(more_from ? merge() : split())) return std::nullopt;
    }
    Dim step = stride;
    for (std::size_t k = j; k-- > j0;) {
      r.strides[k] = step;
      step *= to[k];
    }
    i = i0;
    j = j0;
  }
  if (i != j) return std::nullopt;
  return r;
}

}  // namespace

std::optional<Value> reshape(const Value& v, Type type) {
  const auto from = v.type.shape(), to = type.shape();
  const auto dense_from = dense_strides(from);
  return view(v, type, [&](const Affine& at) -> std::optional<Affine> {
    // Sizes need not look equal where all is dense.
    if (at.strides == dense_from) return Affine{at.offset, dense_strides(to)};
    return reshaped(at, from, to);
  });
}

std::optional<Value> row(const Value& v, Dim index) {
  return view(v, v.type.without_leading(), [&](const Affine& at) -> std::optional<Affine> {
    return Affine{at.offset + index * at.strides[0], {at.strides.begin() + 1, at.strides.end()}};
  });
}

std::optional<Value> rows(const Value& v, Dim first, Dim count) {
  std::vector<Dim> shape(v.type.shape().begin(), v.type.shape().end());
  shape[0] = count;
  return view(v, Type::get(v.type.dtype(), shape), [&](const Affine& at) -> std::optional<Affine> {
    return Affine{at.offset + first * at.strides[0], at.strides};
  });
}

}  // namespace tlaloc::cpu
