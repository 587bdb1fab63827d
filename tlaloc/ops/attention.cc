// Attention with a declared derivative: forward keeps (q, k, v, mask, o, lse), backward computes
// the probabilities again from lse, as in FlashAttention (Dao et al., 2022), so that a kernel that
// never forms the score matrix can claim both.
#include <cmath>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::ops {
namespace {

/// The layout inside: q […, kv, group, queries, width], k and v […, kv, keys, width].
struct Layout {
  int batch;                 ///< number of leading axes shared by q, k and v, kv heads included
  std::vector<Dim> grouped;  ///< shape of q with the group axis
  AttentionParams params;
  double scale;
};

AxisList first(int n, int from = 0) {
  AxisList r;
  for (int i = 0; i < n; ++i) r.push_back(from + i);
  return r;
}

/// s over the square root of q's width, unless the scale is given; 0 stands for a size that only a
/// run knows.
Val scaled(const Layout& l, Val s, Val q) {
  if (l.scale != 0) return s * l.scale;
  return s * rsqrt(convert(dim_value(q.dim(q.rank() - 1)), s.dtype()));
}

struct Scores {
  Val masked;  ///< […, group, queries, keys]
  Val tanh;    ///< of the scores over the soft cap, which may be absent
};
Scores scores(const Layout& l, Val q, Val k, Val mask) {
  const int b = l.batch;
  Val s = scaled(l, dot_general(q, k, {first(b), first(b), {b + 2}, {b + 1}}), q), bent;
  if (l.params.soft_cap > 0) {
    bent = tanh(s / l.params.soft_cap);
    s = bent * l.params.soft_cap;
  }
  const Type index = s.type().with_dtype(DType::i64);
  const Val low = full(-HUGE_VAL, s.type());
  if (l.params.causal || l.params.window > 0) {
    const Val row = iota(index, b + 1), column = iota(index, b + 2);
    const Val diagonal = row + dim_value(s.dim(b + 2) - s.dim(b + 1));
    Val keep = column <= diagonal;
    if (l.params.window > 0) {
      const Val recent = column > diagonal - static_cast<double>(l.params.window);
      const Val soon = column < diagonal + static_cast<double>(l.params.window);
      keep = logical_and(l.params.causal ? keep : soon, recent);
    }
    s = select(keep, s, low);
  }
  if (mask && mask.dtype() == DType::boolean)
    s = select(mask, s, low);
  else if (mask)
    s = s + mask;
  return {s, bent};
}

Val over_keys(Val small, Val s) {
  const std::int64_t last[] = {s.rank() - 1};
  return broadcast_over(small, s.type(), last);
}
Val where_is(Val x, double value, Val then) {
  return select(compare(Comparison::eq, x, full(value, x.type())), then, x);
}

struct Forward {
  Val o, lse;
};
Forward forward(const Layout& l, Val q, Val k, Val v, Val mask) {
  const int b = l.batch;
  const Val s = scores(l, q, k, mask).masked;
  const std::int64_t last[] = {s.rank() - 1};
  const Val m =
      where_is(stop_gradient(reduce_max(s, last)), -HUGE_VAL, zeros(Type::scalar(s.dtype())));
  const Val e = exp(s - over_keys(m, s));
  const Val sum = reduce_sum(e, last);
  const Val safe = where_is(sum, 0, ones(Type::scalar(s.dtype())));
  const Val ev = dot_general(e, v, {first(b), first(b), {b + 2}, {b}});
  return {ev / over_keys(safe, ev), log(sum) + m};
}

/// What every region does first and last: the group axis in and out.
Val grouped(const Layout& l, Val q) { return reshape(q, l.grouped); }
Val mask_grouped(const Layout& l, Val mask, Val k) {
  if (!mask) return {};
  std::vector<Dim> shape = l.grouped;
  shape.back() = k.dim(l.batch);
  return reshape(mask, shape);
}

}  // namespace

