// Quantized weights on the CPU back end against the interpreter: few rows and many, all encodings,
// and the same bits for any number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/quant_testing.h"
#include "tlaloc/ops/val_quant.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using Arrays = std::vector<HostArray>;

std::mt19937 bits(5);

/// Any bytes, with scales and least values of 1, 2 or 4; or of 1/10 where sums need not be exact.
HostArray blocks(const ir::Encoding& e, std::int64_t rows, std::int64_t length, bool exact) {
  HostArray a(DType::u8, {rows, length / e.block_elements * e.block_bytes});
  auto bytes = a.as_mutable<std::uint8_t>();
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(bits());
  for (std::size_t at = 0; at < bytes.size(); at += usize(e.block_bytes)) {
    const bool has_parts = e.block_elements > 32;  // whose scales are integers already
    const float power = !exact ? 0.1F : has_parts ? 1 : static_cast<float>(1 << bits() % 3);
    ops::testing::set_scales(e, &bytes[at], power, power);
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
  for (const char* name : ops::testing::kEncodings) {
    const ir::Encoding* e = ir::find_encoding(name);
    for (const DType t : {DType::f32, DType::f64, DType::f16}) {
      for (const auto& [rows, n, least] : {std::tuple{1, 70, 96},
                                           {5, 33, 64},
                                           {16, 9, 32},
                                           {17, 40, 96},
                                           {3, 600, 320},
                                           {40, 530, 32}}) {
        const std::int64_t k = ops::testing::whole_blocks(*e, least);
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

/// A block of zeros and a NaN, as a mask makes them, is not one of zeros.
TEST(Quantized, RoundingKeepsNan) {
  for (const char* name : ops::testing::kEncodings) {
    const ir::Encoding* e = ir::find_encoding(name);
    const std::int64_t k = ops::testing::whole_blocks(*e, 64);
    for (const std::int64_t rows : {2, 20}) {
      const GraphRef g = graph_of(
          {Type::get(DType::f32, {rows, k}), weights_of({40, k}, e)}, [&](const Vals& p) -> Vals {
            return {ops::quant_matmul(p[0], p[1], false, ops::Activation::q8_32)};
          });
      HostArray x = drawn(DType::f32, {rows, k}, true);
      std::fill_n(x.as_mutable<float>().begin(), 32, 0.0F);
      x.as_mutable<float>()[3] = std::numeric_limits<float>::quiet_NaN();
      const Arrays args{x, blocks(*e, 40, k, true)};
      for (const HostArray& y : {interp::run(*g, args)[0], run(g, args)[0]}) {
        for (std::int64_t i = 0; i < y.size(); ++i) {
          EXPECT_EQ(std::isnan(y.element(i)), i < 40) << name << i;
        }
      }
    }
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

/// The oracle rounds activations, and adds up in the order of the contracted axis.
TEST(Quantized, RoundedActivationsAreNearTheInterpretersSums) {
  for (const char* name : ops::testing::kEncodings) {
    const ir::Encoding* e = ir::find_encoding(name);
    const std::int64_t m = 7, n = 70, k = ops::testing::whole_blocks(*e, 608);
    const GraphRef g = graph_of(
        {Type::get(DType::f32, {m, k}), weights_of({n, k}, e)}, [&](const Vals& p) -> Vals {
          return {ops::quant_matmul(p[0], p[1], false, ops::Activation::q8_32),
                  ops::dequantize(p[1])};
        });
    const Arrays args{drawn(DType::f32, {m, k}, false), blocks(*e, n, k, false)};
    const Arrays want = interp::run(*g, args), have = run(g, args);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float terms = 0;
        for (std::int64_t q = 0; q < k; ++q) {
          terms += std::abs(args[0].as<float>()[usize(i * k + q)]) *
                   std::abs(want[1].as<float>()[usize(j * k + q)]);
        }
        const auto at = usize(i * n + j);
        EXPECT_NEAR(have[0].as<float>()[at], want[0].as<float>()[at],
                    static_cast<float>(k) * terms * std::numeric_limits<float>::epsilon() / 8);
      }
    }
  }
}

/// A panel for a single row would be padding for the most part.
TEST(Quantized, NarrowWeightsAreNotKept) {
  const ir::Encoding* e = ir::find_encoding("q8_0");
  for (const std::int64_t n : {1, 70}) {
    const GraphRef g =
        graph_of({Type::get(DType::f32, {2, 96}), weights_of({n, 96}, e)}, [](const Vals& p) {
          return Vals{ops::quant_matmul(p[0], p[1], false, ops::Activation::f32)};
        });
    const auto bound =
        cpu::cpu_backend().compile(g)->bind({{1, runtime::Buffer(blocks(*e, n, 96, true))}});
    EXPECT_EQ(bound->explain({}).kept_bytes > 0, n == 70);
  }
}

/// Of the same activations with several weights, of any encodings and widths; those with other
/// activations, and after something else, are steps of their own.
TEST(Quantized, ProductsOfTheSameActivationsAreOneStep) {
  const ir::Encoding *fours = ir::find_encoding("q4_0"), *bytes = ir::find_encoding("q8_0");
  const ir::Symbol rows = ir::Symbol::fresh("rows");
  const GraphRef g = graph_of(
      {weights_of({203, 96}, fours), weights_of({1, 96}, bytes), weights_of({70, 96}, fours),
       Type::get(DType::f32, {rows, 96}), Type::get(DType::f32, {rows, 96})},
      [](const Vals& p) {
        const auto product = [&](std::size_t x, std::size_t w) {
          return ops::quant_matmul(p[x], p[w], false, ops::Activation::q8_32);
        };
        return Vals{product(3, 0), product(3, 1), product(3, 2), product(4, 2)};
      });
  Arrays args{blocks(*fours, 203, 96, false), blocks(*bytes, 1, 96, false),
              blocks(*fours, 70, 96, false)};
  std::map<std::size_t, runtime::Buffer> weights;
  for (std::size_t i = 0; i < 3; ++i) weights.emplace(i, runtime::Buffer(args[i]));
  const auto bound = cpu::cpu_backend().compile(g)->bind(weights);
  std::vector<std::string> spaces;
  for (const auto& k : bound->explain({.inputs = {}, .dims = {{rows.id(), 7}}}).kernels)
    spaces.push_back(k.space);
  EXPECT_THAT(spaces, ::testing::ElementsAre(::testing::HasSubstr("203 + 1 + 70, 96]"),
                                             ::testing::HasSubstr("70, 96]")));
  for (const std::int64_t m : {0, 1, 7, 300}) {
    args.resize(3);
    args.push_back(drawn(DType::f32, {m, 96}, false));
    args.push_back(drawn(DType::f32, {m, 96}, false));
    const Arrays want = run(g, args);
    const auto have = bound->run({runtime::Buffer(args[3]), runtime::Buffer(args[4])}, {});
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(identical(have.outputs[i].to_host(), want[i])) << m << " rows, product " << i;
    }
  }
}

/// Sums that are not exact: with weights bound or not, in any company of other rows, by any number
/// of threads. The weights are a table too.
TEST(Quantized, BitsOfARowDependOnNothingElse) {
  const std::int64_t threads = cpu::num_threads();
  const double alone = cpu::alone_nanoseconds();
  cpu::set_alone_nanoseconds(0);
  for (const char* name : ops::testing::kEncodings) {
    const ir::Encoding* e = ir::find_encoding(name);
    for (const auto act : {ops::Activation::f32, ops::Activation::q8_32}) {
      const std::int64_t n = 203, k = ops::testing::whole_blocks(*e, 1120), most = 512;
      const Dim rows = ir::Symbol::fresh("rows");
      const GraphRef g = graph_of(
          {weights_of({n, k}, e), Type::get(DType::f32, {rows, k}), Type::get(DType::i32, {3})},
          [&](const Vals& p) -> Vals {
            return {ops::quant_matmul(p[1], p[0], false, act), ops::quant_gather(p[0], p[2])};
          });
      const HostArray w = blocks(*e, n, k, false), all = drawn(DType::f32, {most, k}, false);
      const HostArray at = HostArray::from<std::int32_t>(std::vector<std::int32_t>{7, 0, 202}, {3});
      const auto executable = cpu::cpu_backend().compile(g);
      const auto bound = executable->bind({{0, runtime::Buffer(w)}});
      const HostArray want = run(g, {w, all, at})[0];
      const HostArray table = interp::run(*g, Arrays{w, HostArray(DType::f32, {0, k}), at})[1];
      for (const std::int64_t m : {1, 3, 4, 5, 64, 512}) {
        for (const std::int64_t first : {std::int64_t{0}, most - m}) {
          for (const std::int64_t workers : {1, 3}) {
            cpu::set_num_threads(workers);
            HostArray x(DType::f32, {m, k});
            std::memcpy(x.mutable_data(), all.as<float>().data() + first * k, x.bytes());
            const auto have = bound->run({runtime::Buffer(x), runtime::Buffer(at)}, {});
            const HostArray y = have.outputs[0].to_host();
            EXPECT_EQ(std::memcmp(y.data(), want.as<float>().data() + first * n, y.bytes()), 0)
                << name << ", " << m << " rows from " << first;
            EXPECT_TRUE(identical(have.outputs[1].to_host(), table));
          }
        }
      }
    }
  }
  cpu::set_alone_nanoseconds(alone);
  cpu::set_num_threads(threads);
}

}  // namespace
}  // namespace tlaloc::testing
