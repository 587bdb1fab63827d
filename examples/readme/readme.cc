#include <tlaloc/lang/print.h>
#include <tlaloc/lang/source.h>
#include <tlaloc/tlaloc.h>

#include <iostream>

inline constexpr tl::Axis<struct Step> step;  // a size known at run time

// Newton's method for the square root, until it converges: how often is not known in advance.
tl::Scalar<double> root(tl::Scalar<double> a) {
  return tl::while_loop([=](tl::Scalar<double> x) { return tl::abs(x * x - a) > 1e-12; },
                        [=](tl::Scalar<double> x) { return (x + a / x) / 2; }, a);
}
tl::Scalar<double> length(tl::Tensor<double, step> v) { return root(tl::sum(v * v)); }

int main() {
  auto v = tl::Tensor<double, step>::from({1, 2, 2});
  std::cout << "length   " << length(v) << "\n";
  std::cout << "gradient " << tl::grad(length)(v) << "\n";
  std::cout << tl::to_source(tl::grad(root), {"root_gradient", {"a"}})(2.0) << "\n";
}
