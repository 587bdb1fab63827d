#include "tlaloc/codegen/llvm.h"

#include <fmt/format.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::codegen {
namespace {

template <auto kDispose>
struct Disposer {
  template <typename T>
  void operator()(T* p) const {
    kDispose(p);
  }
};
template <typename Ref, auto kDispose>
using Owned = std::unique_ptr<std::remove_pointer_t<Ref>, Disposer<kDispose>>;

using Context = Owned<LLVMContextRef, LLVMContextDispose>;
using Module = Owned<LLVMModuleRef, LLVMDisposeModule>;
using Machine = Owned<LLVMTargetMachineRef, LLVMDisposeTargetMachine>;
using Buffer = Owned<LLVMMemoryBufferRef, LLVMDisposeMemoryBuffer>;
using Message = Owned<char*, LLVMDisposeMessage>;

/// What this machine is, found once: it costs more than compiling a small function.
struct Host {
  Message triple, cpu, features;
  LLVMTargetRef target = nullptr;
};

const Host& host() {
  static const Host kHost = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // without it, inline assembly ends the process
    Host h;
    h.triple.reset(LLVMGetDefaultTargetTriple());
    h.cpu.reset(LLVMGetHostCPUName());
    h.features.reset(LLVMGetHostCPUFeatures());
    char* error = nullptr;
    if (LLVMGetTargetFromTriple(h.triple.get(), &h.target, &error) != 0)
      throw InternalError(fmt::format("LLVM: {}", Message(error).get()));
    return h;
  }();
  return kHost;
}

Machine make_machine(const Request& request) {
  const Host& h = host();
  const bool native = *request.cpu == 0;
  Owned<LLVMTargetMachineOptionsRef, LLVMDisposeTargetMachineOptions> options(
      LLVMCreateTargetMachineOptions());
  LLVMTargetMachineOptionsSetCPU(options.get(), native ? h.cpu.get() : request.cpu);
  LLVMTargetMachineOptionsSetFeatures(
      options.get(), native && *request.features == 0 ? h.features.get() : request.features);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options.get(),
                                             static_cast<LLVMCodeGenOptLevel>(request.level));
  LLVMTargetMachineOptionsSetRelocMode(options.get(), LLVMRelocPIC);
  LLVMTargetMachineOptionsSetCodeModel(options.get(), LLVMCodeModelSmall);
  return Machine(LLVMCreateTargetMachineWithOptions(h.target, h.triple.get(), options.get()));
}

/// The number of the line of `text` that is one of those which `message` quotes; 0 without.
int quoted_line(std::string_view text, std::string_view message) {
  const auto trimmed = [](std::string_view line) {
    const auto start = std::min(line.find_first_not_of(" \t"), line.size());
    return line.substr(start, line.find_last_not_of(" \t") + 1 - start);
  };
  const auto each = [](std::string_view lines, auto&& visit) {
    for (int number = 1; !lines.empty(); ++number) {
      const auto length = std::min(lines.find('\n'), lines.size());
      if (visit(lines.substr(0, length), number)) return;
      lines.remove_prefix(std::min(length + 1, lines.size()));
    }
  };
  int found = 0;
  each(message, [&](std::string_view quoted, int) {
    if (!quoted.starts_with(' ')) return false;
    each(text, [&](std::string_view line, int number) {
      if (!trimmed(quoted).empty() && trimmed(line) == trimmed(quoted)) found = number;
      return found != 0;
    });
    return found != 0;
  });
  return found;
}

class Compilation {
 public:
  explicit Compilation(const Request& request)
      : request_(request), context_(LLVMContextCreate()), machine_(make_machine(request)) {
    LLVMContextSetDiagnosticHandler(context_.get(), take_diagnostic, this);
  }

