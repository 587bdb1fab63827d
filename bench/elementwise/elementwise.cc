// Chains of elementwise operations and reductions, compiled as one loop, against a loop by hand
// with the same traffic: they take turns; processor time of one thread.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/elementwise/by_hand.h"
#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_ops.h"

namespace {

using namespace tlaloc;
using bench::median;
using bench::seconds;
using ir::Dim;
using ir::Val;
using ops::operator+;
using ops::operator-;
using ops::operator*;

struct Case {
  const char* name;
  DType dtype;
  bool in_place;  ///< the result is x
  std::function<Val(Val x, Val y)> chain;
  std::function<void(void* x, const void* y, std::size_t n)> hand;
};

/// From -4 to 4, in no order.
HostArray numbers(DType t, std::int64_t n, std::uint32_t seed) {
  HostArray a(t, {n});
  dispatch(t, [&]<class T>(TypeTag<T>) {
    auto* x = static_cast<T*>(a.mutable_data());
    for (std::int64_t i = 0; i < n; ++i) {
      seed = seed * 1664525 + 1013904223;
      x[i] = static_cast<T>(static_cast<float>(seed >> 8) * 0x1p-21F - 4);
    }
  });
  return a;
}

void measure(const Case& c, std::int64_t n) {
  ir::Builder b("f");
  const ir::Symbol size = ir::Symbol::fresh("n");
  const ir::Type type = ir::Type::get(c.dtype, {Dim(size)});
  const Val x = b.param(type), y = b.param(type);
  const ir::GraphRef g = b.build(ir::Vals{c.chain(x, y)});
  const auto ours = cpu::cpu_backend().compile(g);
  HostArray mine = numbers(c.dtype, n, 1), second = numbers(c.dtype, n, 2);
  HostArray other = mine;
  void* theirs = c.in_place ? other.mutable_data() : const_cast<void*>(mine.data());
  runtime::RunOptions options;
  if (c.in_place) options.donate = {true, false};

  const auto repeats = std::max<std::int64_t>(1, (1 << 20) / n);
  auto run_ours = [&] {
    for (std::int64_t k = 0; k < repeats; ++k) {
      std::vector<runtime::Buffer> inputs;
      inputs.emplace_back(c.in_place ? std::move(mine) : mine);
      inputs.emplace_back(second);
      auto r = ours->run(std::move(inputs), options);
      if (c.in_place) mine = std::move(r.outputs[0]).to_host();
    }
  };
  auto run_theirs = [&] {
    for (std::int64_t k = 0; k < repeats; ++k) {
      c.hand(theirs, second.data(), static_cast<std::size_t>(n));
    }
  };
  auto time = [&](auto& f) {
    const double start = seconds();
    f();
    return 1e9 * (seconds() - start) / static_cast<double>(n * repeats);
  };
  run_ours();
  run_theirs();
  std::vector<double> times, ratios;
  const int rounds = n > (1 << 24) ? 9 : 21;
  for (int round = 0; round < rounds; ++round) {
    double a = 0, h = 0;
    if (round % 2) {
      a = time(run_ours), h = time(run_theirs);
    } else {
      h = time(run_theirs), a = time(run_ours);
    }
    times.push_back(a);
    ratios.push_back(a / h);
  }
  std::ranges::sort(ratios);
  const double bytes = byte_size(c.dtype) * (c.in_place ? 3 : 2);
  std::printf("| %s | %lld | %.3f | %.1f | %.2f (%.2f to %.2f) |\n", c.name,
              static_cast<long long>(n), median(times), bytes / median(times),
              ratios[ratios.size() / 2], ratios[ratios.size() / 8],
              ratios[ratios.size() - 1 - ratios.size() / 8]);
  std::fflush(stdout);
}

template <class T, class F>
std::function<void(void*, const void*, std::size_t)> loop(F f) {
  return [f](void* x, const void* y, std::size_t n) {
    if constexpr (std::is_void_v<decltype(f(static_cast<T*>(x), static_cast<const T*>(y), n))>) {
      f(static_cast<T*>(x), static_cast<const T*>(y), n);
    } else {
      volatile float keep = f(static_cast<T*>(x), static_cast<const T*>(y), n);
      (void)keep;
    }
  };
}

}  // namespace

int main(int argc, char** argv) {
  cpu::set_num_threads(1);
  constexpr std::array<std::int64_t, 1> kAxis{0};
  auto half = [](Val x) { return x * ops::scalar(0.5, x.dtype()); };
  auto softplus = [&](Val x, Val y) { return half(x) + ops::log1p(ops::exp(y)); };
  auto waves = [&](Val x, Val y) {
    return half(x) + ops::sin(y) * ops::cos(y * ops::scalar(1.5, y.dtype()));
  };
  const std::vector<Case> cases{
      {"x/2 + y", DType::f32, true, [&](Val x, Val y) { return half(x) + y; },
       loop<float>(by_hand::axpy)},
      {"x/2 + gelu(y)", DType::f32, true,
       [&](Val x, Val y) {
         const Val one = ops::scalar(1, DType::f32);
         return half(x) + half(y) * (ops::erf(y * ops::scalar(0.70710678, DType::f32)) + one);
       },
       loop<float>(by_hand::gelu)},
      {"x/2 + log1p(exp(y))", DType::f32, true, softplus, loop<float>(by_hand::softplus)},
      {"x/2 + sin(y) cos(1.5 y)", DType::f32, true, waves, loop<float>(by_hand::waves)},
      {"x/2 + pow(abs(y), 2.4)", DType::f32, true,
       [&](Val x, Val y) { return half(x) + ops::pow(ops::abs(y), ops::full(2.4, y.type())); },
       loop<float>(by_hand::power)},
      {"the same, log1p(exp(y)), f64", DType::f64, true, softplus,
       loop<double>(by_hand::softplus64)},
      {"the same, sin(y) cos(1.5 y), f64", DType::f64, true, waves, loop<double>(by_hand::waves64)},
      {"max(x/2 + y, 0), bf16", DType::bf16, true,
       [&](Val x, Val y) { return ops::max(half(x) + y, ops::zeros_like(x)); },
       loop<std::uint16_t>(by_hand::relu16)},
      {"sum of x y", DType::f32, false, [&](Val x, Val y) { return ops::reduce_sum(x * y, kAxis); },
       loop<float>(by_hand::dot)},
      {"max of x - y", DType::f32, false,
       [&](Val x, Val y) { return ops::reduce_max(x - y, kAxis); }, loop<float>(by_hand::most)},
  };
  std::printf(
      "| chain | elements | ns an element | GB/s | of the time by hand |\n|---|---|---|---|---|\n");
  for (const Case& c : cases) {
    if (argc > 1 && std::string(c.name).find(argv[1]) == std::string::npos) continue;
    for (std::int64_t n : {std::int64_t{1} << 10, std::int64_t{1} << 16, std::int64_t{1} << 22,
                           std::int64_t{1} << 26}) {
      measure(c, n);
    }
  }
}
