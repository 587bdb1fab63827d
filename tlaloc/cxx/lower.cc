#include "tlaloc/cxx/lower.h"

#include <algorithm>
#include <cmath>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/evaluate.h"
#include "tlaloc/cxx/types.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

// ---- statements ----

void Lowering::assign(VarId target, ExprRef value) {
  Stmt s{Stmt::Kind::assign, target};
  s.value = std::move(value);
  emit(std::move(s));
}
void Lowering::store(VarId target, ExprRef position, ExprRef value) {
  Stmt s{Stmt::Kind::store, target, std::move(position), std::move(value)};
  emit(std::move(s));
}
void Lowering::check(ExprRef holds, const std::string& exception, const std::string& what) {
  Stmt s{Stmt::Kind::require};
  s.value = std::move(holds);
  s.text = exception + "(" + string_literal(what) + ")";
  emit(std::move(s));
}
VarId Lowering::declare(Type type, std::string name, NameRank rank) {
  Var v{type_name(type), type.rank() > 0};
  if (v.array) v.shape = type;
  v.suggest(name, rank);
  return function_.add_var(std::move(v));
}
VarId Lowering::declare_counter() {
  return function_.add_var({.type = type_name(DType::i64), .counter = true});
}
ExprRef Lowering::keep(ExprRef e, DType dtype, const ir::Origin* origin) {
  if (is_literal(*e) || is_var(*e)) return e;
  const VarId v = declare(Type::scalar(dtype));
  if (origin) suggest(v, *origin);
  definitions_.emplace(v, e);
  assign(v, std::move(e));
  return variable(v);
}
void Lowering::suggest(VarId v, const ir::Origin& origin) { cxx::suggest(var(v), origin); }

// ---- sizes ----

ExprRef Lowering::atom_size(const ir::DimAtom& atom) {
  using K = ir::DimAtomKind;
  if (atom.kind == K::symbol) {
    const auto it = sizes_.find(atom.symbol);
    if (it == sizes_.end()) {
      throw InternalError("the size '" + ir::Symbol::from_id(atom.symbol).name() +
                          "' is not known where it is printed");
    }
    return it->second;
  }
  const ExprRef a = size(atom.a), b = size(atom.b);
  const bool plain = ir::bounds(atom.a).lower >= 0 && ir::bounds(atom.b).lower > 0;
  switch (atom.kind) {
    case K::floordiv:
      if (plain) return infix(Level::multiplicative, "/", a, b);
      needs().helper(Helper::floor_div);
      return cxx::call(name_of(Helper::floor_div), {a, b});
    case K::mod:
      if (plain) return infix(Level::multiplicative, "%", a, b);
      needs().helper(Helper::floor_mod);
      return cxx::call(name_of(Helper::floor_mod), {a, b});
    default:
      return cxx::call(atom.kind == K::min ? "std::min<std::int64_t>" : "std::max<std::int64_t>",
                       {a, b});
  }
}
ExprRef Lowering::size(Dim d) {
  if (d.is_constant()) return integer(d.constant());
  ExprRef total = integer(0);
  std::vector<const ir::DimTerm*> terms;
  for (const ir::DimTerm& t : d.expr()->terms) terms.push_back(&t);
  // A constant reads best at the end: n - 1.
  std::ranges::stable_partition(terms, [](const ir::DimTerm* t) { return !t->atoms.empty(); });
  for (const ir::DimTerm* t : terms) {
    ExprRef product =
        integer(t->coefficient < 0 && !t->atoms.empty() ? -t->coefficient : t->coefficient);
    for (const ir::DimAtom& atom : t->atoms) product = position_multiply(product, atom_size(atom));
    const bool negative = t->coefficient < 0 && !t->atoms.empty();
    total = negative ? position_subtract(total, product) : position_add(total, product);
  }
  return total;
}
bool Lowering::proved_less_equal(Dim a, Dim b) const {
  const Dim gap = b - a;
  auto not_negative = [](Dim d) { return ir::less_equal(Dim(0), d) == ir::Truth::yes; };
  return not_negative(gap) ||
         std::ranges::any_of(facts_, [&](Dim fact) { return not_negative(gap - fact); });
}
bool Lowering::at_least_zero(const Range& r) const {
  return r.low >= 0 || (r.low_dim && proved_less_equal(Dim(0), *r.low_dim));
}
bool Lowering::at_most(const Range& r, Dim bound) const {
  return r.at_most(bound) || (r.high_dim && proved_less_equal(*r.high_dim, bound));
}
Range Lowering::outward(const Range& r, VarId first) const {
  auto inside = [&](ir::Symbol s) {
    const auto it = sizes_.find(s.id());
    bool inner = it == sizes_.end();
    if (!inner) each_read(*it->second, [&](VarId v) { inner = inner || v >= first; });
    return inner;
  };
  auto seen_outside = [&](std::optional<Dim> d, bool upper) -> std::optional<Dim> {
    if (!d || !d->mentions(inside)) return d;
    for (Dim fact : facts_) {
      const Dim weaker = upper ? *d + fact : *d - fact;
      if (!weaker.mentions(inside)) return weaker;
    }
    return std::nullopt;
  };
  return {r.low, r.high, seen_outside(r.low_dim, false), seen_outside(r.high_dim, true)};
}
Index Lowering::clamped(const Value& v, Dim last) {
  const DType t = v.type.dtype();
  if (at_least_zero(v.range) && at_most(v.range, last)) return {v.scalar, v.range, t != DType::i64};
  const Range inside{0, std::numeric_limits<std::int64_t>::max(), Dim(0), last};
  for (const Clamp& c : clamps_) {
    if (c.last == last && same(*c.position, *v.scalar)) return {c.clamped, inside};
  }
  needs().helper(Helper::clamp_index);
  ExprRef e = v.scalar;
  if (t == DType::u64) {
    // Beyond the signed range it stays out of bounds on the side where it is.
    e = cxx::call("std::min<std::uint64_t>",
                  {e, literal("std::numeric_limits<std::int64_t>::max()")});
  }
  e = keep(cxx::call(name_of(Helper::clamp_index), {e, size(last)}), DType::i64);
  clamps_.push_back({v.scalar, last, e});
  return {e, inside};
}

