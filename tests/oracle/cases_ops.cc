// Primitives and activations.
#include <array>
#include <limits>

#include "tests/oracle/golden_case.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using Axes = std::vector<std::int64_t>;
using One = Val (*)(Val);
using Two = Val (*)(Val, Val);

/// `name` and `name/edges`.
template <class F>
void with_edges(GoldenCases& cases, const std::string& name, F f) {
  const Body body = [f](const Vals& p) {
    if constexpr (std::is_invocable_v<F, Val>)
      return Vals{f(p[0])};
    else
      return Vals{f(p[0], p[1])};
  };
  cases.add(name, body);
  cases.add(name + "/edges", body);
}

void unary(GoldenCases& cases) {
  const std::pair<const char*, One> ops[] = {
      {"neg", ops::neg},
      {"abs", ops::abs},
      {"sign", ops::sign},
      {"ceil", ops::ceil},
      {"floor", ops::floor},
      {"round", ops::round},
      {"round_even", ops::round_even},
      {"exp", ops::exp},
      {"expm1", ops::expm1},
      {"log", ops::log},
      {"log1p", ops::log1p},
      {"sqrt", ops::sqrt},
      {"rsqrt", ops::rsqrt},
      {"cbrt", ops::cbrt},
      {"logistic", ops::logistic},
      {"tanh", ops::tanh},
      {"sin", ops::sin},
      {"cos", ops::cos},
      {"tan", ops::tan},
      {"asin", ops::asin},
      {"acos", ops::acos},
      {"atan", ops::atan},
      {"sinh", ops::sinh},
      {"cosh", ops::cosh},
      {"asinh", ops::asinh},
      {"acosh", ops::acosh},
      {"atanh", ops::atanh},
      {"erf", ops::erf},
      {"erfc", ops::erfc},
      {"erf_inv", ops::erf_inv},
      {"stop_gradient", [](Val x) { return ops::stop_gradient(x) * x; }},
      {"optimization_barrier", [](Val x) { return ops::optimization_barrier(x * x); }},
      {"reduce_precision", [](Val x) { return ops::reduce_precision(x * x, 5, 10); }},
      {"convert", [](Val x) { return ops::convert(ops::convert(x * x, DType::bf16), x.dtype()); }},
      {"relu", ops::relu},
      {"relu6", ops::relu6},
      {"leaky_relu", [](Val x) { return ops::leaky_relu(x, 0.25); }},
      {"elu", [](Val x) { return ops::elu(x, 0.75); }},
      {"gelu", ops::gelu},
      {"gelu_tanh", ops::gelu_tanh},
      {"silu", ops::silu},
      {"softplus", ops::softplus},
      {"log_sigmoid", ops::log_sigmoid},
      {"hard_sigmoid", ops::hard_sigmoid},
      {"hard_swish", ops::hard_swish},
      {"mish", ops::mish},
  };
  for (const auto& [name, f] : ops) with_edges(cases, name, f);
  for (const char* name : {"tanh/rank 0", "tanh/empty"}) {
    cases.add(name, [](const Vals& p) { return Vals{ops::tanh(p[0])}; });
  }
  for (int k = -2; k <= 3; ++k) {
    with_edges(cases, "integer_pow " + std::to_string(k),
               [k](Val x) { return ops::integer_pow(x, k); });
  }
}

void binary(GoldenCases& cases) {
  const std::pair<const char*, Two> ops[] = {
      {"add", ops::add}, {"sub", ops::sub}, {"mul", ops::mul},
      {"div", ops::div}, {"rem", ops::rem}, {"pow", ops::pow},
      {"max", ops::max}, {"min", ops::min}, {"atan2", ops::atan2},
  };
  for (const auto& [name, f] : ops) with_edges(cases, name, f);
  cases.add("select",
            [](const Vals& p) { return Vals{ops::select(p[0], p[1] * p[1], p[2] * p[1])}; });
  cases.add("select/not taken", [](const Vals& p) {
    const Val zero = ops::zeros_like(p[0]);
    return Vals{ops::select(p[0] > zero, ops::log(p[0]), zero)};
  });
  for (const char* name : {"clamp", "clamp/edges"}) {
    cases.add(name, [](const Vals& p) { return Vals{ops::clamp(p[0], p[1], p[2])}; });
  }
}

