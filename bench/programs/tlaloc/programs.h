// What the programs on Tlaloc's side share: their list, inputs by type, optimizers.
#pragma once

#include <tlaloc/tlaloc.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/programs/serve.h"

namespace bench {

void mlp(std::int64_t batch);
void mlp_fixed(std::int64_t);
void mlp_sizes(std::int64_t sizes);
void cnn(std::int64_t batch);
void transformer(std::int64_t batch);
void per_example(std::int64_t batch);
void hessian(std::int64_t);
void ode(std::int64_t);
void logistic(std::int64_t examples);
void chain(std::int64_t count);
void exp_chain(std::int64_t count);
void sum(std::int64_t count);
void softmax(std::int64_t rows);
void softmax_gradient(std::int64_t rows);
void layer_norm(std::int64_t rows);
void layer_norm_gradient(std::int64_t rows);
void pendulum(std::int64_t steps);
void newton(std::int64_t roots);
void rk4(std::int64_t steps);
void nbody(std::int64_t steps);
void determinant(std::int64_t);
void lstm(std::int64_t steps);
void log_sum_exp(std::int64_t count);
void mixture(std::int64_t points);

namespace detail {
template <class>
inline constexpr std::size_t kCount = 0;
template <class T, auto... D>
inline constexpr std::size_t kCount<tl::Tensor<T, D...>> =
    (std::size_t{1} * ... * static_cast<std::size_t>(D));
}  // namespace detail

/// Fills a model's leaf, whose type has all sizes.
template <class T, auto... D>
void fill(tl::Tensor<T, D...>& x, std::uint32_t seed, double scale) {
  using X = tl::Tensor<T, D...>;
  x = X::from(uniform<T>(seed, detail::kCount<X>, scale));
}

inline constexpr float kRate = 1e-3f, kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
/// Adam as in Kingma and Ba (arXiv:1412.6980), with decay as in AdamW (arXiv:1711.05101).
template <class Model>
struct Adam {
  Model m, v;
  tl::Scalar<float> t;
};
template <class Model>
Adam<Model> adam(const Model& model) {
  const auto zeros = [](auto p) { return tl::zeros_like(p); };
  return {tl::tree_map(zeros, model), tl::tree_map(zeros, model), 0.0f};
}
template <class Model>
std::pair<Model, Adam<Model>> update(const Model& model, const Adam<Model>& s, const Model& g,
                                     float decay = 0) {
  const tl::Scalar<float> t = s.t + 1;
  const auto rate = kRate * tl::sqrt(1 - tl::pow(kBeta2, t)) / (1 - tl::pow(kBeta1, t));
  const Model m =
      tl::tree_map([](auto a, auto b) { return kBeta1 * a + (1 - kBeta1) * b; }, s.m, g);
  const Model v =
      tl::tree_map([](auto a, auto b) { return kBeta2 * a + (1 - kBeta2) * b * b; }, s.v, g);
  const Model next = tl::tree_map(
      [&](auto p, auto a, auto b) {
        const auto step = rate * a / (tl::sqrt(b) + kEpsilon);
        return decay == 0 ? p - step : (1 - kRate * decay) * p - step;
      },
      model, m, v);
  return {next, {m, v, t}};
}

/// Serves the training of a model by Adam: loss, gradient and update are one compiled step. Step i
/// takes batch i, and the last one from there on.
template <class Model, class Loss, class... Data>
void train(Model model, const Loss& loss, float decay,
           const std::vector<std::tuple<Data...>>& batches) {
  Adam<Model> state = adam(model);
  const auto step = tl::jit([=](Model m, Adam<Model> s, const Data&... batch) {
    const auto [value, gradient] = tl::value_and_grad(loss)(m, batch...);
    const auto [next, next_state] = update(m, s, gradient, decay);
    return std::tuple(value, next, next_state);
  });
  serve([&](std::int64_t i) {
    const auto& batch = batches[std::min(static_cast<std::size_t>(i), batches.size() - 1)];
    tl::Scalar<float> value;
    std::tie(value, model, state) = std::apply(
        [&](const auto&... data) { return step(std::move(model), std::move(state), data...); },
        batch);
    return static_cast<double>(value.item());
  });
}

}  // namespace bench
