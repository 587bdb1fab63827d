// dot_general and convolution on the CPU back end: views as operands, any axes, against the
// interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Val;
using ops::AxisList;

/// Numbers that products of integers keep exact.
HostArray numbers(DType dtype, Extents extents, std::uint64_t seed) {
  HostArray a = HostArray::uninitialized(dtype, std::move(extents));
  std::mt19937_64 random(seed);
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const int x = static_cast<int>(random() % 15) - 7;
      T& element = static_cast<T*>(a.mutable_data())[i];
      if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(x);  // of an unsigned type too
      } else {
        element = static_cast<T>(static_cast<float>(x));
      }
    }
  });
  return a;
}

/// Runs on both, expects the same bits, and gives the names of the steps.
std::vector<std::string> steps_of(const GraphRef& g, const std::vector<HostArray>& args) {
  const auto run =
      cpu_backend().compile(g)->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
  const auto want = interp::run(*g, args);
  for (std::size_t k = 0; k < want.size(); ++k) {
    EXPECT_EQ(to_string(run.outputs.at(k).to_host()), to_string(want[k])) << g->to_string();
  }
  std::vector<std::string> steps;
  const auto program = plan(g);
  for (const Step& s : program->steps) steps.emplace_back(s.name);
  return steps;
}

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16, DType::i32};

TEST(Products, ViewsAreReadWhereTheyLie) {
  for (DType t : kTypes) {
    ir::Builder b("f");
    const Val x = b.param(ir::Type::get(t, {9, 6, 4})), y = b.param(ir::Type::get(t, {5, 8, 3}));
    // [4, 3, 8] of every second row, from the last one back; then [8, 5] with a stretched axis.
    const Dim start[] = {1, 0, 0}, limit[] = {9, 6, 4}, step[] = {1, 2, 1};
    const Val left = ops::transpose(ops::slice(x, start, limit, step), AxisList{2, 1, 0});
    const Dim first[] = {0, 0, 1}, last[] = {5, 8, 2};
    const Val right = ops::reshape(ops::slice(y, first, last), std::vector<Dim>{5, 8});
    const Val stretched = ops::broadcast_in_dim(ops::reverse(right, AxisList{1}),
                                                std::vector<Dim>{2, 5, 8}, AxisList{1, 2});
    const Val z = ops::dot_general(left, stretched, {.lhs_contract = {2}, .rhs_contract = {2}});
    const auto steps =
        steps_of(b.build(ir::Vals{z}), {numbers(t, {9, 6, 4}, 1), numbers(t, {5, 8, 3}, 2)});
    EXPECT_EQ(steps, std::vector<std::string>{"dot_general"});
  }
}

TEST(Products, AreWrittenIntoWhatTheyAreAPartOf) {
  ir::Builder b("f");
  const ir::Type type = ir::Type::get(DType::f32, {5, 5});
  const Val x = b.param(type), y = b.param(type);
  const Val z = ops::concatenate(std::vector<Val>{ops::matmul(x, y), ops::matmul(y, x)}, 1);
  steps_of(b.build(ir::Vals{z}), {numbers(DType::f32, {5, 5}, 1), numbers(DType::f32, {5, 5}, 2)});
}

TEST(Products, ContractedAxesThatAreNotOneAreCopied) {
  for (DType t : kTypes) {
    ir::Builder b("f");
    const Dim n = ir::Symbol::fresh("n");
    const Val x = b.param(ir::Type::get(t, {2, 3, n, 4})), y = b.param(ir::Type::get(t, {n, 3, 5}));
    const Val z = ops::dot_general(x, y, {.lhs_contract = {2, 1}, .rhs_contract = {0, 1}});
    const GraphRef g = b.build(ir::Vals{z});
    for (std::int64_t size : {0, 1, 6}) {
      const auto steps = steps_of(g, {numbers(t, {2, 3, size, 4}, 3), numbers(t, {size, 3, 5}, 4)});
      EXPECT_EQ(std::ranges::count(steps, "dot_general"), 2);
      EXPECT_EQ(steps.size(), 2u);
    }
  }
}

