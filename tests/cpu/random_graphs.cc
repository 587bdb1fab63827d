#include "tests/cpu/random_graphs.h"

#include <algorithm>
#include <array>
#include <random>

#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using ops::OutOfBounds;
using ops::Update;

constexpr std::array<std::int64_t, 1> kRows{0}, kColumns{1};
constexpr std::array<std::int64_t, 2> kBoth{0, 1}, kSwap{1, 0};

/// Values of one graph, by rank; later ones are drawn more often.
struct Pool {
  Vals matrices, vectors, numbers;
  void add(Val v) { (v.rank() == 2 ? matrices : v.rank() == 1 ? vectors : numbers).push_back(v); }
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : bits_(seed) {}

  RandomGraph run() {
    RandomGraph r;
    const Symbol n = Symbol::fresh("n");
    if (below(3) == 0) r.size = 3;
    n_ = r.size ? Dim(*r.size) : Dim(n);
    r.dtype = t_ = below(3) ? DType::i32 : DType::f32;
    r.graph = graph_of({matrix(), matrix(), vector(), number()}, [&](const Vals& p) {
      Pool pool;
      for (Val v : p) pool.add(v);
      grow(pool, 4 + below(10), 2);
      Vals results;
      for (int k = 1 + below(3); k > 0; --k) results.push_back(draw_matrix(pool));
      results.push_back(draw(pool.vectors));
      results.push_back(draw(pool.numbers));
      return results;
    });
    return r;
  }

