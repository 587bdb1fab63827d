// Values in and out: printing, containers, Eigen, DLPack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

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
  EXPECT_EQ(text(Tensor<double, 2>::from({-INFINITY, -NAN})), "[-inf,  nan]");
  std::vector<int> many(2000);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_EQ(text(Tensor<int, 2000>::from(many)), "[   0,    1,    2, ..., 1997, 1998, 1999]");
  EXPECT_EQ(text(Tensor<float>()), "(empty)");
}

TEST(Printing, AnEmptyArrayIsNotWalked) {
  const Array wide(core::make_concrete(HostArray(DType::f32, {1'000'000'000'000, 0})));
  EXPECT_EQ(text(wide), "[] of shape [1000000000000, 0]");
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

TEST(Eigen, PartsAndEmptyMatricesAreCopiedInTheirOrder) {
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic> m(3, 3);  // column-major
  m << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  EXPECT_THAT(to_vector(from_eigen<Tensor<float, 2, 2>>(m.block(1, 0, 2, 2))),
              ElementsAre(4, 5, 7, 8));
  EXPECT_THAT(to_vector(from_eigen<Tensor<float, 3>>(m.row(1))), ElementsAre(4, 5, 6));
  EXPECT_THAT(to_vector(from_eigen<Tensor<float, 3>>(m.col(1).reverse())), ElementsAre(8, 5, 2));
  EXPECT_THAT(to_vector(from_eigen<Tensor<float, 0, 3>>(m.topRows(0))), ElementsAre());
  const auto none = from_eigen<Tensor<float, any, 3>>(m.topRows(0));
  EXPECT_EQ(as_eigen(none).rows(), 0);
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

TEST(Dlpack, AnyLayoutIsReadInOrder) {
  const auto read = [](auto change) {
    Foreign f;
    change(f);
    const Imported in = from_dlpack(&f.managed);
    return std::pair(to_vector(as<Tensor<double, any>>(in.array)), in.copied != nullptr);
  };
  // A part of a row, backwards, with a step, one element without a sensible stride, nothing.
  EXPECT_EQ(read([](Foreign& f) {
              f.managed.tensor.ndim = 1;
              f.managed.tensor.byte_offset = 8;
              f.shape = {2};
              f.strides = {1};
              f.managed.tensor.shape = f.shape.data();
              f.managed.tensor.strides = f.strides.data();
            }),
            std::pair(std::vector<double>{2, 3}, false));
  const auto strided = [](std::int64_t from, std::int64_t size, std::int64_t stride) {
    return [=](Foreign& f) {
      f.managed.tensor.ndim = 1;
      f.managed.tensor.byte_offset = static_cast<std::uint64_t>(from) * 8;
      f.shape[0] = size;
      f.strides[0] = stride;
    };
  };
  EXPECT_EQ(read(strided(5, 3, -2)), std::pair(std::vector<double>{6, 4, 2}, true));
  EXPECT_EQ(read(strided(0, 3, 2)), std::pair(std::vector<double>{1, 3, 5}, true));
  EXPECT_EQ(read(strided(2, 1, 1000)), std::pair(std::vector<double>{3}, false));
  EXPECT_EQ(read(strided(0, 2, 0)), std::pair(std::vector<double>{1, 1}, true));
  EXPECT_EQ(read(strided(0, 0, 1)), std::pair(std::vector<double>{}, false));
}

TEST(Dlpack, ScalarsMisalignedDataAndWrongTypes) {
  Foreign scalar;
  scalar.managed.tensor.ndim = 0;
  scalar.managed.tensor.shape = scalar.managed.tensor.strides = nullptr;
  EXPECT_EQ(as<Tensor<double>>(from_dlpack(&scalar.managed).array).item(), 1);

  Foreign odd;
  std::vector<char> bytes(7 * sizeof(double));
  std::memcpy(bytes.data() + 1, odd.data.data(), 6 * sizeof(double));
  odd.managed.tensor.data = bytes.data() + 1;
  const Imported in = from_dlpack(&odd.managed);
  EXPECT_THAT(in.copied, HasSubstr("not aligned"));
  EXPECT_THAT(to_vector(as<Tensor<double, 2, 3>>(in.array)), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(error_of([&] { as<Tensor<float, 2, 3>>(in.array); }), HasSubstr("TL-DTYPE-001"));
  EXPECT_THAT(error_of([&] { as<Tensor<double, 6>>(in.array); }), HasSubstr("TL-RANK-001"));

  core::Trace trace("f");
  const Tensor<float, 3> x(trace.param(ir::Type::get(DType::f32, {3})));
  EXPECT_THAT(error_of([&] { to_dlpack(x.ref()); }), HasSubstr("TL-TRACE-001"));
}

TEST(Dlpack, BoolsAreZeroOrOne) {
  std::vector<unsigned char> bytes{0, 1, 2, 255};
  const auto import = [&] {
    Foreign f;
    f.shape = {4};
    f.strides = {1};
    f.managed.tensor.data = bytes.data();
    f.managed.tensor.ndim = 1;
    f.managed.tensor.dtype = {dlpack::kBool, 8, 1};
    Imported in = from_dlpack(&f.managed);
    const auto* got = static_cast<const unsigned char*>(core::data(in.array.ref(), {}));
    EXPECT_THAT(std::vector(got, got + 4), ElementsAre(0, 1, bytes[2] != 0, 1));
    return std::string(in.copied ? in.copied : "shared");
  };
  EXPECT_THAT(import(), HasSubstr("other than 0 and 1"));
  bytes = {0, 1, 0, 1};
  EXPECT_EQ(import(), "shared");
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
  EXPECT_THAT(refused([](Foreign& f) { f.managed.tensor.ndim = -1; }),
              HasSubstr("TL-DLPACK-004: from_dlpack: the tensor has a negative number of axes"));
  EXPECT_THAT(refused([](Foreign& f) { f.managed.tensor.shape = nullptr; }),
              HasSubstr("TL-DLPACK-004: from_dlpack: the tensor has no shape"));
  EXPECT_THAT(refused([](Foreign& f) { f.managed.tensor.data = nullptr; }),
              HasSubstr("TL-DLPACK-004: from_dlpack: the tensor has elements, but no memory"));
  EXPECT_THAT(error_of([] { from_dlpack(static_cast<dlpack::Managed*>(nullptr)); }),
              HasSubstr("TL-VALUE-002"));
}

}  // namespace
}  // namespace tlaloc