  Compiled run() {
    parse();
    prepare();
    optimize();
    Compiled result;
    if (request_.explain != 0) {
      result.optimized_ir = Message(LLVMPrintModuleToString(module_.get())).get();
      // Generating code changes the module.
      const Module copy(LLVMCloneModule(module_.get()));
      const Buffer assembly = emit(copy.get(), LLVMAssemblyFile);
      result.assembly.assign(LLVMGetBufferStart(assembly.get()), LLVMGetBufferSize(assembly.get()));
    }
    const Buffer object = emit(module_.get(), LLVMObjectFile);
    const auto* start = reinterpret_cast<const std::byte*>(LLVMGetBufferStart(object.get()));
    result.object.assign(start, start + LLVMGetBufferSize(object.get()));
    return result;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw InternalError(fmt::format("LLVM refuses {}: {}", request_.name,
                                    what.substr(0, what.find_last_not_of('\n') + 1)));
  }
  static void take_diagnostic(LLVMDiagnosticInfoRef info, void* self) {
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
      static_cast<Compilation*>(self)->diagnostic_ =
          Message(LLVMGetDiagInfoDescription(info)).get();
  }

  void parse() {
    // LLVM names this in "name:line:column: error: …", and owns it from here on.
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(request_.ir, request_.ir_size, request_.name);
    LLVMModuleRef module = nullptr;
    char* error = nullptr;
    if (LLVMParseIRInContext(context_.get(), buffer, &module, &error) != 0)
      refuse(Message(error).get());
    module_.reset(module);
    char* faults = nullptr;
    const bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &faults) != 0;
    const Message message(faults);
    if (!broken) return;
    const int line = quoted_line({request_.ir, request_.ir_size}, message.get());
    refuse(line == 0 ? message.get() : fmt::format("line {}: {}", line, message.get()));
  }

  void prepare() {
    LLVMSetTarget(module_.get(), host().triple.get());
    const Owned<LLVMTargetDataRef, LLVMDisposeTargetData> layout(
        LLVMCreateTargetDataLayout(machine_.get()));
    LLVMSetModuleDataLayout(module_.get(), layout.get());
    // Loops that copy or fill must not become calls of memcpy or memset.
    const LLVMAttributeRef no_builtins =
        LLVMCreateStringAttribute(context_.get(), "no-builtins", 11, "", 0);
    // What is hidden is addressed relative to the code, without a table for a dynamic linker. An
    // object file shows what it defines.
    const auto hide = [&](LLVMValueRef value) {
      const LLVMLinkage linkage = LLVMGetLinkage(value);
      if (request_.object == 0 && LLVMIsDeclaration(value) == 0 && linkage != LLVMInternalLinkage &&
          linkage != LLVMPrivateLinkage)
        LLVMSetVisibility(value, LLVMHiddenVisibility);
    };
    for (auto* f = LLVMGetFirstFunction(module_.get()); f != nullptr; f = LLVMGetNextFunction(f)) {
      hide(f);
      LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                              no_builtins);
    }
    for (auto* g = LLVMGetFirstGlobal(module_.get()); g != nullptr; g = LLVMGetNextGlobal(g))
      hide(g);
  }

  void optimize() {
    if (*request_.passes == 0) return;
    const Owned<LLVMPassBuilderOptionsRef, LLVMDisposePassBuilderOptions> options(
        LLVMCreatePassBuilderOptions());
    LLVMPassBuilderOptionsSetLoopVectorization(options.get(), 1);
    LLVMPassBuilderOptionsSetSLPVectorization(options.get(), 1);
    if (LLVMErrorRef error =
            LLVMRunPasses(module_.get(), request_.passes, machine_.get(), options.get()))
      refuse(Owned<char*, LLVMDisposeErrorMessage>(LLVMGetErrorMessage(error)).get());
    check_diagnostic();
  }

  Buffer emit(LLVMModuleRef module, LLVMCodeGenFileType kind) {
    LLVMMemoryBufferRef out = nullptr;
    char* error = nullptr;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine_.get(), module, kind, &error, &out) != 0)
      refuse(Message(error).get());
    Buffer buffer(out);
    check_diagnostic();
    return buffer;
  }
  void check_diagnostic() const {
    if (!diagnostic_.empty()) refuse(diagnostic_);
  }

  const Request& request_;
  Context context_;
  Machine machine_;
  Module module_;
  std::string diagnostic_;
};

}  // namespace

Compiled compile(const Request& request) { return Compilation(request).run(); }

}  // namespace tlaloc::codegen