 private:
  int below(int n) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(n)); }
  Type matrix() const { return Type::get(t_, {n_, n_}); }
  Type vector() const { return Type::get(t_, {n_}); }
  Type number() const { return Type::scalar(t_); }
  Val draw(const Vals& of) {
    return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))];
  }
  Val draw_matrix(const Pool& p) {
    const auto count = static_cast<int>(p.matrices.size());
    const int back = below(2) ? below(count) : below(std::min(3, count));
    return p.matrices[static_cast<std::size_t>(count - 1 - back)];
  }
  Val combined(Val a, Val b) {
    switch (below(5)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return ops::max(a, b);
      case 3:
        return ops::min(a, b);
      default:
        return ops::select(a < b, b, a - b);
    }
  }
  std::span<const std::int64_t> axis() { return below(2) ? kRows : kColumns; }

  void grow(Pool& p, int steps, int depth) {
    for (int i = 0; i < steps; ++i) {
      const int kind = below(depth > 0 ? 20 : 16);
      if (kind < 5) {
        arithmetic(p, kind);
      } else if (kind < 8) {
        mixed_ranks(p, kind);
      } else if (kind < 12) {
        indexed(p, kind);
      } else if (kind == 12) {
        p.add(combined(draw(p.vectors), draw(p.vectors)));
      } else if (kind == 13) {
        p.add(ops::reduce_max(draw_matrix(p), kBoth));
      } else if (kind == 14) {
        p.add(combined(draw(p.numbers), draw(p.numbers)));
      } else if (kind == 15) {
        ordered(p);
      } else if (kind < 18) {
        branch(p, depth);
      } else if (kind == 18) {
        scan(p, depth);
      } else {
        while_loop(p, depth);
      }
    }
  }
  void arithmetic(Pool& p, int kind) {
    const Val a = draw_matrix(p);
    if (kind < 3) {
      p.add(combined(a, draw_matrix(p)));
    } else {
      p.add(kind == 3 ? ops::reverse(a, axis()) : ops::transpose(a, kSwap));
    }
  }
  void mixed_ranks(Pool& p, int kind) {
    const Val a = draw_matrix(p);
    if (kind == 5) {
      const Val b = draw_matrix(p);
      const std::array<Val, 2> parts{ops::slice_axis(a, 0, 1, n_), ops::slice_axis(b, 0, 0, 1)};
      p.add(ops::concatenate(parts, 0));
    } else if (kind == 6) {
      p.add(below(2) ? ops::reduce_sum(a, axis())
                     : ops::reduce_min(combined(a, draw_matrix(p)), axis()));
    } else {
      const std::vector<Dim> shape{n_, n_};
      const Val v = draw(p.vectors);
      p.add(combined(a, ops::broadcast_in_dim(v, shape, axis())));
    }
  }
  void indexed(Pool& p, int kind) {
    const Val a = draw_matrix(p);
    const Val places = ops::convert(draw(p.vectors), DType::i32);
    const auto mode = below(2) ? OutOfBounds::clip : OutOfBounds::fill;
    if (kind < 10) {
      const std::array<Val, 2> starts{ops::convert(draw(p.numbers), DType::i32),
                                      ops::scalar_int(0, DType::i32)};
      const std::vector<Dim> row{1, n_}, flat{n_};
      if (kind == 8) {
        p.add(ops::reshape(ops::dynamic_slice(a, starts, row), flat));
      } else {
        p.add(ops::dynamic_update_slice(a, ops::reshape(draw(p.vectors), row), starts));
      }
    } else if (kind == 10) {
      p.add(ops::take(a, places, 0, mode));
    } else {
      constexpr std::array kUpdates{Update::set, Update::add, Update::max};
      p.add(ops::scatter_at(a, places, draw_matrix(p), 0,
                            kUpdates[static_cast<std::size_t>(below(3))], mode));
    }
  }

  void ordered(Pool& p) {
    const Val a = draw_matrix(p);
    const int along = below(2);
    const ops::Running running{.reverse = below(2) != 0, .exclusive = below(2) != 0};
    switch (below(7)) {
      case 0:
        return p.add(ops::convert(ops::argmax(a, along), t_));
      case 1:
        return p.add(ops::convert(ops::argmin(a, along), t_));
      case 2:
        return p.add(ops::reshape(ops::top_k(a, 1).values, std::vector<Dim>{n_}));
      case 3:
        return p.add(ops::cumsum(a, along, running));
      case 4:
        return p.add(ops::cumprod(a, along, running));
      case 5:
        return p.add(ops::cummax(a, along, running));
      default: {
        const std::array<Val, 2> operands{a, draw_matrix(p)};
        for (Val v : ops::sort(operands, along, 1 + below(2), below(2) != 0)) p.add(v);
      }
    }
  }

  // ---- regions ----
  void branch(Pool& p, int depth) {
    const Vals args{draw_matrix(p), draw_matrix(p), draw(p.vectors), draw(p.numbers)};
    const std::vector<Type> types{matrix(), matrix(), vector(), number()};
    const int matrices = 1 + below(2);
    std::vector<ir::Region> arms;
    for (int k = 0; k < 2; ++k) {
      arms.push_back(ir::make_region(graph_of(types,
                                              [&](const Vals& q) {
                                                Pool inner;
                                                for (Val v : q) inner.add(v);
                                                grow(inner, below(4), depth - 1);
                                                Vals r;
                                                for (int i = 0; i < matrices; ++i) {
                                                  r.push_back(draw_matrix(inner));
                                                }
                                                r.push_back(draw(inner.vectors));
                                                return r;
                                              }),
                                     {}));
    }
    std::vector<Type> results(static_cast<std::size_t>(matrices), matrix());
    results.push_back(vector());
    const Val limit = draw(p.numbers) + ops::scalar_int(below(3) - 1, t_);
    // Some results are left unread.
    for (Val v : ir::emit_if(draw(p.numbers) < limit, args, std::move(arms), results).out) {
      if (below(4)) p.add(v);
    }
  }
  void scan(Pool& p, int depth) {
    ir::ScanParts parts;
    parts.inv = {draw_matrix(p), draw(p.numbers)};
    for (int k = 1 + below(3); k > 0; --k) parts.init.push_back(draw_matrix(p));
    if (below(2)) parts.init.push_back(draw(p.numbers));
    parts.xs = {draw_matrix(p), draw(p.vectors)};
    parts.length = n_;
    parts.reverse = below(2) != 0;
    std::vector<Type> types{matrix(), number()};
    for (Val v : parts.init) types.push_back(v.type());
    types.push_back(vector());
    types.push_back(number());
    parts.body = graph_of(types, [&](const Vals& q) {
      Pool inner;
      for (Val v : q) inner.add(v);
      grow(inner, below(6), depth - 1);
      Vals r;
      for (Val v : parts.init)
        r.push_back(v.rank() == 2 ? draw_matrix(inner) : draw(inner.numbers));
      r.push_back(draw(inner.vectors));
      r.push_back(below(2) ? r.back() : draw(inner.vectors));
      return r;
    });
    parts.append = {ir::Append{}, ir::Append{}};
    for (Val v : ir::emit_scan(std::move(parts)).out) p.add(v);
  }
  void while_loop(Pool& p, int depth) {
    ir::WhileParts parts;
    parts.inv = {draw_matrix(p)};
    parts.init = {ops::scalar_int(below(4), t_), draw_matrix(p), draw_matrix(p), draw(p.vectors)};
    const std::vector<Type> types{matrix(), number(), matrix(), matrix(), vector()};
    parts.cond =
        graph_of(types, [&](const Vals& q) -> Vals { return {ops::scalar_int(0, t_) < q[1]}; });
    parts.body = graph_of(types, [&](const Vals& q) -> Vals {
      Pool inner;
      for (Val v : q) inner.add(v);
      grow(inner, below(6), depth - 1);
      const Val first = draw_matrix(inner), second = draw_matrix(inner);
      return {q[1] - ops::scalar_int(1, t_), first, below(4) ? second : q[2], draw(inner.vectors)};
    });
    const Vals out = ir::emit_while(std::move(parts)).out;
    for (std::size_t k = 1; k < 4; ++k) p.add(out[k]);
  }

  std::mt19937_64 bits_;
  Dim n_ = 0;
  DType t_ = DType::i32;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed) { return Maker(seed).run(); }

std::vector<HostArray> random_arguments(const RandomGraph& g, std::int64_t size,
                                        std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<HostArray> r;
  for (const Extents& e : {Extents{size, size}, Extents{size, size}, Extents{size}, Extents{}}) {
    HostArray a(g.dtype, e);
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const int x = static_cast<int>(bits() % 9) - 3;
      if (g.dtype == DType::i32) {
        a.as_mutable<std::int32_t>()[static_cast<std::size_t>(i)] = x;
      } else {
        a.as_mutable<float>()[static_cast<std::size_t>(i)] =
            x == -3 ? -0.0F : static_cast<float>(x);
      }
    }
    r.push_back(std::move(a));
  }
  return r;
}

}  // namespace tlaloc::testing
