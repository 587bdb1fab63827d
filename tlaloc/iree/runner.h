// Modules run by iree-run-module, a process for each run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/iree/exchange_folder.h"
#include "tlaloc/stablehlo/text.h"

namespace tlaloc::iree {

/// A compiled module in a file. Safe to use from any thread.
class Module {
 public:
  Module(std::string runner, std::span<const std::byte> bytecode);
  /// Runs @main. Arrays pass as files of their elements, whose types both sides know.
  /// EnvironmentError TL-IREE-003 with the runner's own words.
  std::vector<HostArray> run(std::span<const HostArray> inputs,
                             std::span<const stablehlo::TensorType> results) const;

 private:
  std::string runner_;
  ExchangeFolder folder_;
  std::string file_;
};

}  // namespace tlaloc::iree
