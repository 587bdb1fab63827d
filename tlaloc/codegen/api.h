// What the library libtlaloc_codegen.so offers to whoever loads it. Plain C types only, so that it
// may be built by another compiler than its caller.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tlaloc::codegen {

/// Goes up with every change of what follows.
inline constexpr std::uint32_t kApiVersion = 2;

struct Request {
  const char* name;  ///< what the text is called in messages
  const char* ir;    ///< LLVM IR text of one module
  std::size_t ir_size;
  const char* passes;    ///< LLVM's textual pass pipeline; empty: none
  const char* cpu;       ///< LLVM's name of a CPU; empty: this machine's
  const char* features;  ///< LLVM's list of features, such as "+avx2,-fma"; empty: the CPU's
  std::int32_t level;    ///< effort of code generation, 0 to 3
  std::int32_t explain;  ///< whether to put optimized_ir and assembly too
  std::int32_t object;   ///< whether to put an object file instead of an image and its entries
};

enum class Part : std::int32_t {
  image,         ///< the code: position-independent bytes; once
  entry,         ///< a function of the image: its name, and its offset as `number`
  optimized_ir,  ///< text
  assembly,      ///< text
  object,        ///< a relocatable object file, position-independent
  error,         ///< what is wrong with the request, as text; then there is no other part
};

/// Takes one part of the answer; `data` lives as long as the call.
using Sink = void (*)(void* to, Part part, const void* data, std::size_t size,
                      std::uint64_t number);

/// Safe to call from any thread.
using Compile = void (*)(const Request& request, Sink sink, void* to);

}  // namespace tlaloc::codegen

/// The one symbol of the library: null when it does not speak that version.
extern "C" tlaloc::codegen::Compile tlaloc_codegen(std::uint32_t version);
