// Plans how a graph runs on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tlaloc/cpu/program.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::cpu {

/// What a program may be made of.
enum class Kernels : std::uint8_t {
  all,
  compiled,  ///< all, but small products are loops: their code takes less than to call a kernel
  written,   ///< loops alone, products of matrices too: what code can be written for
};

struct PlanOptions {
  Kernels kernels = Kernels::all;
  std::size_t fixed = 0;  ///< the first arguments, which are the same arrays in every run
  /// What is made of arrays that are the same in every run may be kept: they are given to
  /// pack_kept before the first one.
  bool keeps = false;
  std::vector<runtime::Alias> aliases;  ///< arguments that results should lie in where donated
};

/// Everything that does not depend on sizes or values: what is computed in one loop, where values
/// lie and for how long, what is updated in place. UserError TL-BACKEND-001 for what can't run
/// here.
std::shared_ptr<const Program> plan(const ir::GraphRef& g, const PlanOptions& options = {});

/// `fixed`: the first arguments.
void pack_kept(const Program& program, std::span<const HostArray> fixed);

}  // namespace tlaloc::cpu
