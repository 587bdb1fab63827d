#include <tlaloc/lang/explain.h>
#include <tlaloc/tlaloc.h>

#include <iostream>
#include <vector>

inline constexpr tl::Axis<struct Batch> batch;

struct Mlp {
  tl::Tensor<float, 784, 512> w1;
  tl::Tensor<float, 512> b1;
  tl::Tensor<float, 512, 10> w2;
  tl::Tensor<float, 10> b2;
};

tl::Scalar<float> loss(const Mlp& m, tl::Tensor<float, batch, 784> x,
                       tl::Tensor<float, batch, 10> y) {
  auto hidden = tl::relu(tl::matmul(x, m.w1) + m.b1);
  auto scores = tl::matmul(hidden, m.w2) + m.b2;
  return -tl::mean(tl::sum<1>(y * tl::log_softmax<1>(scores)));
}

int main() {
  const Mlp m{tl::full<float, 784, 512>(0.01F), tl::zeros<float, 512>(),
              tl::full<float, 512, 10>(0.01F), tl::zeros<float, 10>()};
  const auto x = tl::Tensor<float, batch, 784>::from(std::vector<float>(128 * 784, 0.5F));
  const auto y = tl::Tensor<float, batch, 10>::from(std::vector<float>(128 * 10, 0.1F));
  std::cout << tl::explain(tl::value_and_grad(loss), m, x, y);
}
