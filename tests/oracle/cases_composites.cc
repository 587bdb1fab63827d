// What users call: the typed API, traced to its program.
#include <tuple>

#include "tests/oracle/golden_case.h"
#include "tlaloc/lang/graph_of.h"
#include "tlaloc/lang/mesh.h"
#include "tlaloc/tlaloc.h"

namespace tlaloc::testing {
namespace {

template <class>
struct Zeros;
template <class T, auto... D>
struct Zeros<Tensor<T, D...>> {
  static Tensor<T, D...> value() { return zeros<T, D...>(); }
};
template <class F, class R, class... A>
std::string program(const F& f, R (F::*)(A...) const) {
  return tlaloc::graph_of(f)(Zeros<std::remove_cvref_t<A>>::value()...);
}

using Ids = std::int64_t;

/// The cases in one real type.
template <class T>
class Composites {
 public:
  explicit Composites(GoldenCases& cases) : cases_(cases) {}
  void all() {
    shapes();
    orders();
    creation();
    statistics();
    products();
    windows();
    networks();
    attention();
    collectives();
  }

 private:
  template <class F>
  void add(const char* name, F f) {
    cases_.add(name, dtype_of<T>, [f] { return program(f, &F::operator()); });
  }
  template <auto... D>
  using X = Tensor<T, D...>;

  void shapes() {
    add("where", [](X<2, 3> x, X<3> y) { return where(x > y, x, y); });
    add("clip", [](X<6> x) { return clip(x, -0.5, 1.0); });
    add("take_along_axis",
        [](X<2, 3> x, Tensor<Ids, 2, 4> i) { return take_along_axis<1>(x * x, i); });
    add("flip", [](X<2, 3> x) { return flip<1>(x * x); });
    add("roll", [](X<2, 3> x) { return roll<1>(x * x, 2); });
    add("repeat", [](X<2, 3> x) { return repeat<1, 2>(x * x); });
    add("tile", [](X<2, 2> x) { return tile<2, 3>(x * x); });
    add("split", [](X<2, 4> x) {
      const auto [a, b] = split<1, 2>(x);
      return std::tuple(a * a, b * b);
    });
    add("stack", [](X<3> x, X<3> y) { return stack<1>(x * y, y); });
    add("meshgrid", [](X<2> x, X<3> y) {
      return std::tuple(broadcast_to<2, 3>(expand<-1>(x * x)), broadcast_to<2, 3>(y));
    });
    add("diag", [](X<3> x) { return eye<T, 3, 3>() * (x * x); });
    add("diagonal", [](X<3, 3> x) { return sum<1>(eye<T, 3, 3>() * x * x); });
    add("tril", [](X<3, 3> x) { return tril(x * x); });
    add("triu", [](X<3, 3> x) { return triu<1>(x * x); });
  }

  void orders() {
    add("argsort", [](X<2, 4> x) { return argsort<1>(x); });
    add("sort_together",
        [](Tensor<Ids, 3, 2> k, X<3, 2> x, X<3, 2> y) { return sort_together<0, 2>(k, x * x, y); });
    add("sort_by", [](X<6> x, X<6> y) {
      const auto [u, v] = sort_by(
          [](std::tuple<X<>, X<>> a, std::tuple<X<>, X<>> b) {
            const auto p = abs(std::get<0>(a)), q = abs(std::get<0>(b));
            return p > q || (p == q && std::get<1>(a) < std::get<1>(b));
          },
          std::tuple(x, y));
      return std::tuple(u * u, v);
    });
    add("reduce/tuple", [](X<2, 3> x, X<2, 3> y) {
      const auto best = [](std::tuple<X<>, X<>> a, std::tuple<X<>, X<>> b) {
        const auto wins = std::get<0>(b) > std::get<0>(a);
        return std::tuple(select(wins, std::get<0>(b), std::get<0>(a)),
                          select(wins, std::get<1>(b), std::get<1>(a)));
      };
      return reduce<1>(best, std::tuple(T(-1), T(0)), std::tuple(x * x, y));
    });
  }

  void creation() {
    add("eye", [](X<2, 3> x) { return eye<T, 2, 3, 1>() * x; });
    add("tri", [](X<2, 3> x) { return tril<1>(ones<T, 2, 3>()) * x; });
    add("arange", [](X<4> x) { return arange<4, T>() * x + 0.5; });
    add("linspace", [](X<> x, X<> y) { return linspace<5, T>(x, y); });
    add("one_hot", [](Tensor<Ids, 3> i, X<3, 3> x) { return one_hot<3, T>(i) * x; });
  }

  void statistics() {
    add("var", [](X<2, 4> x) { return var<1>(x, {}, 1); });
    add("std", [](X<2, 4> x) { return stddev<1>(x); });
    add("norm", [](X<2, 3> x) { return norm<1>(x); });
    add("norm/zero", [](X<2> x) { return norm(x); });
    add("logsumexp", [](X<2, 4> x) { return logsumexp<1>(x); });
    add("logsumexp/edges", [](X<4, 3> x) { return logsumexp<1>(x); });
  }

  void products() {
    add("matmul", [](X<2, 3> x, X<3, 2> y) { return matmul(x, y); });
    add("einsum", [](X<2, 3> x, X<3, 2> y, X<2> z) { return einsum<"ij,jk,k->ik">(x, y, z); });
    add("inner", [](X<2, 3> x, X<2, 3> y) { return inner(x, y); });
    add("outer", [](X<2> x, X<3> y) { return outer(x, y); });
    add("tensordot", [](X<2, 3, 2> x, X<3, 2, 2> y) { return tensordot<2>(x, y); });
  }

