#include "tests/transform/random_programs.h"

#include <array>
#include <optional>

#include "tests/transform/arrays.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {
namespace {

using namespace ops;  // NOLINT: the vocabulary

/// What a statement reads and writes.
struct State {
  Vals scalars;
  Val array;
  Vals all() const {
    Vals r = scalars;
    r.push_back(array);
    return r;
  }
  /// The state in values[from…], array last.
  static State of(const Vals& values, std::size_t from = 0) {
    return {{values.begin() + static_cast<std::ptrdiff_t>(from), values.end() - 1}, values.back()};
  }
};
Vals joined(Vals a, const Vals& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
double rounded(double x) { return std::round(x * 100) / 100; }

enum class Kind {
  arithmetic,
  read,
  update,
  add,
  whole,
  total,
  guard,
  window,
  shift,
  swap,
  branch,
  counted,
  guarded,
  scan,
  history,
  array_history,
  call,
  nest
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : r_(seed) {}

  Val program(const Vals& params, int depth) {
    State s{{params[0], params[1], real(0.6)}, params[2]};
    const Vals ints{params[3]};
    for (int i = 0; i < 3; ++i) s = block(s, ints, depth);
    Val t = sum(sin(s.array));
    for (Val v : s.scalars) t = t + sin(v) * 0.7;
    return t;
  }

 private:
  template <class T>
  T pick(const std::vector<T>& xs) {
    return xs[static_cast<std::size_t>(r_.below(static_cast<int>(xs.size())))];
  }
  bool chance(double p) { return r_.uniform() < p; }
  double between(double low, double high) { return rounded(r_.uniform(low, high)); }

  /// A smooth function of some scalars, of moderate slope.
  Val smooth(const State& s) {
    const Val x = pick(s.scalars), y = pick(s.scalars);
    const double c = between(0.3, 1.4);
    switch (r_.below(10)) {
      case 0:
        return sin(x * c + y);
      case 1:
        return sin(x) * y;
      case 2:
        return cos(x) * c;
      case 3:
        return x / (1.0 + y * y);
      case 4:
        return log(1.2 + x * x);
      case 5:
        return exp(sin(x)) * 0.4;
      case 6:
        return x - y * c;
      case 7:
        return x * 0.5 + y * y * 0.1;
      case 8:
        return tanh(x * y);
      default:
        return -sin(y);
    }
  }
  /// A loop counter, or a constant that may be out of bounds.
  Val index(const Vals& ints) {
    const int k = r_.below(static_cast<int>(ints.size()) + 1);
    return k == 0 ? integer(r_.below(5)) : ints[static_cast<std::size_t>(k - 1)];
  }
  Val flag(const State& s) { return pick(s.scalars) > between(-0.5, 0.9); }

  State block(State s, const Vals& ints, int depth) {
    for (int n = 1 + r_.below(2); n > 0; --n) s = statement(s, ints, depth);
    return s;
  }
  State statement(const State& s, const Vals& ints, int depth) {
    using K = Kind;
    std::vector<Kind> kinds{K::arithmetic, K::arithmetic, K::arithmetic, K::read,  K::read,
                            K::update,     K::update,     K::add,        K::whole, K::total,
                            K::guard,      K::window,     K::shift};
    if (depth > 0) {
      for (Kind k : {K::branch, K::branch, K::counted, K::counted, K::guarded, K::guarded, K::scan,
                     K::history, K::array_history, K::call, K::swap, K::nest}) {
        kinds.push_back(k);
      }
    }
    const Kind kind = pick(kinds);
    return kind >= K::branch ? compound(kind, s, ints, depth) : simple(kind, s, ints);
  }

  State simple(Kind kind, State s, const Vals& ints) {
    Val& target = s.scalars[static_cast<std::size_t>(r_.below(static_cast<int>(s.scalars.size())))];
    Val& a = s.array;
    switch (kind) {
      case Kind::arithmetic:
        target = smooth(s);
        break;
      case Kind::read:
        target = sin(at(a, index(ints)) * pick(s.scalars));
        break;
      case Kind::update: {
        const Val i = index(ints);
        a = put(a, i, smooth(s) + 0.2 * at(a, i));
        break;
      }
      case Kind::add:
        a = add_at(a, index(ints), smooth(s));
        break;
      case Kind::whole:
        a = sin(a * pick(s.scalars)) + a * 0.3;
        break;
      case Kind::total:
        target = sin(sum(a * a) * 0.3);
        break;
      case Kind::guard: {
        const Val p = flag(s);
        target = select(p, smooth(s), smooth(s));
        break;
      }
      case Kind::window:
        target =
            sum(sin(ops::mul(window(a, index(ints), 2), broadcast_to(pick(s.scalars), pair_))));
        break;
      case Kind::shift: {
        const Val parts[] = {slice_axis(a, 0, 1, a.dim(0)), slice_axis(a, 0, 0, 1)};
        a = concatenate(parts, 0) * 0.7 + a * 0.3;
        break;
      }
      default: {  // swap
        std::rotate(s.scalars.begin(), s.scalars.begin() + 1, s.scalars.end());
        break;
      }
    }
    return s;
  }

  State compound(Kind kind, const State& s, const Vals& ints, int depth) {
    switch (kind) {
      case Kind::branch:
        return branch(s, ints, depth);
      case Kind::counted:
        return loop(s, ints, depth, false);
      case Kind::guarded:
        return loop(s, ints, depth, true);
      case Kind::scan:
        return scanned(s, ints, depth);
      case Kind::history:
        return with_history(s, ints, depth);
      case Kind::array_history:
        return with_array_history(s, ints, depth);
      case Kind::call:
        return called(s, depth);
      default:
        return nest(s, ints, depth);
    }
  }

  State branch(const State& s, const Vals& ints, int depth) {
    const bool other_is_identity = chance(0.3);
    auto inside = [&](const Vals& p) { return block(State::of(p), ints, depth - 1).all(); };
    return State::of(cond(flag(s), s.all(), inside,
                          [&](const Vals& p) { return other_is_identity ? p : inside(p); }));
  }
  State loop(const State& s, const Vals& ints, int depth, bool guarded) {
    const std::vector<Val> bounds{integer(r_.below(4)), pick(ints) + integer(1),
                                  size0(s.array) - integer(1)};
    const Val bound = pick(bounds);
    const double c = between(-0.3, 0.7);
    const auto q = static_cast<std::size_t>(1 + r_.below(static_cast<int>(s.scalars.size())));
    return State::of(while_loop(
                         joined({integer(0)}, s.all()),
                         [&](const Vals& v) {
                           if (guarded) return Vals{(v[q] > c) && (v[0] < integer(4))};
                           return Vals{v[0] < bound && v[0] < integer(5)};
                         },
                         [&](const Vals& v) {
                           const Vals more = joined(ints, {v[0]});
                           return joined({v[0] + integer(1)},
                                         block(State::of(v, 1), more, depth - 1).all());
                         })
                         .carries,
                     1);
  }
  /// The inner trip count is decided inside the outer body.
  State nest(const State& s, const Vals& ints, int depth) {
    const double c = between(0, 0.6);
    auto inner = [&](Val i, const Vals& v) {
      return while_loop(
                 joined({integer(0)}, v),
                 [&](const Vals& w) { return Vals{(w[0] < i + integer(2)) && (w[1] > c)}; },
                 [&](const Vals& w) {
                   const Vals more = joined(ints, {i, w[0]});
                   return joined({w[0] + integer(1)},
                                 block(State::of(w, 1), more, depth - 1).all());
                 })
          .carries;
    };
    return State::of(
        while_loop(
            joined({integer(0)}, s.all()), [](const Vals& v) { return Vals{v[0] < integer(3)}; },
            [&](const Vals& v) {
              Vals next = inner(v[0], {v.begin() + 1, v.end()});
              next[0] = v[0] + integer(1);
              for (std::size_t k = 1; k < next.size(); ++k) {
                if (chance(0.3)) next[k] = sin(next[k]);
              }
              return next;
            })
            .carries,
        1);
  }
  State scanned(const State& s, const Vals& ints, int depth) {
    const Val steps = iota(i64({s.array.dim(0)}), 0);
    const bool reverse = chance(0.4);
    const std::size_t n = s.scalars.size();
    const LoopResult r = ops::scan(
        s.all(), {s.array, steps},
        [&](const Vals& v) {
          // The element stands in as one more scalar, which the body may change and then records.
          State inside{{v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)}, v[n]};
          inside.scalars.push_back(v[n + 1]);
          inside = block(inside, joined(ints, {v[n + 2]}), depth - 1);
          const Val recorded = sin(inside.scalars.back()) * v[n + 1];
          inside.scalars.pop_back();
          return joined(inside.all(), {recorded});
        },
        std::nullopt, reverse);
    State out = State::of(r.carries);
    if (chance(0.5)) out.array = out.array * 0.5 + r.ys[0] * 0.5;
    return out;
  }
  State with_history(const State& s, const Vals& ints, int depth) {
    const double c = between(-0.2, 0.6);
    const LoopResult r = recording(s, ints, depth, c, [](const State& now, const State& before) {
      return now.scalars[0] * before.scalars[0];
    });
    State out = State::of(r.carries, 1);
    Val& target =
        out.scalars[static_cast<std::size_t>(r_.below(static_cast<int>(out.scalars.size())))];
    if (chance(0.5)) {
      target = sin(sum(r.ys[0]) + convert(r.trips, DType::f64) * target);
    } else {
      target = ops::scan({target}, {r.ys[0]}, [](const Vals& v) {
                 return Vals{sin(v[0] + v[1])};
               }).carries[0];
    }
    return out;
  }
  /// The array of every trip, then summed over trips.
  State with_array_history(const State& s, const Vals& ints, int depth) {
    const LoopResult r = recording(
        s, ints, depth, between(-0.2, 0.6),
        [](const State& now, const State& before) { return now.array * before.scalars[0]; });
    State out = State::of(r.carries, 1);
    const std::int64_t trips = 0;
    out.array = out.array * 0.6 + sin(reduce_sum(r.ys[0], std::span(&trips, 1))) * 0.3;
    return out;
  }
  template <class Record>
  LoopResult recording(const State& s, const Vals& ints, int depth, double c,
                       const Record& record) {
    return while_loop(
        joined({integer(0)}, s.all()),
        [&](const Vals& v) { return Vals{(v[1] > c) && (v[0] < integer(3))}; },
        [&](const Vals& v) {
          const State before = State::of(v, 1);
          const State now = block(before, joined(ints, {v[0]}), depth - 1);
          return joined(joined({v[0] + integer(1)}, now.all()), {record(now, before)});
        });
  }
  State called(const State& s, int depth) {
    std::vector<Type> types;
    for (Val v : s.all()) types.push_back(v.type());
    const Traced t = trace(
        types, [&](const Vals& p) { return block(State::of(p), {integer(1)}, depth - 1).all(); });
    const Vals args = joined(t.captured, s.all());
    const int kind = r_.below(6);
    if (kind < 4) return declared(t.graph, args, kind < 2);
    return State::of(ir::call_graph(
        {.name = "sub", .kind = kind == 4 ? ir::CallKind::plain : ir::CallKind::remat}, t.graph,
        args));
  }
  /// A call whose derivative is given: the engine's own, so that the oracle stays exact.
  State declared(const GraphRef& g, const Vals& args, bool forward) {
    const auto active = transform::differentiable_params(*g);
    auto region = [](GraphRef h) {
      std::vector<std::optional<Dim>> dims;
      for (Symbol d : h->dims()) dims.emplace_back(d);
      return ir::Region{std::move(h), std::move(dims)};
    };
    if (forward) {
      return State::of(ir::emit_call({.name = "sub", .kind = ir::CallKind::custom_jvp}, args,
                                     {region(g), region(transform::jvp(g, active))},
                                     g->result_types())
                           .out);
    }
    const transform::Linearized l = transform::linearize(g, active, {});
    if (!l.residual_dims.empty()) return State::of(ir::call_graph({.name = "sub"}, g, args));
    return State::of(ir::emit_call({.name = "sub", .kind = ir::CallKind::custom_vjp}, args,
                                   {region(g), region(l.forward), region(l.cotangent)},
                                   g->result_types())
                         .out);
  }

  Noise r_;
  const std::vector<Dim> pair_{2};
};

}  // namespace

Program random_program(std::uint64_t seed, int depth) {
  Noise noise(seed ^ 0x9e3779b97f4a7c15u);
  const Symbol n = Symbol::fresh("n");
  Program p{"random" + std::to_string(seed), nullptr, {}};
  p.graph = graph_of(
      {f64(), f64(), f64({n}), i64()},
      [&](const Vals& v) { return Vals{Generator(seed).program(v, depth)}; }, p.name);
  HostArray a(DType::f64, {4});
  for (double& x : a.as_mutable<double>()) x = noise.uniform(-0.3, 1.1);
  p.args = {HostArray::scalar(noise.uniform(-0.2, 1.2)),
            HostArray::scalar(noise.uniform(-0.2, 1.2)), a,
            HostArray::scalar(std::int64_t{noise.below(3)})};
  return p;
}

}  // namespace tlaloc::testing
