// if, while, scan and call. Regions read values of the text around them; functions do not.
#include <algorithm>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

Values tail(std::span<const Value> values, std::size_t first) {
  return {values.begin() + static_cast<std::ptrdiff_t>(first), values.end()};
}
std::vector<TensorType> types_of(const Values& values) {
  std::vector<TensorType> r;
  for (const Value& v : values) r.push_back(v.type);
  return r;
}

/// Arguments of one branch. One that belongs to the other branch may have another size; it is read
/// by nobody whose result counts.
Values branch_args(Emitter& e, const Op& op, const Frame& f, std::size_t k) {
  const auto& owner = op.as<ir::IfAttrs>().arg_owner;
  Values args = tail(op.in, 1);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (owner[i] < 0 || owner[i] == static_cast<std::int64_t>(k)) continue;
    const TensorType t = e.type(f, f.graph.type(static_cast<ir::ValueId>(i)), &op.node);
    if (args[i].type != t) args[i] = e.splat(1, t);
  }
  return args;
}

/// A loop of the text: a counter, carries, histories, and the flag of loops that did not end.
struct Loop {
  Emitter& e;
  const Op& op;
  std::size_t n_inv, n_carry;
  bool flagged;
  Values histories{};

  Values inv() const { return {op.in.begin(), op.in.begin() + static_cast<std::ptrdiff_t>(n_inv)}; }
  Values carried(const Values& state) const {
    Values args = inv();
    args.insert(args.end(), state.begin() + 1,
                state.begin() + 1 + static_cast<std::ptrdiff_t>(n_carry));
    return args;
  }
  void record(std::int64_t rows, const ir::Graph& body, const Frame& f) {
    for (std::size_t k = n_carry; k < body.results().size(); ++k) {
      TensorType t = e.type(f, body.type(body.results()[k]), &op.node);
      t.extents.insert(t.extents.begin(), rows);
      histories.push_back(e.splat(0, t));
    }
  }
  /// Runs while `more`; `step` gives carries and rows of the histories. The final state.
  Values run(const std::function<Value(const Values& state)>& more,
             const std::function<Values(const Values& state)>& step,
             const std::function<Value(const Values& state)>& place) {
    Values init{e.index(0)};
    init.insert(init.end(), op.in.begin() + static_cast<std::ptrdiff_t>(n_inv),
                op.in.begin() + static_cast<std::ptrdiff_t>(n_inv + n_carry));
    init.insert(init.end(), histories.begin(), histories.end());
    if (flagged) init.push_back(e.exceeded_flag());
    const auto outside = e.exceeded;
    const std::vector<TensorType> types = types_of(init);
    const Region regions[] = {
        {types, [&](const Values& s) -> Values { return {more(s)}; }},
        {types, [&](const Values& s) {
           if (flagged) e.exceeded = s.back();
           const Values out = step(s);
           Values next{e.binary("add", s[0], e.index(1))};
           next.insert(next.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n_carry));
           for (std::size_t k = 0; k < histories.size(); ++k) {
             next.push_back(e.with_row(s[1 + n_carry + k], out[n_carry + k], place(s)));
           }
           if (flagged) next.push_back(e.exceeded_flag());
           return next;
         }}};
    Values state = e.op("stablehlo.while", init, types, {}, regions);
    e.exceeded = outside;
    if (flagged) {
      e.exceeded = state.back();
      state.pop_back();
    }
    return state;
  }
};

/// What the caller's symbols are, from the result dims of a region.
std::vector<Size> result_sizes(Emitter& e, const Frame& f, const ir::Node& n) {
  std::vector<Size> r;
  for (ir::Dim d : f.graph.result_dims()) {
    const bool computed = e.is_dynamic(f, ir::Type::get(DType::i8, {d}));
    r.push_back(computed && !d.as_symbol() ? Size{-1, e.size_value(f, d)} : e.size(f, d, &n));
  }
  return r;
}
Value length_of(Emitter& e, const Size& s) { return s.length ? *s.length : e.index(s.bound); }