  void windows() {
    add("conv1d", [](X<2, 5, 2> x, X<3, 2, 2> k) { return conv1d<2, 1>(x, k); });
    add("conv1d/same", [](X<1, 5, 1> x, X<2, 1, 2> k) { return conv1d<2, same_padding>(x, k); });
    add("conv2d", [](X<1, 4, 3, 2> x, X<2, 2, 2, 2> k) { return conv2d<1, 0, 2>(x, k); });
    add("conv2d/groups", [](X<1, 3, 2, 4> x, X<2, 1, 2, 4> k) { return conv2d<1, 0, 1, 2>(x, k); });
    add("conv3d", [](X<1, 2, 3, 2, 1> x, X<2, 2, 1, 1, 2> k) { return conv3d(x, k); });
    add("max_pool", [](X<1, 3, 4, 2> x) { return max_pool<2, 1>(x); });
    add("max_pool/same", [](X<1, 5, 2> x) { return max_pool<3, 2, same_padding>(x); });
    add("reduce_window prod", [](X<3, 4> x) {
      return reduce_window<Window{.size = 2, .low = 1}, Window{.size = 2, .stride = 2, .high = 1}>(
          [](X<> a, X<> b) { return a * b; }, 1, x);
    });
    add("reduce_window/any function", [](X<2, 5> x) {
      return reduce_window<Window{.size = 2, .low = 1},
                           Window{.size = 2, .stride = 2, .high = 1, .dilation = 3}>(
          [](X<> a, X<> b) { return a * (1 + b / 4) + sin(b); }, 0, x);
    });
    add("avg_pool", [](X<1, 6, 2> x) { return avg_pool<2>(x); });
    add("avg_pool/same", [](X<1, 3, 4, 1> x) { return avg_pool<3, 2, same_padding>(x); });
  }

  void networks() {
    add("softmax", [](X<2, 4> x) { return softmax<1>(x); });
    add("softmax/edges", [](X<4, 3> x) { return softmax<1>(x); });
    add("log_softmax", [](X<2, 4> x) { return log_softmax<1>(x); });
    add("log_softmax/edges", [](X<3, 3> x) { return log_softmax<1>(x); });
    add("cross_entropy", [](X<3, 4> x, Tensor<Ids, 3> i) { return cross_entropy(x, i); });
    add("layer_norm", [](X<2, 4> x, X<4> s, X<4> b) { return layer_norm(x, s, b, kEpsilon); });
    add("rms_norm", [](X<2, 4> x, X<4> s) { return rms_norm(x, s, kEpsilon); });
    add("batch_norm", [](X<4, 2> x, X<2> s, X<2> b) {
      return (x - mean<0>(x)) * rsqrt(var<0>(x) + kEpsilon) * s + b;
    });
    add("swiglu", [](X<5> g, X<5> u) { return swiglu(g, u); });
    add("rope", [](X<3, 4> x, Tensor<Ids, 3> at) { return rope(x, at); });
    add("rope/interleaved", [](X<3, 4> x, Tensor<Ids, 3> at) { return rope(x, at, 10000, true); });
  }

  void attention() {
    using Q = X<2, 3, 4>;
    add("attention", [](Q q, Q k, Q v) { return tlaloc::attention(q, k, v); });
    add("attention/causal",
        [](Q q, Q k, Q v) { return tlaloc::attention(q, k, v, {.causal = true}); });
    add("attention/causal, more keys", [](Q q, X<2, 5, 4> k, X<2, 5, 2> v) {
      return tlaloc::attention(q, k, v, {.causal = true});
    });
    add("attention/grouped queries", [](X<4, 3, 2> q, X<2, 3, 2> k, X<2, 3, 2> v) {
      return tlaloc::attention(q, k, v, {.causal = true, .scale = 0.75});
    });
    add("attention/window",
        [](Q q, Q k, Q v) { return tlaloc::attention(q, k, v, {.causal = true, .window = 2}); });
    add("attention/mask", [](Q q, Q k, Q v, Tensor<bool, 2, 3, 3> mask) {
      return tlaloc::attention(q, k, v, {}, mask);
    });
    add("attention/bias",
        [](Q q, Q k, Q v, X<2, 3, 3> bias) { return tlaloc::attention(q, k, v, {}, bias); });
    add("attention/soft cap", [](Q q, Q k, Q v) {
      return tlaloc::attention(q, k, v, {.causal = true, .soft_cap = 0.5});
    });
  }

  void collectives() {
    constexpr MeshAxis<struct Data> kData;
    add("all_reduce sum", [=](X<2, 3> x) { return all_reduce(x * x, kData); });
    add("all_gather", [=](X<2, 3> x) { return all_gather<1>(x * x, kData); });
    constexpr Mesh kMesh(kData);
    add("sharding_constraint",
        [=](X<2, 3> x) { return with_sharding(x * x, sharding(kMesh, kData, whole)); });
    add("reduce_scatter", [=](X<2, 3> x) { return reduce_scatter<0>(x * x, kData); });
  }

  static constexpr double kEpsilon = 0x1p-10;
  GoldenCases& cases_;
};

}  // namespace

void composite_goldens(GoldenCases& cases) {
  Composites<double>(cases).all();
  Composites<float>(cases).all();
  cases["attention/bias"].cancels = true;
  // See docs/numerics.md.
  cases["norm/zero"].own = {{"jvp0", {0}, 0}, {"vjp0", {0, 1}, 0}};
  cases["logsumexp/edges"].own = {{"jvp0", {3}, 0}, {"vjp0", {9, 10, 11}, 0}};
  for (const char* key : {"out0", "jvp0", "vjp0", "vmap0"}) {
    cases["softmax/edges"].own.push_back({key, {9, 10, 11}, 0});
  }
}

}  // namespace tlaloc::testing
