// Arrays that a user gives on the command line.
//
//   x.npy, ./x.npy       a file, as NumPy saves it
//   2.5, [[1, nan], …]   a literal, of the parameter's type; a number alone fills the whole array
//   random               floats from the standard normal distribution, integers from 0 to 9, bools
//   random:LOW:HIGH      uniform from [LOW, HIGH)
//
// A random array depends on the seed, the parameter's position and its sizes alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::command {

struct InputTexts {
  std::vector<std::string> inputs;  ///< "VALUE" in order, "NAME=VALUE", "2=VALUE"
  std::string rest;                 ///< what the other parameters are; empty: there must be none
  std::uint64_t seed = 0;
};
/// An array for each parameter. Sizes come from arrays that have them and from `dims`. UserError
/// TL-INPUT-001 for what is no value, TL-ARITY-001 for too few or too many, TL-SHAPE-002 for
/// another shape, TL-SHAPE-004 for a size that nothing gives; those of read_npy.
std::vector<HostArray> make_inputs(const ir::Graph& g, const InputTexts& texts,
                                   const runtime::DimValues& dims);

/// An array of exactly this type: a file or a literal.
HostArray make_array(const std::string& text, DType dtype, const Extents& extents);

}  // namespace tlaloc::command
