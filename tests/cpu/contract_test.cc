// TLALOC_CONTRACT=on: products and sums of compiled code round once; what is not compiled and the
// functions that eager code has too stay as they are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::cpu {
namespace {

using ir::Val;
using runtime::Buffer;

// Whole vectors and what is left of one.
constexpr std::int64_t kCount = 53;

HostArray noise(std::uint64_t seed) {
  HostArray a = HostArray::uninitialized(DType::f64, {kCount});
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < kCount; ++i)
    static_cast<double*>(a.mutable_data())[i] = normal(random);
  return a;
}
const double* numbers(const HostArray& a) { return static_cast<const double*>(a.data()); }

template <class F>
HostArray run(bool once, const std::vector<HostArray>& args, const F& f) {
  ir::Builder b("f");
  const ir::Type type = ir::Type::get(DType::f64, {kCount});
  std::vector<Val> in;
  for (std::size_t k = 0; k < args.size(); ++k) in.push_back(b.param(type));
  const auto g = b.build(ir::Vals{f(in)});
  return cpu_backend()
      .compile(g, {.run_once = once})
      ->run(std::vector<Buffer>(args.begin(), args.end()))
      .outputs[0]
      .to_host();
}

/// Whether the processor has what g++ makes of std::fma here, where it is told to.
bool has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

TEST(Contract, ProductsAndSumsRoundOnce) {
  if (!has_fma()) GTEST_SKIP() << "the processor has no fused multiply-add";
  const std::vector<HostArray> args{noise(1), noise(2), noise(3)};
  const auto f = [](const std::vector<Val>& in) { return ops::add(ops::mul(in[0], in[1]), in[2]); };
  const HostArray fused = run(false, args, f), plain = run(true, args, f);
  int differ = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const double a = numbers(args[0])[i], b = numbers(args[1])[i], c = numbers(args[2])[i];
    EXPECT_EQ(numbers(fused)[i], std::fma(a, b, c)) << i;
    EXPECT_EQ(numbers(plain)[i], a * b + c) << i;
    differ += std::fma(a, b, c) != a * b + c;
  }
  EXPECT_GT(differ, 5);
}

TEST(Contract, FunctionsKeepTheirBits) {
  const std::vector<HostArray> args{noise(4)};
  for (const auto& f : {ops::exp, ops::sin, ops::tanh, ops::erf}) {
    const auto of = [&](const std::vector<Val>& in) { return f(in[0]); };
    const HostArray compiled = run(false, args, of), plain = run(true, args, of);
    EXPECT_EQ(std::memcmp(compiled.data(), plain.data(), sizeof(double) * kCount), 0);
  }
}

}  // namespace
}  // namespace tlaloc::cpu
