// Plans how a graph runs on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// What a program may be made of.
enum class Kernels : std::uint8_t {
  all,
  written,  ///< loops alone, products of matrices too: what code can be written for
};

/// Everything that does not depend on sizes or values: what is computed in one loop, where values
/// lie and for how long, what is updated in place. UserError TL-BACKEND-001 for what can't run
/// here. The first `fixed` arguments are the same arrays in every run.
std::shared_ptr<const Program> plan(const ir::GraphRef& g, Kernels kernels = Kernels::all,
                                    std::size_t fixed = 0);

}  // namespace tlaloc::cpu
