// Programs that come from disk: the same as those that were compiled, or compiled again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/pjrt/plugins.h"
#include "tlaloc/cache/testing.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/pjrt/program_cache.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::plugins {
namespace {

namespace fs = std::filesystem;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator*;
using runtime::Buffer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

ir::GraphRef scaled(double factor, Type t = Type::get(DType::f32, {3})) {
  ir::Builder b("scaled");
  return b.build(Vals{b.param(t) * factor});
}

class OnDisk : public ::testing::TestWithParam<const char*> {
 protected:
  const Client& client() const { return Client::get(Plugin::load(find_plugin(GetParam()))); }
  cache::Settings settings() const {
    return {.folder = (temporary_.path() / "cache").string(), .bytes = std::uint64_t{1} << 24};
  }
  std::shared_ptr<runtime::Backend> backend() const {
    return make_backend({.plugin = GetParam(), .cache = settings()});
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& f : fs::directory_iterator(*settings().folder)) all.push_back(f.path());
    return all;
  }
  static std::string module(double factor) { return stablehlo::emit(*scaled(factor), {}).text; }
  std::vector<float> run(const Program& program) const {
    const float x[] = {1, 2, 3};
    const auto array = client().upload(HostArray::from(std::span<const float>(x), {3}));
    const DeviceArray* args[] = {array.get()};
    const HostArray y = program.run(args, {}).arrays.at(0)->read(DType::f32, {3});
    return {y.as<float>().begin(), y.as<float>().end()};
  }

 private:
  cache::testing::TemporaryFolder temporary_;
};
INSTANTIATE_TEST_SUITE_P(Plugins, OnDisk, ::testing::ValuesIn(tested_plugins()));

TEST_P(OnDisk, WhatWasCompiledIsLoaded) {
  const auto first = ProgramCache(settings()).compile(client(), module(2));
  EXPECT_FALSE(first.from_disk);
  EXPECT_EQ(first.note, "");
  EXPECT_THAT(files(), SizeIs(1));
  const auto again = ProgramCache(settings()).compile(client(), module(2));
  EXPECT_TRUE(again.from_disk);
  EXPECT_THAT(run(*again.program), ElementsAre(2, 4, 6));
  EXPECT_EQ(again.program->memory()->outputs, first.program->memory()->outputs);
  EXPECT_FALSE(ProgramCache(settings()).compile(client(), module(3)).from_disk);
}

TEST_P(OnDisk, OptionsAndPluginsArePartOfTheKey) {
  ProgramCache cache(settings());
  cache.compile(client(), module(2));
  if (client().devices().size() > 1) {
    EXPECT_FALSE(cache.compile(client(), module(2), 2).from_disk) << "replicas";
  }
  if (on_cpu()) {
    const Client& two = Client::get(client().plugin(), {{"cpu_device_count", std::int64_t{2}}});
    EXPECT_FALSE(cache.compile(two, module(2)).from_disk) << "devices";
    EXPECT_FALSE(cache.compile(two, module(2), 2).from_disk) << "replicas";
    EXPECT_FALSE(cache.compile(two, module(2), 1, 2).from_disk) << "partitions";
    const Client& other = Client::get(Plugin::load(find_plugin(other_plugin(GetParam()))));
    EXPECT_FALSE(cache.compile(other, module(2)).from_disk);
  }
  {
    cache::testing::Variables variables;
    variables.set("XLA_FLAGS", "--xla_cpu_enable_fast_math=true");
    EXPECT_FALSE(cache.compile(client(), module(2)).from_disk) << "flags of the environment";
  }
  EXPECT_TRUE(cache.compile(client(), module(2)).from_disk);
}

TEST_P(OnDisk, ADamagedProgramIsCompiledAgain) {
  ProgramCache(settings()).compile(client(), module(2));
  const fs::path file = files().at(0);
  const auto damages = std::vector<std::function<void()>>{
      [&] { fs::resize_file(file, fs::file_size(file) / 2); },
      [&] {
        std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
        f.seekp(200).put('!');
      }};
  for (const auto& damage : damages) {
    damage();
    const auto anew = ProgramCache(settings()).compile(client(), module(2));
    EXPECT_FALSE(anew.from_disk);
    EXPECT_THAT(run(*anew.program), ElementsAre(2, 4, 6));
    EXPECT_TRUE(ProgramCache(settings()).compile(client(), module(2)).from_disk);
  }
}

