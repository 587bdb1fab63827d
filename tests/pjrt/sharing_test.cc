// Who holds a buffer's memory, and threads that share an executable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc::plugins {
namespace {

using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator*;
using runtime::Buffer;
using ::testing::ElementsAre;

class Sharing : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<runtime::Backend> backend_ = make_backend({.plugin = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Plugins, Sharing, ::testing::ValuesIn(tested_plugins()));

HostArray f32(std::vector<float> values) {
  return HostArray::from(std::span<const float>(values),
                         {static_cast<std::int64_t>(values.size())});
}
std::vector<float> values(const Buffer& b) {
  const HostArray a = b.to_host();
  return {a.as<float>().begin(), a.as<float>().end()};
}
/// a + exp(b) and b, of two arrays of three: exp(b) is computed ahead where b is bound.
ir::GraphRef sum_of_exp() {
  ir::Builder b("test");
  const Val x = b.param(Type::get(DType::f32, {3})), y = b.param(Type::get(DType::f32, {3}));
  return b.build(Vals{x + ops::exp(y), y});
}
std::string code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.code());
  }
  return "";
}

TEST_P(Sharing, WhatIsBoundSurvivesItsDonation) {
  const auto e = backend_->compile(sum_of_exp());
  const auto other = backend_->compile(sum_of_exp(), {.aliases = {{0, 0, true}}});
  const Buffer w = backend_->upload(f32({1, 2, 3})), zero = backend_->upload(f32({0, 0, 0}));
  const auto bound = e->bind({{0, w}});
  // A result that must take the memory can't have it.
  const Buffer again = backend_->upload(f32({1, 2, 3}));
  const auto holder = e->bind({{0, again}});
  EXPECT_EQ(code_of([&] { other->run({again, zero}, {.donate = {true, false}}); }), "TL-ALIAS-001");
  e->run({w, zero}, {.donate = {true, false}}).done.wait();
  EXPECT_TRUE(w.consumed());
  for (const auto* b : {&bound, &holder}) {
    EXPECT_THAT(values((*b)->run({zero}).outputs[0]), ElementsAre(2, 3, 4));
  }
}

TEST_P(Sharing, DonatedArgumentsAreGivenUpBesideHoistedOnes) {
  const auto e = backend_->compile(sum_of_exp(), {.aliases = {{0, 0, true}}});
  const auto bound = e->bind({{1, backend_->upload(f32({0, 0, 0}))}});
  const Buffer x = backend_->upload(f32({1, 2, 3}));
  const std::weak_ptr<const runtime::DeviceMemory> memory = x.memory();
  EXPECT_EQ(code_of([&] { bound->run({x}); }), "TL-ALIAS-001");
  const auto r = bound->run({x}, {.donate = {true}});
  EXPECT_THAT(values(r.outputs[0]), ElementsAre(2, 3, 4));
  // The plugin has taken it: it was not copied.
  const auto old = memory.lock();
  EXPECT_TRUE(!old || code_of([&] { old->read(DType::f32, {3}); }) == "TL-PJRT-003");
  // Without donation nothing is taken.
  const auto may = backend_->compile(sum_of_exp(), {.aliases = {{0, 0, false}}});
  const auto kept = may->bind({{1, backend_->upload(f32({0, 0, 0}))}});
  const Buffer y = backend_->upload(f32({4, 5, 6}));
  for (int k = 0; k < 2; ++k) {
    EXPECT_THAT(values(kept->run({y}).outputs[0]), ElementsAre(5, 6, 7));
  }
}

TEST_P(Sharing, ThreadsRunWhileOneCompiles) {
  const ir::Symbol n = ir::Symbol::fresh("n");
  ir::Builder b("deep");
  const Val x = b.param(Type::get(DType::f32, {n}));
  Val y = x;
  for (int k = 0; k < 300; ++k) y = ops::sin(y) + x * y;
  const auto e = backend_->compile(b.build(Vals{y}));
  e->run({Buffer(f32({0, 0}))}).done.wait();
  using Clock = std::chrono::steady_clock;
  std::atomic<bool> done = false;
  Clock::duration compiling{}, longest{};
  std::thread other([&] {
    const auto start = Clock::now();
    e->run({Buffer(f32({0, 0, 0}))}).done.wait();
    compiling = Clock::now() - start;
    done = true;
  });
  while (!done) {
    const auto start = Clock::now();
    EXPECT_THAT(values(e->run({Buffer(f32({0, 0}))}).outputs[0]), ElementsAre(0, 0));
    longest = std::max<Clock::duration>(longest, Clock::now() - start);
  }
  other.join();
  EXPECT_LT(longest, compiling / 2);
}

TEST_P(Sharing, ThreadsRunOneExecutable) {
  const ir::Symbol n = ir::Symbol::fresh("n");
  ir::Builder b("twice");
  const Val x = b.param(Type::get(DType::f32, {n}));
  const auto e = backend_->compile(b.build(Vals{x + x}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 200; ++k) {
        const auto first = static_cast<float>(t + k);
        const Buffer in = backend_->upload(f32(std::vector<float>(1 + k % 3, first)));
        const auto out = values(e->run({in}, {.donate = {k % 2 == 0}}).outputs[0]);
        wrong += out != std::vector<float>(1 + k % 3, 2 * first);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tlaloc::plugins
