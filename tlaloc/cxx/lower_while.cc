// while: a loop with a condition, which the passes may turn into one that counts.
#include <algorithm>

#include "tlaloc/cxx/induction.h"
#include "tlaloc/cxx/loop_emitter.h"
#include "tlaloc/cxx/usage.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

namespace {

/// What is known about the carries and the trip count of a while.
struct Knowledge {
  std::vector<Range> at_test;  ///< where the condition is read
  std::vector<Range> in_body;
  std::optional<Dim> trips;  ///< the count, when it is a size
  ExprRef trips_expr;        ///< the count, when it can be told before the loop
  std::vector<Dim> trips_at_most;
};

void narrow(Range& r, const Limit& m) {
  const std::int64_t off = m.inclusive ? 0 : 1;
  if (m.below) {
    if (m.range.high > std::numeric_limits<std::int64_t>::min()) {
      r.high = std::min(r.high, m.range.high - off);
    }
    if (m.range.high_dim) r.high_dim = *m.range.high_dim - off;
  } else {
    if (m.range.low < std::numeric_limits<std::int64_t>::max()) {
      r.low = std::max(r.low, m.range.low + off);
    }
    if (m.range.low_dim) r.low_dim = *m.range.low_dim + off;
  }
}

bool not_above(const Lowering& l, const Range& a, const Range& b) {
  return a.high <= b.low ||
         (a.high_dim && b.low_dim && l.proved_less_equal(*a.high_dim, *b.low_dim));
}

/// for (i = first; i < bound; ++i): how often?
void count_trips(Knowledge& r, Lowering& l, const LoopEmitter& loop, const Limit& m, bool exact,
                 const ir::Graph& condition) {
  const Value& first = loop.init[m.carry];
  if (loop.step[m.carry] != 1 || !m.below || m.inclusive) return;
  const Range &from = first.range, &to = m.range;
  if (from.low_dim && to.high_dim && l.proved_less_equal(*from.low_dim, *to.high_dim)) {
    r.trips_at_most.push_back(*to.high_dim - *from.low_dim);
  }
  if (!exact) return;
  const bool some = not_above(l, from, to);
  if (from.size() && to.size() && some) r.trips = *to.size() - *from.size();
  const std::optional<std::int64_t> start = from.constant();
  if (first.type.dtype() != DType::i64 || !start || *start < 0 || (!some && *start != 0)) return;
  ExprRef bound;
  if (condition.is_param(m.bound))
    bound = loop.inv[m.bound].scalar;
  else if (const auto c = constant_of(condition, m.bound))
    bound = integer(*c);
  if (!bound) return;
  r.trips_expr = position_subtract(bound, first.scalar);
  if (some) return;
  r.trips_expr = call("std::max<std::int64_t>", {r.trips_expr, integer(0)});
}

Knowledge study(Lowering& l, const LoopEmitter& loop, const Limits& limits,
                const ir::Graph& condition) {
  Knowledge r;
  for (std::size_t k = 0; k < loop.n_carry; ++k) {
    const auto step = loop.step[k];
    const Range& first = loop.init[k].range;
    Range known = Range::of(loop.types[k].dtype());
    if (step && *step >= 0) known.low = first.low, known.low_dim = first.low_dim;
    if (step && *step <= 0) known.high = first.high, known.high_dim = first.high_dim;
    r.at_test.push_back(known);
    for (const Limit& m : limits.all) {
      if (m.carry != k) continue;
      narrow(known, m);
      count_trips(r, l, loop, m, limits.exact && limits.all.size() == 1, condition);
    }
    r.in_body.push_back(known);
  }
  return r;
}

}  // namespace

