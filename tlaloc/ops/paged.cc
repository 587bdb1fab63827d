// What a back end without a kernel for it runs: page after page of all tokens' sequences at once,
// so that memory is that of one page a token.
#include "tlaloc/ops/paged.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::ops {
namespace {

constexpr const char* kAttention = "paged_attention";
constexpr const char* kStore = "paged_store";

[[noreturn]] void refuse(const char* code, const char* op, std::string message, std::string hint) {
  throw UserError(
      {code, op, std::move(message), std::move(hint), ir::OriginScope::current()->place});
}

void require_type(const char* op, const char* what, Val x, int rank,
                  std::initializer_list<DType> types) {
  if (x.rank() != rank) {
    refuse("TL-RANK-001", op,
           std::string(what) + " has the type " + x.type().to_string() + ": rank " +
               std::to_string(rank) + " is needed",
           "");
  }
  std::string names;
  for (DType t : types) {
    if (x.dtype() == t) return;
    names += (names.empty() ? "" : ", ") + std::string(name(t));
  }
  refuse("TL-DTYPE-004", op,
         std::string(what) + " has the type " + x.type().to_string() + ": elements are " + names,
         "convert it");
}
void require_same(const char* op, const char* what, Dim a, Dim b) {
  ir::Builder::current().require({ir::Constraint::Kind::equal, a, b, std::string(op) + ": " + what,
                                  ir::OriginScope::current()->place});
}

/// x [a…] as [a…, 1…], stretched to `shape`.
Val stretched(Val x, std::span<const Dim> shape) {
  AxisList axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  return broadcast_in_dim(x, shape, axes);
}
Val where_is(Val x, double value, Val then) {
  return select(compare(Comparison::eq, x, full(value, x.type())), then, x);
}

Val scaled(Val scores, Val q, const PagedParams& params) {
  if (params.scale != 0) return scores * params.scale;
  const Dim width = q.dim(q.rank() - 1);
  if (width.is_constant()) return scores / std::sqrt(static_cast<double>(width.constant()));
  return scores * rsqrt(convert(dim_value(width), scores.dtype()));
}

/// Page p of every token's sequence: its keys and values, and what the token sees of them.
struct Page {
  Val keys, values;  ///< f32 [tokens, page, kv heads, …]; hidden values are 0
  Val seen;          ///< bool [tokens, page]
};
Page page_of(Val keys, Val values, Val positions, Val tables, Val p, const PagedParams& params) {
  const Val page = take(tables, p, 1);
  const Val k = take(keys, page, 0), v = take(values, page, 0);
  const Type places = Type::get(DType::i64, {{k.dim(0), k.dim(1)}});
  const Val place = iota(places, 1) + p * dim_value(k.dim(1));
  const Val query = stretched(positions, places.shape());
  Val seen = place <= query;
  if (params.window > 0) {
    const Val behind = scalar_int(params.window, DType::i64);
    seen = logical_and(seen, place > query - behind);
  }
  // Zero times what a stale page holds may be NaN.
  const Val shown = select(stretched(seen, v.shape()), v, zeros(v.type()));
  return {convert(k, DType::f32), convert(shown, DType::f32), seen};
}

/// With a running softmax, so that the scores of one page are there at a time.
Val attend(const Vals& in, Dim group, const PagedParams& params) {
  const Val keys = in[1], values = in[2], positions = convert(in[3], DType::i64);
  const Dim tokens = in[0].dim(0), page = keys.dim(1), heads = keys.dim(2);
  // From an axis without elements nothing can be taken, so nothing is seen: no page then.
  for (const Dim size : {keys.dim(0), page, in[5].dim(0), in[5].dim(1)}) {
    if (size == Dim(0)) {
      return zeros(Type::get(DType::f32, {{tokens, heads * group, values.dim(3)}}));
    }
  }
  const Val q = reshape(in[0], {{tokens, heads, group, in[0].dim(2)}});
  const Type rows = Type::get(DType::f32, {{tokens, heads, group}});
  const Type wide = Type::get(DType::f32, {{tokens, heads, group, values.dim(3)}});

  const std::int64_t all[] = {0}, last[] = {3};
  const Val last_page = div(reduce_max(positions, all), dim_value(max(page, Dim(1))));
  const Val none = scalar_int(0, DType::i64);
  const Val something = min(dim_value(keys.dim(0)), dim_value(in[5].dim(0)));
  const Val columns = select(none < something, dim_value(in[5].dim(1)), none);
  const Val count = min(last_page + scalar_int(1, DType::i64), columns);
  const LoopResult sums = while_loop(
      {none, full(-HUGE_VAL, rows), zeros(rows), zeros(wide)},
      [&](const Vals& c) { return Vals{c[0] < count}; },
      [&](const Vals& c) {
        const Val tables = take(in[5], in[4], 0);
        const Page at = page_of(keys, values, positions, tables, c[0], params);
        Val s = scaled(dot_general(q, at.keys, {{0, 1}, {0, 2}, {3}, {3}}), q, params);
        if (params.soft_cap > 0) s = tanh(s / params.soft_cap) * params.soft_cap;
        const std::int64_t of_page[] = {0, 3};
        const Val seen = broadcast_in_dim(at.seen, s.shape(), of_page);
        s = select(seen, s, full(-HUGE_VAL, s.type()));
        const Val greatest = max(c[1], reduce_max(s, last));
        const Val shift = where_is(greatest, -HUGE_VAL, zeros(Type::scalar(DType::f32)));
        const Val e = exp(s - stretched(shift, s.shape())), before = exp(c[1] - shift);
        const Val ev = dot_general(e, at.values, {{0, 1}, {0, 2}, {3}, {1}});
        return Vals{c[0] + scalar_int(1, DType::i64), greatest, c[2] * before + reduce_sum(e, last),
                    c[3] * stretched(before, wide.shape()) + ev};
      });
  const Val sum = where_is(sums.carries[2], 0, ones(Type::scalar(DType::f32)));
  return reshape(sums.carries[3] / stretched(sum, wide.shape()),
                 {{tokens, heads * group, values.dim(3)}});
}

}  // namespace

