// Branches and loops, planned in place: their bodies become part of the one list of instructions.
#include <algorithm>
#include <array>
#include <map>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/attention.h"
#include "tlaloc/cpu/paged.h"
#include "tlaloc/cpu/planner.h"
#include "tlaloc/cpu/ragged.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {

using ir::Dim;
using ir::Symbol;
using ir::Type;
using ir::ValueId;

ir::DimMap Planner::region_dims(const Context& c, const ir::Region& r) const {
  ir::DimMap map;
  for (std::size_t i = 0; i < r.dims.size(); ++i) {
    if (r.dims[i]) map.set(r.graph->dims()[i], c.dim(*r.dims[i]));
  }
  return map;
}

std::vector<Symbol> Planner::bind(Context& c, const ir::Node& n, std::uint32_t point) {
  std::vector<Symbol> r;
  for (Symbol s : n.bound()) {
    r.push_back(Symbol::like(s));
    e_.sizes.define(r.back(), point);
    c.dims.set(s, r.back());
  }
  return r;
}

Values Planner::operands(Context& c, const ir::Node& n) {
  Values r;
  for (ValueId v : n.operands()) r.push_back(c.env[v]);
  return r;
}

void Planner::call(Context& c, const ir::Node& n) {
  const ir::Region& r = n.region(0);
  const ir::DimMap dims = region_dims(c, r);
  const auto count = static_cast<std::uint32_t>(r.graph->constraints().size());
  for (std::uint32_t k = 0; k < count; ++k) constraint(r.graph, k, dims);
  std::vector<ir::Type> types;
  for (std::size_t k = 0; k < n.result_count(); ++k) types.push_back(c.type(n.result(k)));
  const Values results = claims_paged_attention(n)
                             ? Values{emit_paged_attention(e_, n, operands(c, n), types[0])}
                             : emit_attention(e_, n, operands(c, n), types);
  for (std::size_t k = 0; k < results.size(); ++k) c.env[n.result(k)] = results[k];
}

// ---- if ----

void Planner::branch(Context& c, const ir::Node& n) {
  Values args = operands(c, n);
  const Value predicate = args[0];
  args.erase(args.begin());
  if (predicate.type.rank() > 0) return batched_branch(c, n, predicate);
  const std::uint32_t after = e_.sizes.new_point();
  const auto bound = bind(c, n, after);
  std::vector<StorageId> out;
  std::vector<bool> made;
  for (std::size_t k = 0; k < n.result_count(); ++k) {
    const Type t = c.type(n.result(k));
    const bool known = e_.sizes.point_of(t.elements()) != after;
    made.push_back(known);
    out.push_back(known ? e_.storage(t) : e_.unmade(t.dtype()));
  }
  const std::uint32_t skip =
      e_.emit({.code = Code::jump_unless, .index = e_.dense(predicate, "if")});
  std::uint32_t end = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    const Emitter::Scope scope(e_);
    if (k == 1) e_.land(skip);
    const Planned r = graph(n.region(k).graph, region_dims(c, n.region(k)), args);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Value& v = r.results[i];
      if (!made[i]) e_.make(out[i], v.type.elements());
      if (whole_storage(v)) e_.copies.push_back(e_.here());
      e_.compute(v, {out[i], {0, dense_strides(v.type.shape())}}, "if");
    }
    for (std::size_t i = 0; i < bound.size(); ++i) {
      e_.set(e_.sizes.of(bound[i]), e_.sizes.of(r.dims[i]));
    }
    if (k == 0) end = e_.emit({.code = Code::jump});
  }
  e_.land(end);
  e_.emit_point(after);
  for (std::size_t k = 0; k < out.size(); ++k) {
    c.env[n.result(k)] = dense_value(c.type(n.result(k)), out[k]);
  }
  check(c, n);
}

