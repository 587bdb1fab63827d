// Arrays: what an element is, and the loops that write them out.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/types.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;

Value Lowering::in_vector(Type type, VarId v, std::function<Range(const Indices&)> range) {
  ArrayValue a;
  a.var = v;
  a.free = true;
  a.element = [type, v](Lowering& l, const Indices& at) {
    return index(variable(v), l.position(type, at).expr);
  };
  a.flat = [v](Lowering&, const Index& at) { return index(variable(v), at.expr); };
  a.element_range = std::move(range);
  return lazy(type, std::move(a));
}
Value Lowering::uniform(Type type, const Value& element) {
  ArrayValue a;
  a.uniform = element;
  a.free = true;
  a.element = [element](Lowering&, const Indices&) { return element.scalar; };
  a.flat = [element](Lowering&, const Index&) { return element.scalar; };
  a.element_range = [element](const Indices&) { return element.range; };
  return lazy(type, std::move(a));
}
Value Lowering::lazy(Type type, ArrayValue array) {
  return {.type = type, .array = std::make_shared<const ArrayValue>(std::move(array))};
}

namespace {

bool same_indices(const Indices& a, const Indices& b) {
  return std::ranges::equal(a, b,
                            [](const Index& x, const Index& y) { return same(*x.expr, *y.expr); });
}
}  // namespace

ExprRef Lowering::memoized(const Value& v, const Indices& at,
                           const std::function<ExprRef()>& computed) {
  if (const auto it = memo_.find(v.array); it != memo_.end()) {
    for (const auto& [indices, e] : it->second) {
      if (same_indices(indices, at)) return e;
    }
  }
  const ExprRef e = keep(computed(), v.type.dtype());
  memo_[v.array].emplace_back(at, e);
  memo_order_.push_back(v.array);
  return e;
}
void Lowering::forget_elements(std::size_t known) {
  for (; memo_order_.size() > known; memo_order_.pop_back()) {
    const auto it = memo_.find(memo_order_.back());
    it->second.pop_back();
    if (it->second.empty()) memo_.erase(it);
  }
}
ExprRef Lowering::element(const Value& v, const Indices& at) {
  if (v.scalar) return v.scalar;
  if (v.array->free) return v.array->element(*this, at);
  return memoized(v, at, [&] { return v.array->element(*this, at); });
}
ExprRef Lowering::element_flat(const Value& v, const Index& at) {
  if (v.array->free) return v.array->flat(*this, at);
  return memoized(v, {at}, [&] { return v.array->flat(*this, at); });
}
Value Lowering::element_value(const Value& v, const Indices& at) {
  if (v.scalar) return v;
  if (v.array->uniform) return *v.array->uniform;
  const DType t = v.type.dtype();
  const Range range = v.array->element_range ? v.array->element_range(at) : Range::of(t);
  return scalar(Type::scalar(t), element(v, at), range);
}

Index Lowering::position(Type type, const Indices& at) {
  ExprRef e = integer(0);
  bool single = true;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Dim extent = type.dim(static_cast<int>(i));
    if (extent == Dim(1)) continue;
    const bool first = e->integer && *e->integer == 0;
    if (!first) e = position_multiply(e, size(extent));
    ExprRef next = at[i].expr;
    if (at[i].narrow && type.rank() > 1 && !is_literal(*next)) {
      next = cxx::call("static_cast<std::int64_t>", {next});
    }
    e = position_add(e, next);
    single = single && first;
  }
  return {e, single && at.size() == 1 ? at[0].range : Range::below(type.elements())};
}

void Lowering::for_each(Type type, const std::function<void(const Indices&)>& visit) {
  Indices at;
  const std::function<void(int)> axis = [&](int k) {
    if (k == type.rank()) return visit(at);
    const Dim extent = type.dim(k);
    if (extent == Dim(1)) {
      at.push_back({integer(0), Range::exactly(std::int64_t{0})});
      axis(k + 1);
    } else {
      const VarId i = declare_counter();
      at.push_back({variable(i), Range::below(extent)});
      emit(count_loop(i, integer(0), compare("<", variable(i), size(extent)), 1,
                      [&] { axis(k + 1); }));
      out_->back().over_indices = true;
    }
    at.pop_back();
  };
  axis(0);
}

VarId Lowering::new_vector(Type type, const ir::Origin& origin) {
  const VarId y = declare(type);
  suggest(y, origin);
  assign(y, cxx::call(var(y).type, {size(type.elements())}));
  return y;
}
Value Lowering::written(Type type, const ir::Origin& origin,
                        const std::function<ExprRef(const Indices&)>& element) {
  if (type.rank() == 0) {
    const ExprRef e = keep(element({}), type.dtype(), &origin);
    if (is_var(*e)) suggest(e->var, origin);
    return scalar(type, e);
  }
  const VarId y = new_vector(type, origin);
  for_each(type, [&](const Indices& at) { store(y, position(type, at).expr, element(at)); });
  return in_vector(type, y);
}

VarId Lowering::materialize(const Value& v) {
  if (v.array->var) return *v.array->var;
  const VarId target = declare(v.type);
  fill(target, v);
  return target;
}
ExprRef Lowering::whole(const Value& v) { return v.scalar ? v.scalar : variable(materialize(v)); }

void Lowering::fill(VarId target, const Value& v) {
  const std::string type = type_name(v.type);
  if (v.type.elements() == Dim(0)) return assign(target, list(type, {}));
  const ExprRef count = size(v.type.elements());
  if (v.array->uniform) {
    const Value& u = *v.array->uniform;
    const bool zero = u.constant && u.constant->bytes() <= 8 && is_zero(*u.constant);
    return assign(target, cxx::call(type, zero ? Exprs{count} : Exprs{count, u.scalar}));
  }
  assign(target, cxx::call(type, {count}));
  store_elements(target, integer(0), v);
}
void Lowering::by_element(std::size_t from) {
  for (Stmt& s : std::span(*out_).subspan(from)) {
    if (s.kind == Stmt::Kind::count) s.by_element = true;
  }
}
void Lowering::store_elements(VarId target, ExprRef first, const Value& v) {
  const std::size_t from = out_->size();
  if (v.type.rank() > 1 && v.array->flat) {
    const Type flat = Type::get(v.type.dtype(), {v.type.elements()});
    for_each(flat, [&](const Indices& at) {
      store(target, position_add(first, at[0].expr), element_flat(v, at[0]));
    });
  } else {
    for_each(v.type, [&](const Indices& at) {
      store(target, position_add(first, position(v.type, at).expr), element(v, at));
    });
  }
  by_element(from);
}

bool is_zero(const HostArray& scalar) {
  const auto* bytes = static_cast<const unsigned char*>(scalar.data());
  return std::all_of(bytes, bytes + scalar.bytes(), [](unsigned char b) { return b == 0; });
}

}  // namespace tlaloc::cxx
