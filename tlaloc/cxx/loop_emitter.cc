#include "tlaloc/cxx/loop_emitter.h"

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/induction.h"
#include "tlaloc/cxx/names.h"
#include "tlaloc/cxx/types.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

Range progression(const Range& first, std::int64_t step, const Range& trip, DType t) {
  const auto moved = product(Range::exactly(step), trip, DType::i64);
  Range way = moved ? *moved : Range();
  if (step == 1) way = trip;
  const auto r = sum(first, way, t);
  return r ? *r : Range::of(t);
}

LoopEmitter::LoopEmitter(Lowering& l, const ir::Node& n, const NodeCall& call,
                         std::int64_t inv_count, std::int64_t carry_count,
                         const std::vector<ir::Append>& append_)
    : n_inv(static_cast<std::size_t>(inv_count)),
      n_carry(static_cast<std::size_t>(carry_count)),
      append(append_),
      body(*n.regions().back().graph),
      inv(call.in.begin(), call.in.begin() + inv_count),
      init(call.in.begin() + inv_count, call.in.begin() + inv_count + carry_count),
      xs(call.in.begin() + inv_count + carry_count, call.in.end()),
      types(call.types.begin(), call.types.end()),
      history(append_.size()),
      l_(l),
      node_(n),
      carry_(n_carry),
      range_(append_.size()) {
  step = steps(body, n_inv, n_carry, [&](ValueId v) -> std::optional<std::int64_t> {
    if (v < n_inv && !inv[v].array) return inv[v].range.constant();
    return std::nullopt;
  });
}

void LoopEmitter::start_carries() {
  for (std::size_t k = 0; k < n_carry; ++k) {
    if (fixed(k)) continue;
    const VarId v = l_.declare(types[k]);
    l_.var(v).suggest(speaking(body.param_label(n_inv + k).name), NameRank::user);
    ir::Origin origin = node_.origin();
    if (n_carry > 1) origin.name.clear();
    l_.suggest(v, origin);
    l_.var(v).counter = step[k].has_value();
    l_.assign(v, l_.whole(init[k]));
    carry_[k] = v;
  }
}
Value LoopEmitter::carry(std::size_t k, const Range& range) {
  if (!carry_[k]) return init[k];
  if (types[k].rank() > 0) return l_.in_vector(types[k], *carry_[k]);
  return l_.scalar(types[k], variable(*carry_[k]), range);
}
void LoopEmitter::move_carries(const Values& results, std::vector<Assignment> more) {
  Stmt s{Stmt::Kind::parallel};
  for (std::size_t k = 0; k < n_carry; ++k) {
    if (carry_[k]) s.moves.push_back({*carry_[k], l_.whole(results[k])});
  }
  s.moves.insert(s.moves.end(), more.begin(), more.end());
  if (!s.moves.empty()) l_.emit(std::move(s));
}

std::optional<Value> LoopEmitter::known_output(
    std::size_t k, const std::function<Index(Lowering&, const Index&)>& trip) {
  const ValueId v = body.results()[n_carry + k];
  const Type type = output_type(k);
  if (append[k].flat || !body.is_param(v)) return std::nullopt;
  if (v < n_inv) return repeated(type, inv[v]);
  const std::size_t c = v - n_inv;
  if (c >= n_carry)
    return type == xs[c - n_carry].type ? std::optional(xs[c - n_carry]) : std::nullopt;
  if (fixed(c)) return repeated(type, init[c]);
  if (!step[c]) return std::nullopt;
  const DType t = type.dtype();
  ArrayValue a;
  a.free = t == DType::i64;
  a.element_range = [first = init[c].range, step = *step[c], t, trip, &l = l_](const Indices& at) {
    return progression(first, step, trip(l, at[0]).range, t);
  };
  a.element = [first = init[c].scalar, step = *step[c], t, trip](Lowering& l, const Indices& at) {
    const ExprRef way = position_multiply(trip(l, at[0]).expr, integer(step));
    const ExprRef e = position_add(way, first);
    return t == DType::i64 ? e : call("static_cast<" + type_name(t) + ">", {e});
  };
  a.flat = [element = a.element](Lowering& l, const Index& at) { return element(l, {at}); };
  a.local = init[c].constant.has_value();
  return l_.lazy(type, std::move(a));
}