/// Axes of up to three numbers in each role, in any order, of views that are transposed and sliced.
TEST(Products, RandomAxes) {
  std::mt19937_64 random(1);
  auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int trial = 0; trial < 300; ++trial) {
    const DType t = kTypes[below(4)];
    ir::Builder b("f");
    // The roles' sizes, then for each operand its axes in some order.
    std::vector<std::int64_t> shared[2];  // batch, contracted
    for (auto& sizes : shared) {
      for (std::int64_t i = below(3); i > 0; --i) sizes.push_back(below(9) == 0 ? 0 : 1 + below(4));
    }
    ops::DotDims dims;
    std::vector<Val> operands;
    std::vector<HostArray> args;
    for (int side = 0; side < 2; ++side) {
      std::vector<std::int64_t> sizes = shared[0];
      sizes.insert(sizes.end(), shared[1].begin(), shared[1].end());
      for (std::int64_t i = below(3); i > 0; --i) sizes.push_back(1 + below(20));
      AxisList order(sizes.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
      std::shuffle(order.begin(), order.end(), random);
      // Role i lies at axis place[i] of the operand.
      AxisList place(order.size());
      Extents extents;
      std::vector<Dim> start, limit, step;
      for (std::size_t i = 0; i < order.size(); ++i) {
        place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
        const std::int64_t size = sizes[static_cast<std::size_t>(order[i])];
        const std::int64_t from = below(3), by = 1 + below(2);
        extents.push_back(from + size * by);
        start.push_back(from);
        limit.push_back(from + size * by);
        step.push_back(by);
      }
      const std::vector<Dim> shape(extents.begin(), extents.end());
      operands.push_back(ops::slice(b.param(ir::Type::get(t, shape)), start, limit, step));
      args.push_back(numbers(t, extents, random()));
      const auto batch = static_cast<std::ptrdiff_t>(shared[0].size());
      const auto both = batch + static_cast<std::ptrdiff_t>(shared[1].size());
      (side ? dims.rhs_batch : dims.lhs_batch) = AxisList(place.begin(), place.begin() + batch);
      (side ? dims.rhs_contract : dims.lhs_contract) =
          AxisList(place.begin() + batch, place.begin() + both);
    }
    const Val y = ops::dot_general(operands[0], operands[1], dims);
    steps_of(b.build(ir::Vals{y}), args);
    if (::testing::Test::HasFailure()) return;
  }
}

/// Products so small that compiled code has them as loops: the bits of the matrix kernel.
TEST(Products, SmallOnesHaveTheKernelsBits) {
  struct Case {
    std::int64_t batch, m, k, n;
    bool small = true;
  };
  const Case cases[] = {{1, 1, 12, 32}, {1, 12, 32, 1},     {1, 12, 1, 32}, {1, 3, 3, 3},
                        {1, 5, 7, 9},   {1, 2, 50, 5},      {4, 4, 5, 6},   {1, 1, 512, 1},
                        {1, 8, 8, 8},   {1, 9, 8, 8, false}};
  const auto noise = [](DType t, Extents extents, std::uint64_t seed) {
    HostArray a(t, std::move(extents));
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    dispatch(t, [&]<class T>(TypeTag<T>) {
      for (std::int64_t i = 0; i < a.size(); ++i)
        static_cast<T*>(a.mutable_data())[i] = static_cast<T>(static_cast<float>(normal(random)));
    });
    return a;
  };
  for (const DType t : {DType::f32, DType::f64}) {
    for (const Case& c : cases) {
      for (const bool turned : {false, true}) {
        const Extents left{c.batch, c.m, c.k};
        const Extents right = turned ? Extents{c.batch, c.n, c.k} : Extents{c.batch, c.k, c.n};
        ir::Builder b("f");
        const Val x = b.param(ir::Type::get(t, std::vector<Dim>(left.begin(), left.end())));
        const Val y = b.param(ir::Type::get(t, std::vector<Dim>(right.begin(), right.end())));
        const GraphRef g = b.build(ir::Vals{ops::dot_general(x, y,
                                                             {.lhs_batch = {0},
                                                              .rhs_batch = {0},
                                                              .lhs_contract = {2},
                                                              .rhs_contract = {turned ? 2 : 1}})});
        const std::vector<HostArray> args{noise(t, left, 1), noise(t, right, 2)};
        const auto run = [&](bool once) {
          const auto executable = cpu_backend().compile(g, {.run_once = once});
          return executable->run(std::vector<runtime::Buffer>(args.begin(), args.end()))
              .outputs[0]
              .to_host();
        };
        const HostArray compiled = run(false), kernel = run(true);
        EXPECT_EQ(std::memcmp(compiled.data(), kernel.data(), kernel.bytes()), 0) << g->to_string();
        std::string runs_on;
        const auto bound = cpu_backend().compile(g)->bind({});
        for (const auto& k : bound->explain({}).kernels) runs_on += k.runs_on;
        EXPECT_EQ(runs_on, c.small ? "compiled code" : "matrix kernel") << g->to_string();
      }
    }
  }
}

/// An array of those sizes with the axes in another order: axis `order[i]` of it is axis i of
/// `sizes`.
Extents placed(const Extents& sizes, const AxisList& order) {
  Extents r(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) r[static_cast<std::size_t>(order[i])] = sizes[i];
  return r;
}

