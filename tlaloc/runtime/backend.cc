#include "tlaloc/runtime/backend.h"

#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::runtime {

std::vector<HostArray> Bound::run_host(std::span<const HostArray* const> inputs,
                                       const RunOptions& options,
                                       std::span<HostArray* const> donated) const {
  RunOptions again = options;
  again.donate.clear();
  for (const HostArray* a : donated) again.donate.push_back(a != nullptr);
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool goes = i < donated.size() && donated[i] != nullptr;
    buffers.emplace_back(goes ? std::exchange(*donated[i], {}) : *inputs[i]);
  }
  const RunResult r = run(std::move(buffers), again);
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