std::optional<Value> LoopEmitter::recomputed_output(
    std::size_t k, const Value& y, const std::function<Index(Lowering&, const Index&)>& trip,
    VarId inside, std::optional<VarId> counter, bool ragged_only) {
  const Type type = output_type(k);
  if (append[k].flat) {
    if (!l_.module().melt_pieces || !ragged_only || !y.array || !y.array->local) {
      return std::nullopt;
    }
    ArrayValue a;
    a.pieces = y.array;
    a.element = [](Lowering&, const Indices&) -> ExprRef { throw PiecesAreRead(); };
    return l_.lazy(type, std::move(a));
  }
  if (!y.scalar) return std::nullopt;
  // In terms of counters and of what stood before the loop.
  bool known = true, local = true;
  std::vector<std::size_t> counters;
  // Constants fold, so that the formula is shorter than what it is made of; where that is much, it
  // is not worth the search. Sharing makes it exponential: squares of squares.
  int budget = 64;
  const std::function<ExprRef(const ExprRef&)> expand = [&](const ExprRef& e) -> ExprRef {
    known = known && --budget >= 0;
    if (!known || is_literal(*e)) return e;
    if (!is_var(*e)) {
      Exprs args;
      for (const ExprRef& x : e->args) args.push_back(expand(x));
      return with_args(e, std::move(args));
    }
    const VarId v = e->var;
    for (std::size_t c = 0; c < n_carry; ++c) {
      if (carry_[c] != v) continue;
      known = known && step[c] && types[c].dtype() == DType::i64;
      local = local && init[c].constant;
      counters.push_back(c);
      return e;
    }
    if (v == counter) return e;
    if (const ExprRef* d = v >= inside ? l_.definition(v) : nullptr) return expand(*d);
    known = known && v < inside && !l_.var(v).array;
    local = false;
    return e;
  };
  const ExprRef formula = expand(y.scalar);
  // Cheaper to compute than to read back.
  constexpr std::uint32_t kCheap = 2;
  if (!known || formula->operations > kCheap) return std::nullopt;
  ArrayValue a;
  a.local = local;
  a.free = formula->operations <= 1;
  a.element = [this_step = step, first = init, carries = carry_, counters, counter, formula, trip](
                  Lowering& l, const Indices& at) {
    ExprRef e = formula;
    const Index i = trip(l, at[0]);
    for (std::size_t c : counters) {
      const ExprRef way = position_multiply(i.expr, integer(*this_step[c]));
      e = replace(e, *carries[c], position_add(way, first[c].scalar));
    }
    return counter ? replace(e, *counter, i.expr) : e;
  };
  if (is_integer(type.dtype())) {
    a.element_range = [r = l_.outward(y.range, inside)](const Indices&) { return r; };
  }
  a.flat = [element = a.element](Lowering& l, const Index& at) { return element(l, {at}); };
  return l_.lazy(type, std::move(a));
}

Value LoopEmitter::repeated(Type type, const Value& v) {
  if (v.scalar) return l_.uniform(type, v);
  ArrayValue a;
  a.free = v.array->free;
  a.element = [v](Lowering& l, const Indices& at) {
    return l.element(v, {at.begin() + 1, at.end()});
  };
  return l_.lazy(type, std::move(a));
}

VarId LoopEmitter::declare_history(std::size_t k, const ir::Origin& origin) {
  history[k] = l_.declare(output_type(k));
  l_.var(*history[k]).history = true;
  if (append.size() == 1 && n_carry == 0) l_.suggest(*history[k], origin);
  return *history[k];
}
void LoopEmitter::note_range(std::size_t k, const Value& v, VarId inside) {
  if (v.scalar && is_integer(v.type.dtype())) range_[k] = l_.outward(v.range, inside);
}
void LoopEmitter::push(std::size_t k, const Value& v, VarId inside) {
  note_range(k, v, inside);
  Stmt s{v.scalar ? Stmt::Kind::push : Stmt::Kind::append, *history[k]};
  s.value = l_.whole(v);
  l_.emit(std::move(s));
}
Dim LoopEmitter::row(std::size_t k) const {
  Dim n = 1;
  for (Dim d : output_type(k).shape().subspan(1)) n *= d;
  return n;
}
ExprRef LoopEmitter::rows_of(std::size_t k) {
  const ExprRef n = call("std::ssize", {variable(*history[k])});
  return row(k) == Dim(1) ? n : infix(Level::multiplicative, "/", n, l_.size(row(k)));
}
ExprRef LoopEmitter::trip_count() {
  for (std::size_t k = 0; k < history.size(); ++k) {
    if (history[k] && !append[k].flat && row(k) == Dim(1)) return rows_of(k);
  }
  throw InternalError("nothing tells how often a loop ran");
}
Value LoopEmitter::finish(std::size_t k) {
  const Type t = output_type(k);
  if (append[k].flat && !append[k].length) {
    const auto symbol = t.dim(0).as_symbol();
    internal_check(symbol.has_value(), "an appended output has no symbol for its length");
    if (!l_.defined(*symbol)) l_.define(*symbol, l_.keep(rows_of(k), DType::i64));
  }
  if (!range_[k]) return l_.in_vector(t, *history[k]);
  return l_.in_vector(t, *history[k], [r = *range_[k]](const Indices&) { return r; });
}

}  // namespace tlaloc::cxx