Val paged_attention(Val q, Val keys, Val values, Val positions, Val sequences, Val tables,
                    const PagedParams& params) {
  const char* const op = kAttention;
  if (params.window < 0 || !(params.soft_cap >= 0)) {
    refuse("TL-ATTR-001", op, "a window or soft cap below 0", "leave it out, or 0, for none");
  }
  require_type(op, "q", q, 3, {DType::f32});
  require_type(op, "keys", keys, 4, {DType::f32, DType::f16, DType::bf16});
  require_type(op, "values", values, 4, {keys.dtype()});
  require_type(op, "positions", positions, 1, {DType::i32});
  require_type(op, "sequences", sequences, 1, {DType::i32});
  require_type(op, "tables", tables, 2, {DType::i32});
  const Dim queries = q.dim(1), heads = keys.dim(2);
  const auto group = queries == heads ? Dim(1) : exact_quotient(queries, heads);
  if (!group) {
    refuse("TL-SHAPE-001", op,
           "the " + queries.to_string() + " heads of q are not known to be a multiple of the " +
               heads.to_string() + " heads of keys",
           "give the numbers of heads in the types");
  }
  return composite_for_inference(
      op,
      {{"scale", {}, {params.scale}},
       {"window", {params.window}, {}},
       {"soft_cap", {}, {params.soft_cap}}},
      {q, keys, values, positions, sequences, tables}, [&](const Vals& in) {
        require_same(op, "the widths of q and keys", in[0].dim(2), in[1].dim(3));
        require_same(op, "the pages of keys and values", in[1].dim(0), in[2].dim(0));
        require_same(op, "the places in a page of keys and values", in[1].dim(1), in[2].dim(1));
        require_same(op, "the heads of keys and values", in[1].dim(2), in[2].dim(2));
        require_same(op, "the tokens of q and positions", in[0].dim(0), in[3].dim(0));
        require_same(op, "the tokens of q and sequences", in[0].dim(0), in[4].dim(0));
        return Vals{attend(in, *group, params)};
      })[0];
}

Val paged_store(Val pool, Val rows, Val slots) {
  const char* const op = kStore;
  require_type(op, "pool", pool, 4, {DType::f32, DType::f16, DType::bf16});
  require_type(op, "rows", rows, 3, {DType::f32});
  require_type(op, "slots", slots, 1, {DType::i32});
  require_same(op, "the heads of pool and rows", pool.dim(2), rows.dim(1));
  require_same(op, "the widths of pool and rows", pool.dim(3), rows.dim(2));
  require_same(op, "the tokens of rows and slots", rows.dim(0), slots.dim(0));
  const Val places = reshape(pool, {{pool.dim(0) * pool.dim(1), pool.dim(2), pool.dim(3)}});
  const Val stored =
      scatter_at(places, slots, convert(rows, pool.dtype()), 0, Update::set, OutOfBounds::fill);
  return reshape(stored, pool.shape());
}

}  // namespace tlaloc::ops
