#include "tlaloc/pjrt/graph_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tlaloc/stablehlo/outcome.h"

namespace tlaloc::plugins {
GraphProgram::GraphProgram(const Client& client, ProgramCache& cache, ir::GraphRef graph,
                           stablehlo::EmitOptions options)
    : client_(client),
      cache_(cache),
      graph_(std::move(graph)),
      options_(std::move(options)),
      over_mesh_(stablehlo::mesh_devices(*graph_) > 1) {
  options_.fixed_layouts = over_mesh_;
  // XLA cuts slices of indices outside of an array otherwise than it computes them on one device.
  options_.in_bounds = options_.in_bounds || over_mesh_;
  stablehlo::check_emittable(*graph_, options_);
}

std::unique_ptr<const GraphProgram::Module> GraphProgram::compile(
    const std::vector<std::int64_t>& sizes) const {
  const auto start = std::chrono::steady_clock::now();
  auto made = std::make_unique<Module>();
  made->emitted = stablehlo::emit(*graph_, sizes, options_);
  if (made->emitted.devices > 1) {
    throw UserError(
        {"TL-MESH-001",
         graph_->name(),
         "its collectives run over " + std::to_string(made->emitted.devices) +
             " devices, this back end runs on one",
         "run the module with plugins::Program::run_on_all, or put them into a manual computation",
         {}});
  }
  const std::int64_t partitions = made->emitted.partitions;
  const auto available = static_cast<std::int64_t>(client_.devices().size());
  if (partitions > available) {
    throw UserError({"TL-MESH-001",
                     graph_->name(),
                     "its mesh has " + std::to_string(partitions) + " devices, the plugin " +
                         std::to_string(available),
                     "use a smaller mesh, or create the back end with more devices: a CPU plugin "
                     "takes cpu_device_count",
                     {}});
  }
  const ProgramCache::Program p = cache_.compile(client_, made->emitted.text, 1, partitions);
  made->program = p.program;
  note(sizes, p, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  made->emitted.text.clear();
  if (over_mesh_) {
    const stablehlo::Emitted& e = made->emitted;
    for (std::size_t k = 0; k < e.params.size(); ++k) {
      made->params.push_back(shard_layout(e.layouts.params[k], partitions, e.params[k].extents));
    }
    for (std::size_t k = 0; k < e.results.size(); ++k) {
      made->results.push_back(shard_layout(e.layouts.results[k], partitions, e.results[k].extents));
    }
  }
  made->emitted.text.shrink_to_fit();
  return made;
}

void GraphProgram::note(const std::vector<std::int64_t>& sizes, const ProgramCache::Program& p,
                        double seconds) const {
  std::string line;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    line += fmt::format("{}{} = {}", k ? ", " : "", graph_->dims()[k].name(), sizes[k]);
  }
  if (sizes.empty()) line = "for all sizes";
  line += fmt::format(": {} in {:.1f} ms", p.from_disk ? "from disk" : "compiled", seconds * 1e3);
  if (!p.note.empty()) line += "; " + p.note;
  std::lock_guard lock(mutex_);
  compilations_.push_back(std::move(line));
}

std::vector<std::string> GraphProgram::compilations() const {
  std::lock_guard lock(mutex_);
  return compilations_;
}

const GraphProgram::Module& GraphProgram::module(const std::vector<std::int64_t>& sizes) const {
  return modules_.get(sizes, [&] { return compile(sizes); });
}

GraphProgram::Outcome GraphProgram::run(const DeviceArrays& args,
                                        const std::vector<std::int64_t>& sizes,
                                        std::span<const std::int64_t> keep) const {
  const Module& m = module(sizes);
  std::vector<const DeviceArray*> arrays;
  arrays.reserve(args.size());
  for (const auto& a : args) arrays.push_back(a.get());
  Program::Outputs out = m.program->run(arrays, keep);
  return outcome(m, {out.arrays.begin(), out.arrays.end()}, std::move(out.done));
}

namespace {

/// What has happened when all of it has.
class AllEvents final : public runtime::Event::State {
 public:
  explicit AllEvents(std::vector<runtime::Event> events) : events_(std::move(events)) {}
  bool ready() const override {
    return std::ranges::all_of(events_, [](const auto& e) { return e.ready(); });
  }
  void wait() const override {
    for (const runtime::Event& e : events_) e.wait();
  }

 private:
  std::vector<runtime::Event> events_;
};

}  // namespace

std::shared_ptr<const ShardedArray> GraphProgram::place(
    const runtime::Buffer& arg, std::size_t param, const std::vector<std::int64_t>& sizes) const {
  const ShardLayout& layout = module(sizes).params[param];
  if (!arg.device().is_host()) {
    check_owner(client_, arg);
    auto there = std::dynamic_pointer_cast<const ShardedArray>(arg.memory());
    if (there && there->layout() == layout) return there;
  }
  return ShardedArray::upload(client_, arg.to_host(), layout);
}

GraphProgram::Outcome GraphProgram::run_on_mesh(std::span<const runtime::Buffer> args,
                                                const std::vector<std::int64_t>& sizes) const {
  const Module& m = module(sizes);
  const stablehlo::Emitted& e = m.emitted;
  std::vector<std::shared_ptr<const ShardedArray>> arrays;
  for (std::size_t k = 0; k < args.size(); ++k) arrays.push_back(place(args[k], k, sizes));
  std::vector<std::vector<const DeviceArray*>> by_device(usize(e.partitions));
  for (std::size_t d = 0; d < by_device.size(); ++d) {
    for (const auto& a : arrays) by_device[d].push_back(&a->shard(d));
  }
  std::vector<Program::Outputs> out = m.program->run_on_all(by_device);
  std::vector<runtime::Event> done;
  for (Program::Outputs& o : out) done.push_back(std::move(o.done));
  Memories outputs;
  for (std::size_t k = 0; k < e.results.size(); ++k) {
    ShardedArray::Shards shards;
    for (const Program::Outputs& o : out) shards.push_back(o.arrays[k]);
    outputs.push_back(std::make_shared<const ShardedArray>(m.results[k], std::move(shards)));
  }
  return outcome(m, outputs, runtime::Event(std::make_shared<AllEvents>(std::move(done))));
}

GraphProgram::Outcome GraphProgram::outcome(const Module& m, const Memories& outputs,
                                            runtime::Event done) {
  const stablehlo::Emitted& e = m.emitted;
  const auto read = [&](std::size_t output, DType dtype) {
    return outputs[output]->read(dtype, {});
  };
  check_loops_ended(e, read);
  Outcome result;
  result.done = done;
  for (std::size_t k = 0; k < e.result_count; ++k) {
    const stablehlo::TensorType& t = e.results[k];
    const Extents extents = result_extents(e, k, read);
    if (extents == t.extents) {
      result.results.push_back(runtime::Buffer::on_device(outputs[k], t.dtype, t.extents, done));
    } else {
      result.results.emplace_back(
          stablehlo::without_padding(outputs[k]->read(t.dtype, t.extents), extents));
    }
  }
  result.result_dims = stablehlo::result_dims(e, read);
  return result;
}

}  // namespace tlaloc::plugins
