// A loop nest over one index space: reads elements, computes on them, writes or folds the result.
// Tier 0 runs it by tiles of the innermost axis with one precompiled kernel per operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tlaloc/cpu/program.h"
#include "tlaloc/cpu/tiles.h"

namespace tlaloc::cpu {

/// What a loop computes; its sizes are the step's integers:
///   extents of the space, then for each read array, each position and each output: offset and
///   strides; and what indices need.
/// Without a fold an output has the space's elements; with one, those of the kept axes.
struct Loop {
  static constexpr std::size_t kMaxRank = 24, kMaxOps = 64;
  struct Op {
    enum class Kind : std::uint8_t { load, literal, position, op } kind;
    DType dtype;                 ///< of the register
    std::uint16_t array = 0;     ///< load: of the step's storages; position: none
    std::uint16_t ints = 0;      ///< load, position: where offset and strides begin
    TileFn run = nullptr;        ///< op
    std::uint16_t args[3] = {};  ///< op: registers, `arg_count` of them
    std::uint16_t arg_count = 0;
    std::uint64_t bits = 0;                          ///< literal
    std::uint16_t first_index = 0, index_count = 0;  ///< load: of `indices`
    const ir::OpDef* def = nullptr;                  ///< op: what `run` computes
    const ir::Attr* attr = nullptr;
    const void* data = nullptr;  ///< op: what its kernel needs beside the operands
  };
  /// A part of a position that is data: a register of i64, clamped, times a stride.
  struct Index {
    std::uint16_t reg, stride, last;  ///< stride and last: positions in the integers
  };
  std::uint16_t rank = 0;
  std::vector<Index> indices;
  std::vector<Op> ops;
  std::vector<ir::AttrRef> attrs;      ///< kept alive for Op::data
  std::vector<ir::OriginRef> origins;  ///< by op; null for what no node of the graph is
  /// Registers: op -> place in the scratch memory; a place is free again after the last use.
  std::vector<std::uint16_t> places;
  std::uint16_t place_count = 0;
  /// A register that is written: to which of the step's storages, and where its offset and strides
  /// over the space begin (0 along folded axes).
  struct Output {
    std::uint16_t reg, array, ints;
  };
  std::vector<Output> outputs;  ///< at least one; with a fold or an index, one
  // Where each element goes, and how.
  std::uint16_t result_first_index = 0, result_index_count = 0;
  bool drop = false;         ///< what does not fit is left out rather than moved
  TileFn combine = nullptr;  ///< of the old element and the new one; null: the new one
  const ir::OpDef* combine_def = nullptr;
  const Fold* fold = nullptr;
  std::uint32_t folded = 0;  ///< one bit per axis
  /// A sum of products as the matrix kernel has it: in order, each product and its sum by one
  /// operation that rounds once where the processor has it. For compiled code only.
  bool fused = false;
  /// It only loads elements and writes them to the same places of other storages: nothing is left
  /// to do where these are the same, as where a result lies in a donated argument.
  bool moves = false;
  /// Whether it is so, and they are. `at`: where an array of the loop lies.
  template <class At>
  bool stays(const At& at) const {
    return moves && std::ranges::all_of(outputs, [&](const Output& o) {
             return at(ops[o.reg].array) == at(o.array);
           });
  }

  std::size_t scratch_bytes() const;
};

/// A KernelFn; `data` is a Loop.
void run_loop(const KernelCall& call);
/// A CostFn of the same.
Cost loop_cost(const void* data, const std::int64_t* ints);

}  // namespace tlaloc::cpu
