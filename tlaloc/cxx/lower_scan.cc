// scan: a loop that counts, forwards or backwards, over the elements of arrays.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/loop_emitter.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/cxx/usage.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

namespace {

/// Where the pieces begin that one ragged dim cuts out of its xs.
struct Cut {
  ir::Symbol body_symbol;
  std::size_t xs;  ///< with the lengths
  VarId offset = 0;
  ExprRef length;
};

}  // namespace

void Lowering::scan(const ir::Node& n, NodeCall& call, Scope& s) {
  const auto& attrs = n.as<ir::ScanAttrs>();
  const ir::DimMap outer_dims = ir::region_map(n.region(0), s.dims);
  const Dim length = attrs.length.substitute(s.dims);
  LoopEmitter loop(*this, n, call, attrs.n_inv, attrs.n_carry, attrs.append);
  const ir::Graph& body = loop.body;

  auto trip_of = [reverse = attrs.reverse, length](Lowering& l, const Index& i) -> Index {
    if (!reverse) return i;
    return {position_subtract(l.size(length - 1), i.expr), Range::below(length)};
  };
  loop.start_carries();
  Values outputs(attrs.append.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (auto v = loop.known_output(k, trip_of)) {
      outputs[k] = *v;
      continue;
    }
    const VarId h = loop.declare_history(k, n.origin());
    const bool grows = attrs.append[k].flat && !(attrs.reverse && attrs.append[k].length);
    const std::string& type = var(h).type;
    assign(h, grows ? list(type, {}) : cxx::call(type, {size(loop.output_type(k).elements())}));
  }

  std::vector<Cut> cuts;
  for (const ir::Ragged& r : attrs.ragged) {
    Cut c{body.dims()[static_cast<std::size_t>(r.dim)], static_cast<std::size_t>(r.xs)};
    c.offset = declare(Type::scalar(DType::i64), "offset", NameRank::value);
    // Backwards, the first piece ends where the array does.
    ExprRef start = integer(0);
    for (std::size_t k = 0; attrs.reverse && k < loop.xs.size(); ++k) {
      const auto param = static_cast<ValueId>(loop.n_inv + loop.n_carry + k);
      if (attrs.xrag[k] && body.type(param).dim(0).as_symbol() == c.body_symbol) {
        start = size(loop.xs[k].type.dim(0));
      }
    }
    assign(c.offset, start);
    cuts.push_back(std::move(c));
  }

  const VarId i = declare_counter();
  const Index at{variable(i), Range::below(length)};
  const ExprRef from = attrs.reverse ? size(length - 1) : integer(0);
  const ExprRef more = attrs.reverse ? compare(">=", variable(i), integer(0))
                                     : compare("<", variable(i), size(length));
  const VarId first_inside = next_var();
  emit(count_loop(i, from, more, attrs.reverse ? -1 : 1, [&] {
    assume_not_negative(length - 1);
    ir::DimMap dims = outer_dims;
    for (Cut& c : cuts) {
      const Value piece = element_value(loop.xs[c.xs], {at});
      const VarId v = declare(Type::scalar(DType::i64), "length", NameRank::value);
      assign(v, piece.scalar);
      definitions_.emplace(v, piece.scalar);
      const ir::Symbol symbol = ir::Symbol::like(c.body_symbol);
      define(symbol, variable(v));
      if (piece.range.high_dim) assume_not_negative(*piece.range.high_dim - Dim(symbol));
      dims.set(c.body_symbol, symbol);
      c.length = variable(v);
      if (attrs.reverse) {
        Stmt back{Stmt::Kind::parallel};
        back.moves = {{c.offset, subtract(variable(c.offset), c.length)}};
        emit(std::move(back));
      }
    }
    auto cut_of = [&](Dim body_dim) -> const Cut* {
      for (const Cut& c : cuts) {
        if (Dim(c.body_symbol) == body_dim) return &c;
      }
      return nullptr;
    };
    Values args = loop.inv;
    for (std::size_t k = 0; k < loop.n_carry; ++k) {
      Range r = Range::of(loop.types[k].dtype());
      if (loop.step[k])
        r = progression(loop.init[k].range, *loop.step[k], at.range, loop.types[k].dtype());
      args.push_back(loop.carry(k, r));
    }
    for (std::size_t k = 0; k < loop.xs.size(); ++k) {
      const Value& x = loop.xs[k];
      const Type type = body.type(static_cast<ValueId>(args.size())).substitute(dims);
      if (attrs.xrag[k]) {
        const Cut* c = cut_of(body.type(static_cast<ValueId>(args.size())).dim(0));
        internal_check(c, "ragged xs are cut by no ragged dim");
        if (x.array->pieces) {
          args.push_back({.type = type, .array = x.array->pieces});
          continue;
        }
        ArrayValue piece;
        piece.free = x.array->free;
        piece.element = [x, offset = variable(c->offset)](Lowering& l, const Indices& j) {
          Indices all = j;
          all[0] = {position_add(offset, j[0].expr), Range::below(x.type.dim(0))};
          return l.element(x, all);
        };
        args.push_back(lazy(type, std::move(piece)));
      } else if (type.rank() == 0) {
        Value element = element_value(x, {at});
        element.scalar = keep(element.scalar, type.dtype());
        args.push_back(std::move(element));
      } else {
        ArrayValue row;
        row.free = x.array->free;
        row.element = [x, at](Lowering& l, const Indices& j) {
          Indices all{at};
          all.insert(all.end(), j.begin(), j.end());
          return l.element(x, all);
        };
        args.push_back(lazy(type, std::move(row)));
      }
    }
    const Values results = graph(body, args, dims);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!loop.history[k]) continue;
      const VarId h = *loop.history[k];
      const Value& v = results[loop.n_carry + k];
      const bool ragged_only = only_ragged_reads(s.graph, n.result(loop.n_carry + k));
      if (auto known = loop.recomputed_output(k, v, trip_of, first_inside, i, ragged_only)) {
        outputs[k] = *known;
        loop.history[k].reset();
        continue;
      }
      loop.note_range(k, v, first_inside);
      const ValueId y = body.results()[loop.n_carry + k];
      if (!attrs.append[k].flat) {
        if (v.scalar) {
          store(h, at.expr, v.scalar);
        } else {
          store_elements(h, position_multiply(at.expr, size(loop.row(k))), v);
        }
      } else if (!attrs.reverse) {
        loop.push(k, v, first_inside);
      } else {
        // In index order, though the last piece comes first.
        const Cut* c = cut_of(body.type(y).dim(0));
        if (!attrs.append[k].length || !c) {
          refuse_op(n.op(), "a reverse scan appends pieces of unknown length", "", n.origin());
        }
        store_elements(h, position_multiply(variable(c->offset), size(loop.row(k))), v);
      }
    }
    std::vector<Assignment> moves;
    for (const Cut& c : cuts) {
      if (!attrs.reverse) moves.push_back({c.offset, add(variable(c.offset), c.length)});
    }
    loop.move_carries(results, std::move(moves));
  }));

  for (std::size_t k = 0; k < loop.n_carry; ++k) {
    Range r = Range::of(loop.types[k].dtype());
    if (loop.step[k] && *loop.step[k] >= 0) r.low = loop.init[k].range.low;
    call.out.push_back(loop.carry(k, r));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    call.out.push_back(loop.history[k] ? loop.finish(k) : outputs[k]);
  }
}

}  // namespace tlaloc::cxx
