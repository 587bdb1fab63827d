// Programs compiled ahead of time, linked by the system's C compiler, called from here.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/cpu/ahead.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::testing {

class AheadProgram {
 public:
  /// Compiles, and links the object with a caller in C99 that uses the header alone.
  explicit AheadProgram(const ir::GraphRef& g, const std::string& cpu = "native");
  ~AheadProgram();
  AheadProgram(const AheadProgram&) = delete;
  AheadProgram& operator=(const AheadProgram&) = delete;

  struct Outcome {
    int status = 0;
    std::vector<HostArray> results;
  };
  std::int64_t scratch_bytes(const std::vector<std::int64_t>& dims) const;
  /// With so much scratch memory, by default as much as the program asks for and 64 KiB; fails the
  /// test where the code writes beyond it or beyond a result. `extents`: of the results.
  Outcome run(const std::vector<std::int64_t>& dims, const std::vector<HostArray>& args,
              const std::vector<Extents>& extents, std::int64_t scratch = -1) const;
  /// What the object needs from elsewhere, one symbol a line.
  const std::string& undefined() const { return undefined_; }
  const std::string& header() const { return code_.header; }

 private:
  ir::GraphRef graph_;
  cpu::AheadCode code_;
  cpu::testing::TemporaryFolder folder_;
  std::string undefined_;
  void* library_ = nullptr;
};

}  // namespace tlaloc::testing