/// Both branches run; what belongs to one of them is nothing to the other.
void Planner::batched_branch(Context& c, const ir::Node& n, const Value& predicate) {
  const auto& a = n.as<ir::IfAttrs>();
  Values args = operands(c, n);
  args.erase(args.begin());
  std::array<Planned, 2> out;
  for (std::size_t k = 0; k < 2; ++k) {
    const ir::DimMap dims = region_dims(c, n.region(k));
    Values own = args;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (a.arg_owner[i] < 0 || a.arg_owner[i] == static_cast<std::int64_t>(k)) continue;
      const Type want = n.region(k).graph->type(static_cast<ValueId>(i)).substitute(dims);
      if (own[i].type != want) own[i] = filled(want, 1);
    }
    out[k] = graph(n.region(k).graph, dims, own);
  }
  const std::uint32_t after = e_.sizes.new_point();
  const auto bound = bind(c, n, after);
  for (std::size_t i = 0; i < bound.size(); ++i) {
    e_.set(e_.sizes.of(bound[i]), e_.sizes.of(max(out[0].dims[i], out[1].dims[i])));
  }
  e_.emit_point(after);
  for (std::size_t k = 0; k < n.result_count(); ++k) {
    const ValueId v = n.result(k);
    if (a.out_owner[k] >= 0) {
      c.env[v] = e_.lying(out[usize(a.out_owner[k])].results[k], "if");
      // The other branch's length counts too; it only matters where the sizes differ.
      c.env[v].type = out[usize(a.out_owner[k])].results[k].type;
      continue;
    }
    const Value& x = out[0].results[k];
    const Value& y = out[1].results[k];
    std::vector<Dim> shape;
    for (int axis = 0; axis < x.type.rank(); ++axis) {
      shape.push_back(max(x.type.dim(axis), y.type.dim(axis)));
    }
    const Type t = Type::get(x.type.dtype(), shape);
    // What a lane does not read holds 1, so that it can't be the zero that makes a later quotient
    // a NaN.
    auto padded = [&](const Value& part) {
      if (part.type == t) return part;
      const StorageId s = e_.storage(t);
      const Affine at{0, dense_strides(shape)};
      e_.compute(filled(t, 1), {s, at}, "if");
      e_.compute(part, {s, at}, "if");
      return dense_value(t, s);
    };
    std::vector<std::int64_t> lanes;
    for (int axis = 0; axis < predicate.type.rank(); ++axis) lanes.push_back(axis);
    auto e = std::make_shared<Expr>();
    e->kind = Expr::Kind::op;
    e->dtype = t.dtype();
    e->op = &ops::rows::Select;
    e->args = {broadcast(e_.lying(predicate, "if"), t.with_dtype(DType::boolean), lanes)->expr,
               e_.lying(padded(x), "if").expr, e_.lying(padded(y), "if").expr};
    const StorageId s = e_.storage(t);
    e_.compute({t, e}, {s, {0, dense_strides(shape)}}, "if");
    c.env[v] = dense_value(c.type(v), s);
  }
}

// ---- loops ----

/// One loop while it is planned.
struct Planner::LoopState {
  Context& c;
  const ir::Node& n;
  const std::vector<ir::Append>& append;
  Values inv, init, xs;
  std::vector<StorageId> carries;
  std::vector<Type> types;  ///< of the carries
  std::uint32_t point = 0;  ///< the start of each trip
  Symbol trip = Symbol::fresh("trip");
  Dim index = 0;  ///< of this trip's element
  bool reverse = false;
  std::optional<Dim> length;  ///< the number of trips, where it is known before

  struct History {
    StorageId storage = 0;
    Type row;                          ///< stacked: of one trip's value
    Dim offset = 0, stride = 0;        ///< stacked: where rows lie
    std::optional<std::size_t> grows;  ///< stacked: the number of its storage in `growing`
    std::optional<Symbol> rows;        ///< flat: so many rows are there by now
    std::optional<StorageId> pieces;   ///< flat, unknown and reversed: rows of each piece
  };
  std::vector<History> histories;
  /// What is made longer in each trip: storages with the elements of a row.
  std::vector<std::pair<StorageId, Dim>> growing;

  std::size_t n_carry() const { return init.size(); }
};

namespace {

/// The type of one value of a stacked output, or of one row of a flat one.
Type row_type(Type t) { return t.without_leading(); }

/// Elements of a row up to which histories that are read by rows share a storage: as a person would
/// have one array of structs. One place to look for room, one pointer, one stream of memory.
constexpr std::int64_t kShortRow = 16;

}  // namespace

