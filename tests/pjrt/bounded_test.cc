// Bounded programs on each plugin: a state that is trained on batches of varying length stays on
// the device, in its memory.
#include "tlaloc/lang/bounded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/base/error.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/tlaloc.h"

namespace {

using ::testing::HasSubstr;

constexpr tl::Bounded<struct Rows, 40> rows;
constexpr tl::Axis<struct Three, 3> three;
using Points = tl::Tensor<float, rows, 3>;
using Values = tl::Tensor<float, rows>;
using Slope = tl::Tensor<float, 3>;

/// One step of descent with momentum on the mean square.
auto step(Slope slope, Slope momentum, Points x, Values y) {
  const auto loss = [](Slope s, Points px, Values py) {
    const auto d = tl::matmul(px, s) - py;
    return tl::mean(d * d);
  };
  const auto [value, g] = tl::value_and_grad(loss)(slope, x, y);
  const Slope m = momentum * 0.9f + g;
  return std::tuple(value, slope - 0.1f * m, m);
}

std::vector<float> numbers(int n) {
  std::vector<float> r;
  for (int i = 0; i < n; ++i) r.push_back(std::sin(1.7f * static_cast<float>(i) + 1));
  return r;
}
Points points(int n) { return Points::from(numbers(3 * n)); }
Values values(int n) { return Values::from(numbers(n)); }
Slope slope() { return Slope::from({1, 2, 3}); }

/// Where an array lies on a device; empty for one on the host.
tl::runtime::Buffer on_device(const tl::Array& x) {
  const auto& there = tl::core::node(x.ref()).device();
  return there ? there->buffer() : tl::runtime::Buffer();
}
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const tl::Error& e) {
    return e.what();
  }
  return "no error";
}

class BoundedOn : public ::testing::TestWithParam<const char*> {
 protected:
  tl::BoundedProgram program(std::vector<int> donate) const {
    return tl::export_bounded(step, {.donate = std::move(donate)})(slope(), tl::zeros<float, 3>(),
                                                                   points(4), values(4))
        .program(tl::pjrt(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Plugins, BoundedOn, ::testing::ValuesIn(tl::plugins::tested_plugins()));

TEST_P(BoundedOn, AStateThatIsMovedIsUpdatedInItsMemory) {
  const tl::BoundedProgram train = program({0, 1});
  Slope s = slope(), m = tl::zeros<float, 3>();
  std::vector<tl::Array> state{tl::Array(slope().ref()), tl::Array(tl::zeros<float, 3>().ref())};
  bool first = true;
  for (int n : {7, 40, 3, 33, 12, 16, 17, 32, 1, 25}) {
    const auto [loss, next, next_m] = step(s, m, points(n), values(n));
    s = next, m = next_m;
    std::vector<tl::runtime::Buffer> before;
    std::vector<std::weak_ptr<const tl::runtime::DeviceMemory>> memory;
    for (const tl::Array& a : state) {
      before.push_back(on_device(a));
      ASSERT_EQ(bool(before.back()), !first);
      if (!first) memory.push_back(before.back().memory());
    }
    std::vector<tl::Array> arguments = std::exchange(state, {});
    arguments.emplace_back(points(n).ref());
    arguments.emplace_back(values(n).ref());
    std::vector<tl::Array> out = train(std::move(arguments));
    EXPECT_NEAR(out[0].item(), loss.item(), 1e-4) << n;
    if (!first) {
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_TRUE(before[k].consumed());
        EXPECT_THAT(error_of([&] { (void)before[k].to_host(); }), HasSubstr("TL-BUFFER-001"));
        // The plugin has taken it: it was not copied.
        const auto old = memory[k].lock();
        EXPECT_TRUE(!old || error_of([&] { old->read(tl::DType::f32, {3}); }).find("TL-PJRT-003") !=
                                std::string::npos);
      }
    }
    state = {out[1], out[2]};
    out.clear();
    first = false;
  }
  EXPECT_EQ(train.compiled(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(tl::as<Slope>(state[0]).data()[i], s.data()[i], 1e-4);
    EXPECT_NEAR(tl::as<Slope>(state[1]).data()[i], m.data()[i], 1e-4);
  }
}

TEST_P(BoundedOn, WhatSomebodyHoldsOrIsNotDeclaredStays) {
  const tl::BoundedProgram declared = program({0, 1}), undeclared = program({});
  const auto arguments = [](const std::vector<tl::Array>& state) {
    return std::vector<tl::Array>{state[0], state[1], tl::Array(points(5).ref()),
                                  tl::Array(values(5).ref())};
  };
  std::vector<tl::Array> state{tl::Array(slope().ref()), tl::Array(tl::zeros<float, 3>().ref())};
  std::vector<tl::Array> out = declared(arguments(state));
  state = {out[1], out[2]};
  const float loss = declared(arguments(state))[0].item();  // held by `state`, and by `out`
  EXPECT_FALSE(on_device(state[0]).consumed());
  // Another name of the same value.
  const auto named = tl::as<tl::Tensor<float, three>>(state[1]);
  const tl::runtime::Buffer first = on_device(state[0]), second = on_device(state[1]);
  out.clear();
  std::vector<tl::Array> moved = arguments(state);
  state.clear();
  EXPECT_EQ(undeclared(std::vector<tl::Array>(moved))[0].item(), loss);
  EXPECT_FALSE(first.consumed());
  EXPECT_EQ(declared(std::move(moved))[0].item(), loss);
  EXPECT_TRUE(first.consumed());
  EXPECT_FALSE(second.consumed());
  EXPECT_TRUE(std::isfinite(named.data()[0]));
}

TEST_P(BoundedOn, ADonatedArrayOfTheHostIsGivenUp) {
  const tl::BoundedProgram train = program({0, 1});
  const tl::Array kept(slope().ref());
  std::vector<tl::Array> arguments{kept, tl::Array(tl::zeros<float, 3>().ref()),
                                   tl::Array(points(5).ref()), tl::Array(values(5).ref())};
  const std::vector<tl::Array> a = train(arguments);
  const std::vector<tl::Array> b = train(std::move(arguments));
  EXPECT_EQ(a[0].item(), b[0].item());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(tl::as<Slope>(a[1]).data()[i], tl::as<Slope>(b[1]).data()[i]);
    EXPECT_EQ(tl::as<Slope>(kept).data()[i], static_cast<float>(i + 1));
  }
}

TEST(BoundedDonation, WhatCantBeDonated) {
  const auto refusal = [](std::vector<int> donate) {
    return error_of([&] {
      tl::export_bounded(step, {.donate = std::move(donate)})(slope(), tl::zeros<float, 3>(),
                                                              points(4), values(4));
    });
  };
  EXPECT_THAT(refusal({4}), HasSubstr("TL-BOUNDED-001: export_bounded: argument 4 is donated"));
  EXPECT_THAT(refusal({-1}), HasSubstr("argument -1 is donated, and is not there"));
  EXPECT_THAT(refusal({2}), HasSubstr("parameter 2 is donated, and no result of type"));
}

}  // namespace