Val attention(Val q, Val k, Val v, Val mask, const AttentionParams& params) {
  const int r = q.rank();
  if (params.window < 0 || !(params.soft_cap >= 0)) {
    throw UserError({kAttrError, "attention", "a window or soft cap below 0",
                     "leave it out, or 0, for none", ir::OriginScope::current()->place});
  }
  if (r < 2 || k.rank() != r || v.rank() != r) {
    throw UserError({"TL-RANK-001", "attention",
                     "q, k and v are " + q.type().to_string() + ", " + k.type().to_string() + ", " +
                         v.type().to_string() + ": equal ranks of at least 2 are needed",
                     "", ir::OriginScope::current()->place});
  }
  Layout l{r - 2, {q.shape().begin(), q.shape().end()}, params, params.scale};
  const Dim width = q.dim(r - 1);
  if (l.scale == 0 && width.is_constant()) {
    l.scale = 1 / std::sqrt(static_cast<double>(width.constant()));
  }
  Dim group(1);
  if (r > 2) {
    const Dim queries = q.dim(r - 3), keys = k.dim(r - 3);
    const auto quotient = queries == keys ? Dim(1) : exact_quotient(queries, keys);
    if (!quotient) {
      const bool known = queries.is_constant() && keys.is_constant();
      throw UserError({"TL-SHAPE-001", "attention",
                       "the " + queries.to_string() + " heads of q " +
                           (known ? "are no multiple" : "are not known to be a multiple") +
                           " of the " + keys.to_string() + " heads of k",
                       known ? "" : "give the numbers of heads in the types",
                       ir::OriginScope::current()->place});
    }
    group = *quotient;
    l.grouped[static_cast<std::size_t>(r) - 3] = k.dim(r - 3);
  }
  l.grouped.insert(l.grouped.begin() + (r - 2), group);

  Vals args{q, k, v};
  if (mask) args.push_back(mask);
  const bool mask_moves = mask && is_differentiable(mask.dtype());
  auto mask_of = [&](const Vals& in) { return mask ? in[3] : Val{}; };
  auto out_shape = [&](const Vals& in) {
    std::vector<Dim> shape(in[0].shape().begin(), in[0].shape().end());
    shape.back() = in[2].dim(r - 1);
    return shape;
  };
  const Body body = [&](const Vals& in) {
    const Forward f =
        forward(l, grouped(l, in[0]), in[1], in[2], mask_grouped(l, mask_of(in), in[1]));
    return Vals{reshape(f.o, out_shape(in))};
  };
  const Body fwd = [&](const Vals& in) {
    const Forward f =
        forward(l, grouped(l, in[0]), in[1], in[2], mask_grouped(l, mask_of(in), in[1]));
    Vals out{reshape(f.o, out_shape(in))};
    out.insert(out.end(), in.begin(), in.end());
    out.push_back(f.o);
    out.push_back(f.lse);
    return out;
  };
  const Body bwd = [&](const Vals& in) {
    const int b = l.batch;
    const std::size_t n = args.size();
    const Val qg = grouped(l, in[0]), kk = in[1], vv = in[2], o = in[n], lse = in[n + 1];
    const Val d_o = reshape(in[n + 2], o.shape());
    const auto [s, bent] = scores(l, qg, kk, mask_grouped(l, mask_of(in), kk));
    const Val shift = where_is(lse, -HUGE_VAL, zeros(Type::scalar(lse.dtype())));
    const Val p = exp(s - over_keys(shift, s));
    const std::int64_t last[] = {o.rank() - 1};
    const Val delta = reduce_sum(d_o * o, last);
    const Val dp = dot_general(d_o, vv, {first(b), first(b), {b + 2}, {b + 1}});
    const Val ds = p * (dp - over_keys(delta, dp));
    const Val draw = scaled(l, bent ? ds * (1.0 - bent * bent) : ds, qg);
    const Val dq = dot_general(draw, kk, {first(b), first(b), {b + 2}, {b}});
    const Val dk = dot_general(draw, qg, {first(b), first(b), {b, b + 1}, {b, b + 1}});
    const Val dv = dot_general(p, d_o, {first(b), first(b), {b, b + 1}, {b, b + 1}});
    Vals out{reshape(dq, in[0].shape()), dk, dv};
    if (mask_moves) out.push_back(reshape(ds, in[3].shape()));
    return out;
  };
  return composite_with_rule("attention",
                             {{"causal", {params.causal}, {}},
                              {"window", {params.window}, {}},
                              {"scale", {}, {l.scale}},
                              {"soft_cap", {}, {params.soft_cap}},
                              {"rank", {r}, {}},
                              {"masked", {static_cast<bool>(mask)}, {}}},
                             args, body, fwd, bwd)[0];
}

}  // namespace tlaloc::ops
