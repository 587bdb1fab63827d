// Convolutions of the CPU back end, on one thread: processor time against the multiply-adds that
// matrices of the same size take, and against the interpreter.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/transform/api.h"

namespace {

using namespace tlaloc;
using bench::median;
using bench::seconds;
using ir::Dim;

struct Case {
  std::string name;
  Extents lhs, rhs;
  ops::ConvAttrs attrs;
  double multiplications;
  int gradient = -1;  ///< by which operand, if one is measured
};

ops::ConvAttrs channels_last() {
  ops::ConvAttrs a = ops::plain_convolution(2);
  a.dims = {.lhs_batch = 0,
            .lhs_feature = 3,
            .lhs_spatial = {1, 2},
            .rhs_in = 2,
            .rhs_out = 3,
            .rhs_spatial = {0, 1},
            .out_batch = 0,
            .out_feature = 3,
            .out_spatial = {1, 2}};
  return a;
}

void measure(const Case& c) {
  auto type = [](const Extents& e) {
    return ir::Type::get(DType::f32, std::vector<Dim>(e.begin(), e.end()));
  };
  ir::Builder b("f");
  const ir::Val x = b.param(type(c.lhs)), k = b.param(type(c.rhs));
  const ir::Val y = ops::convolution(x, k, c.attrs);
  std::vector<HostArray> arrays{HostArray(DType::f32, c.lhs), HostArray(DType::f32, c.rhs)};
  Extents results;
  for (const Dim d : y.shape()) results.push_back(d.constant());
  ir::GraphRef g = b.build(ir::Vals{y});
  if (c.gradient >= 0) {
    // The cotangent of one operand from the other one and that of the results.
    g = transform::linear_transpose(g, {c.gradient == 0, c.gradient == 1});
    arrays = {arrays[1 - static_cast<std::size_t>(c.gradient)], HostArray(DType::f32, results)};
  }
  const std::vector<runtime::Buffer> inputs(arrays.begin(), arrays.end());
  const auto ours = cpu::cpu_backend().compile(g), reference = interp::interp_backend().compile(g);
  // A product of matrices with as many multiply-adds, in the caches.
  constexpr std::int64_t kSide = 256;
  std::vector<float> memory(3 * kSide * kSide);
  std::vector<std::byte> scratch(cpu::gemm_scratch_bytes(DType::f32) + 64);
  auto* aligned = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
  float* m = memory.data();
  const cpu::Gemm gemm{DType::f32,
                       kSide,
                       kSide,
                       kSide,
                       {m, kSide, 1},
                       {m + kSide * kSide, kSide, 1},
                       {m + 2 * kSide * kSide, kSide, 1}};
  auto time = [](auto f) {
    const double start = seconds();
    f();
    return seconds() - start;
  };
  ours->run(inputs);
  std::vector<double> times, products, slow;
  for (int round = 0; round < 15; ++round) {
    times.push_back(time([&] { ours->run(inputs); }));
    products.push_back(time([&] { cpu::gemm(gemm, aligned); }));
    if (round < 3) slow.push_back(time([&] { reference->run(inputs); }));
  }
  const double rate = 2e-9 * c.multiplications / median(times);
  const double peak = 2e-9 * kSide * kSide * kSide / median(products);
  std::printf("| %s | %.2f | %.1f | %.0f | %.0f |\n", c.name.c_str(), 1e3 * median(times), rate,
              100 * rate / peak, median(slow) / median(times));
  std::fflush(stdout);
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  std::vector<Case> cases;
  const auto rows = ops::plain_convolution(2), last = channels_last();
  auto pad = [](ops::ConvAttrs a, std::int64_t by) {
    a.low = a.high = {by, by};
    return a;
  };
  cases.push_back({"1 to 32, 3 x 3, 64 of 28 x 28",
                   {64, 1, 28, 28},
                   {32, 1, 3, 3},
                   rows,
                   64.0 * 26 * 26 * 32 * 9});
  cases.push_back(
      {"the same, channels last", {64, 28, 28, 1}, {3, 3, 1, 32}, last, 64.0 * 26 * 26 * 32 * 9});
  cases.push_back({"32 to 64, 3 x 3, 64 of 26 x 26",
                   {64, 32, 26, 26},
                   {64, 32, 3, 3},
                   rows,
                   64.0 * 24 * 24 * 64 * 32 * 9});
  cases.push_back({"the same, channels last",
                   {64, 26, 26, 32},
                   {3, 3, 32, 64},
                   last,
                   64.0 * 24 * 24 * 64 * 32 * 9});
  {
    ops::ConvAttrs a =
        pad(rows, 2);  // the kernel's features and results swapped, read from its end
    a.dims.rhs_in = 0;
    a.dims.rhs_out = 1;
    a.reversed = {true, true};
    cases.push_back({"its gradient by the images",
                     {64, 64, 24, 24},
                     {64, 32, 3, 3},
                     a,
                     64.0 * 24 * 24 * 64 * 32 * 9});
  }
  {
    ops::ConvAttrs a = rows;  // batch and features swapped: the windows are the results' gradients
    a.dims.lhs_batch = 1;
    a.dims.lhs_feature = 0;
    a.dims.rhs_in = 0;
    a.dims.rhs_out = 1;
    a.dims.out_batch = 1;
    a.dims.out_feature = 0;
    cases.push_back({"its gradient by the kernel",
                     {64, 32, 26, 26},
                     {64, 64, 24, 24},
                     a,
                     64.0 * 24 * 24 * 64 * 32 * 9});
  }
  cases.push_back({"128 to 128, 3 x 3, padded, 8 of 28 x 28",
                   {8, 128, 28, 28},
                   {128, 128, 3, 3},
                   pad(rows, 1),
                   8.0 * 28 * 28 * 128 * 128 * 9});
  cases.push_back({"256 to 64, 1 x 1, 8 of 28 x 28",
                   {8, 256, 28, 28},
                   {64, 256, 1, 1},
                   rows,
                   8.0 * 28 * 28 * 256 * 64});
  // As in MobileNet: one kernel for each channel, and both gradients.
  const auto depthwise = [&](std::string name, std::int64_t batch, std::int64_t channels,
                             std::int64_t side, std::int64_t stride, bool channels_last) {
    ops::ConvAttrs a = pad(channels_last ? last : rows, 1);
    a.strides = {stride, stride};
    a.feature_groups = channels;
    const Extents x =
        channels_last ? Extents{batch, side, side, channels} : Extents{batch, channels, side, side};
    const Extents k = channels_last ? Extents{3, 3, 1, channels} : Extents{channels, 1, 3, 3};
    const std::int64_t out = (side - 1) / stride + 1;
    const double products = 9.0 * static_cast<double>(batch * channels * out * out);
    if (channels_last) name += ", channels last";
    cases.push_back({name, x, k, a, products});
    cases.push_back({"its gradient by the images", x, k, a, products, 0});
    cases.push_back({"its gradient by the kernel", x, k, a, products, 1});
  };
  for (const bool channels_last : {false, true}) {
    depthwise("depthwise, 32, 3 x 3, padded, 112 x 112", 1, 32, 112, 1, channels_last);
    depthwise("depthwise, 64, 3 x 3, padded, every second of 112 x 112", 1, 64, 112, 2,
              channels_last);
    depthwise("depthwise, 128, 3 x 3, padded, 8 of 28 x 28", 8, 128, 28, 1, channels_last);
  }
  {
    ops::ConvAttrs a = pad(rows, 1);
    a.feature_groups = 32;
    cases.push_back({"32 groups of 4 to 4, 3 x 3, padded, 8 of 28 x 28",
                     {8, 128, 28, 28},
                     {128, 4, 3, 3},
                     a,
                     8.0 * 28 * 28 * 128 * 4 * 9});
  }
  std::printf(
      "| convolution | ms | GFLOP/s | %% of a product of matrices | faster than the interpreter "
      "|\n|---|---:|---:|---:|---:|\n");
  for (const Case& c : cases) measure(c);
}
