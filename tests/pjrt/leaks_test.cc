// What is made and destroyed a thousand times leaves nothing behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>

#include "tests/pjrt/plugins.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::plugins {
namespace {

using ir::Type;
using ir::Vals;
using ops::operator+;
using runtime::Buffer;

std::int64_t resident_bytes() {
  std::int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Bytes that the process grows by, once pools have what they need.
std::int64_t growth(int times, const std::function<void()>& work) {
  for (int k = 0; k < times / 10; ++k) work();
  const std::int64_t before = resident_bytes();
  for (int k = 0; k < times; ++k) work();
  return resident_bytes() - before;
}

class Leaks : public ::testing::TestWithParam<const char*> {
 protected:
  const Client& client() const { return Client::get(Plugin::load(find_plugin(GetParam()))); }
  static ir::GraphRef increment(std::int64_t size) {
    ir::Builder b("increment");
    return b.build(Vals{b.param(Type::get(DType::f32, {size})) + 1.0});
  }
};
INSTANTIATE_TEST_SUITE_P(Plugins, Leaks, ::testing::ValuesIn(tested_plugins()));

TEST_P(Leaks, Buffers) {
  constexpr std::int64_t kSize = 1 << 16;  // 256 KiB: a thousand that stay are seen
  const auto backend = make_backend({.plugin = GetParam()});
  const auto bound = backend->compile(increment(kSize))->bind({});
  const HostArray x(DType::f32, {kSize});
  const auto work = [&] {
    const Buffer in = backend->upload(x);
    const auto kept = bound->run({in});
    const auto donated = bound->run({kept.outputs[0]}, {.donate = {true}});
    (void)donated.outputs[0].to_host();
  };
  EXPECT_LT(growth(1000, work), 32 << 20);
}

/// A program of the plugin's own takes some 100 KiB.
TEST_P(Leaks, Executables) {
  const std::string saved = client().compile(stablehlo::emit(*increment(8), {}).text)->serialize();
  EXPECT_LT(growth(1000, [&] { (void)client().load(saved); }), 8 << 20);
}

}  // namespace
}  // namespace tlaloc::plugins