/// Lane by lane a where p, else b. The lanes are the leading axes.
Value lane_select(Emitter& e, const Value& p, const Value& a, const Value& b) {
  return e.select(e.leading(p, a.type), a, b);
}

}  // namespace

Values If(Emitter& e, const Op& op) {
  const auto& owner = op.as<ir::IfAttrs>().out_owner;
  const std::size_t results = op.node.result_count(), dims = op.node.bound().size();
  const bool lanes = op.in[0].type.rank() > 0;
  const bool flagged =
      e.may_exceed(*op.node.region(0).graph) || e.may_exceed(*op.node.region(1).graph);
  const auto outside = e.exceeded;
  auto branch = [&](std::size_t k, std::vector<Size>& found) {
    Frame f = e.region_frame(op, k);
    e.exceeded = outside;
    Values out = e.graph(f, branch_args(e, op, f, k));
    found = result_sizes(e, f, op.node);
    return out;
  };
  auto same = [](const Size& a, const Size& b) {
    return !a.length && !b.length && a.bound == b.bound;
  };
  auto bind = [&](std::size_t i, Size s) {
    op.frame.sizes.insert_or_assign(op.node.bound()[i].id(), std::move(s));
  };
  auto result_type = [&](std::size_t k) {
    return e.type(op.frame, op.node.result_types()[k], &op.node);
  };

  std::vector<Size> sizes[2];
  if (lanes) {
    // Both run.
    Values out = branch(0, sizes[0]);
    const auto first_flag = e.exceeded;
    const Values other = branch(1, sizes[1]);
    if (first_flag) e.add_exceeded(*first_flag);
    for (std::size_t i = 0; i < dims; ++i) {
      const Size &a = sizes[0][i], &b = sizes[1][i];
      bind(i, same(a, b) ? a
                         : Size{std::max(a.bound, b.bound),
                                e.binary("maximum", length_of(e, a), length_of(e, b))});
    }
    for (std::size_t k = 0; k < results; ++k) {
      const Extents extents = result_type(k).extents;
      if (owner[k] == 1) {
        out[k] = e.padded(other[k], extents);
      } else {
        out[k] = e.padded(out[k], extents);
        if (owner[k] < 0) out[k] = lane_select(e, op.in[0], out[k], e.padded(other[k], extents));
      }
    }
    return out;
  }

  std::vector<bool> computed(dims);
  if (dims) {
    // The branches' sizes decide how far each result is padded.
    e.discard([&] { branch(0, sizes[0]); });
    e.discard([&] { branch(1, sizes[1]); });
    for (std::size_t i = 0; i < dims; ++i) {
      const Size &a = sizes[0][i], &b = sizes[1][i];
      computed[i] = !same(a, b);
      bind(i, computed[i] ? Size{std::max(a.bound, b.bound), Value{}} : a);
    }
  }
  std::vector<TensorType> types;
  for (std::size_t k = 0; k < results; ++k) types.push_back(result_type(k));
  auto region = [&](std::size_t k) {
    return Region{{}, [&, k](const Values&) {
                    std::vector<Size> found;
                    Values out = branch(k, found);
                    for (std::size_t r = 0; r < results; ++r) {
                      out[r] = e.padded(out[r], types[r].extents);
                    }
                    for (std::size_t i = 0; i < dims; ++i) {
                      if (computed[i]) out.push_back(length_of(e, found[i]));
                    }
                    if (flagged) out.push_back(e.exceeded_flag());
                    return out;
                  }};
  };
  std::vector<TensorType> all = types;
  for (bool c : computed) {
    if (c) all.push_back({DType::i64, {}});
  }
  if (flagged) all.push_back({DType::boolean, {}});
  const Region regions[] = {region(0), region(1)};
  Values out = e.op("stablehlo.if", op.in.first(1), all, {}, regions);
  e.exceeded = outside;
  if (flagged) e.exceeded = out.back();
  for (std::size_t i = 0, at = results; i < dims; ++i) {
    if (computed[i]) op.frame.sizes.at(op.node.bound()[i].id()).length = out[at++];
  }
  out.resize(results);
  return out;
}

