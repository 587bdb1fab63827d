#include "tools/tlaloc/shared_library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"

namespace tlaloc::command {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& reason) {
  throw EnvironmentError({"TL-AOT-003",
                          "tlaloc",
                          "no shared library was made: " + reason,
                          "install a C compiler that is called as cc, or write an object file (.o)",
                          {}});
}

/// A new folder, which goes away with this object.
class Folder {
 public:
  Folder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "tlaloc-XXXXXX").string();
    if (error || mkdtemp(path_.data()) == nullptr) refuse(path_ + ": " + std::strerror(errno));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (fs::path(path_) / name).string(); }

 private:
  std::string path_;
};

std::string text_of(const std::string& path) {
  constexpr std::size_t kMost = 1000;
  const auto file = MappedFile::open("tlaloc", path);
  std::string text(reinterpret_cast<const char*>(file->bytes().data()),
                   std::min(file->bytes().size(), kMost));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Runs a command of the path, with what it says in `log`.
void run(std::vector<std::string> command, const std::string& log) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) refuse(command[0] + " can't be started: " + std::strerror(error));
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    refuse(command[0] + " failed: " + text_of(log));
  }
}

}  // namespace

std::vector<std::byte> shared_library(std::span<const std::byte> object) {
  const Folder folder;
  const std::string in = folder.file("code.o"), out = folder.file("code.so");
  write_files("tlaloc", {{in, object}});
  run({"cc", "-shared", "-o", out, in, "-lm"}, folder.file("log"));
  const auto made = MappedFile::open("tlaloc", out);
  return {made->bytes().begin(), made->bytes().end()};
}

}  // namespace tlaloc::command
