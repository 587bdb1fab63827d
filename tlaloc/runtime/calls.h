// What back ends do alike when arguments are bound and runs begin and end.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::runtime {

/// The params that are not bound, in order. UserError TL-BIND-001 for a bound position that isn't
/// there, TL-ALIAS-001 for one whose memory a result must take over.
std::vector<std::size_t> unbound_params(const Signature& s,
                                        const std::map<std::size_t, Buffer>& bound);

/// TL-BUFFER-002: that back end can't read the buffer where it lies.
[[noreturn]] void throw_elsewhere(std::string_view backend, const Buffer& b);
/// The array, for a back end that computes on the host: TL-BUFFER-002 for what lies elsewhere.
HostArray on_host(std::string_view backend, const Buffer& b, bool donated);

/// A run of a program that its back end can't look into.
class OpaqueRun {
 public:
  /// It begins. Errors: as check_run; TL-BACKEND-001 for RunOptions::check_nan, with what runs it:
  /// "a plugin".
  OpaqueRun(const Signature& s, std::span<const std::size_t> inputs, std::size_t given,
            const RunOptions& options, std::string_view runner);
  bool donates(std::size_t input) const {
    return !options_.donate.empty() && options_.donate[input];
  }
  void poll() const;  ///< TL-CANCEL-001
  void end() const;   ///< what it took goes to RunOptions::profile

 private:
  const Signature& signature_;
  const RunOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tlaloc::runtime
