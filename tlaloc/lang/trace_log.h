// Why a compiled function was traced. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/lang/closure.h"

namespace tlaloc::core {

/// What the traces of one jit object were made for.
class TraceLog {
 public:
  void add(const Function& f, const Leaves& args, const Closure& c, Where where);
  /// One entry per trace: its arguments, what makes it differ from the earlier one that is nearest,
  /// and what it captured.
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  struct Traced {
    const void* type;
    bool checks_nan, mapped;
    std::vector<std::pair<std::string, std::string>> leaves;  ///< path, type
    std::vector<std::int64_t> notes;
  };
  std::string reason(const Traced& now) const;

  std::vector<Traced> traced_;
  std::vector<std::string> entries_;
};

}  // namespace tlaloc::core
