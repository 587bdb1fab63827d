// Writes a program: storages, steps over them and the code that runs the steps.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tlaloc/cpu/expr.h"
#include "tlaloc/cpu/packed_right.h"
#include "tlaloc/cpu/program.h"
#include "tlaloc/cpu/tiles.h"

namespace tlaloc::cpu {

/// Where a loop writes.
struct Target {
  StorageId storage;
  Affine at;
  // For updates: positions that are data, and what an element becomes.
  std::vector<Indirect> indirect = {};
  bool drop = false;                   ///< what does not fit is left out rather than moved
  const ir::OpDef* combine = nullptr;  ///< of the old element and the new one
};

/// A matrix in a storage that is the same in every run, packed in one way; strides of 0 are those
/// of blocks.
struct FixedMatrix {
  StorageId storage;
  Packing packing;
  std::int64_t k, n;
  std::int64_t offset = 0, row = 0, column = 0;
  auto operator<=>(const FixedMatrix&) const = default;
};

class Emitter {
 public:
  explicit Emitter(ir::GraphRef g);

  SizeTable sizes;
  Program program;
  /// So many arguments are the same arrays in every run.
  std::size_t fixed = 0;
  bool keeps = false;  ///< as PlanOptions::keeps
  /// Loops as ranges of instructions, inner ones before outer ones.
  struct Range {
    std::uint32_t begin, end;
  };
  std::vector<Range> loops;
  /// Steps that do nothing but copy one whole storage to another one, which may become one.
  std::vector<std::uint32_t> copies;  // positions in the code, in the order to try
  /// Steps from one whole storage to another of that size which may be the same one.
  std::vector<std::uint32_t> updates;

  /// Those that are kept, for all products with them.
  std::map<FixedMatrix, std::shared_ptr<const KeptRight>> rights;

  /// The origin of what is emitted from now on.
  ir::OriginRef origin;

  // ---- code ----
  std::uint32_t here() const { return static_cast<std::uint32_t>(program.code.size()); }
  std::uint32_t emit(Instruction i);
  void land(std::uint32_t jump) { program.code[jump].target = here(); }
  void emit_point(std::uint32_t point) { emit({.code = Code::point, .index = point}); }
  void emit_step(Step s);
  /// The step that was emitted last, where no other instruction is behind it; else null.
  Step* last_step();
  /// Makes it read and write one storage more.
  void add_to_last_step(StorageId read, StorageId written);
  void set(Slot to, Slot from) { emit({.code = Code::set, .a = to, .b = from}); }

  // ---- storages ----
  bool is_fixed(StorageId s) const {
    const Storage& storage = program.storages[s];
    return storage.kind == Storage::Kind::constant ||
           (storage.kind == Storage::Kind::argument && storage.index < fixed);
  }
  StorageId constant(const HostArray& value);
  /// A new storage for values of this type: in the arena, or made here if its size is known only
  /// now.
  StorageId storage(ir::Type type);
  /// A dynamic storage without memory yet.
  StorageId unmade(DType dtype);
  void make(StorageId s, ir::Dim elements);
  void grow(StorageId s, ir::Dim elements);

  /// Fails at run time if a size of the type is negative; nothing for constant sizes. `stated`:
  /// the type as the user's graph has it.
  void check_type(ir::Type type, ir::Type stated, const char* op);
  /// Checks made in a branch or a loop say nothing about what comes behind it.
  class Scope {
   public:
    explicit Scope(Emitter& e) : e_(e), checked_(e.checked_) {}
    ~Scope() { e_.checked_ = std::move(checked_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Emitter& e_;
    std::vector<ir::Type> checked_;
  };

  // ---- loops ----
  /// Computes all elements of a value into a target.
  void compute(const Value& v, const Target& target, const char* name);
  /// Folds a value over axes; the target has an axis for each that is kept.
  /// `fused`: as Loop::fused.
  void fold(const Value& v, const Fold& fold, std::span<const std::int64_t> axes,
            const Target& target, const char* name, bool fused = false);
  /// The value, lying somewhere: dense in a new storage if it was yet to be computed.
  Value lying(const Value& v, const char* name);
  /// The storage of which the value is the dense content.
  StorageId dense(const Value& v, const char* name);
  /// A dense value in a storage of its own, which may be written.
  StorageId copy(const Value& v, const char* name);

 private:
  /// Values of one index space that one loop computes, and where they go.
  struct Part {
    ExprRef expr;
    Target target;
  };
  Step make_loop(ir::Type space, const std::vector<Part>& parts, const Fold* fold,
                 std::uint32_t folded, const char* name, bool fused = false);
  /// A loop that may still compute more.
  struct OpenLoop {
    std::uint32_t at = 0;  ///< in the code
    std::vector<Part> parts;
  };
  /// Adds a value to a loop that was emitted before, if it could have been computed there.
  bool join(const Value& v, const Target& target);
  Value split(const Value& v);
  Target lying_indices(const Target& target, ir::Type space);

  struct TypeHash {
    std::size_t operator()(ir::Type t) const { return t.hash(); }
  };
  std::vector<ir::Type> checked_;
  /// By index space (as a type of bool); of the code since the last instruction that is no step.
  std::unordered_map<ir::Type, OpenLoop, TypeHash> open_;
  struct Touched {
    std::uint32_t any = 0, written = 0;  ///< positions behind the last step that did
  };
  std::vector<Touched> touched_;  ///< by storage
  std::unordered_map<const void*, StorageId> constants_;
};

}  // namespace tlaloc::cpu
