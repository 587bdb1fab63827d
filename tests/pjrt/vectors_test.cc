// Arrays that plugins compute with vectors: some of their vectorized code differs from what they
// do with few elements.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/conformance/cases.h"
#include "tests/pjrt/plugins.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc::plugins {
namespace {

using ir::Type;
using ir::Val;
using ir::Vals;
using runtime::Buffer;

class Vectors : public ::testing::TestWithParam<const char*> {
 protected:
  /// For each of the inputs of a graph that has one.
  void expect_agreement(const ir::GraphRef& g, const std::vector<HostArray>& inputs, double ulps,
                        const std::string& what) {
    const auto executable = make_backend({.plugin = GetParam()})->compile(g);
    for (const HostArray& x : inputs) {
      const auto got = executable->run({Buffer(x)}).outputs;
      const auto want = interp::run(*g, {x});
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < want.size(); ++k) {
        EXPECT_EQ(runtime::conformance::difference(want[k], got[k].to_host(), ulps), "")
            << what << ", result " << k;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Plugins, Vectors, ::testing::ValuesIn(tested_plugins()));

constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

HostArray filled(DType t, Extents extents, const std::function<double(std::int64_t)>& f) {
  HostArray a(t, std::move(extents));
  dispatch(t, [&]<class T>(TypeTag<T>) {
    std::int64_t i = 0;
    for (T& x : a.as_mutable<T>()) x = static_cast<T>(static_cast<ComputeType<T>>(f(i++)));
  });
  return a;
}

TEST_P(Vectors, ArcTangents) {
  for (DType t : kFloats) {
    for (std::int64_t n : {1, 100}) {
      ir::Builder b("test");
      const Val x = b.param(Type::get(t, {ir::Dim(n)}));
      const auto g = b.build(Vals{ops::atan(x), ops::atan2(x, ops::full(1, x.type())),
                                  ops::atan2(ops::full(1, x.type()), x)});
      const HostArray in = filled(t, {n}, [&](std::int64_t i) {
        return i % 97 == 96 ? std::numeric_limits<double>::quiet_NaN()
                            : 0.3 * static_cast<double>(i - n / 2);
      });
      expect_agreement(g, {in}, 4, std::string(name(t)) + ", " + std::to_string(n));
    }
  }
}

TEST_P(Vectors, ConversionsToNarrowFloatsRoundOnce) {
  auto narrowed = [&](const HostArray& x) {
    ir::Builder b("test");
    const Val v = b.param(Type::get(x.dtype(), {ir::Dim(x.size())}));
    expect_agreement(b.build(Vals{ops::convert(v, DType::f16), ops::convert(v, DType::bf16)}), {x},
                     0, std::string(name(x.dtype())));
  };
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> f{1 + 0x1p-8 + 0x1p-30,
                              -1 - 0x1p-8 - 0x1p-30,
                              1 + 3 * 0x1p-8 - 0x1p-40,
                              65519.9999999,
                              -65519.9999999,
                              65520,
                              1e300,
                              -1e300,
                              inf,
                              -inf,
                              0,
                              -0.0,
                              std::nan(""),
                              1 + 0x1p-11 + 0x1p-40};
  const std::int64_t big = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const std::vector<std::int64_t> i{(std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1,
                                    -(std::int64_t{1} << 40) - (std::int64_t{1} << 32) - 1,
                                    big,
                                    big + 1,
                                    big - 1,
                                    -big,
                                    -big - 1,
                                    -big + 1,
                                    65519,
                                    65520,
                                    0,
                                    std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max()};
  const std::vector<std::int32_t> j{(1 << 30) + (1 << 22) + 1, -(1 << 30) - (1 << 22) - 1, 65519};
  narrowed(HostArray::from(std::span<const double>(f), {static_cast<std::int64_t>(f.size())}));
  narrowed(
      HostArray::from(std::span<const std::int64_t>(i), {static_cast<std::int64_t>(i.size())}));
  narrowed(
      HostArray::from(std::span<const std::int32_t>(j), {static_cast<std::int64_t>(j.size())}));
}

TEST_P(Vectors, ExtremesOfNan) {
  const std::int64_t rows = 66, columns = 67;
  for (DType t : kFloats) {
    ir::Builder b("test");
    const Val x = b.param(Type::get(t, {ir::Dim(rows), ir::Dim(columns)}));
    Vals out;
    const std::vector<std::int64_t> lists[] = {{0}, {1}, {0, 1}};
    for (const auto& axes : lists) {
      out.push_back(ops::reduce_max(x, axes));
      out.push_back(ops::reduce_min(x, axes));
    }
    std::vector<HostArray> inputs;
    for (std::int64_t at : {std::int64_t{-1}, std::int64_t{0}, rows * columns / 3}) {
      inputs.push_back(filled(t, {rows, columns}, [&](std::int64_t i) {
        return i == at ? std::numeric_limits<double>::quiet_NaN()
                       : static_cast<double>((i * 37) % 101 - 50);
      }));
    }
    expect_agreement(b.build(out), inputs, 0, std::string(name(t)));
  }
}

}  // namespace
}  // namespace tlaloc::plugins