void Planner::start_loop(LoopState& s) {
  for (std::size_t k = 0; k < s.n_carry(); ++k) {
    s.types.push_back(s.init[k].type);
    s.carries.push_back(e_.storage(s.types[k]));
    if (whole_storage(s.init[k])) e_.copies.push_back(e_.here());
    e_.compute(s.init[k], {s.carries[k], {0, dense_strides(s.types[k].shape())}}, s.n.op().name);
  }
  s.point = e_.sizes.new_point();
  e_.sizes.define(s.trip, s.point);
  s.index = s.reverse ? *s.length - 1 - Dim(s.trip) : Dim(s.trip);
  std::map<DType, std::size_t> shared;  // in s.growing
  for (std::size_t k = 0; k < s.append.size(); ++k) {
    LoopState::History h;
    // The leading dim may be bound by this node: only the rest of the type is known here.
    const Type declared = s.c.g.type(s.n.result(s.n_carry() + k));
    h.row = row_type(declared).substitute(s.c.dims);
    const DType dtype = declared.dtype();
    const std::optional<Dim> rows = s.append[k].flat ? s.append[k].length : s.length;
    if (rows) {
      std::vector<Dim> shape{s.append[k].flat ? s.c.dim(*rows) : *rows};
      shape.insert(shape.end(), h.row.shape().begin(), h.row.shape().end());
      h.storage = e_.storage(Type::get(dtype, shape));
      e_.emit({.code = Code::hold, .index = h.storage});
    } else if (s.append[k].flat) {
      h.storage = e_.unmade(dtype);
      e_.make(h.storage, 0);
    } else {
      const Dim elements = h.row.elements();
      const bool is_short = elements.is_constant() && elements.constant() <= kShortRow;
      const bool shares = is_short && s.c.groups.by_rows[s.n.result(s.n_carry() + k)];
      std::size_t at = s.growing.size();
      if (shares) at = shared.try_emplace(dtype, at).first->second;
      if (at == s.growing.size()) {
        s.growing.emplace_back(e_.unmade(dtype), 0);
        e_.make(s.growing.back().first, 0);
      }
      auto& [storage, row] = s.growing[at];
      h.storage = storage;
      h.grows = at;
      h.offset = row;
      row = row + elements;
    }
    if (s.append[k].flat) {
      h.rows = Symbol::fresh("rows");
      const Slot slot = e_.sizes.define(*h.rows, s.point);
      const bool down = s.reverse && rows;
      e_.set(slot, e_.sizes.of(down ? s.c.dim(*rows) : Dim(0)));
      if (s.reverse && !rows) {
        h.pieces = e_.unmade(DType::i64);
        e_.make(*h.pieces, 0);
      }
    }
    s.histories.push_back(h);
  }
  for (LoopState::History& h : s.histories) {
    h.stride = h.grows ? s.growing[*h.grows].second : h.row.elements();
  }
  e_.set(e_.sizes.of(s.trip), e_.sizes.constant(0));
}

void Planner::record(LoopState& s, const Values& ys) {
  for (const auto& [storage, row] : s.growing) e_.grow(storage, (Dim(s.trip) + 1) * row);
  for (std::size_t k = 0; k < ys.size(); ++k) {
    LoopState::History& h = s.histories[k];
    const Value& y = ys[k];
    if (!s.append[k].flat) {
      Affine at{h.offset + s.index * h.stride, dense_strides(h.row.shape())};
      if (y.expr->kind == Expr::Kind::read && y.expr->storage == h.storage && y.expr->at == at &&
          y.expr->indirect.empty()) {
        continue;  // it was computed there
      }
      e_.compute(y, {h.storage, std::move(at)}, s.n.op().name);
      continue;
    }
    std::vector<Dim> shape{1};
    shape.insert(shape.end(), h.row.shape().begin(), h.row.shape().end());
    const auto strides = dense_strides(shape);
    const Dim rows = y.type.dim(0);
    const Slot slot = e_.sizes.of(*h.rows);
    const bool known = s.append[k].length.has_value();
    const bool down = s.reverse && known;
    // The size of what is appended may be new: where it goes is known one point later.
    if (down) e_.emit({.code = Code::subtract, .a = slot, .b = e_.sizes.of(rows)});
    const std::uint32_t point = e_.sizes.new_point();
    const Symbol at = Symbol::fresh("first");
    const Slot first = e_.sizes.define(at, point);
    e_.set(first, slot);
    e_.emit_point(point);
    if (!known) e_.grow(h.storage, (Dim(at) + rows) * strides[0]);
    e_.compute(y, {h.storage, {Dim(at) * strides[0], strides}}, s.n.op().name);
    if (!down) e_.emit({.code = Code::add, .a = slot, .b = e_.sizes.of(rows)});
    if (s.reverse && !known) {
      e_.grow(*h.pieces, Dim(s.trip) + 1);
      auto piece = std::make_shared<Expr>();
      piece->kind = Expr::Kind::position;
      piece->dtype = DType::i64;
      piece->at.offset = rows;
      e_.compute({Type::scalar(DType::i64), piece}, {*h.pieces, {Dim(s.trip), {}}}, "scan");
    }
  }
}

