#include "tools/tlaloc/bytecode.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/bytecode_script.h"

extern char** environ;

namespace tlaloc::command {
namespace {

constexpr int kNoJaxlib = 3, kNoArtifact = 4;  // what the script exits with

[[noreturn]] void fail(const std::string& message) {
  throw EnvironmentError({"TL-HLO-004",
                          "tlaloc",
                          message,
                          "name a Python that has jaxlib in TLALOC_PYTHON, or give the module as "
                          "text: exported.mlir_module() of jax.export",
                          {}});
}

/// A file in memory, which a child takes for its input or output: no pipe that could fill up.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("tlaloc", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail(std::string("can't make a file in memory: ") + std::strerror(errno));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int descriptor() const { return descriptor_; }

  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(std::string("can't write to memory: ") + std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    lseek(descriptor_, 0, SEEK_SET);
  }
  std::string content() const {
    std::string text(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
      const ssize_t n =
          pread(descriptor_, text.data() + have, text.size() - have, static_cast<off_t>(have));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(std::string("can't read from memory: ") + std::strerror(errno));
      have += static_cast<std::size_t>(n);
    }
    return text;
  }

 private:
  int descriptor_;
};

std::string python() {
  if (const char* named = std::getenv("TLALOC_PYTHON"); named && *named) return named;
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv && *venv) {
    const std::filesystem::path path = std::filesystem::path(venv) / "bin" / "python3";
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path.string();
  }
  return "python3";
}

/// The exit status of the program.
int run(const std::string& program, const MemoryFile& in, const MemoryFile& out,
        const MemoryFile& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  // Isolated: otherwise Python takes jaxlib from the current folder, where a module may come with
  // anything beside it.
  std::string name = program, isolated = "-I", option = "-c", script = kBytecodeScript,
              stream = "-";
  char* arguments[] = {name.data(),   isolated.data(), option.data(), script.data(),
                       stream.data(), stream.data(),   nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) fail("bytecode is read by Python, and " + program + ": " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(std::string("can't wait for Python: ") + std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What Python said, in one line.
std::string reason(const MemoryFile& errors) {
  std::string text = errors.content();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

}  // namespace

bool is_bytecode(std::string_view start) { return start.starts_with("ML\xefR"); }

std::string text_of_bytecode(std::string_view bytecode, const std::string& name) {
  const MemoryFile in, out, errors;
  in.write(bytecode);
  const std::string program = python();
  switch (run(program, in, out, errors)) {
    case 0:
      return out.content();
    case kNoArtifact:
      throw UserError({"TL-HLO-005",
                       "tlaloc",
                       name + " is no portable artifact of StableHLO: " + reason(errors),
                       "write it anew: exported.mlir_module_serialized of jax.export",
                       {}});
    case kNoJaxlib:
      fail("bytecode is read by jaxlib, which " + program + " lacks: " + reason(errors));
    default:
      fail(program + " failed to read bytecode: " + reason(errors));
  }
}

}  // namespace tlaloc::command
