// A compiled graph: storages, integers and a flat list of instructions. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/cpu/sizes.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cpu {

using StorageId = std::uint32_t;
class KeptRight;

/// A piece of memory that values lie in, one after the other or updated in place.
struct Storage {
  enum class Kind : std::uint8_t {
    argument,  ///< number `index`; never written
    constant,  ///< number `index`
    result,    ///< number `index`: made for each run, handed out
    planned,   ///< in the arena, between the instructions `first` and `last`
    dynamic,   ///< made by an instruction, because its size is found out on the way; may grow
    none,      ///< merged into another one
  } kind = Kind::planned;
  DType dtype = DType::f32;
  std::uint32_t index = 0;
  Slot elements = 0;
  std::uint32_t first = 0, last = 0;
};

/// What a kernel gets.
struct KernelCall {
  std::byte* const* storages;  ///< in the order of the step's
  const std::int64_t* ints;    ///< in the order of the step's
  const void* data;            ///< the step's
  std::byte* scratch;          ///< as much as the step asked for, aligned to 64 bytes
};
using KernelFn = void (*)(const KernelCall&);

/// What a kernel costs, for reports.
struct Cost {
  /// By the step's storage, each element counted once; empty: all of all.
  std::vector<double> elements;
  double flops = -1;     ///< as the graph has them; negative: not counted
  std::string space;     ///< what it runs over, such as "[128, 10]"
  bool updates = false;  ///< it reads what it writes, beside its operands
};
/// `data` and `ints` are the step's.
using CostFn = Cost (*)(const void* data, const std::int64_t* ints);

/// A kernel applied to storages.
struct Step {
  KernelFn run = nullptr;
  std::shared_ptr<const void> data;
  std::vector<StorageId> storages;  ///< what is read, then what is written
  std::uint32_t reads = 0;
  /// One bit per storage read: it may be the one that is written.
  std::uint64_t in_place = 0;
  std::vector<Slot> ints;
  std::size_t scratch = 0;
  const char* name = "";  ///< of the op or kernel
  // For reports:
  CostFn cost = nullptr;
  const char* runs_on = "precompiled kernel";
  const char* why = "";  ///< why on nothing better
  ir::OriginRef origin;
  std::span<const StorageId> read() const { return std::span(storages).first(reads); }
  std::span<const StorageId> written() const { return std::span(storages).subspan(reads); }
};

enum class Code : std::uint8_t {
  nothing,
  step,           ///< run step `index`
  point,          ///< compute the sizes of point `index`
  check,          ///< check number `index`
  hold,           ///< nothing; storage `index` keeps from here on what is written to it by parts
  make,           ///< make dynamic storage `index` with slot `a` elements
  grow,           ///< the same, keeping what is there; with room to spare
  jump,           ///< to `target`
  jump_unless,    ///< to `target` if the bool in storage `index` is false
  jump_if_equal,  ///< to `target` if slots a and b are equal
  set,            ///< slot a = slot b
  add,            ///< slot a += slot b
  subtract,       ///< slot a -= slot b
  load,           ///< slot a = element slot b of storage `index`, an integer
  limit,          ///< TL-LOOP-001 if slot a is not below `slot b`
  poll,           ///< stop if the run was cancelled
};
struct Instruction {
  Code code;
  std::uint32_t index = 0;
  Slot a = 0, b = 0;
  std::uint32_t target = 0;
};

/// What may fail on sizes.
struct Check {
  enum class Kind : std::uint8_t {
    type,        ///< sizes of a value's type are not negative
    constraint,  ///< of a graph
    length,      ///< a scan's number of trips is not negative
    rows,        ///< xs `number` of a scan has as many rows as there are trips
  } kind;
  std::vector<Slot> slots;  ///< type: by axis; constraint: a, b; length; rows: have, want
  ir::Type type;            ///< as the graph has it
  const char* op = "";      ///< whose result it is
  ir::GraphRef graph;
  std::uint32_t constraint = 0;
  std::uint32_t number = 0;
  ir::Dim length;   ///< as the graph has it
  ir::DimMap dims;  ///< of the graph, in the program's
  ir::OriginRef origin;
};

struct Program {
  ir::GraphRef graph;  ///< as it was given
  std::vector<Storage> storages;
  std::vector<HostArray> constants;
  std::vector<Step> steps;
  std::vector<Instruction> code;
  std::vector<Check> checks;
  std::vector<std::vector<SizeOp>> points;
  std::vector<std::int64_t> slots;  ///< what they hold before a run
  std::vector<Slot> entry;          ///< of the graph's dims
  struct Known {
    std::uint32_t symbol;  ///< id
    Slot slot;
  };
  std::vector<Known> symbols;  ///< for messages
  struct Result {
    StorageId storage;
    DType dtype;
    std::vector<Slot> extents;
    /// Params whose memory the result may take over where they are donated.
    std::vector<std::uint32_t> donors;
  };
  std::vector<Result> results;
  std::vector<Slot> result_dims;
  std::size_t scratch = 0;
  /// What kernels keep between runs, beside the arguments that they made it from.
  struct Kept {
    std::uint32_t step;  ///< the first one that reads it
    std::shared_ptr<KeptRight> right;
  };
  std::vector<Kept> kept;
};

}  // namespace tlaloc::cpu