/// All carries move on at once: nobody reads one that was written already.
void Planner::move_carries(LoopState& s, const Values& next) {
  Values from = next;
  std::vector<bool> moves(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) moves[k] = whole_storage(from[k]) != s.carries[k];
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!moves[k]) continue;
    for (std::size_t j = 0; j < from.size(); ++j) {
      if (moves[j] && reads(from[k].expr, s.carries[j])) {
        from[k] = dense_value(from[k].type, e_.copy(from[k], s.n.op().name));
        break;
      }
    }
  }
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!moves[k]) continue;
    if (whole_storage(from[k])) e_.copies.push_back(e_.here());
    e_.compute(from[k], {s.carries[k], {0, dense_strides(s.types[k].shape())}}, s.n.op().name);
  }
}

void Planner::finish_loop(LoopState& s) {
  const std::size_t n = s.n_carry();
  for (std::size_t k = 0; k < n; ++k) {
    s.c.env[s.n.result(k)] = dense_value(s.types[k], s.carries[k]);
  }
  for (std::size_t k = 0; k < s.histories.size(); ++k) {
    LoopState::History& h = s.histories[k];
    const Type t = s.c.type(s.n.result(n + k));
    StorageId lies = h.storage;
    if (h.pieces) {
      Step step;
      step.run = reverse_pieces;
      step.name = "scan";
      step.data = std::make_shared<DType>(t.dtype());
      lies = e_.storage(t);
      step.storages = {h.storage, *h.pieces, lies};
      step.reads = 2;
      step.ints = {e_.sizes.of(*s.length), e_.sizes.of(h.row.elements())};
      e_.emit_step(std::move(step));
    }
    Affine at{h.offset, dense_strides(t.shape())};
    if (!s.append[k].flat) at.strides[0] = h.stride;
    s.c.env[s.n.result(n + k)] = {t, read(t.dtype(), lies, std::move(at))};
  }
}

