// Quantized weights on the CPU back end against the interpreter: few rows and many, all encodings,
// and the same bits for any number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/val_quant.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using Arrays = std::vector<HostArray>;

std::mt19937 bits(5);

/// Any bytes, with scales and least values of 1, 2 or 4; or of 1/10 where sums need not be exact.
HostArray blocks(const ir::Encoding& e, std::int64_t rows, std::int64_t length, bool exact) {
  HostArray a(DType::u8, {rows, length / 32 * e.block_bytes});
  auto bytes = a.as_mutable<std::uint8_t>();
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(bits());
  for (std::size_t at = 0; at < bytes.size(); at += usize(e.block_bytes)) {
    const float power = exact ? static_cast<float>(1 << bits() % 3) : 0.1F;
    const Half half(power);
    if (e.name == "q8_32") {
      std::memcpy(&bytes[at], &power, sizeof power);
    } else {
      std::memcpy(&bytes[at], &half, sizeof half);
      if (e.name.ends_with("_1")) std::memcpy(&bytes[at + 2], &half, sizeof half);
    }
  }
  return a;
}
HostArray drawn(DType t, const Extents& extents, bool exact) {
  HostArray a(t, extents);
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      std::normal_distribution<float> normal;
      for (T& x : a.as_mutable<T>()) {
        x = T(exact ? static_cast<float>(bits() % 15) - 7 : normal(bits));
      }
    }
  });
  return a;
}

Type weights_of(const std::vector<Dim>& shape, const ir::Encoding* e) {
  return Type::get(DType::f32, shape, e);
}

Arrays run(const GraphRef& g, const Arrays& args) {
  Arrays r;
  const auto out =
      cpu::cpu_backend().compile(g)->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
  for (const runtime::Buffer& b : out.outputs) r.push_back(b.to_host());
  return r;
}

TEST(Quantized, ProductsHaveTheInterpretersSums) {
  for (const char* name : {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q8_32"}) {
    const ir::Encoding* e = ir::find_encoding(name);
    for (const DType t : {DType::f32, DType::f64, DType::f16}) {
      for (const auto& [rows, n, k] : {std::tuple{1, 70, 96},
                                       {5, 33, 64},
                                       {16, 9, 32},
                                       {17, 40, 96},
                                       {3, 600, 320},
                                       {40, 530, 32}}) {
        for (const bool transposed : {false, true}) {
          const Type weights = weights_of({n, k}, e);
          const GraphRef g = graph_of(
              {Type::get(t, {rows, transposed ? n : k}), weights},
              [&](const Vals& p) -> Vals { return {ops::quant_matmul(p[0], p[1], transposed)}; });
          const Arrays args{drawn(t, {rows, transposed ? n : k}, true), blocks(*e, n, k, true)};
          const StepsOfRun got = run_by_steps(g, args);
          EXPECT_THAT(got.names, Contains("quant_matmul"));
          EXPECT_TRUE(identical(got.results[0], interp::run(*g, args)[0])) << g->to_string();
        }
      }
    }
  }
}

TEST(Quantized, RowsOfAnyIndices) {
  const ir::Encoding* e = ir::find_encoding("q5_1");
  for (const DType t : {DType::i8, DType::u64, DType::i64}) {
    const GraphRef g =
        graph_of({weights_of({9, 64}, e), Type::get(t, {2, 7})}, [&](const Vals& p) -> Vals {
          return {ops::quant_gather(p[0], p[1]), ops::dequantize(p[0])};
        });
    HostArray at(t, {2, 7});
    std::memset(at.mutable_data(), 0, at.bytes());
    for (std::size_t i = 0; i < at.bytes(); ++i) {
      static_cast<std::uint8_t*>(at.mutable_data())[i] = static_cast<std::uint8_t>(
          i % static_cast<std::size_t>(byte_size(t)) == 0 || bits() % 9 == 0 ? bits() % 12 : 0);
    }
    const Arrays args{blocks(*e, 9, 64, false), at}, want = interp::run(*g, args),
                                                     got = run(g, args);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_TRUE(identical(got[k], want[k])) << k;
  }
}

/// Sums that are not exact.
TEST(Quantized, ThreadsDontShow) {
  const std::int64_t threads = cpu::num_threads();
  const double alone = cpu::alone_nanoseconds();
  const ir::Encoding* e = ir::find_encoding("q4_0");
  for (const std::int64_t rows : {1, 6, 30}) {
    for (const bool transposed : {false, true}) {
      const GraphRef g = graph_of(
          {Type::get(DType::f32, {rows, transposed ? 700 : 416}), weights_of({700, 416}, e)},
          [&](const Vals& p) -> Vals { return {ops::quant_matmul(p[0], p[1], transposed)}; });
      const Arrays args{drawn(DType::f32, {rows, transposed ? 700 : 416}, false),
                        blocks(*e, 700, 416, false)};
      cpu::set_num_threads(1);
      const Arrays want = run(g, args);
      cpu::set_num_threads(3);
      cpu::set_alone_nanoseconds(0);
      EXPECT_TRUE(identical(run(g, args)[0], want[0])) << rows << transposed;
      cpu::set_alone_nanoseconds(alone);
    }
  }
  cpu::set_num_threads(threads);
}

}  // namespace
}  // namespace tlaloc::testing
