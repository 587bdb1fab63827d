// What a small program costs: from the disk and compiled; a run of it: the plugin's calls alone,
// through the back end, and from and to the host. What an array costs on its way to the device.
// TLALOC_PJRT_PLUGIN names the plugin.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/pjrt/program_cache.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::plugins {
namespace {

ir::GraphRef increment() {
  using ops::operator+;
  ir::Builder b("increment");
  const ir::Val results[] = {b.param(ir::Type::get(DType::f32, {8})) + 1.0};
  return b.build(results);
}

void BM_PluginAlone(benchmark::State& state) {
  const Client& client = Client::get(Plugin::load(find_plugin("")));
  const auto program = client.compile(stablehlo::emit(*increment(), {}).text);
  const auto x = client.upload(HostArray(DType::f32, {8}));
  const DeviceArray* args[] = {x.get()};
  const std::int64_t keep[] = {0};
  for (auto _ : state) program->run(args, keep).done.wait();
}
void BM_BackEnd(benchmark::State& state) {
  const auto backend = make_backend();
  const auto bound = backend->compile(increment())->bind({});
  const runtime::Buffer x = backend->upload(HostArray(DType::f32, {8}));
  for (auto _ : state) bound->run({x}).done.wait();
}
void BM_FromAndToTheHost(benchmark::State& state) {
  const auto bound = make_backend()->compile(increment())->bind({});
  const HostArray x(DType::f32, {8});
  const HostArray* inputs[] = {&x};
  for (auto _ : state) benchmark::DoNotOptimize(bound->run_host(inputs));
}
/// An array of so many floats, aligned or not.
void upload(benchmark::State& state, bool in_place) {
  const Client& client = Client::get(Plugin::load(find_plugin("")));
  const auto room = std::make_shared<HostArray>(DType::f32, Extents{state.range(0) + 1});
  const HostArray x =
      HostArray::external(DType::f32, {state.range(0)},
                          static_cast<const float*>(room->data()) + (in_place ? 0 : 1), room);
  for (auto _ : state) {
    const auto there = client.upload(x);
    there->ready().wait();
    if ((there->uploaded().copied == 0) != in_place) state.SkipWithError("it went the other way");
  }
}
void BM_UploadInPlace(benchmark::State& state) { upload(state, true); }
void BM_UploadCopied(benchmark::State& state) { upload(state, false); }
/// A small program, and what its first run of each size costs: from the disk, or compiled.
void program(benchmark::State& state, bool kept) {
  const Client& client = Client::get(Plugin::load(find_plugin("")));
  const auto folder = std::filesystem::temp_directory_path() / "tlaloc-pjrt-bench";
  const std::string module = stablehlo::emit(*increment(), {}).text;
  ProgramCache cache(kept ? cache::Settings{.folder = folder.string()}
                          : cache::Settings{.folder = std::nullopt});
  cache.compile(client, module);
  for (auto _ : state) {
    const auto p = cache.compile(client, module);
    if (p.from_disk != kept) state.SkipWithError("the program came from elsewhere");
  }
  std::filesystem::remove_all(folder);
}
void BM_Compiled(benchmark::State& state) { program(state, false); }
void BM_FromDisk(benchmark::State& state) { program(state, true); }
BENCHMARK(BM_Compiled)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FromDisk)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PluginAlone)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_BackEnd)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_FromAndToTheHost)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_UploadInPlace)->Arg(8)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_UploadCopied)->Arg(8)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tlaloc::plugins
