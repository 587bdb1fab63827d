// Programs over tensors, of both floating types: printed by the test, and compiled beside what was
// printed.
#pragma once

#include <tlaloc/tlaloc.h>

#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace tlaloc::testing {

inline constexpr Axis<struct Batch> batch;
inline constexpr Axis<struct Hidden, 16> hidden;

// ---- the digits example ----
template <class T>
struct Mlp {
  Tensor<T, 8, hidden> w1;
  Tensor<T, hidden> b1;
  Tensor<T, hidden, 10> w2;
  Tensor<T, 10> b2;
};
template <class T>
struct DigitsLoss {
  Tensor<T> operator()(const Mlp<T>& m, const Tensor<T, batch, 8>& x,
                       const Tensor<int, batch>& y) const {
    const auto h = relu(matmul(x, m.w1) + m.b1);
    return mean(cross_entropy(matmul(h, m.w2) + m.b2, y));
  }
};

// ---- softmax cross-entropy, spelled out ----
template <class T>
struct SoftmaxLoss {
  Tensor<T> operator()(const Tensor<T, 6, 4>& z, const Tensor<T, 6, 4>& wanted) const {
    return -sum(wanted * log_softmax<-1>(z)) / 6 + sum(softmax<0>(z) * wanted);
  }
};

// ---- one block of a transformer ----
template <class T>
struct Block {
  Tensor<T, 8, 8> q, k, v, o;
  Tensor<T, 8, 16> up;
  Tensor<T, 16, 8> down;
};
template <class T>
struct BlockLoss {
  Tensor<T> operator()(const Block<T>& m, const Tensor<T, 5, 8>& x) const {
    const auto n = rms_norm(x);
    const auto h = x + matmul(attention(matmul(n, m.q), matmul(n, m.k), matmul(n, m.v)), m.o);
    const auto y = h + matmul(gelu_tanh(matmul(h, m.up)), m.down);
    return mean(y * y);
  }
};

// ---- a recurrent network ----
template <class T>
struct Rnn {
  Tensor<T, 3, 4> w;
  Tensor<T, 4, 4> u;
  Tensor<T, 4> b;
};
template <class T>
struct RnnLoss {
  Tensor<T> operator()(const Rnn<T>& m, const Tensor<T, 7, 3>& xs) const {
    const auto [h, ys] = scan(
        [&](const Tensor<T, 4>& state, const Tensor<T, 3>& x) {
          const Tensor<T, 4> next = tanh(matmul(x, m.w) + matmul(state, m.u) + m.b);
          return std::pair(next, sum(next * next));
        },
        zeros<T, 4>(), xs);
    return sum(ys) + sum(h);
  }
};

// ---- a convolutional network ----
template <class T>
struct Net {
  Tensor<T, 3, 3, 1, 4> k1;
  Tensor<T, 2, 2, 4, 5> k2;
  Tensor<T, 5> bias;
};
template <class T>
struct NetLoss {
  Tensor<T> operator()(const Net<T>& m, const Tensor<T, 2, 8, 8, 1>& x) const {
    const auto h = silu(conv2d<1, 1>(x, m.k1));
    const auto y = sum<1, 2>(conv2d<2>(h, m.k2)) + m.bias;
    return mean(y * y);
  }
};

// ---- control flow: a branch and a loop of unknown length ----
template <class T>
struct Iterated {
  Tensor<T, 3> operator()(const Tensor<T, 3, 3>& a, const Tensor<T, 3>& x) const {
    const auto grown = while_loop([](const Tensor<T, 3>& v) { return sum(v * v) < 100; },
                                  [&](const Tensor<T, 3>& v) { return matmul(a, v) + v; }, x);
    return cond(sum(grown) > 0, [&] { return grown * 2; }, [&] { return grown - x; });
  }
};

// ---- tuples in structs in vectors, and a large array that is captured ----
template <class T>
struct Layer {
  std::pair<Tensor<T, 4, 4>, Tensor<T, 4>> affine;
  std::array<Tensor<T, 4>, 2> scales;
};
template <class T>
struct Tower {
  std::vector<Layer<T>> layers;
  std::tuple<Tensor<T, 4>> last;
};
template <class T>
struct TowerLoss {
  Tensor<T, 20, 20> captured;
  Tensor<T> operator()(const Tower<T>& m,
                       const std::tuple<Tensor<T, 20, 4>, Tensor<T, 4>>& in) const {
    Tensor<T, 20, 4> h = matmul(captured, std::get<0>(in));
    for (const Layer<T>& l : m.layers) {
      h = tanh(matmul(h, l.affine.first) + l.affine.second) * l.scales[0] + l.scales[1];
    }
    return mean(h * std::get<0>(m.last) * std::get<1>(in));
  }
};
/// Of the same names as the argument, and of other types.
template <class T>
struct Pair {
  Tensor<T, 20, 4> a;
  Tensor<T, 4> b;
};
template <class T>
struct Sums {
  Tensor<T, 4> a;
  Tensor<T> b;
};
template <class T>
struct PairSums {
  Sums<T> operator()(const Pair<T>& p) const { return {sum<0>(p.a), sum(p.b)}; }
};