TEST(Convolutions, RandomWindows) {
  std::mt19937_64 random(2);
  auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  auto any_order = [&](std::size_t rank) {
    AxisList order(rank);
    for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  for (int trial = 0; trial < 400; ++trial) {
    constexpr DType kNumbers[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::u8};
    const DType t = kNumbers[below(2) ? below(2) : below(5)];
    const auto spatial = static_cast<std::size_t>(below(4));
    ops::ConvAttrs attrs = ops::plain_convolution(static_cast<int>(spatial));
    const std::int64_t groups = 1 + below(3), kind = below(3);  // no groups, of features, of batch
    if (kind == 1) attrs.feature_groups = groups;
    if (kind == 2) attrs.batch_groups = groups;
    const std::int64_t batch = 1 + below(3), in = 1 + below(4),
                       out = (kind ? groups : 1) * (1 + below(3));
    Extents lhs{batch * (kind == 2 ? groups : 1), in * (kind == 1 ? groups : 1)}, rhs{out, in};
    const AxisList a = any_order(spatial + 2), b = any_order(spatial + 2),
                   c = any_order(spatial + 2);
    attrs.dims = {.lhs_batch = a[0],
                  .lhs_feature = a[1],
                  .rhs_in = b[1],
                  .rhs_out = b[0],
                  .out_batch = c[0],
                  .out_feature = c[1]};
    for (std::size_t i = 0; i < spatial; ++i) {
      lhs.push_back(below(12) == 0 ? 0 : 1 + below(20));
      rhs.push_back(below(20) == 0 ? 0 : 1 + below(4));
      attrs.dims.lhs_spatial.push_back(a[i + 2]);
      attrs.dims.rhs_spatial.push_back(b[i + 2]);
      attrs.dims.out_spatial.push_back(c[i + 2]);
      attrs.strides[i] = 1 + below(4);
      attrs.lhs_dilation[i] = 1 + below(4);
      attrs.rhs_dilation[i] = 1 + below(3);
      attrs.low[i] = below(7) - 3;
      attrs.high[i] = below(7) - 3;
      attrs.reversed[i] = below(2) == 1;
    }
    const Extents left = placed(lhs, a), right = placed(rhs, b);
    ir::Builder builder("f");
    const Val x = builder.param(ir::Type::get(t, std::vector<Dim>(left.begin(), left.end())));
    const Val k = builder.param(ir::Type::get(t, std::vector<Dim>(right.begin(), right.end())));
    const Val y = ops::convolution(x, k, attrs);
    HostArray kernel = numbers(t, right, random());
    // What lies in the padding is not multiplied.
    if (trial % 3 == 0 && kernel.size()) {
      dispatch(t, [&]<class T>(TypeTag<T>) {
        if constexpr (std::is_floating_point_v<T>) {
          static_cast<T*>(kernel.mutable_data())[0] = std::numeric_limits<T>::infinity();
        }
      });
    }
    const auto steps = steps_of(builder.build(ir::Vals{y}), {numbers(t, left, random()), kernel});
    EXPECT_GT(std::ranges::count(steps, "convolution"), 0);
    if (::testing::Test::HasFailure()) return;
  }
}

/// Few features per group, channels first and last, and their gradients by the kernel: computed
/// where the results lie, without zeros before. On one thread and on several.
TEST(Convolutions, OfFewFeaturesPerGroup) {
  const std::int64_t threads = num_threads();
  const double alone = alone_nanoseconds();
  std::mt19937_64 random(3);
  auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int trial = 0; trial < 100; ++trial) {
    const DType t = kTypes[below(3)];
    const std::int64_t spatial = 1 + below(2);
    ops::ConvAttrs attrs = ops::plain_convolution(static_cast<int>(spatial));
    const bool last = below(2) == 1, by_kernel = below(2) == 1;
    const std::int64_t groups = 2 + below(40), batch = 1 + below(3);
    const std::int64_t in = last ? 1 : 1 + below(3), out = last ? 1 : 1 + below(3);
    (by_kernel ? attrs.batch_groups : attrs.feature_groups) = groups;
    Extents lhs{batch, in * groups}, rhs{out * groups, in};
    if (by_kernel) {
      lhs = {in * groups, batch};
      rhs = {out * groups, batch};
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(spatial); ++i) {
      const std::int64_t image = 3 + below(40), small = 1 + below(4);
      lhs.push_back(below(30) == 0 ? 0 : image);
      rhs.push_back(by_kernel ? std::max<std::int64_t>(image - below(3), 1) : small);
      if (!by_kernel) attrs.lhs_dilation[i] = 1 + below(2);
      attrs.strides[i] = by_kernel ? 1 : 1 + below(3);
      attrs.rhs_dilation[i] = 1 + below(2);
      attrs.low[i] = below(5) - 1;
      attrs.high[i] = by_kernel ? below(3) + (attrs.rhs_dilation[i] - 1) * image : below(5) - 1;
      attrs.reversed[i] = !by_kernel && below(2) == 1;
    }
    AxisList a, b, c;  // where batch, features and the spatial axes lie
    for (std::int64_t i = 0; i < spatial + 2; ++i) {
      for (AxisList* axes : {&a, &b, &c}) axes->push_back(i);
    }
    if (last) {
      // [spatial…, features] behind the batch; of the kernel and its gradient the other way round.
      const std::int64_t end = spatial + 1;
      a = b = c = {0, end};
      b = {end, 0};
      if (by_kernel) a = {end, 0};
      for (std::int64_t i = 0; i < spatial; ++i) {
        for (AxisList* axes : {&a, &b, &c}) axes->push_back(i + 1);
      }
    }
    attrs.dims = {.lhs_batch = a[0],
                  .lhs_feature = a[1],
                  .lhs_spatial = AxisList(a.begin() + 2, a.end()),
                  .rhs_in = b[1],
                  .rhs_out = b[0],
                  .rhs_spatial = AxisList(b.begin() + 2, b.end()),
                  .out_batch = c[0],
                  .out_feature = c[1],
                  .out_spatial = AxisList(c.begin() + 2, c.end())};
    const Extents left = placed(lhs, a), right = placed(rhs, b);
    ir::Builder builder("f");
    const Val x = builder.param(ir::Type::get(t, std::vector<Dim>(left.begin(), left.end())));
    const Val k = builder.param(ir::Type::get(t, std::vector<Dim>(right.begin(), right.end())));
    const Val y = ops::convolution(x, k, attrs);
    const GraphRef g = builder.build(ir::Vals{y});
    HostArray kernel = numbers(t, right, random());
    // What lies in the padding is not multiplied.
    if (trial % 3 == 0 && kernel.size() && t == DType::f32) {
      kernel.as_mutable<float>()[0] = std::numeric_limits<float>::infinity();
    }
    set_num_threads(1 + below(3));
    set_alone_nanoseconds(below(2) ? 0 : alone);
    const auto steps = steps_of(g, {numbers(t, left, random()), kernel});
    // Operands and results of 16 bits are converted.
    if (byte_size(t) > 2 && element_count(left) > 0 && y.type().elements() != Dim(0)) {
      EXPECT_EQ(std::ranges::count(steps, "convolution"), 1) << g->to_string();
    }
    if (::testing::Test::HasFailure()) break;
  }
  set_alone_nanoseconds(alone);
  set_num_threads(threads);
}

