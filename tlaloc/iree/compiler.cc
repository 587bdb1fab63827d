#include "tlaloc/iree/compiler.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "tlaloc/base/error.h"

namespace tlaloc::iree {
namespace {

// Things of the library.
struct Session;
struct Invocation;
struct Source;
struct Output;
struct Failure;

enum Severity : int { kNote = 0, kWarning, kError, kRemark };
using Diagnose = void (*)(Severity severity, const char* message, std::size_t size, void* user);

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw EnvironmentError({"TL-IREE-002", "iree", why + " (from " + path + ")", "", {}});
}

}  // namespace

/// The part of the compiler's C API that is used, version 1.4.
struct Compiler::Api {
  int (*GetAPIVersion)();
  const char* (*GetRevision)();
  void (*GlobalInitialize)();
  Session* (*SessionCreate)();
  void (*SessionDestroy)(Session*);
  Failure* (*SessionSetFlags)(Session*, int count, const char* const* flags);
  Invocation* (*InvocationCreate)(Session*);
  void (*InvocationDestroy)(Invocation*);
  void (*InvocationEnableCallbackDiagnostics)(Invocation*, int flags, Diagnose, void* user);
  bool (*InvocationParseSource)(Invocation*, Source*);
  bool (*InvocationPipeline)(Invocation*, int pipeline);
  Failure* (*InvocationOutputVMBytecode)(Invocation*, Output*);
  Failure* (*SourceWrapBuffer)(Session*, const char* name, const char* bytes, std::size_t size,
                               bool null_terminated, Source**);
  void (*SourceDestroy)(Source*);
  Failure* (*OutputOpenMembuffer)(Output**);
  Failure* (*OutputMapMemory)(Output*, void** contents, std::uint64_t* size);
  void (*OutputDestroy)(Output*);
  const char* (*ErrorGetMessage)(Failure*);
  void (*ErrorDestroy)(Failure*);
};

std::span<const char* const> default_flags() {
  static constexpr const char* kFlags[] = {
      "--iree-input-type=stablehlo",
      "--iree-hal-target-device=local",
      "--iree-hal-local-target-device-backends=llvm-cpu",
      "--iree-llvmcpu-target-cpu=host",
      // Otherwise f64 silently becomes f32.
      "--iree-input-demote-f64-to-f32=false",
      // Functions of f64 are the C library's, which embedded code can't be linked with.
      "--iree-llvmcpu-link-embedded=false",
  };
  return kFlags;
}

const Compiler& Compiler::load(const std::string& path) {
  static std::mutex mutex;
  static auto* compilers = new std::map<std::string, std::unique_ptr<Compiler>>;
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  if (error) refuse(path, "there is no such library: " + error.message());
  const std::lock_guard lock(mutex);
  auto& compiler = (*compilers)[canonical.string()];
  if (!compiler) compiler.reset(new Compiler(canonical.string()));
  return *compiler;
}

Compiler::Compiler(std::string path) : path_(std::move(path)) {
  void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(path_, std::string("it can't be loaded: ") + dlerror());
  auto* api = new Api{};
  const auto take = [&]<class F>(F*& function, const std::string& name) {
    function = reinterpret_cast<F*>(dlsym(library, ("ireeCompiler" + name).c_str()));
    if (!function) refuse(path_, "it is no compiler of IREE: it has no ireeCompiler" + name);
  };
#define TLALOC_IREE_TAKE(name) take(api->name, #name);
  TLALOC_IREE_TAKE(GetAPIVersion)
  TLALOC_IREE_TAKE(GetRevision)
  TLALOC_IREE_TAKE(GlobalInitialize)
  TLALOC_IREE_TAKE(SessionCreate)
  TLALOC_IREE_TAKE(SessionDestroy)
  TLALOC_IREE_TAKE(SessionSetFlags)
  TLALOC_IREE_TAKE(InvocationCreate)
  TLALOC_IREE_TAKE(InvocationDestroy)
  TLALOC_IREE_TAKE(InvocationEnableCallbackDiagnostics)
  TLALOC_IREE_TAKE(InvocationParseSource)
  TLALOC_IREE_TAKE(InvocationPipeline)
  TLALOC_IREE_TAKE(InvocationOutputVMBytecode)
  TLALOC_IREE_TAKE(SourceWrapBuffer)
  TLALOC_IREE_TAKE(SourceDestroy)
  TLALOC_IREE_TAKE(OutputOpenMembuffer)
  TLALOC_IREE_TAKE(OutputMapMemory)
  TLALOC_IREE_TAKE(OutputDestroy)
  TLALOC_IREE_TAKE(ErrorGetMessage)
  TLALOC_IREE_TAKE(ErrorDestroy)
#undef TLALOC_IREE_TAKE
  const int version = api->GetAPIVersion();
  if (version >> 16 != 1) {
    refuse(path_, "its interface has version " + std::to_string(version >> 16) + "." +
                      std::to_string(version & 0xffff) + ", Tlaloc speaks 1");
  }
  api->GlobalInitialize();
  revision_ = api->GetRevision();
  api_ = api;
}

std::vector<std::byte> Compiler::compile(std::string_view module,
                                         std::span<const char* const> flags) const {
  std::string said;
  const auto check = [&](Failure* failure) {
    if (!failure) return;
    std::string message = api_->ErrorGetMessage(failure);
    api_->ErrorDestroy(failure);
    refuse(path_, message);
  };
  const auto expect = [&](bool done, const char* what) {
    if (!done) refuse(path_, std::string(what) + (said.empty() ? "" : ": " + said));
  };
  const std::unique_ptr<Session, void (*)(Session*)> session(api_->SessionCreate(),
                                                             api_->SessionDestroy);
  check(api_->SessionSetFlags(session.get(), static_cast<int>(flags.size()), flags.data()));
  // The source outlives the invocation, which reads it.
  Source* opened = nullptr;
  const std::string text(module);  // with the zero that the parser wants behind it
  check(api_->SourceWrapBuffer(session.get(), "module", text.c_str(), text.size() + 1, true,
                               &opened));
  const std::unique_ptr<Source, void (*)(Source*)> source(opened, api_->SourceDestroy);
  const std::unique_ptr<Invocation, void (*)(Invocation*)> run(
      api_->InvocationCreate(session.get()), api_->InvocationDestroy);
  const Diagnose diagnose = [](Severity severity, const char* message, std::size_t size,
                               void* user) {
    // The first error is the reason; more of them, and notes, repeat the whole module.
    auto& all = *static_cast<std::string*>(user);
    if (severity == kError && all.empty()) all.assign(message, size);
  };
  api_->InvocationEnableCallbackDiagnostics(run.get(), 0, diagnose, &said);
  expect(api_->InvocationParseSource(run.get(), source.get()), "the module can't be parsed");
  expect(api_->InvocationPipeline(run.get(), 0), "the module can't be compiled");
  Output* made = nullptr;
  check(api_->OutputOpenMembuffer(&made));
  const std::unique_ptr<Output, void (*)(Output*)> output(made, api_->OutputDestroy);
  check(api_->InvocationOutputVMBytecode(run.get(), output.get()));
  void* bytes = nullptr;
  std::uint64_t size = 0;
  check(api_->OutputMapMemory(output.get(), &bytes, &size));
  const auto* begin = static_cast<const std::byte*>(bytes);
  return {begin, begin + size};
}

}  // namespace tlaloc::iree
