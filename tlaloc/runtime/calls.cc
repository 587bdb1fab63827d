#include "tlaloc/runtime/calls.h"

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/runtime/arguments.h"

namespace tlaloc::runtime {

std::vector<std::size_t> unbound_params(const Signature& s,
                                        const std::map<std::size_t, Buffer>& bound) {
  for (const auto& [k, buffer] : bound) {
    if (k >= s.params.size()) {
      throw UserError({"TL-BIND-001",
                       s.name,
                       "there is no argument " + std::to_string(k) + " to bind",
                       "",
                       {}});
    }
    check_alias_of_bound(s, k);
  }
  std::vector<std::size_t> params;
  for (std::size_t k = 0; k < s.params.size(); ++k) {
    if (!bound.contains(k)) params.push_back(k);
  }
  return params;
}

void throw_elsewhere(std::string_view backend, const Buffer& b) {
  throw UserError({"TL-BUFFER-002",
                   std::string(backend),
                   "a buffer lies on " + b.device().text() + " of another back end",
                   "use Buffer::to_host",
                   {}});
}
HostArray on_host(std::string_view backend, const Buffer& b, bool donated) {
  if (!b.device().is_host()) throw_elsewhere(backend, b);
  return donated ? b.donate_host() : b.to_host();
}

OpaqueRun::OpaqueRun(const Signature& s, std::span<const std::size_t> inputs, std::size_t given,
                     const RunOptions& options, std::string_view runner)
    : signature_(s), options_(options) {
  check_run(s, inputs, given, options.donate);
  if (!options.check_nan) return;
  throw UserError({"TL-BACKEND-001",
                   s.name,
                   std::string(runner) + " can't say which operation made a NaN",
                   "look for it with the CPU back end",
                   {}});
}
void OpaqueRun::poll() const {
  if (!options_.cancel || !options_.cancel->cancelled()) return;
  throw UserError({"TL-CANCEL-001", signature_.name, "the run was cancelled", "", {}});
}
void OpaqueRun::end() const {
  if (!options_.profile) return;
  const auto took = std::chrono::steady_clock::now() - start_;
  options_.profile->record(
      {signature_.name, 0, std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()});
}

}  // namespace tlaloc::runtime
