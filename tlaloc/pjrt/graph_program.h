// A graph compiled by a plugin, once per list of sizes; internal to pjrt.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/pjrt/client.h"
#include "tlaloc/pjrt/program_cache.h"
#include "tlaloc/pjrt/sharded_array.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/per_sizes.h"

namespace tlaloc::plugins {

using DeviceArrays = std::vector<std::shared_ptr<const DeviceArray>>;

class GraphProgram {
 public:
  /// Refuses what can't be emitted: TL-BACKEND-001.
  GraphProgram(const Client& client, ProgramCache& cache, ir::GraphRef graph,
               stablehlo::EmitOptions options);

  struct Outcome {
    std::vector<runtime::Buffer> results;
    std::vector<std::int64_t> result_dims;
    runtime::Event done;
  };
  /// `keep`: params whose memory must stay.
  Outcome run(const DeviceArrays& args, const std::vector<std::int64_t>& sizes,
              std::span<const std::int64_t> keep) const;
  /// Whether it runs on the devices of a mesh: by `run_on_mesh`.
  bool is_over_mesh() const { return over_mesh_; }
  /// An argument as it must lie on the mesh: where it does already, itself. UserError TL-MESH-001
  /// where there are fewer devices.
  std::shared_ptr<const ShardedArray> place(const runtime::Buffer& arg, std::size_t param,
                                            const std::vector<std::int64_t>& sizes) const;
  Outcome run_on_mesh(std::span<const runtime::Buffer> args,
                      const std::vector<std::int64_t>& sizes) const;
  const ir::GraphRef& graph() const { return graph_; }
  /// That of these sizes; compiles it where it has not been.
  const Program& program(const std::vector<std::int64_t>& sizes) const {
    return *module(sizes).program;
  }
  /// One line for each list of sizes, in the order of their first runs.
  std::vector<std::string> compilations() const;

 private:
  struct Module {
    stablehlo::Emitted emitted;  // without its text
    std::shared_ptr<const Program> program;
    std::vector<ShardLayout> params, results;  // over a mesh
  };
  using Memories = std::vector<std::shared_ptr<const runtime::DeviceMemory>>;
  static Outcome outcome(const Module& m, const Memories& outputs, runtime::Event done);
  std::unique_ptr<const Module> compile(const std::vector<std::int64_t>& sizes) const;
  void note(const std::vector<std::int64_t>& sizes, const ProgramCache::Program& p,
            double seconds) const;
  const Module& module(const std::vector<std::int64_t>& sizes) const;

  const Client& client_;
  ProgramCache& cache_;
  ir::GraphRef graph_;
  stablehlo::EmitOptions options_;
  bool over_mesh_;
  mutable stablehlo::PerSizes<Module> modules_;
  mutable std::mutex mutex_;  // of the lines
  mutable std::vector<std::string> compilations_;
};

}  // namespace tlaloc::plugins