void Lowering::while_loop(const ir::Node& n, NodeCall& call, Scope& s) {
  const auto& attrs = n.as<ir::WhileAttrs>();
  const ir::DimMap cond_dims = ir::region_map(n.region(0), s.dims);
  const ir::DimMap body_dims = ir::region_map(n.region(1), s.dims);
  LoopEmitter loop(*this, n, call, attrs.n_inv, attrs.n_carry, attrs.append);
  const Limits limit = limits(
      *n.region(0).graph, loop.n_inv, loop.n_carry,
      [&](ValueId v) { return loop.inv[v].array ? Range() : loop.inv[v].range; }, cond_dims);
  const Knowledge known = study(*this, loop, limit, *n.region(0).graph);

  // The fresh symbol that stands for the trip count in this place of the function.
  const ir::Symbol symbol = *s.dims.get(n.bound()[0]).as_symbol();
  if (known.trips) {
    ir::DimMap exact;
    exact.set(symbol, *known.trips);
    s.dims.set(n.bound()[0], *known.trips);
    for (Type& t : loop.types) t = t.substitute(exact);
  }
  const Dim trips = known.trips ? *known.trips : Dim(symbol);
  const bool trips_read =
      reads_symbol(s.graph, n.bound()[0]) || reads_value(s.graph, n.result(n.result_count() - 1));

  loop.start_carries();
  Values outputs(attrs.append.size());
  std::size_t countable = 0;  // histories whose length is the trip count
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (auto v = loop.known_output(k, [](Lowering&, const Index& i) { return i; })) {
      outputs[k] = *v;
      continue;
    }
    const VarId h = loop.declare_history(k, n.origin());
    assign(h, list(var(h).type, {}));
    if (!attrs.append[k].flat && loop.row(k) == Dim(1)) ++countable;
  }
  std::optional<VarId> counter;
  const bool told = known.trips || known.trips_expr || !trips_read;
  if (attrs.max_trips > 0 || (!told && countable == 0)) {
    counter = declare(Type::scalar(DType::i64), "trips", NameRank::value);
    assign(*counter, integer(0));
  }

  const VarId first_inside = next_var();
  auto same_trip = [](Lowering&, const Index& i) { return i; };
  Stmt w{Stmt::Kind::loop};
  w.before = block([&] {
    Values args = loop.inv;
    for (std::size_t k = 0; k < loop.n_carry; ++k) args.push_back(loop.carry(k, known.at_test[k]));
    w.value = graph(*n.region(0).graph, args, cond_dims)[0].scalar;
  });
  w.body = block([&] {
    for (const Range& r : known.in_body) {
      if (r.low_dim && r.high_dim) assume_not_negative(*r.high_dim - *r.low_dim);
    }
    if (attrs.max_trips > 0) {
      check(compare("<", variable(*counter), integer(attrs.max_trips)), "std::runtime_error",
            "the loop runs more than " + std::to_string(attrs.max_trips) + " times");
    }
    Values args = loop.inv;
    for (std::size_t k = 0; k < loop.n_carry; ++k) args.push_back(loop.carry(k, known.in_body[k]));
    const Values results = graph(*n.region(1).graph, args, body_dims);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!loop.history[k]) continue;
      const Value& y = results[loop.n_carry + k];
      const bool ragged_only = only_ragged_reads(s.graph, n.result(loop.n_carry + k));
      const bool counts = !attrs.append[k].flat && loop.row(k) == Dim(1);
      auto v = loop.recomputed_output(k, y, same_trip, first_inside, std::nullopt, ragged_only);
      if (v && (told || counter || !counts || countable > 1)) {
        outputs[k] = *v;
        loop.history[k].reset();
        countable -= counts;
      } else {
        loop.push(k, y, first_inside);
      }
    }
    std::vector<Assignment> more;
    if (counter) more.push_back({*counter, add(variable(*counter), integer(1))});
    loop.move_carries(results, std::move(more));
  });
  emit(std::move(w));

  if (!known.trips && trips_read) {
    ExprRef count = known.trips_expr ? known.trips_expr
                    : counter        ? variable(*counter)
                                     : loop.trip_count();
    if (!is_var(*count)) {
      const VarId v = declare(Type::scalar(DType::i64), "trips", NameRank::value);
      assign(v, count);
      definitions_.emplace(v, count);
      count = variable(v);
    }
    define(symbol, count);
    for (Dim d : known.trips_at_most) assume_not_negative(d - trips);
  }
  for (std::size_t k = 0; k < loop.n_carry; ++k) {
    call.out.push_back(loop.carry(k, known.at_test[k]));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    call.out.push_back(loop.history[k] ? loop.finish(k) : outputs[k]);
  }
  // Where nobody reads the count there is none.
  call.out.push_back(trips_read
                         ? scalar(Type::scalar(DType::i64), size(trips), Range::exactly(trips))
                         : scalar_int(0));
}

}  // namespace tlaloc::cxx