void Planner::while_loop(Context& c, const ir::Node& n) {
  const auto& a = n.as<ir::WhileAttrs>();
  LoopState s{.c = c, .n = n, .append = a.append};
  Values all = operands(c, n);
  s.inv.assign(all.begin(), all.begin() + a.n_inv);
  s.init.assign(all.begin() + a.n_inv, all.end());
  start_loop(s);

  const std::uint32_t begin = e_.here();
  std::uint32_t leave = 0;
  {
    const Emitter::Scope scope(e_);
    e_.emit({.code = Code::poll});
    Values args = s.inv;
    for (std::size_t k = 0; k < s.n_carry(); ++k) {
      args.push_back(dense_value(s.types[k], s.carries[k]));
    }
    const Planned cond = graph(n.region(0).graph, region_dims(c, n.region(0)), args);
    leave = e_.emit({.code = Code::jump_unless, .index = e_.dense(cond.results[0], "while")});
    if (a.max_trips > 0) {
      e_.emit({.code = Code::limit, .a = e_.sizes.of(s.trip), .b = e_.sizes.constant(a.max_trips)});
    }
    e_.emit_point(s.point);
    const Planned body = graph(n.region(1).graph, region_dims(c, n.region(1)), args);
    const auto middle = body.results.begin() + a.n_carry;
    record(s, {middle, body.results.end()});
    move_carries(s, {body.results.begin(), middle});
    e_.emit({.code = Code::add, .a = e_.sizes.of(s.trip), .b = e_.sizes.constant(1)});
    e_.emit({.code = Code::jump, .target = begin});
  }
  e_.land(leave);
  e_.loops.push_back({begin, e_.here()});

  const std::uint32_t after = e_.sizes.new_point();
  const auto bound = bind(c, n, after);
  e_.set(e_.sizes.of(bound[0]), e_.sizes.of(s.trip));
  std::size_t flat = 1;
  std::vector<Symbol> set;
  for (std::size_t k = 0; k < a.append.size(); ++k) {
    if (!a.append[k].flat || a.append[k].length) continue;
    // Outputs of one group share a length.
    const auto symbol = c.type(n.result(s.n_carry() + k)).dim(0).as_symbol();
    internal_check(symbol.has_value(), "an appended output has no symbol for its length");
    if (std::ranges::find(set, *symbol) != set.end()) continue;
    set.push_back(*symbol);
    e_.set(e_.sizes.of(*symbol), e_.sizes.of(*s.histories[k].rows));
    ++flat;
  }
  internal_check(flat == bound.size(), "a while binds a length that no output has");
  e_.emit_point(after);
  finish_loop(s);
  auto trips = std::make_shared<Expr>();
  trips->kind = Expr::Kind::position;
  trips->dtype = DType::i64;
  trips->at.offset = bound[0];
  c.env[n.result(n.result_count() - 1)] = {Type::scalar(DType::i64), trips};
  check(c, n);
}