void shapes(GoldenCases& cases) {
  using Dims = std::vector<Dim>;
  cases.add("broadcast_in_dim", [](const Vals& p) {
    return Vals{ops::broadcast_in_dim(p[0], Dims{2, 4, 3}, Axes{0, 2})};
  });
  cases.add("reshape", [](const Vals& p) { return Vals{ops::reshape(p[0] * p[0], Dims{3, 2})}; });
  cases.add("transpose",
            [](const Vals& p) { return Vals{ops::transpose(p[0] * p[0], Axes{2, 0, 1})}; });
  cases.add("reverse", [](const Vals& p) { return Vals{ops::reverse(p[0] * p[0], Axes{0, 1})}; });
  cases.add("slice", [](const Vals& p) {
    return Vals{ops::slice(p[0], Dims{1, 0}, Dims{5, 3}, Dims{2, 2})};
  });
  cases.add("pad", [](const Vals& p) {
    return Vals{ops::pad(p[0] * p[0], p[1], Dims{-1, 0}, Dims{1, 2}, Dims{0, 1})};
  });
  cases.add("concatenate",
            [](const Vals& p) { return Vals{ops::concatenate(Vals{p[0] * p[0], p[1]}, 1)}; });
  cases.add("dynamic_slice/clamped", [](const Vals& p) {
    return Vals{ops::dynamic_slice(p[0] * p[0], Vals{p[1], p[2]}, Dims{1, 2})};
  });
  cases.add("dynamic_update_slice/clamped", [](const Vals& p) {
    return Vals{ops::dynamic_update_slice(p[0], p[1] * p[1], Vals{p[2], p[3]})};
  });
}

void indexing(GoldenCases& cases) {
  using ops::OutOfBounds;
  using ops::Update;
  cases.add("gather", [](const Vals& p) { return Vals{ops::take(p[0] * p[0], p[1], 1)}; });
  cases.add("gather/clip", [](const Vals& p) { return Vals{ops::take(p[0] * p[0], p[1], 0)}; });
  cases.add("gather/fill",
            [](const Vals& p) { return Vals{ops::take(p[0] * p[0], p[1], 0, OutOfBounds::fill)}; });
  const std::pair<const char*, Update> updates[] = {{"set", Update::set},
                                                    {"add", Update::add},
                                                    {"multiply", Update::mul},
                                                    {"min", Update::min},
                                                    {"max", Update::max}};
  for (const auto& [name, update] : updates) {
    const Body body = [update = update](const Vals& p) {
      return Vals{ops::scatter_at(p[0], p[2], p[1] * p[1], 0, update, OutOfBounds::fill)};
    };
    cases.add(std::string("scatter ") + name, body);
    if (update != Update::mul) {
      cases.add(std::string("scatter ") + name + "/duplicates, outside", body);
    }
  }
}

void reductions(GoldenCases& cases) {
  const std::pair<const char*, Val (*)(Val, std::span<const std::int64_t>)> ops[] = {
      {"reduce_sum", ops::reduce_sum},
      {"reduce_prod", ops::reduce_prod},
      {"reduce_max", ops::reduce_max},
      {"reduce_min", ops::reduce_min},
      {"mean", ops::mean}};
  for (const auto& [name, f] : ops) {
    cases.add(name, [f = f](const Vals& p) { return Vals{f(p[0], Axes{0, 2})}; });
    cases.add(std::string(name) + "/edges",
              [f = f](const Vals& p) { return Vals{f(p[0], Axes{1})}; });
  }
  cases.add("reduce_sum/empty", [](const Vals& p) { return Vals{ops::reduce_sum(p[0], Axes{1})}; });
  cases.add("reduce_prod/empty",
            [](const Vals& p) { return Vals{ops::reduce_prod(p[0], Axes{1})}; });
  for (const char* zeros : {"one zero", "two zeros"}) {
    cases.add(std::string("reduce_prod/") + zeros,
              [](const Vals& p) { return Vals{ops::reduce_prod(p[0], Axes{0})}; });
  }
  cases.add("reduce", [](const Vals& p) {
    const Type t = Type::scalar(p[0].dtype());
    const GraphRef mix = graph_of(
        {t, t}, [](const Vals& q) { return Vals{q[0] * (1 + q[1] / 4) + ops::sin(q[1])}; });
    return ops::reduce(std::array{p[0]}, std::array{p[1]}, Axes{1}, mix);
  });
  cases.add("argmax", [](const Vals& p) { return Vals{ops::argmax(p[0], 1)}; });
  cases.add("argmin", [](const Vals& p) { return Vals{ops::argmin(p[0], 1)}; });
}

void orders(GoldenCases& cases) {
  const std::pair<const char*, Val (*)(Val, int, ops::Running)> running[] = {
      {"cumsum", ops::cumsum},
      {"cumprod", ops::cumprod},
      {"cummax", ops::cummax},
      {"cummin", ops::cummin},
      {"cumlogsumexp", ops::cumlogsumexp}};
  for (const auto& [name, f] : running) {
    for (bool reverse : {false, true}) {
      cases.add(std::string(name) + (reverse ? "/reverse" : ""),
                [f = f, reverse](const Vals& p) { return Vals{f(p[0], 1, {reverse, false})}; });
    }
  }
  cases.add("cumprod/zeros", [](const Vals& p) { return Vals{ops::cumprod(p[0], 0)}; });
  cases.add("cummax/ties", [](const Vals& p) { return Vals{ops::cummax(p[0], 0)}; });
  cases.add("sort", [](const Vals& p) { return Vals{ops::sort(p[0] * p[0], 0).values}; });
  cases.add("sort/edges", [](const Vals& p) { return Vals{ops::sort(p[0], 0).values}; });
  cases.add("sort/keys",
            [](const Vals& p) { return ops::sort(Vals{p[0], p[1], p[2] * p[2]}, 0, 2); });
  cases.add("sort/comparator", [](const Vals& p) {
    const Type t = Type::scalar(p[0].dtype());
    const GraphRef larger =
        graph_of({t, t}, [](const Vals& q) { return Vals{ops::abs(q[0]) > ops::abs(q[1])}; });
    return ops::sort(p, 0, larger);
  });
  cases.add("top_k", [](const Vals& p) {
    const ops::Sorted s = ops::top_k(p[0] * p[0], 2);
    return Vals{s.values, s.positions};
  });
}

