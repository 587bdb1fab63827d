// A perceptron 784-512-512-10 with Adam: a symbolic batch, a fixed one, and many sizes in turn.
#include <tuple>
#include <vector>

#include "bench/programs/tlaloc/programs.h"

namespace bench {
namespace {

inline constexpr tl::Axis<struct Batch> batch;
template <auto N>
using Images = tl::Tensor<float, N, 784>;
template <auto N>
using Labels = tl::Tensor<int, N>;

struct Mlp {
  tl::Tensor<float, 784, 512> w1;
  tl::Tensor<float, 512> b1;
  tl::Tensor<float, 512, 512> w2;
  tl::Tensor<float, 512> b2;
  tl::Tensor<float, 512, 10> w3;
  tl::Tensor<float, 10> b3;
};
Mlp model() {
  Mlp m{.b1 = tl::zeros<float, 512>(), .b2 = tl::zeros<float, 512>(), .b3 = tl::zeros<float, 10>()};
  fill(m.w1, 1, 0.08);
  fill(m.w2, 2, 0.1);
  fill(m.w3, 3, 0.1);
  return m;
}

constexpr auto kLoss = [](const Mlp& m, const auto& x, const auto& y) {
  const auto h1 = tl::relu(tl::matmul(x, m.w1) + m.b1);
  const auto h2 = tl::relu(tl::matmul(h1, m.w2) + m.b2);
  return tl::mean(tl::cross_entropy(tl::matmul(h2, m.w3) + m.b3, y));
};

template <auto N>
auto examples(std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  return std::tuple(Images<N>::from(uniform<float>(101, size * 784)),
                    Labels<N>::from(integers(102, size, 10)));
}

}  // namespace

void mlp(std::int64_t size) { train(model(), kLoss, 0, std::vector{examples<batch>(size)}); }

void mlp_fixed(std::int64_t) { train(model(), kLoss, 0, std::vector{examples<128>(128)}); }

void mlp_sizes(std::int64_t sizes) {
  std::vector<decltype(examples<batch>(1))> batches;
  for (std::int64_t i = 1; i <= sizes; ++i) batches.push_back(examples<batch>(8 * i));
  batches.push_back(examples<batch>(128));
  train(model(), kLoss, 0, batches);
}

}  // namespace bench