// ---- scalars ----

Value Lowering::scalar(Type type, ExprRef e, Range range) {
  return {.type = type, .scalar = std::move(e), .range = std::move(range)};
}
Value Lowering::constant(const HostArray& value) {
  Value v{.type = Type::scalar(value.dtype()), .scalar = element_literal(value, 0)};
  v.range = Range::of(value.dtype());
  if (is_integer(value.dtype())) {
    const std::int64_t i = value.element_int(0);
    if (value.dtype() != DType::u64 || i >= 0) v.range = Range::exactly(i);
  }
  v.constant = value;
  return v;
}
Value Lowering::scalar_int(std::int64_t value) {
  return {.type = Type::scalar(DType::i64),
          .scalar = integer(value),
          .range = Range::exactly(value),
          .constant = HostArray::scalar(value)};
}

ExprRef Lowering::combine(const ir::OpDef& op, const ir::Node& n, DType dtype, ExprRef a,
                          ExprRef b) {
  const Rule* rule = find_rule(op);
  internal_check(rule && rule->element, "a reduction combines by an op without a rule");
  const ExprRef in[] = {std::move(a), std::move(b)};
  const DType dtypes[] = {dtype, dtype};
  const Range ranges[] = {Range::of(dtype), Range::of(dtype)};
  ElementCall c{needs(), n, in, dtypes, ranges, dtype, Range::of(dtype)};
  return rule->element(c);
}

// ---- graphs ----

std::vector<ir::Symbol> Lowering::fresh_bound(Scope& s, const ir::Node& n) {
  std::vector<ir::Symbol> r;
  for (ir::Symbol b : n.bound()) {
    r.push_back(ir::Symbol::like(b));
    s.dims.set(b, r.back());
  }
  return r;
}

Values Lowering::graph(const ir::Graph& g, Values params, ir::DimMap dims) {
  internal_check(params.size() == g.param_count(), "lowering: wrong number of parameters");
  Scope s{g, std::move(dims), Values(g.value_count()), arrays_to_keep(g)};
  std::ranges::move(params, s.env.begin());
  std::vector<bool> checked(g.constraints().size());
  check_constraints(s, checked);
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    node(s, g.node(i));
    if (!g.node(i).bound().empty()) check_constraints(s, checked);
  }
  Values results;
  for (ValueId v : g.results()) results.push_back(s.env[v]);
  result_dims_.clear();
  for (Dim d : g.result_dims()) result_dims_.push_back(d.substitute(s.dims));
  return results;
}

void Lowering::check_constraints(Scope& s, std::vector<bool>& done) {
  for (std::size_t k = 0; k < done.size(); ++k) {
    if (done[k]) continue;
    const ir::Constraint& c = s.graph.constraints()[k];
    const Dim a = c.a.substitute(s.dims), b = c.b.substitute(s.dims);
    auto unknown = [&](ir::Symbol x) { return !sizes_.contains(x.id()); };
    if (a.mentions(unknown) || b.mentions(unknown)) continue;
    done[k] = true;
    require(a, c.kind == ir::Constraint::Kind::equal, b, c.what);
  }
}
void Lowering::require(Dim a, bool equal, Dim b, const std::string& what) {
  if (proved_less_equal(a, b) && (!equal || proved_less_equal(b, a))) return;
  check(compare(equal ? "==" : "<=", size(a), size(b)), "std::invalid_argument", what);
  assume_not_negative(b - a);
  if (equal) assume_not_negative(a - b);
}