void Planner::scan(Context& c, const ir::Node& n) {
  const auto& a = n.as<ir::ScanAttrs>();
  LoopState s{.c = c, .n = n, .append = a.append};
  Values all = operands(c, n);
  s.inv.assign(all.begin(), all.begin() + a.n_inv);
  s.init.assign(all.begin() + a.n_inv, all.begin() + a.n_inv + a.n_carry);
  s.xs.assign(all.begin() + a.n_inv + a.n_carry, all.end());
  s.reverse = a.reverse;
  s.length = c.dim(a.length);
  const ir::Graph& g = *n.region(0).graph;
  ir::DimMap dims = region_dims(c, n.region(0));

  auto add_check = [&](Check check) {
    check.origin = e_.origin;
    check.op = "scan";
    e_.emit({.code = Code::check, .index = static_cast<std::uint32_t>(e_.program.checks.size())});
    e_.program.checks.push_back(std::move(check));
  };
  if (ir::bounds(*s.length).lower < 0) {
    Check check{.kind = Check::Kind::length, .slots = {e_.sizes.of(*s.length)}};
    check.length = a.length;
    add_check(std::move(check));
  }
  // The ragged dim that cuts each xs.
  std::vector<std::optional<std::size_t>> cut(s.xs.size());
  for (std::size_t k = 0; k < s.xs.size(); ++k) {
    if (!a.xrag[k]) {
      const Dim rows = s.xs[k].type.dim(0);
      if (rows == *s.length) continue;
      Check check{.kind = Check::Kind::rows, .slots = {e_.sizes.of(rows), e_.sizes.of(*s.length)}};
      check.number = static_cast<std::uint32_t>(k);
      add_check(std::move(check));
      continue;
    }
    const auto symbol = g.type(static_cast<ValueId>(a.n_inv + a.n_carry) + static_cast<ValueId>(k))
                            .dim(0)
                            .as_symbol();
    for (std::size_t j = 0; j < a.ragged.size(); ++j) {
      if (symbol && g.dims()[usize(a.ragged[j].dim)] == *symbol) cut[k] = j;
    }
    internal_check(cut[k].has_value(), "ragged xs are cut by no ragged dim");
  }
  struct Cut {
    StorageId lengths;
    Slot first;  ///< of the piece
    std::optional<Symbol> at;
    std::optional<Symbol> length;
  };
  std::vector<Cut> cuts;
  start_loop(s);
  for (std::size_t j = 0; j < a.ragged.size(); ++j) {
    Cut t;
    const Value& lengths = s.xs[usize(a.ragged[j].xs)];
    t.lengths = e_.dense(lengths, "scan");
    RaggedCheck check{lengths.type.dtype(), {}};
    Step step;
    step.run = check_ragged;
    step.name = "scan";
    step.storages = {t.lengths};
    step.reads = 1;
    step.ints = {e_.sizes.of(lengths.type.dim(0))};
    Dim total = 0;
    for (std::size_t k = 0; k < s.xs.size(); ++k) {
      if (cut[k] != j) continue;
      check.xs.push_back(static_cast<std::uint32_t>(k));
      total = s.xs[k].type.dim(0);
      step.ints.push_back(e_.sizes.of(total));
    }
    step.data = std::make_shared<RaggedCheck>(std::move(check));
    e_.emit_step(std::move(step));
    t.at = Symbol::fresh("first");
    t.length = Symbol::like(g.dims()[usize(a.ragged[j].dim)]);
    t.first = e_.sizes.define(*t.at, s.point);
    e_.sizes.define(*t.length, s.point);
    e_.set(t.first, e_.sizes.of(a.reverse ? total : Dim(0)));
    dims.set(g.dims()[usize(a.ragged[j].dim)], *t.length);
    cuts.push_back(t);
  }
  const Slot index = e_.sizes.of(s.index);
  const Slot trips = e_.sizes.of(*s.length);

  const std::uint32_t begin = e_.here();
  std::uint32_t leave = 0;
  {
    const Emitter::Scope scope(e_);
    e_.emit({.code = Code::poll});
    leave = e_.emit({.code = Code::jump_if_equal, .a = e_.sizes.of(s.trip), .b = trips});
    // The index first: the lengths are read with it.
    e_.emit_point(s.point);
    if (!cuts.empty()) {
      for (const Cut& t : cuts) {
        const Slot length = e_.sizes.of(*t.length);
        e_.emit({.code = Code::load, .index = t.lengths, .a = length, .b = index});
        if (a.reverse) e_.emit({.code = Code::subtract, .a = t.first, .b = length});
      }
      e_.emit_point(s.point);
    }
    Values args = s.inv;
    for (std::size_t k = 0; k < s.n_carry(); ++k) {
      args.push_back(dense_value(s.types[k], s.carries[k]));
    }
    for (std::size_t k = 0; k < s.xs.size(); ++k) {
      const Value& x = s.xs[k];
      args.push_back(cut[k] ? *rows(x, *cuts[*cut[k]].at, *cuts[*cut[k]].length)
                            : *row(x, s.index));
    }
    std::vector<std::optional<Target>> wanted(g.results().size());
    for (std::size_t k = 0; k < s.histories.size(); ++k) {
      if (a.append[k].flat) continue;
      const LoopState::History& h = s.histories[k];
      wanted[usize(a.n_carry) + k] =
          Target{h.storage, {s.index * h.stride, dense_strides(h.row.shape())}};
    }
    const Planned body = graph(n.region(0).graph, dims, args, wanted);
    const auto middle = body.results.begin() + a.n_carry;
    record(s, {middle, body.results.end()});
    move_carries(s, {body.results.begin(), middle});
    for (const Cut& t : cuts) {
      if (!a.reverse) {
        e_.emit({.code = Code::add, .a = t.first, .b = e_.sizes.of(*t.length)});
      }
    }
    e_.emit({.code = Code::add, .a = e_.sizes.of(s.trip), .b = e_.sizes.constant(1)});
    e_.emit({.code = Code::jump, .target = begin});
  }
  e_.land(leave);
  e_.loops.push_back({begin, e_.here()});

  const std::uint32_t after = e_.sizes.new_point();
  bind(c, n, after);
  std::vector<Symbol> set;
  for (std::size_t k = 0; k < a.append.size(); ++k) {
    if (!a.append[k].flat || a.append[k].length) continue;
    const auto symbol = c.type(n.result(s.n_carry() + k)).dim(0).as_symbol();
    internal_check(symbol.has_value(), "an appended output has no symbol for its length");
    if (std::ranges::find(set, *symbol) != set.end()) continue;
    set.push_back(*symbol);
    e_.set(e_.sizes.of(*symbol), e_.sizes.of(*s.histories[k].rows));
  }
  e_.emit_point(after);
  finish_loop(s);
  check(c, n);
}

}  // namespace tlaloc::cpu
