// Cost of tracing, differentiating, printing and running a chain of operations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/transform/program.h"

namespace tlaloc::testing {

/// x -> a chain of `length` scalar operations (sin, tanh, times, plus), each reading the last.
GraphRef chain(std::int64_t length);
/// The same on x, in the graph at hand.
Val chain(Val x, std::int64_t length);

/// Nanoseconds of processor time per operation of the chain.
struct ChainCost {
  std::int64_t length = 0;
  double trace = 0;     ///< handles to a graph
  double grad = 0;      ///< the graph of value and gradient from it
  double print = 0;     ///< text of that graph
  double verify = 0;    ///< of that graph
  double run = 0;       ///< the primal, interpreted
  double run_grad = 0;  ///< value and gradient, interpreted
  std::int64_t grad_nodes = 0;
  double value = 0, slope = 0;
};
ChainCost measure_chain(std::int64_t length);

/// Runs f in a thread whose stack has so many bytes; exceptions pass to the caller.
void with_stack(std::size_t bytes, const std::function<void()>& f);

}  // namespace tlaloc::testing
