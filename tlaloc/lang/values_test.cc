// Values in and out: printing, containers, Eigen, DLPack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/axis.h"
#include "tlaloc/lang/containers.h"
#include "tlaloc/lang/dlpack.h"
#include "tlaloc/lang/print.h"
#include "tlaloc/lang/trace_stack.h"

#if __has_include(<Eigen/Core>)
#define TLALOC_HAVE_EIGEN
#include "tlaloc/lang/eigen.h"
#endif

namespace tlaloc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class X>
std::string text(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Printing, LooksLikeNumpy) {
  EXPECT_EQ(text(Tensor<float>(1.5)), "1.5");
  EXPECT_EQ(text(Tensor<double>(2.0)), "2.");
  EXPECT_EQ(text(Tensor<float, 3>::from({1, -2.5, 100})), "[  1., -2.5, 100.]");
  EXPECT_EQ(text(Tensor<int, 2, 2>::from({1, 2, 3, -4})), "[[ 1,  2],\n [ 3, -4]]");
  EXPECT_EQ(text(Tensor<int, 2, 1, 2>::from({1, 2, 3, 4})), "[[[1, 2]],\n\n [[3, 4]]]");
  EXPECT_EQ(text(Tensor<bool, 2>::from({true, false})), "[ true, false]");
  EXPECT_EQ(text(Tensor<float, 0>::from({})), "[]");
  EXPECT_EQ(text(Tensor<float, 2>::from({INFINITY, NAN})), "[inf, nan]");
  std::vector<int> many(2000);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_EQ(text(Tensor<int, 2000>::from(many)), "[   0,    1,    2, ..., 1997, 1998, 1999]");
  EXPECT_EQ(text(Tensor<float>()), "(empty)");
}

TEST(Printing, ATracedValuePrintsAsItsType) {
  core::Trace trace("f");
  const Tensor<float, 3> x(trace.param(ir::Type::get(DType::f32, {3})));
  EXPECT_EQ(text(x), "f32[3] (traced)");
}

TEST(Containers, Vectors) {
  EXPECT_THAT(to_vector(Tensor<float, 3>::from({1, 2, 3})), ElementsAre(1, 2, 3));
  const std::vector<float> wrong(4);
  EXPECT_THAT(error_of([&] { Tensor<float, 3>::from(wrong); }), HasSubstr("values_test.cc:"));
}

#ifdef TLALOC_HAVE_EIGEN
TEST(Eigen, MapsAndCopies) {
  const auto x = Tensor<float, 2, 3>::from({1, 2, 3, 4, 5, 6});
  const auto m = as_eigen(x);
  EXPECT_EQ(m.data(), x.data().data());
  EXPECT_EQ(m(1, 0), 4);
  const auto t = from_eigen<Tensor<float, 3, 2>>(m.transpose());
  EXPECT_THAT(to_vector(t), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(error_of([&] { from_eigen<Tensor<float, 2, 2>>(m); }), HasSubstr("TL-SHAPE-002"));
  const auto v = Tensor<double, 2>::from({3, 4});
  EXPECT_EQ(as_eigen(v).sum(), 7);
}
#endif

TEST(Dlpack, SharesWithoutCopies) {
  const auto x = Tensor<float, 2, 3>::from({1, 2, 3, 4, 5, 6});
  auto* managed = to_dlpack(x.ref());
  EXPECT_EQ(managed->tensor.data, x.data().data());
  EXPECT_EQ(managed->flags, dlpack::kReadOnly);
  EXPECT_THAT(std::span(managed->tensor.shape, 2), ElementsAre(2, 3));
  EXPECT_THAT(std::span(managed->tensor.strides, 2), ElementsAre(3, 1));
  const Imported in = from_dlpack(managed);
  EXPECT_EQ(in.copied, nullptr);
  EXPECT_EQ(core::data(in.array.ref(), {}), x.data().data());
  auto* old = to_dlpack_unversioned(x.ref());
  EXPECT_NE(old->tensor.data, x.data().data());
  EXPECT_THAT(to_vector(Tensor<float, 2, 3>(from_dlpack(old).array.ref())),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

/// A foreign array: counts how often it was released.
struct Foreign {
  dlpack::ManagedVersioned managed{};
  std::vector<double> data{1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> shape{2, 3}, strides{3, 1};
  int released = 0;

  Foreign() {
    managed.version = dlpack::kVersion;
    managed.context = this;
    managed.deleter = [](dlpack::ManagedVersioned* m) {
      ++static_cast<Foreign*>(m->context)->released;
    };
    managed.tensor = {data.data(),  {dlpack::kCpu, 0}, 2, {dlpack::kFloat, 64, 1},
                      shape.data(), strides.data(),    0};
  }
};

TEST(Dlpack, ReportsCopiesAndReleasesOnce) {
  Foreign shared;
  {
    const Imported in = from_dlpack(&shared.managed);
    EXPECT_EQ(in.copied, nullptr);
    EXPECT_EQ(shared.released, 0);
  }
  EXPECT_EQ(shared.released, 1);

  Foreign transposed;
  transposed.shape = {3, 2};
  transposed.strides = {1, 3};
  const Imported in = from_dlpack(&transposed.managed);
  EXPECT_THAT(in.copied, HasSubstr("not row-major"));
  EXPECT_EQ(transposed.released, 1);
  EXPECT_THAT(to_vector(Tensor<double, 3, 2>(in.array.ref())), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Dlpack, RefusesByName) {
  const auto refused = [](auto change) {
    Foreign f;
    change(f);
    const std::string text = error_of([&] { from_dlpack(&f.managed); });
    EXPECT_EQ(f.released, 1);
    return text;
  };
  EXPECT_THAT(refused([](Foreign& f) { f.managed.tensor.device.type = 2; }),
              HasSubstr("TL-DLPACK-001"));
  EXPECT_THAT(refused([](Foreign& f) { f.managed.tensor.dtype = {dlpack::kComplex, 64, 1}; }),
              HasSubstr("TL-DLPACK-002"));
  EXPECT_THAT(refused([](Foreign& f) { f.managed.version.major = 2; }), HasSubstr("TL-DLPACK-003"));
  EXPECT_THAT(refused([](Foreign& f) { f.shape[0] = -1; }), HasSubstr("TL-SIZE-001"));
  EXPECT_THAT(error_of([] { from_dlpack(static_cast<dlpack::Managed*>(nullptr)); }),
              HasSubstr("TL-VALUE-002"));
}

}  // namespace
}  // namespace tlaloc
