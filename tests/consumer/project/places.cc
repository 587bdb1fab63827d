// An error of an operator names the line of the program that has debug information, and no other's.
#include <tlaloc/tlaloc.h>

#include <cstdio>
#include <string>
#include <vector>

inline constexpr tl::Axis<struct N> n;

int main() {
  using Vector = tl::Tensor<float, n>;
  const auto x = Vector::from(std::vector<float>(10)), y = Vector::from(std::vector<float>(11));
  int line = 0;
  try {
    line = __LINE__ + 1;
    const Vector z = x + y;
  } catch (const tl::Error& e) {
    const std::string text = e.what();
    const std::string place = "places.cc:" + std::to_string(line) + ": ";
    const bool right =
        WITH_LINES ? text.find(place) != text.npos : text.starts_with("TL-SHAPE-001");
    if (right) return 0;
    std::printf("with%s lines: %s\n", WITH_LINES ? "" : "out", e.what());
  }
  return 1;
}
