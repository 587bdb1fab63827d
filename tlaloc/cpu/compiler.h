// LLVM IR text to code that can be called: from memory, from the disk, or compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/base/digest.h"
#include "tlaloc/cache/host_cpu.h"
#include "tlaloc/cache/store.h"
#include "tlaloc/cpu/image.h"
#include "tlaloc/cpu/settings.h"

namespace tlaloc::cpu {

/// Passes for kernels that are explicit vector code already: they only tidy.
inline constexpr std::string_view kKernelPasses = "early-cse,instcombine";
/// Passes for code with variables in memory and loops that are as they should be: nothing unrolls
/// or vectorizes, which would cost most of the time.
inline constexpr std::string_view kScalarPasses =
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),loop(indvars),gvn,instcombine<no-verify-fixpoint>,simplifycfg)";

struct CompileOptions {
  /// Says in errors what is compiled, and names the files of a dump; does not change the code.
  std::string name = "code";
  /// For a dump: the text of the graph that the code is of. Does not change the code, either.
  std::function<std::string()> graph;
  /// LLVM's textual pass pipeline; empty for none.
  std::string passes{kKernelPasses};
  /// Effort of code generation, 0 to 3 as in -O0 to -O3.
  int level = 2;
  /// What to compile for, in LLVM's terms ("znver3", "+avx2,-fma"); empty: this machine.
  std::string cpu;
  std::string features;
};

/// Where code came from, since the start.
struct CompileCounts {
  std::int64_t from_memory = 0;  ///< held by somebody, or just being compiled
  std::int64_t from_disk = 0;
  std::int64_t compiled = 0;
  friend bool operator==(const CompileCounts&, const CompileCounts&) = default;
};

/// Compiles. Safe to use from any thread; equal requests at one time compile once. What it made is
/// known as long as anybody holds it, and beyond that on disk.
class Compiler {
 public:
  /// `processor` tells this machine from others that share the cache.
  explicit Compiler(Settings settings, std::vector<std::uint32_t> processor = cache::host_cpu());

  /// As compile_ir(). What is wrong with the cache is written to standard error, once.
  std::shared_ptr<const LoadedImage> compile(std::string_view ir, const CompileOptions& options);
  CompileCounts counts() const;

 private:
  using Image = std::shared_ptr<const LoadedImage>;
  struct Slot {
    std::weak_ptr<const LoadedImage> image;
    /// Valid while somebody makes the image; becomes ready with null when that fails.
    std::shared_future<Image> pending;
  };

  Digest key_of(std::string_view ir, const CompileOptions& options) const;
  Image claim(const Digest& key, std::promise<Image>& promise);
  Image make(const Digest& key, std::string_view ir, const CompileOptions& options);
  CodeImage generate_and_keep(const Digest& key, std::string_view ir,
                              const CompileOptions& options);
  void finish(const Digest& key, const Image& image, std::promise<Image>& promise);

  const Settings settings_;
  const std::vector<std::uint32_t> processor_;
  cache::Store disk_;

  mutable std::mutex mutex_;
  std::map<Digest, Slot> slots_;
  std::size_t sweep_at_ = 64;  // how many slots make it worth while to look for empty ones
  CompileCounts counts_;
};

/// The code of one module of LLVM IR text, whose defined functions with external linkage become the
/// entries. The text must need nothing from outside: no function, be it memcpy or one of libm,
/// named or implied by an instruction, is called but through a pointer that the caller passes.
/// Globals are constants. No exception may pass through the code.
///
/// One Compiler serves the process, with the settings of the environment at its first use.
///
/// InternalError where LLVM refuses the text (with its line) or where the code needs a symbol (with
/// its name). EnvironmentError TL-CODEGEN-001 without the library that compiles; TL-CODEGEN-002 and
/// TL-MEM-001 as LoadedImage; TL-DUMP-001 when a dump can't be written. UserError TL-ENV-001 as
/// settings_from_environment().
std::shared_ptr<const LoadedImage> compile_ir(std::string_view ir,
                                              const CompileOptions& options = {});

/// Of compile_ir().
CompileCounts compile_counts();

}  // namespace tlaloc::cpu
