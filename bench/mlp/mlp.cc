// One training step of a multi-layer perceptron 784-512-512-10 with Adam, compiled as one program.
// Prints processor time: mlp STEPS. With a number more, the batch size (128).
#include <tlaloc/tlaloc.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace {

inline constexpr tl::Axis<struct Batch> batch;

struct Mlp {
  tl::Tensor<float, 784, 512> w1;
  tl::Tensor<float, 512> b1;
  tl::Tensor<float, 512, 512> w2;
  tl::Tensor<float, 512> b2;
  tl::Tensor<float, 512, 10> w3;
  tl::Tensor<float, 10> b3;
};
using Images = tl::Tensor<float, batch, 784>;
using Labels = tl::Tensor<int, batch>;

auto loss(const Mlp& m, const Images& x, const Labels& y) {
  const auto h1 = tl::relu(tl::matmul(x, m.w1) + m.b1);
  const auto h2 = tl::relu(tl::matmul(h1, m.w2) + m.b2);
  return tl::mean(tl::cross_entropy(tl::matmul(h2, m.w3) + m.b3, y));
}

constexpr float kRate = 1e-3f, kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
struct Adam {
  Mlp m, v;
  tl::Scalar<float> t;
};
std::pair<Mlp, Adam> update(const Mlp& model, const Adam& s, const Mlp& g) {
  const tl::Scalar<float> t = s.t + 1;
  const auto rate = kRate * tl::sqrt(1 - tl::pow(kBeta2, t)) / (1 - tl::pow(kBeta1, t));
  const Mlp m = tl::tree_map([](auto a, auto b) { return kBeta1 * a + (1 - kBeta1) * b; }, s.m, g);
  const Mlp v =
      tl::tree_map([](auto a, auto b) { return kBeta2 * a + (1 - kBeta2) * b * b; }, s.v, g);
  const Mlp next = tl::tree_map(
      [&](auto p, auto a, auto b) { return p - rate * a / (tl::sqrt(b) + kEpsilon); }, model, m, v);
  return {next, {m, v, t}};
}

std::mt19937 random_bits(1);
template <class T>
T normal(std::size_t count, double deviation) {
  std::normal_distribution<float> n(0, static_cast<float>(deviation));
  std::vector<float> values(count);
  for (float& v : values) v = n(random_bits);
  return T::from(values);
}

double processor_ms() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  const auto size = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 128);
  Mlp model{normal<decltype(Mlp::w1)>(784 * 512, 0.05), tl::zeros<float, 512>(),
            normal<decltype(Mlp::w2)>(512 * 512, 0.06), tl::zeros<float, 512>(),
            normal<decltype(Mlp::w3)>(512 * 10, 0.06),  tl::zeros<float, 10>()};
  Adam state{tl::tree_map([](auto p) { return tl::zeros_like(p); }, model),
             tl::tree_map([](auto p) { return tl::zeros_like(p); }, model), 0.0f};
  const Images x = normal<Images>(size * 784, 1);
  std::vector<int> labels(size);
  for (int& y : labels) y = static_cast<int>(random_bits() % 10);
  const Labels y = Labels::from(labels);

  const auto step = tl::jit([](Mlp m, Adam s, const Images& images, const Labels& y) {
    const auto [value, gradient] = tl::value_and_grad(loss)(m, images, y);
    const auto [next, next_state] = update(m, s, gradient);
    return std::tuple(value, next, next_state);
  });
  for (int i = 0; i <= steps; ++i) {
    const double start = processor_ms();
    tl::Scalar<float> value;
    std::tie(value, model, state) = step(std::move(model), std::move(state), x, y);
    const double ms = processor_ms() - start;
    std::printf("%s %.3f ms, loss %.6f\n", i == 0 ? "first" : "step", ms, value.item());
  }
}
