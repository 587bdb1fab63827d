// Runs a graph on precompiled kernels and says which steps ran.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/cpu/cpu_backend.h"

namespace tlaloc::testing {

struct StepsOfRun {
  std::vector<HostArray> results;
  std::vector<std::string> names;  ///< of the steps, in their order
};
inline StepsOfRun run_by_steps(const ir::GraphRef& g, const std::vector<HostArray>& args) {
  StepsOfRun r;
  struct Sink : runtime::ProfileSink {
    explicit Sink(std::vector<std::string>& to) : names(to) {}
    void record(const runtime::ProfileEvent& e) override { names.emplace_back(e.name); }
    std::vector<std::string>& names;
  } sink(r.names);
  runtime::RunOptions options;
  options.profile = &sink;
  const auto run = cpu::cpu_backend()
                       .compile(g, {.run_once = true})
                       ->run(std::vector<runtime::Buffer>(args.begin(), args.end()), options);
  for (const runtime::Buffer& b : run.outputs) r.results.push_back(b.to_host());
  return r;
}

}  // namespace tlaloc::testing