void Lowering::node(Scope& s, const ir::Node& n) {
  Values in;
  for (ValueId v : n.operands()) in.push_back(s.env[v]);
  std::vector<Type> types;
  NodeCall call{n, in, {}, s.dims, {}};
  if (!n.regions().empty()) {
    region_node(s, n, call);
  } else {
    const Rule* rule = find_rule(n.op());
    internal_check(rule, "an op has neither a printing rule nor a refusal");
    if (rule->refusal) refuse_op(n.op(), rule->refusal, rule->hint, n.origin());
    for (Type t : n.result_types()) types.push_back(t.substitute(s.dims));
    call.types = types;
    if (rule->element) {
      elementwise(n, *rule, call);
    } else {
      rule->node(*this, call);
    }
  }
  internal_check(call.out.size() == n.result_count(), "a printing rule gave too few results");
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    Value& v = call.out[k];
    const Keep keep = s.kept[n.result(k)];
    if (v.array && (keep == Keep::always || (keep == Keep::if_computed && !v.array->free))) {
      v = kept(v, n.origin());
    }
    s.env[n.result(k)] = std::move(v);
  }
}

Value Lowering::kept(const Value& v, const ir::Origin& origin) {
  if (v.array->var || v.array->uniform) return v;
  if (v.type.elements() == Dim(1)) {
    const Index zero{integer(0), Range::exactly(std::int64_t{0})};
    Value one = element_value(v, Indices(static_cast<std::size_t>(v.type.rank()), zero));
    one.scalar = keep(one.scalar, v.type.dtype(), &origin);
    return uniform(v.type, one);
  }
  const VarId vector = materialize(v);
  suggest(vector, origin);
  return in_vector(v.type, vector);
}

namespace {

bool is_constant(const Value& v, double wanted) {
  return v.constant && v.constant->element(0) == wanted &&
         std::signbit(v.constant->element(0)) == std::signbit(wanted);
}
/// The operand that the result equals, for all values of it: what the builder does too, once more
/// where a constant came in as an argument.
const Value* simplified(const ir::OpDef& op, std::span<const Value> in) {
  namespace rows = ops::rows;
  const double zero = is_float(in[0].type.dtype()) ? -0.0 : 0.0;
  if ((&op == &rows::Mul || &op == &rows::Div) && is_constant(in[1], 1)) return &in[0];
  if (&op == &rows::Mul && is_constant(in[0], 1)) return &in[1];
  if (&op == &rows::Add && is_constant(in[1], zero)) return &in[0];
  if (&op == &rows::Add && is_constant(in[0], zero)) return &in[1];
  if (&op == &rows::Sub && is_constant(in[1], 0.0)) return &in[0];
  return nullptr;
}

}  // namespace

void Lowering::elementwise(const ir::Node& n, const Rule& rule, NodeCall& call) {
  const Type type = call.types[0];
  const DType dtype = type.dtype();
  const Values in(call.in.begin(), call.in.end());
  std::vector<DType> dtypes;
  for (const Value& v : in) dtypes.push_back(v.type.dtype());
  const ir::Origin* origin = n.origin_ref().get();

  auto one = [this, &rule, n, dtypes, dtype, origin](std::span<const Value> args) {
    if (std::ranges::all_of(args, [](const Value& v) { return v.constant.has_value(); })) {
      std::vector<HostArray> constants;
      for (const Value& v : args) constants.push_back(*v.constant);
      return constant(evaluate(n, std::move(constants), dtype));
    }
    if (const Value* same_as = simplified(n.op(), args)) return *same_as;
    Exprs exprs;
    std::vector<Range> ranges;
    for (const Value& v : args) {
      exprs.push_back(v.scalar);
      ranges.push_back(v.range);
    }
    ElementCall c{needs(), n, exprs, dtypes, ranges, dtype, Range::of(dtype)};
    const ExprRef e = rule.element(c);
    return scalar(Type::scalar(dtype), keep(e, dtype, origin), c.range);
  };
  if (type.rank() == 0) {
    call.out.push_back(one(in));
    return;
  }
  if (std::ranges::all_of(in, [](const Value& v) { return v.array->uniform.has_value(); })) {
    Values args;
    for (const Value& v : in) args.push_back(*v.array->uniform);
    call.out.push_back(uniform(type, one(args)));
    return;
  }
  ArrayValue a;
  a.element = [one, in](Lowering& l, const Indices& at) {
    Values args;
    for (const Value& v : in) args.push_back(l.element_value(v, at));
    return one(args).scalar;
  };
  if (std::ranges::all_of(in, [](const Value& v) { return static_cast<bool>(v.array->flat); })) {
    a.flat = [one, in](Lowering& l, const Index& at) {
      Values args;
      for (const Value& v : in) {
        args.push_back(l.scalar(Type::scalar(v.type.dtype()), l.element_flat(v, at)));
      }
      return one(args).scalar;
    };
  }
  call.out.push_back(lazy(type, std::move(a)));
}

}  // namespace tlaloc::cxx
