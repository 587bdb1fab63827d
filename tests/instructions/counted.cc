// Fixed pieces of work, of which check.py counts the instructions: counted WHAT.
#include <tlaloc/tlaloc.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Number = tl::Scalar<double>;
inline constexpr tl::Axis<struct Batch> batch;

struct Layer {
  tl::Tensor<float, 16, 16> w;
  tl::Tensor<float, 16> b;
};

auto loss(const std::vector<Layer>& layers, const tl::Tensor<float, batch, 16>& x) {
  tl::Tensor<float, batch, 16> h = x;
  for (const Layer& l : layers) h = tl::tanh(tl::matmul(h, l.w) + l.b);
  return tl::mean(h * h);
}
std::vector<Layer> layers(std::size_t count) {
  return std::vector<Layer>(count, {tl::full<float, 16, 16>(0.1f), tl::full<float, 16>(0.2f)});
}
tl::Tensor<float, batch, 16> inputs(std::int64_t rows) {
  return tl::Tensor<float, batch, 16>::from(
      std::vector<float>(static_cast<std::size_t>(rows) * 16, 0.5f));
}

/// By name, what is to be done before and what is counted.
using Work = std::function<std::function<void()>()>;

const std::map<std::string, Work> kWork = {
    {"trace, differentiate and plan eight layers",
     [] { return [m = layers(8), x = inputs(4)] { tl::jit(tl::value_and_grad(loss))(m, x); }; }},
    {"1,000 calls of a jitted function of two numbers",
     []() -> std::function<void()> {
       auto f = tl::jit([](Number a, Number b) { return a * b + a; });
       f(1.0, 2.0);
       return [f] {
         for (int i = 0; i < 1000; ++i) f(1.0, 2.0);
       };
     }},
    {"100 calls of a jitted training step of 20 arrays",
     []() -> std::function<void()> {
       auto step = tl::jit(tl::value_and_grad(loss));
       const auto m = layers(10);
       const auto x = inputs(2);
       step(m, x);
       return [step, m, x] {
         for (int i = 0; i < 100; ++i) step(m, x);
       };
     }},
    {"1,000 sums of two small arrays at once",
     []() -> std::function<void()> {
       const auto a = tl::full<float, 8>(1.0f);
       static_cast<void>(a + a);
       return [a] {
         for (int i = 0; i < 1000; ++i) static_cast<void>(a + a);
       };
     }},
    {"the gradient of a chain of 3,000 numbers",
     [] {
       return [] {
         tl::grad([](Number x) {
           for (int i = 0; i < 1000; ++i) x = tl::sin(x) * 0.5 + x;
           return x;
         })(0.3);
       };
     }},
};

std::function<void()> work;

}  // namespace

/// The name by which its instructions are counted.
extern "C" __attribute__((noinline)) void counted() { work(); }

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const auto& [name, make] : kWork) std::puts(name.c_str());
    return 0;
  }
  work = kWork.at(argv[1])();
  counted();
}
