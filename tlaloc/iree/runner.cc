#include "tlaloc/iree/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tlaloc/base/error.h"

extern char** environ;

namespace tlaloc::iree {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& message) {
  throw EnvironmentError({"TL-IREE-003", "iree", message, "", {}});
}

void write(const fs::path& file, const void* bytes, std::size_t size) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  out.close();
  if (!out) fail(file.string() + " can't be written: " + std::strerror(errno));
}

/// In the runner's terms; integers have no sign there, and a bool is a byte.
std::string type_text(const HostArray& a) {
  std::string text;
  for (std::int64_t e : a.extents()) text += std::to_string(e) + "x";
  const DType t = a.dtype();
  if (is_float(t)) return text + std::string(name(t));
  return text + "i" + std::to_string(8 * byte_size(t));
}

HostArray read(const fs::path& file, const stablehlo::TensorType& type) {
  HostArray a = HostArray::uninitialized(type.dtype, type.extents);
  if (a.bytes() == 0) return a;
  std::ifstream in(file, std::ios::binary);
  in.read(static_cast<char*>(a.mutable_data()), static_cast<std::streamsize>(a.bytes()));
  if (!in || in.peek() != std::ifstream::traits_type::eof()) {
    fail("a result has another size than " + std::to_string(a.bytes()) + " bytes");
  }
  return a;
}

/// The end of what a process wrote: its error.
std::string last_words(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) text = "…" + text.substr(text.size() - kMost);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Runs `program flag`, with what it writes in `log`, and temporary files in `temporary`: the
/// runner leaves there what it loaded.
void run_process(const std::string& program, std::string flag, const fs::path& log,
                 const fs::path& temporary) {
  std::string folder = "TMPDIR=" + temporary.string();
  std::vector<char*> environment{folder.data()};
  for (char** e = environ; *e; ++e) {
    if (!std::string_view(*e).starts_with("TMPDIR=")) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::string name = program;
  char* arguments[] = {name.data(), flag.data(), nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error) fail(program + " can't be started: " + std::strerror(error));
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) {
    // Whoever ignores SIGCHLD, or waits for any child, takes it away.
    fail(std::string("how iree-run-module ended is not known: ") + std::strerror(errno) + ": " +
         last_words(log));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFSIGNALED(status)
                              ? std::string("was ended: ") + strsignal(WTERMSIG(status))
                              : "failed with " + std::to_string(WEXITSTATUS(status));
  fail("iree-run-module " + how + ": " + last_words(log));
}

}  // namespace

Module::Module(std::string runner, std::span<const std::byte> bytecode)
    : runner_(std::move(runner)), file_((folder_.path() / "module.vmfb").string()) {
  write(file_, bytecode.data(), bytecode.size());
}

std::vector<HostArray> Module::run(std::span<const HostArray> inputs,
                                   std::span<const stablehlo::TensorType> results) const {
  const ExchangeFolder exchange;
  const fs::path& at = exchange.path();
  // In a file, because a command line is bounded.
  std::string flags = fmt::format("--device=local-sync\n--module={}\n--function=main\n", file_);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const fs::path file = at / fmt::format("input{}.bin", k);
    write(file, inputs[k].data(), inputs[k].bytes());
    flags += fmt::format("--input={}=@{}\n", type_text(inputs[k]), file.string());
  }
  const auto result_file = [&](std::size_t k) { return at / fmt::format("result{}.bin", k); };
  for (std::size_t k = 0; k < results.size(); ++k) {
    flags += fmt::format("--output=@{}\n", result_file(k).string());
  }
  write(at / "flags", flags.data(), flags.size());
  run_process(runner_, "--flagfile=" + (at / "flags").string(), at / "log", at);
  std::vector<HostArray> arrays;
  for (std::size_t k = 0; k < results.size(); ++k) {
    arrays.push_back(read(result_file(k), results[k]));
  }
  return arrays;
}

}  // namespace tlaloc::iree
