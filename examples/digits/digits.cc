// Trains a small network on real handwritten digits.
//
// The model is a plain struct, the loss a plain function, the optimizer a few lines over trees.
// Shapes are types: swap two of them and this file does not compile.
#include <tlaloc/lang/source.h>
#include <tlaloc/tlaloc.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "data.h"
#include "plot.h"

namespace {

inline constexpr tl::Axis<struct Batch> batch;        // any size, one size per call
inline constexpr tl::Axis<struct Hidden, 64> hidden;  // a size and a name

struct Mlp {
  tl::Tensor<float, 64, hidden> w1;
  tl::Tensor<float, hidden> b1;
  tl::Tensor<float, hidden, 10> w2;
  tl::Tensor<float, 10> b2;
};
using Images = tl::Tensor<float, batch, 64>;
using Labels = tl::Tensor<int, batch>;

auto logits(const Mlp& m, const Images& x) {
  return tl::matmul(tl::relu(tl::matmul(x, m.w1) + m.b1), m.w2) + m.b2;
}
auto loss(const Mlp& m, const Images& x, const Labels& y) {
  return tl::mean(tl::cross_entropy(logits(m, x), y));
}

constexpr float kRate = 3e-3f, kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;

/// Adam (Kingma and Ba, 2015), with the bias corrections folded into the rate.
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

/// He initialization: normal with variance 2 / fan-in.
Mlp initial() {
  std::mt19937 random(1);
  auto normal = [&](std::size_t count, double deviation) {
    std::normal_distribution<float> n(0, static_cast<float>(deviation));
    std::vector<float> values(count);
    for (float& v : values) v = n(random);
    return values;
  };
  return {.w1 = tl::Tensor<float, 64, hidden>::from(normal(64 * 64, std::sqrt(2.0 / 64))),
          .b1 = tl::zeros<float, hidden>(),
          .w2 = tl::Tensor<float, hidden, 10>::from(normal(64 * 10, std::sqrt(2.0 / 64))),
          .b2 = tl::zeros<float, 10>()};
}

double accuracy(const Mlp& model, const digits::Data& data) {
  const auto guess = tl::argmax<1>(logits(model, Images::from(data.pixels)));
  const auto right = tl::cast<float>(guess == Labels::from(data.labels));
  return tl::mean(right).item();
}

/// The test accuracy reached.
double train(const char* path) {
  const digits::Data all = digits::shuffled(digits::read(path), 7);
  const int held_out = all.count() / 5;
  const digits::Data test = digits::part(all, 0, held_out);
  const digits::Data rest = digits::part(all, held_out, all.count());
  std::printf("%d images to train on, %d to test\n", rest.count(), test.count());

  Mlp model = initial();
  Adam state{tl::tree_map([](auto p) { return tl::zeros_like(p); }, model),
             tl::tree_map([](auto p) { return tl::zeros_like(p); }, model), 0.0f};
  const auto step = tl::jit([](const Mlp& m, const Adam& s, const Images& x, const Labels& y) {
    const auto [value, gradient] = tl::value_and_grad(loss)(m, x, y);
    const auto [next, next_state] = update(m, s, gradient);
    return std::tuple(value, next, next_state);
  });

  constexpr int kEpochs = 20, kBatch = 32;
  std::vector<double> curve;
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    const digits::Data order = digits::shuffled(rest, static_cast<unsigned>(epoch));
    for (int i = 0; i < order.count(); i += kBatch) {
      // The last batch is smaller: one trace serves both sizes.
      const digits::Data some = digits::part(order, i, std::min(i + kBatch, order.count()));
      const auto [value, next, next_state] =
          step(model, state, Images::from(some.pixels), Labels::from(some.labels));
      model = next;
      state = next_state;
      curve.push_back(value.item());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("epoch %2d  loss %.4f  test accuracy %.2f %%  %.1f s\n", epoch, curve.back(),
                100 * accuracy(model, test), seconds.count());
    std::fflush(stdout);
  }
  digits::write_curve("digits_loss.svg", "digits: training loss", curve);
  const double reached = accuracy(model, test);
  std::printf("\ntest accuracy: %.2f %%\nloss curve: digits_loss.svg\n", 100 * reached);

  const auto source = tl::to_source(
      tl::grad(loss), {.function = "loss_gradient", .arguments = {"model", "images", "labels"}});
  std::printf("\nThe gradient of the loss, as C++:\n\n%s\n",
              source(model, Images::from(test.pixels), Labels::from(test.labels)).c_str());
  return reached;
}

}  // namespace

// usage: digits [DATA], by default data/digits.csv.gz
int main(int argc, char** argv) {
  try {
    const double reached = train(argc > 1 ? argv[1] : "data/digits.csv.gz");
    if (reached < 0.95) throw std::runtime_error("the accuracy is below 95 %");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "digits: %s\n", e.what());
    return 1;
  }
}
