#include "tlaloc/runtime/backend.h"

#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::runtime {

std::vector<HostArray> Bound::run_host(std::span<const HostArray* const> inputs,
                                       const RunOptions& options,
                                       std::span<HostArray* const>) const {
  std::vector<Buffer> buffers;
  for (const HostArray* a : inputs) buffers.emplace_back(*a);
  const RunResult r = run(std::move(buffers), options);
  std::vector<HostArray> results;
  for (const Buffer& b : r.outputs) results.push_back(b.to_host());
  return results;
}

Report Bound::explain(const ExplainOptions&) const {
  throw UserError({"TL-BACKEND-001",
                   "explain",
                   "the back end does not tell how it runs a program",
                   "compile the program with cpu_backend()",
                   {}});
}

}  // namespace tlaloc::runtime
