// Two convolutions with pooling and a dense layer on 28 × 28 images, with Adam.
#include "bench/programs/tlaloc/programs.h"

namespace bench {
namespace {

inline constexpr tl::Axis<struct Batch> batch;
using Images = tl::Tensor<float, batch, 28, 28, 1>;
using Labels = tl::Tensor<int, batch>;

struct Cnn {
  tl::Tensor<float, 3, 3, 1, 32> k1;
  tl::Tensor<float, 32> b1;
  tl::Tensor<float, 3, 3, 32, 64> k2;
  tl::Tensor<float, 64> b2;
  tl::Tensor<float, 3136, 10> w;
  tl::Tensor<float, 10> b;
};

constexpr auto kLoss = [](const Cnn& m, const Images& x, const Labels& y) {
  const auto h1 = tl::max_pool<2>(tl::relu(tl::conv2d<1, tl::same_padding>(x, m.k1) + m.b1));
  const auto h2 = tl::max_pool<2>(tl::relu(tl::conv2d<1, tl::same_padding>(h1, m.k2) + m.b2));
  const auto logits = tl::matmul(tl::reshape<batch, 3136>(h2), m.w) + m.b;
  return tl::mean(tl::cross_entropy(logits, y));
};

}  // namespace

void cnn(std::int64_t size) {
  Cnn m{.b1 = tl::zeros<float, 32>(), .b2 = tl::zeros<float, 64>(), .b = tl::zeros<float, 10>()};
  fill(m.k1, 1, 0.5);
  fill(m.k2, 2, 0.1);
  fill(m.w, 3, 0.03);
  const auto count = static_cast<std::size_t>(size);
  train(m, kLoss, 0,
        std::vector{std::tuple(Images::from(uniform<float>(101, count * 784), {size, 28, 28, 1}),
                               Labels::from(integers(102, count, 10)))});
}

}  // namespace bench