Values While(Emitter& e, const Op& op) {
  const auto& a = op.as<ir::WhileAttrs>();
  const std::int64_t limit = e.trips_limit(op.node);
  const ir::Graph &cond = *op.node.region(0).graph, &body = *op.node.region(1).graph;
  Loop loop{e, op, usize(a.n_inv), usize(a.n_carry), e.may_exceed(cond) || e.may_exceed(body)};
  auto holds = [&](const Values& state) {
    Frame f = e.region_frame(op, 0);
    return e.graph(f, loop.carried(state)).at(0);
  };
  loop.record(limit, body, e.region_frame(op, 1));
  Values state = loop.run(
      [&](const Values& s) {
        const Value more = holds(s);
        return limit ? e.binary("and", more, e.compare("LT", s[0], e.index(limit))) : more;
      },
      [&](const Values& s) {
        Frame f = e.region_frame(op, 1);
        return e.graph(f, loop.carried(s));
      },
      [](const Values& s) { return s[0]; });
  if (limit) e.add_exceeded(holds(state));
  op.frame.sizes.insert_or_assign(op.node.bound()[0].id(), Size{limit ? limit : -1, state[0]});
  Values out = tail(state, 1);
  out.push_back(state[0]);
  return out;
}

Values Scan(Emitter& e, const Op& op) {
  const auto& a = op.as<ir::ScanAttrs>();
  const ir::Graph& body = *op.node.region(0).graph;
  const Size length = e.size(op.frame, a.length, &op.node);
  const std::size_t first_xs = usize(a.n_inv + a.n_carry);
  if (length.bound < 0) {
    refuse(op.node, "its length has no bound", "give the loop that it follows max_trips");
  }
  Loop loop{e, op, usize(a.n_inv), usize(a.n_carry), e.may_exceed(body)};
  loop.record(length.bound, body, e.region_frame(op, 0));
  if (length.bound == 0) {
    Values out(op.in.begin() + a.n_inv, op.in.begin() + static_cast<std::ptrdiff_t>(first_xs));
    out.insert(out.end(), loop.histories.begin(), loop.histories.end());
    return out;
  }
  const Value count = length_of(e, length);
  const Value last = e.binary("subtract", count, e.index(1));
  auto place = [&](const Values& s) { return a.reverse ? e.binary("subtract", last, s[0]) : s[0]; };
  const Values state = loop.run([&](const Values& s) { return e.compare("LT", s[0], count); },
                                [&](const Values& s) {
                                  Values args = loop.carried(s);
                                  const Value i = place(s);
                                  for (std::size_t k = first_xs; k < op.in.size(); ++k) {
                                    args.push_back(e.row(op.in[k], i));
                                  }
                                  Frame f = e.region_frame(op, 0);
                                  return e.graph(f, args);
                                },
                                place);
  return tail(state, 1);
}

Values Call(Emitter& e, const Op& op) {
  Frame f = e.region_frame(op, 0);
  const Values args(op.in.begin(), op.in.end());
  // A function knows nothing of sizes that are found while its caller runs, and of no mesh.
  bool known = op.node.bound().empty() && e.manual.empty();
  for (const auto& [symbol, size] : f.sizes) known = known && !size.length;
  if (known) return e.call_function(op.node, f, args);
  Values out = e.graph(f, args);
  const std::vector<Size> sizes = result_sizes(e, f, op.node);
  for (std::size_t i = 0; i < op.node.bound().size(); ++i) {
    op.frame.sizes.insert_or_assign(op.node.bound()[i].id(), sizes[i]);
  }
  return out;
}

}  // namespace tlaloc::stablehlo::lowering
