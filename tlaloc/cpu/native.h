// Generated code for a whole program: what it is called with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/cpu/driven.h"
#include "tlaloc/cpu/image.h"
#include "tlaloc/cpu/program.h"
#include "tlaloc/cpu/shared_loop.h"

namespace tlaloc::cpu {

/// Goes up when the layout of NativeContext or the order of the functions changes: code on disk
/// relies on both.
inline constexpr int kNativeVersion = 6;

/// What generated code works on. It knows the layout.
struct NativeContext {
  std::int64_t* slots;
  std::byte** storages;
  std::int64_t* capacities;      ///< of dynamic storages, in elements
  const void* const* functions;  ///< library_functions(), then the callbacks
  void* run;                     ///< what the callbacks get back
  const std::uint8_t* stop;      ///< not zero: the run was cancelled
};
/// 0, or a failure that the callbacks keep.
using NativeFn = std::int32_t (*)(NativeContext*);

/// Behind the C library's functions the table has these; they give 0, or a failure, and never
/// throw:
///   step(run, index)                          step `index`, by its own kernel
///   make(run, storage, elements, keep)        room in a dynamic storage; with what was there
///   fail(run, at)                             what the instruction `at` of the code fails with;
///                                             the number of all of them: the run was cancelled
///   share(run, number, code, elements)        shared loop `number` of the program, in parts;
///                                             kFewElements: nothing, the code is to run it
///   run(run, row)                             row `row` of instructions: steps, and checks of
///   sizes
///                                             that are known from the start on
/// and, which can't fail:
///   time(run, index, end)                     step `index` begins, or has ended

inline constexpr int kFewElements = 2;

/// A loop that several threads may run together: what its code (see LoopCode) takes beside the
/// pointers of the step's storages.
struct SharedLoop {
  std::uint32_t step = 0;
  SharedAxis axis{};
  std::int64_t few = 0;  ///< elements up to which its caller runs it
  std::vector<Slot> ints;
  std::vector<std::size_t> functions;  ///< of library_functions()
  /// There is no axis to share: the code, for all of it, takes the pointers of the step's storages.
  bool whole = false;
  std::string entry;           ///< the code's name where the machine begins it; else empty
  const void* code = nullptr;  ///< then, once it is compiled
};

/// The program as one function `run` of an LLVM module. Steps that no code can be written for are
/// called back. Where many steps follow each other that are no part of the code around them, it
/// leaves them to the machine: what LLVM needs for calls that run once would be most of its time.
/// `contract`: as FunctionSource has it. With `timed`, the code tells when steps begin and end:
/// those that come out true. The others are a part of the code around them. `longest`: characters
/// beyond which the text may be left unfinished.
struct NativeText {
  std::string ir;
  std::vector<SharedLoop> loops;
  std::vector<std::int32_t> driven;  ///< by step: which loop it is to the machine, or -1
  struct Row {
    std::uint32_t begin, end;  ///< of the code
  };
  std::vector<Row> rows;  ///< that the machine runs
};
NativeText generate(const Program& p, bool contract, std::vector<bool>* timed, std::size_t longest);

/// The same as an internal function `.run` of a module that has to define `.make` and `.fail`,
/// which are as above, and to declare the C library's functions. All steps must be loops with code.
std::string generate_ahead(const Program& p, bool contract);

struct Native {
  std::shared_ptr<const LoadedImage> image;
  NativeFn run = nullptr;    ///< null if it is not worth it
  const char* why_not = "";  ///< then
  std::vector<SharedLoop> loops;
  std::vector<std::int32_t> driven;  ///< as in NativeText
  std::vector<DrivenRow> rows;
};
/// Whether programs are compiled in this process: not without LLVM, or with TLALOC_CODEGEN=off.
bool compiles_programs();
/// Compiled code of a program.
Native compile_native(const Program& p, std::vector<bool>* timed = nullptr);

}  // namespace tlaloc::cpu
