// Scans of known length, and one program without a loop.
#include "tests/transform/programs.h"

namespace tlaloc::testing {
namespace {

using namespace ops;  // NOLINT: the vocabulary

/// x · logistic(x), spelled out so that the cut has something to choose from.
Val silu(Val x) { return sum(x * (1.0 / (1.0 + exp(-x)))); }
Val rnn(Val w, Val h, Val xs) {
  const LoopResult r = scan({h}, {xs}, [&](const Vals& c) {
    const Val next = sin(matvec(w, c[0]) + c[1]);
    return Vals{next, sum(next * next)};
  });
  return sum(r.ys[0]) + sum(r.carries[0]);
}
Val scan_reverse(Val a) {
  const LoopResult r = scan(
      {real(0.5)}, {a}, [](const Vals& c) { return Vals{sin(c[0]) * c[1] + 0.1, c[0] * c[1]}; },
      std::nullopt, true);
  return r.carries[0] + dot(r.ys[0], a);
}
/// The last starts are clamped where the scan is as long as the array.
Val windows(Val a, Dim length) {
  return fors(length, real(0.2), [&](Val i, Val s) { return s + sin(sum(window(a, i, 3)) * s); });
}
Val histogram(Val x, Val idx) {
  const Val h = fors(x.dim(0), zeros(f64({4})), [&](Val i, Val bins) {
    return add_at(bins, at(idx, i), at(x, i) * at(x, i));
  });
  return sum(sin(h) * h);
}

}  // namespace

void add_scan_programs(std::vector<Program>& to) {
  const Symbol n = Symbol::fresh("n");
  const HostArray a = reals({0.91, 0.47, 0.26, 0.85});
  const HostArray w = reals({0.1, -0.5, 0.7, 0.6, 0.2, -0.3, -0.2, 0.8, 0.4}, {3, 3});
  auto add = [&](const char* name, const std::vector<Type>& types, std::vector<HostArray> args,
                 const Body& f) {
    to.push_back({name, graph_of(types, f, name), std::move(args)});
  };
  add("silu", {f64({n})}, {a}, [](const Vals& p) { return Vals{silu(p[0])}; });
  const Symbol h = Symbol::fresh("h");
  add("rnn", {f64({h, h}), f64({h}), f64({n, h})},
      {w, reals({0.1, -0.5, 0.7}),
       reals({0.3, -0.8, 0.5, 0.9, 0.2, -0.4, -0.6, 0.1, 0.7, 0.4, -0.2, 0.6}, {4, 3})},
      [](const Vals& p) { return Vals{rnn(p[0], p[1], p[2])}; });
  add("scan_reverse", {f64({n})}, {a}, [](const Vals& p) { return Vals{scan_reverse(p[0])}; });
  add("window", {f64({n})}, {a},
      [](const Vals& p) { return Vals{windows(p[0], p[0].dim(0) - 2)}; });
  add("clamped", {f64({n})}, {a}, [](const Vals& p) { return Vals{windows(p[0], p[0].dim(0))}; });
  add("histogram", {f64({n}), i64({n})}, {a, integers({1, 3, 1, 0})},
      [](const Vals& p) { return Vals{histogram(p[0], p[1])}; });
}

}  // namespace tlaloc::testing
