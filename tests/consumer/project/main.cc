#include <tlaloc/lang/print.h>
#include <tlaloc/tlaloc.h>

#include <iostream>

int main() {
  auto f = [](tl::Scalar<double> x) { return tl::sin(x) * x; };
  std::cout << tl::grad(f)(1.0) << "\n";
}
