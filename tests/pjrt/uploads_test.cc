// How arrays come to a device: used where they lie, or copied; held as long as they are used, and
// never changed by anybody meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/pjrt/sharded_array.h"

namespace tlaloc::plugins {
namespace {

using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator*;
using runtime::Buffer;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::int64_t kCount = 1 << 14;
constexpr std::int64_t kBytes = 4 * kCount;

class Uploads : public ::testing::TestWithParam<const char*> {
 protected:
  const Client& client() const { return Client::get(Plugin::load(find_plugin(GetParam()))); }
  std::shared_ptr<runtime::Backend> backend_ = make_backend({.plugin = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Plugins, Uploads, ::testing::ValuesIn(tested_plugins()));

HostArray filled(float x, const Extents& extents = {kCount}) {
  HostArray a(DType::f32, extents);
  std::ranges::fill(a.as_mutable<float>(), x);
  return a;
}
std::vector<float> values(const HostArray& a) {
  return {a.as<float>().begin(), a.as<float>().end()};
}
ir::GraphRef increment() {
  ir::Builder b("increment");
  return b.build(Vals{b.param(Type::get(DType::f32, {kCount})) + 1.0});
}

/// Memory of somebody else, `offset` bytes from one that every device can use, full of NaN once
/// nobody holds it.
struct Foreign {
  explicit Foreign(float x, const Extents& extents = {kCount}, std::size_t offset = 0) {
    const auto count = static_cast<std::size_t>(element_count(extents));
    constexpr std::size_t alignment = 256;  // of more than any device asks for
    room = std::make_shared<std::vector<float>>(count + (alignment + offset) / sizeof(float));
    const auto at = reinterpret_cast<std::uintptr_t>(room->data());
    float* data = room->data() + (alignment - at % alignment + offset) / sizeof(float);
    std::fill_n(data, count, x);
    std::shared_ptr<const void> owner(data, [room = room, data, count](const void*) {
      std::fill_n(data, count, std::numeric_limits<float>::quiet_NaN());
    });
    held = owner;
    array = HostArray::external(DType::f32, extents, data, std::move(owner));
  }
  /// Whether it is released, within ten seconds: the plugin does so on its own time.
  bool is_released() const {
    for (int k = 0; k < 10000 && !held.expired(); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return held.expired();
  }
  std::shared_ptr<std::vector<float>> room;
  HostArray array;
  std::weak_ptr<const void> held;
};

TEST_P(Uploads, ArraysAreUsedWhereTheyLieByTheCpu) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    if (is_complex(t)) continue;
    for (const Extents& e : {Extents{}, Extents{1}, Extents{7, 3}, Extents{1000, 1000}}) {
      const HostArray a(t, e);
      const auto bytes = static_cast<std::int64_t>(a.bytes());
      const Uploaded before = client().uploaded();
      const Uploaded is = client().upload(a)->uploaded();
      EXPECT_EQ(is, on_cpu() ? (Uploaded{bytes, 0}) : (Uploaded{0, bytes})) << name(t);
      Uploaded all = before;
      all += is;
      EXPECT_EQ(client().uploaded(), all);
    }
  }
  EXPECT_EQ(client().upload(HostArray(DType::f32, {0, 3}))->uploaded(), Uploaded());
}

TEST_P(Uploads, RunsUseArraysOfTheHostWhereTheyLie) {
  const auto bound = backend_->compile(increment())->bind({});
  const HostArray a = filled(1);
  const HostArray* inputs[] = {&a};
  const Uploaded before = client().uploaded();
  EXPECT_THAT(values(bound->run({Buffer(a)}).outputs[0].to_host()), Each(2));
  EXPECT_THAT(values(bound->run_host(inputs)[0]), Each(2));
  const Uploaded after = client().uploaded();
  EXPECT_EQ(after.in_place - before.in_place, on_cpu() ? 2 * kBytes : 0);
  EXPECT_EQ(after.copied - before.copied, on_cpu() ? 0 : 2 * kBytes);
}

TEST_P(Uploads, WhatIsNotAlignedIsCopied) {
  for (std::size_t offset : {4, 8, 16, 32}) {
    Foreign f(3, {kCount}, offset);
    const auto there = client().upload(std::exchange(f.array, {}));
    EXPECT_EQ(there->uploaded(), (Uploaded{0, kBytes})) << offset;
    EXPECT_TRUE(f.is_released()) << offset;  // as soon as it is copied
    EXPECT_THAT(values(there->read(DType::f32, {kCount})), Each(3));
  }
}

TEST_P(Uploads, MemoryOfOthersIsHeldAsLongAsTheDeviceHasIt) {
  if (!on_cpu()) GTEST_SKIP() << "other devices have memory of their own";
  Foreign f(3);
  auto there = client().upload(std::exchange(f.array, {}));
  EXPECT_EQ(there->uploaded(), (Uploaded{kBytes, 0}));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(f.held.expired());
  EXPECT_THAT(values(there->read(DType::f32, {kCount})), Each(3));
  there.reset();
  EXPECT_TRUE(f.is_released());
}

/// The run goes on when nothing but it needs the argument.
TEST_P(Uploads, ARunThatGoesOnHoldsItsArguments) {
  constexpr std::int64_t n = 512;
  ir::Builder b("power");
  const Val x = b.param(Type::get(DType::f32, {n, n}));
  Val y = x;
  for (int k = 0; k < 12; ++k) y = ops::matmul(y, x);
  const auto bound = backend_->compile(b.build(Vals{y}))->bind({});
  for (bool donated : {false, true}) {
    Foreign f(1.0f / n, {n, n});
    runtime::RunResult r = bound->run({Buffer(std::exchange(f.array, {}))}, {.donate = {donated}});
    const HostArray result = r.outputs[0].to_host();
    for (float v : result.as<float>()) ASSERT_NEAR(v, 1.0f / n, 1e-6f);
    EXPECT_TRUE(f.is_released());
  }
}

TEST_P(Uploads, WhatIsBoundIsHeldAsLongAsTheProgram) {
  ir::Builder b("sum");
  const Val x = b.param(Type::get(DType::f32, {kCount})), w = b.param(x.type());
  const auto e = backend_->compile(b.build(Vals{x + w}));
  Foreign f(3);
  auto bound = e->bind({{1, Buffer(std::exchange(f.array, {}))}});
  for (int k = 0; k < 3; ++k) {
    EXPECT_THAT(values(bound->run({Buffer(filled(1))}, {.donate = {true}}).outputs[0].to_host()),
                Each(4));
  }
  bound.reset();
  EXPECT_TRUE(f.is_released());
}

TEST_P(Uploads, WhatTheHolderWritesAfterwardsIsNotSeen) {
  HostArray a = filled(1);
  const void* memory = a.data();
  auto there = client().upload(a);
  std::ranges::fill(a.as_mutable<float>(), 2.0f);
  EXPECT_THAT(values(there->read(DType::f32, {kCount})), Each(1));
  // A copy, because the device reads the other one.
  if (on_cpu()) {
    EXPECT_NE(a.data(), memory);
  }
}

/// As the one above, while a run goes on that was given the array.
TEST_P(Uploads, AnArrayIsNotWrittenWhileARunReadsIt) {
  constexpr std::int64_t n = 384;
  ir::Builder b("power");
  const Val x = b.param(Type::get(DType::f32, {n, n}));
  Val y = x;
  for (int k = 0; k < 8; ++k) y = ops::matmul(y, x);
  const auto bound = backend_->compile(b.build(Vals{y}))->bind({});
  HostArray a = filled(1.0f / n, {n, n});
  for (int k = 0; k < 5; ++k) {
    const runtime::RunResult r = bound->run({Buffer(a)});
    std::ranges::fill(a.as_mutable<float>(), 7.0f);
    for (float v : values(r.outputs[0].to_host())) ASSERT_NEAR(v, 1.0f / n, 1e-6f);
    std::ranges::fill(a.as_mutable<float>(), 1.0f / n);
  }
}

TEST_P(Uploads, ADonatedArrayThatOthersReadStaysAsItIs) {
  for (bool must : {false, true}) {
    const auto e = backend_->compile(increment(), {.aliases = {{0, 0, must}}});
    const HostArray a = filled(1);
    const auto r = e->run({Buffer(a)}, {.donate = {true}});
    EXPECT_THAT(values(r.outputs[0].to_host()), Each(2));
    EXPECT_THAT(values(a), Each(1));
    Foreign f(1);
    EXPECT_THAT(values(e->run({Buffer(f.array)}, {.donate = {true}}).outputs[0].to_host()),
                Each(2));
    EXPECT_THAT(values(f.array), Each(1));
  }
}

TEST_P(Uploads, ADonatedArrayOfNobodyElseTakesTheResult) {
  if (!on_cpu()) GTEST_SKIP() << "other devices have memory of their own";
  const auto e = backend_->compile(increment(), {.aliases = {{0, 0, true}}});
  for (bool uploaded : {false, true}) {
    HostArray a = filled(1);
    const auto* memory = static_cast<const float*>(a.data());
    const Buffer x = uploaded ? backend_->upload(std::move(a)) : Buffer(std::move(a));
    const auto r = e->run({x}, {.donate = {true}});
    r.done.wait();
    EXPECT_EQ(memory[0], 2) << uploaded;  // the result lies there, and holds it
    EXPECT_EQ(memory[kCount - 1], 2);
    EXPECT_THAT(values(r.outputs[0].to_host()), Each(2));
  }
}

/// The parts of an array over a mesh are cut out, and so copied; all of it is not.
TEST_P(Uploads, PartsForSeveralDevicesAreCopied) {
  if (!on_cpu()) GTEST_SKIP() << "only the CPU can be made into several devices";
  const Client& two =
      Client::get(Plugin::load(find_plugin(GetParam())), {{"cpu_device_count", std::int64_t{2}}});
  const HostArray a = filled(1);
  const auto whole = ShardedArray::upload(two, a, shard_layout({}, 2, a.extents()));
  EXPECT_EQ(whole->uploaded(), (Uploaded{2 * kBytes, 0}));
  const ShardLayout halves{{kCount / 2}, {{0}, {kCount / 2}}, {0, 1}};
  EXPECT_EQ(ShardedArray::upload(two, a, halves)->uploaded(), (Uploaded{0, kBytes}));
}

TEST_P(Uploads, ExplainSaysWhatWasCopied) {
  const auto bound = backend_->compile(increment())->bind({});
  const HostArray aligned = filled(1);
  const Foreign shifted(1, {kCount}, 4);
  for (const HostArray* a : {&aligned, &shifted.array}) {
    const HostArray* inputs[] = {a};
    const std::string text = bound->explain({.inputs = inputs, .dims = {}}).text();
    EXPECT_THAT(text, HasSubstr(a == &aligned && on_cpu()
                                    ? "arguments from the host: 65536 bytes used where they lie, "
                                      "0 copied\n"
                                    : "arguments from the host: 0 bytes used where they lie, "
                                      "65536 copied\n"));
  }
}

/// Arrays come and go, are shared, donated and written, in several threads at once.
TEST_P(Uploads, ThreadsShareArraysWithTheDevice) {
  const auto may = backend_->compile(increment(), {.aliases = {{0, 0, false}}})->bind({});
  const HostArray common = filled(10);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 100; ++k) {
        const auto first = static_cast<float>(100 * t + k);
        HostArray own = filled(first);
        const bool donate = k % 2 == 0;
        const auto a =
            may->run({k % 3 == 0 ? Buffer(own) : Buffer(std::move(own))}, {.donate = {donate}});
        const auto b = may->run({Buffer(common)}, {.donate = {!donate}});
        if (!own.empty_handle()) std::ranges::fill(own.as_mutable<float>(), -1.0f);
        const auto c = may->run({a.outputs[0]}, {.donate = {true}});
        for (float v : values(c.outputs[0].to_host())) wrong += v != first + 2;
        for (float v : values(b.outputs[0].to_host())) wrong += v != 11;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(values(common), Each(10));
}

}  // namespace
}  // namespace tlaloc::plugins