void products(GoldenCases& cases) {
  cases.add("dot_general", [](const Vals& p) {
    return Vals{ops::dot_general(
        p[0], p[1],
        {.lhs_batch = {1}, .rhs_batch = {2}, .lhs_contract = {3, 0}, .rhs_contract = {1, 3}})};
  });
  cases.add("dot_general/empty", [](const Vals& p) { return Vals{ops::matmul(p[0], p[1])}; });
  for (const char* name : {"cholesky", "cholesky/not definite"}) {
    cases.add(name, [](const Vals& p) {
      return Vals{ops::cholesky((p[0] + ops::transpose(p[0], Axes{1, 0})) / 2)};
    });
  }
  for (bool lower : {true, false}) {
    for (bool transpose : {true, false}) {
      cases.add(std::string("triangular_solve ") + (lower ? "lower" : "upper") +
                    (transpose ? " transposed" : ""),
                [=](const Vals& p) {
                  return Vals{
                      ops::triangular_solve(p[0], p[1], {.lower = lower, .transpose = transpose})};
                });
    }
  }
  cases.add("triangular_solve/singular",
            [](const Vals& p) { return Vals{ops::triangular_solve(p[0], p[1])}; });
}

void windows(GoldenCases& cases) {
  // Inputs [n, w, c], kernels [w, c, features].
  ops::ConvAttrs a = ops::plain_convolution(1);
  a.dims = {.lhs_batch = 0,
            .lhs_feature = 2,
            .lhs_spatial = {1},
            .rhs_in = 1,
            .rhs_out = 2,
            .rhs_spatial = {0},
            .out_batch = 0,
            .out_feature = 2,
            .out_spatial = {1}};
  auto add = [&](const char* name) {
    cases.add(name, [a](const Vals& p) { return Vals{ops::convolution(p[0], p[1], a)}; });
  };
  a.lhs_dilation = {2}, a.low = {1}, a.high = {2};
  add("conv1d transposed");
  a.strides = {2}, a.lhs_dilation = {3}, a.rhs_dilation = {2}, a.low = {-1}, a.high = {2};
  add("convolution/dilated");

  const ops::Window w{{2, 2}, {1, 2}, {1, 0}, {0, 1}, {1, 1}, {1, 1}};
  using ops::Monoid;
  const std::pair<const char*, Monoid> monoids[] = {{"reduce_window sum", Monoid::sum},
                                                    {"reduce_window max", Monoid::max},
                                                    {"reduce_window max/ties", Monoid::max},
                                                    {"reduce_window min", Monoid::min}};
  for (const auto& [name, monoid] : monoids) {
    cases.add(name,
              [w, m = monoid](const Vals& p) { return Vals{ops::reduce_window(p[0], m, w)}; });
  }
}

/// See docs/numerics.md for each.
void differences(GoldenCases& cases) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  cases["abs/edges"].own = {
      {"jvp0", {0, 1}, 0}, {"vjp0", {0, 1}, 0}, {"jvp0", {6}, kNan}, {"vjp0", {6}, kNan}};
  cases["acosh/edges"].nan_with_value = true;
  cases["rem/edges"].nan_with_value = true;
  // NaN passes its tangent on.
  cases["relu/edges"].own = {{"jvp0", {6}, -0.75}, {"vjp0", {6}, -0.125}};
  cases["relu6/edges"].own = {{"jvp0", {6}, -1}, {"vjp0", {6}, 1}};
  cases["hard_sigmoid/edges"].own = {{"jvp0", {6}, -0.0625}, {"vjp0", {6}, 0.0625}};
  cases["pow/edges"].own = {{"jvp0", {0, 1, 9, 10}, 0}, {"vjp0", {0, 1, 9, 10}, 0}};
  cases["select/not taken"].own = {{"vjp0", {1}, 0}};
  cases["clamp/edges"].own = {{"jvp0", {4}, 1}, {"vjp2", {4}, 0.5}};
  cases["cummax/ties"].own = {{"jvp0", {2, 3}, 0.375}, {"vjp0", {1}, 0.25}, {"vjp0", {2}, 0}};
  // The factor above the diagonal is 0, but a product of matrices spreads NaN.
  cases["cholesky/not definite"].own = {{"jvp0", {1}, kNan}};
}

}  // namespace

void op_goldens(GoldenCases& cases) {
  unary(cases);
  binary(cases);
  shapes(cases);
  indexing(cases);
  reductions(cases);
  orders(cases);
  products(cases);
  windows(cases);
  differences(cases);
}

}  // namespace tlaloc::testing