/// A kernel's gradient of many images: its elements take turns on one thread, are shared on
/// several.
TEST(Convolutions, KernelsGradientsOfManyImages) {
  const std::int64_t threads = num_threads();
  ops::ConvAttrs attrs = ops::plain_convolution(2);
  attrs.dims.lhs_batch = attrs.dims.rhs_out = attrs.dims.out_batch = 1;
  attrs.dims.lhs_feature = attrs.dims.rhs_in = attrs.dims.out_feature = 0;
  const Extents images{12, 32, 12, 12}, gradients{12, 64, 8, 8};
  ir::Builder builder("f");
  const Val x = builder.param(ir::Type::get(DType::f32, {12, 32, 12, 12}));
  const Val y = builder.param(ir::Type::get(DType::f32, {12, 64, 8, 8}));
  const GraphRef g = builder.build(ir::Vals{ops::convolution(x, y, attrs)});
  for (const std::int64_t n : {1, 3}) {
    set_num_threads(n);
    steps_of(g, {numbers(DType::f32, images, 1), numbers(DType::f32, gradients, 2)});
  }
  set_num_threads(threads);
}

/// Strides and dilations that are stepped over once only, as large as 64 bits allow.
TEST(Convolutions, OfAbsurdStrides) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  for (const std::int64_t groups : {1, 3}) {
    for (int which = 0; which < 8; ++which) {
      ops::ConvAttrs attrs = ops::plain_convolution(1);
      attrs.feature_groups = groups;
      if (which & 1) attrs.strides[0] = kHuge + 1;
      if (which & 2) attrs.lhs_dilation[0] = kHuge;
      if (which & 4) attrs.rhs_dilation[0] = kHuge - 1;
      attrs.low[0] = attrs.high[0] = 1;
      const Extents left{2, groups, 1}, right{groups, 1, 1};
      ir::Builder builder("f");
      const Val x = builder.param(ir::Type::get(DType::f32, {2, groups, 1}));
      const Val k = builder.param(ir::Type::get(DType::f32, {groups, 1, 1}));
      const Val y = ops::convolution(x, k, attrs);
      steps_of(builder.build(ir::Vals{y}),
               {numbers(DType::f32, left, 1), numbers(DType::f32, right, 2)});
    }
  }
}

}  // namespace
}  // namespace tlaloc::cpu
