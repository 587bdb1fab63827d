// An independent evaluator of graphs over complex numbers: the oracle of derivatives.
//
// The complex step: f(x + ihu) = f(x) + ih f'(x)u + O(h²). With h = 1e-30 the derivative along u is
// the imaginary part over h, exact to rounding: no difference is taken, and no branch flips,
// because predicates read real parts. The derivative rules of the op table are not used: nonlinear
// functions are those of <complex>, linear ops evaluate both parts as they are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::testing {

inline constexpr double kStep = 1e-30;

/// An array and, for f64, its imaginary part; an empty handle is zero.
struct ComplexArray {
  HostArray re;
  HostArray im;
};
using ComplexArrays = std::vector<ComplexArray>;

/// Sizes by symbol id.
using Sizes = std::unordered_map<std::uint32_t, std::int64_t>;

/// Evaluates g. Entry dims come from the arguments' shapes. A nonlinear op that has no complex
/// formula throws InternalError that names it.
ComplexArrays run_complex(const ir::Graph& g, ComplexArrays args);

/// One op without regions.
ComplexArrays eval_complex_primitive(const ir::Node& n, ComplexArrays in, const Sizes& sizes);

/// The imaginary part, made explicit.
HostArray imaginary(const ComplexArray& x);
/// The value of a dim under sizes.
std::int64_t size_of(ir::Dim d, const Sizes& sizes);

}  // namespace tlaloc::testing
