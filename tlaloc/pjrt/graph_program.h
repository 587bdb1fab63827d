// A graph compiled by a plugin, once per list of sizes; internal to pjrt.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/pjrt/client.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::plugins {

using DeviceArrays = std::vector<std::shared_ptr<const DeviceArray>>;

class GraphProgram {
 public:
  /// Refuses what can't be emitted: TL-BACKEND-001.
  GraphProgram(const Client& client, ir::GraphRef graph, stablehlo::EmitOptions options);

  struct Outcome {
    std::vector<runtime::Buffer> results;
    std::vector<std::int64_t> result_dims;
    runtime::Event done;
  };
  /// `keep`: params whose memory must stay.
  Outcome run(const DeviceArrays& args, const std::vector<std::int64_t>& sizes,
              std::span<const std::int64_t> keep) const;
  const ir::GraphRef& graph() const { return graph_; }
  /// Compiles for these sizes where it has not been.
  void prepare(const std::vector<std::int64_t>& sizes) const { module(sizes); }

 private:
  struct Module {
    stablehlo::Emitted emitted;  // without its text
    std::shared_ptr<const Program> program;
  };
  /// Of one list of sizes. Whoever comes first compiles; others that want it wait, and only they.
  struct Entry {
    std::mutex mutex;
    std::unique_ptr<const Module> module;
  };
  std::unique_ptr<const Module> compile(const std::vector<std::int64_t>& sizes) const;
  const Module& module(const std::vector<std::int64_t>& sizes) const;

  const Client& client_;
  ir::GraphRef graph_;
  stablehlo::EmitOptions options_;
  mutable std::mutex mutex_;  // of the map, not of what its entries hold
  mutable std::map<std::vector<std::int64_t>, Entry> modules_;
};

}  // namespace tlaloc::plugins
