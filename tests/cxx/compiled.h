// Printed programs, compiled by g++ into one executable and run in a process of their own.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/cxx/print.h"

namespace tlaloc::testing {

using Arrays = std::vector<HostArray>;

class Compiled {
 public:
  /// Prints g; returns its number.
  std::size_t add(const ir::GraphRef& g, const cxx::Options& options = {});
  /// A text printed elsewhere, for g.
  std::size_t add_printed(const ir::GraphRef& g, cxx::Printed printed);
  const cxx::Printed& printed(std::size_t program) const { return programs_[program].printed; }
  std::size_t size() const { return programs_.size(); }

  /// Compiles what was added; the compiler's output on failure, warnings included.
  std::string compile(const std::string& flags = "-O1");
  /// Results of a program, or the text of the exception that it threw.
  struct Outcome {
    Arrays results;
    std::string error;
  };
  struct Run {
    std::size_t program;
    Arrays args;
  };
  /// One process runs all of them.
  std::vector<Outcome> run(const std::vector<Run>& runs) const;

  Compiled();
  ~Compiled();
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

 private:
  struct Program {
    ir::GraphRef graph;
    cxx::Printed printed;
  };
  std::string source() const;
  std::vector<Program> programs_;
  std::string folder_;
};

/// Where the results differ, bit for bit but for NaNs; empty if they are the same.
std::string difference(const Arrays& got, const Arrays& want);

}  // namespace tlaloc::testing