/// An entry whose checksum is right, with bytes that the plugin can't read.
TEST_P(OnDisk, AProgramThatThePluginRefusesIsCompiledAgain) {
  ProgramCache(settings()).compile(client(), module(2));
  const Digest key = cache::testing::keys_in(*settings().folder).at(0);
  const std::vector<std::byte> nonsense(64, std::byte{0x5a});
  cache::Store(settings()).store(key, nonsense);
  const auto anew = ProgramCache(settings()).compile(client(), module(2));
  EXPECT_FALSE(anew.from_disk);
  EXPECT_THAT(anew.note, HasSubstr("what was on disk is refused: "));
  EXPECT_THAT(run(*anew.program), ElementsAre(2, 4, 6));
  EXPECT_TRUE(ProgramCache(settings()).compile(client(), module(2)).from_disk);
}

TEST_P(OnDisk, TheFolderStaysWithinItsBound) {
  cache::Settings small = settings();
  small.bytes = 100'000;
  ProgramCache cache(small);
  for (int k = 0; k < 20; ++k) cache.compile(client(), module(k + 2));
  std::uintmax_t bytes = 0;
  for (const fs::path& f : files()) bytes += fs::file_size(f);
  EXPECT_LE(bytes, small.bytes + small.bytes / 8);
  EXPECT_TRUE(cache.compile(client(), module(21)).from_disk) << "what came last stays";
}

TEST_P(OnDisk, AProgramThatIsTooLargeToKeepIsSaid) {
  cache::Settings small = settings();
  small.bytes = 1000;
  for (int k = 0; k < 2; ++k) {
    const auto p = ProgramCache(small).compile(client(), module(2));
    EXPECT_FALSE(p.from_disk);
    EXPECT_THAT(p.note, MatchesRegex("it is not kept on disk: [0-9]+ bytes are too many .*"));
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_P(OnDisk, WithoutACacheProgramsAreCompiled) {
  ProgramCache none(cache::Settings{.folder = std::nullopt});
  EXPECT_FALSE(none.compile(client(), module(2)).from_disk);
  const auto again = none.compile(client(), module(2));
  EXPECT_FALSE(again.from_disk);
  EXPECT_EQ(again.note, "there is no cache");
}

TEST_P(OnDisk, DonationIsKept) {
  for (const char* from : {"compiled", "from disk"}) {
    const auto e = backend()->compile(scaled(2), {.aliases = {{0, 0, true}}});
    const Buffer x = backend()->upload(HostArray(DType::f32, {3}));
    const std::weak_ptr<const runtime::DeviceMemory> memory = x.memory();
    const auto bound = e->bind({});
    bound->run({x}, {.donate = {true}}).done.wait();
    EXPECT_TRUE(x.consumed());
    const auto old = memory.lock();
    // The plugin has taken it: it was not copied.
    if (old) {
      EXPECT_THROW(old->read(DType::f32, {3}), PluginError) << from;
    }
    EXPECT_THAT(compilations(*bound), ElementsAre(HasSubstr(from)));
  }
}

TEST_P(OnDisk, EachCompilationSaysWhatItWasFor) {
  const auto n = ir::Symbol::fresh("batch");
  const auto g = scaled(2, Type::get(DType::f32, {n}));
  const auto bound = backend()->compile(g)->bind({});
  EXPECT_THAT(compilations(*bound), IsEmpty());
  for (std::int64_t size : {3, 5, 3})
    bound->run({Buffer(HostArray(DType::f32, {size}))}).done.wait();
  EXPECT_THAT(compilations(*bound), ElementsAre(MatchesRegex("batch = 3: compiled in [0-9.]+ ms"),
                                                MatchesRegex("batch = 5: compiled in [0-9.]+ ms")));
  const auto again = backend()->compile(g)->bind({});
  const HostArray five(DType::f32, {5});
  const HostArray* inputs[] = {&five};
  const runtime::Report r = again->explain({.inputs = inputs, .dims = {}});
  EXPECT_THAT(compilations(*again),
              ElementsAre(MatchesRegex("batch = 5: from disk in [0-9.]+ ms")));
  EXPECT_THAT(r.sizes, ElementsAre("batch = 5"));
  EXPECT_GT(r.seconds, 0);
  EXPECT_THAT(r.text(), HasSubstr("compiled 1 times\n  batch = 5: from disk in "));
  EXPECT_EQ(r.kernels.at(0).bytes_read, 20);
}

}  // namespace
}  // namespace tlaloc::plugins
