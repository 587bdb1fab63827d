#include "tlaloc/runtime/backend.h"

#include <utility>

namespace tlaloc::runtime {

std::vector<HostArray> Bound::run_host(std::span<const HostArray* const> inputs,
                                       const RunOptions& options) const {
  std::vector<Buffer> buffers;
  for (const HostArray* a : inputs) buffers.emplace_back(*a);
  const RunResult r = run(std::move(buffers), options);
  std::vector<HostArray> results;
  for (const Buffer& b : r.outputs) results.push_back(b.to_host());
  return results;
}

}  // namespace tlaloc::runtime