/// Values of either sign, all different.
template <class R>
R values(int seed) {
  using T = typename R::element_type;
  std::size_t count = 1;
  for (const auto& axis : R::axes())
    count *= axis.size < 0 ? 3 : static_cast<std::size_t>(axis.size);
  std::vector<T> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::sin(static_cast<double>(i + 1) * 12.9898 + seed * 78.233) * 0.7;
    v[i] = static_cast<T>(std::is_integral_v<T> ? static_cast<double>(i % 10) : x);
  }
  return R::from(v);
}
template <class T>
Mlp<T> mlp() {
  return {values<Tensor<T, 8, hidden>>(1), values<Tensor<T, hidden>>(2),
          values<Tensor<T, hidden, 10>>(3), values<Tensor<T, 10>>(4)};
}
template <class T>
Block<T> block() {
  using M = Tensor<T, 8, 8>;
  return {values<M>(1),
          values<M>(2),
          values<M>(3),
          values<M>(4),
          values<Tensor<T, 8, 16>>(5),
          values<Tensor<T, 16, 8>>(6)};
}
template <class T>
Rnn<T> network() {
  return {values<Tensor<T, 3, 4>>(1), values<Tensor<T, 4, 4>>(2), values<Tensor<T, 4>>(3)};
}
template <class T>
Net<T> net() {
  return {values<Tensor<T, 3, 3, 1, 4>>(1), values<Tensor<T, 2, 2, 4, 5>>(2),
          values<Tensor<T, 5>>(3)};
}

// ---- the programs: a function and its arguments ----
template <class T>
struct Digits {
  static auto function() { return grad(DigitsLoss<T>{}); }
  static auto arguments() {
    return std::tuple(mlp<T>(), values<Tensor<T, batch, 8>>(5), values<Tensor<int, batch>>(0));
  }
};
template <class T>
struct Softmax {
  static auto function() { return grad(SoftmaxLoss<T>{}); }
  static auto arguments() {
    return std::tuple(values<Tensor<T, 6, 4>>(1), values<Tensor<T, 6, 4>>(2));
  }
};
template <class T>
struct Attention {
  static auto function() { return grad(BlockLoss<T>{}); }
  static auto arguments() { return std::tuple(block<T>(), values<Tensor<T, 5, 8>>(7)); }
};
template <class T>
struct Recurrent {
  static auto function() { return grad(RnnLoss<T>{}); }
  static auto arguments() { return std::tuple(network<T>(), values<Tensor<T, 7, 3>>(4)); }
};
template <class T>
struct Convolutional {
  static auto function() { return grad(NetLoss<T>{}); }
  static auto arguments() { return std::tuple(net<T>(), values<Tensor<T, 2, 8, 8, 1>>(4)); }
};
template <class T>
struct Control {
  static auto function() { return Iterated<T>{}; }
  static auto arguments() {
    return std::tuple(values<Tensor<T, 3, 3>>(1), values<Tensor<T, 3>>(2));
  }
};

template <class T>
struct Nested {
  static Tensor<T, 20, 20> captured() { return values<Tensor<T, 20, 20>>(9); }
  static auto function() { return grad(TowerLoss<T>{captured()}); }
  static auto arguments() {
    auto layer = [](int seed) {
      return Layer<T>{{values<Tensor<T, 4, 4>>(seed), values<Tensor<T, 4>>(seed + 1)},
                      {values<Tensor<T, 4>>(seed + 2), values<Tensor<T, 4>>(seed + 3)}};
    };
    return std::tuple(Tower<T>{{layer(1), layer(5)}, {values<Tensor<T, 4>>(9)}},
                      std::tuple(values<Tensor<T, 20, 4>>(10), values<Tensor<T, 4>>(11)));
  }
  /// What the printed function takes behind the arguments.
  static auto captures() { return std::tuple(captured()); }
};
template <class T>
struct Summed {
  static auto function() { return PairSums<T>{}; }
  static auto arguments() {
    return std::tuple(Pair<T>{values<Tensor<T, 20, 4>>(1), values<Tensor<T, 4>>(2)});
  }
};

}  // namespace tlaloc::testing
