#include "tlaloc/pjrt/graph_program.h"

#include <cstring>
#include <utility>

#include "tlaloc/ops/strided.h"

namespace tlaloc::plugins {
namespace {

/// The leading part of each axis.
HostArray cut(const HostArray& padded, const Extents& extents) {
  HostArray y = HostArray::uninitialized(padded.dtype(), extents);
  ops::gather_strided(padded, 0, ops::row_major_strides(padded.extents()), y);
  return y;
}

}  // namespace

GraphProgram::GraphProgram(const Client& client, ir::GraphRef graph, stablehlo::EmitOptions options)
    : client_(client), graph_(std::move(graph)), options_(std::move(options)) {
  stablehlo::check_emittable(*graph_, options_);
}

std::unique_ptr<const GraphProgram::Module> GraphProgram::compile(
    const std::vector<std::int64_t>& sizes) const {
  auto made = std::make_unique<Module>();
  made->emitted = stablehlo::emit(*graph_, sizes, options_);
  if (made->emitted.devices > 1) {
    throw UserError({"TL-MESH-001",
                     graph_->name(),
                     "its collectives run over " + std::to_string(made->emitted.devices) +
                         " devices, this back end runs on one",
                     "run the module with plugins::Program::run_replicas",
                     {}});
  }
  made->program = client_.compile(made->emitted.text);
  made->emitted.text.clear();
  made->emitted.text.shrink_to_fit();
  return made;
}

const GraphProgram::Module& GraphProgram::module(const std::vector<std::int64_t>& sizes) const {
  Entry* entry = nullptr;
  {
    std::lock_guard lock(mutex_);
    entry = &modules_[sizes];  // stays where it is
  }
  std::lock_guard lock(entry->mutex);
  if (!entry->module) entry->module = compile(sizes);
  return *entry->module;
}

GraphProgram::Outcome GraphProgram::run(const DeviceArrays& args,
                                        const std::vector<std::int64_t>& sizes,
                                        std::span<const std::int64_t> keep) const {
  const Module& m = module(sizes);
  std::vector<const DeviceArray*> arrays;
  arrays.reserve(args.size());
  for (const auto& a : args) arrays.push_back(a.get());
  Program::Outputs out = m.program->run(arrays, keep);
  const stablehlo::Emitted& e = m.emitted;
  if (e.exceeded && out.arrays[*e.exceeded]->read(DType::boolean, {}).as<bool>()[0]) {
    throw UserError({"TL-LOOP-001",
                     "while",
                     "the condition still holds after all trips",
                     "raise max_trips",
                     {}});
  }
  auto number = [&](std::size_t output) {
    return out.arrays[output]->read(DType::i64, {}).as<std::int64_t>()[0];
  };
  Outcome result;
  result.done = out.done;
  for (std::size_t k = 0; k < e.result_count; ++k) {
    const stablehlo::TensorType& t = e.results[k];
    Extents extents = t.extents;
    for (const auto& l : e.lengths) {
      if (l.result == k) extents[l.axis] = number(l.output);
    }
    if (extents == t.extents) {
      result.results.push_back(
          runtime::Buffer::on_device(out.arrays[k], t.dtype, t.extents, out.done));
    } else {
      result.results.emplace_back(cut(out.arrays[k]->read(t.dtype, t.extents), extents));
    }
  }
  for (const auto& d : e.result_dims)
    result.result_dims.push_back(d.output ? number(*d.output) : d.size);
  return result;
}

}  // namespace tlaloc::plugins
