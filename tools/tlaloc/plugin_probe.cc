#include "tools/tlaloc/plugin_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/pjrt/client.h"
#include "tlaloc/pjrt/plugin.h"
#include "tlaloc/stablehlo/emit.h"

extern char** environ;

namespace tlaloc::command {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kPatience{60};

/// x + x, of eight elements.
ir::GraphRef doubled(DType dtype) {
  using ops::operator+;
  ir::Builder b("main");
  const ir::Val x = b.param(ir::Type::get(dtype, {8}));
  return b.build(ir::Vals{x + x});
}

/// Runs x + x with ones; what it fails at, or nothing.
std::optional<std::string> try_dtype(const plugins::Client& client, DType dtype) {
  try {
    HostArray ones(dtype, {8});
    dispatch(dtype, [&]<class T>(TypeTag<T>) {
      for (T& x : ones.as_mutable<T>()) x = T(static_cast<ComputeType<T>>(1));
    });
    const auto program = client.compile(stablehlo::emit(*doubled(dtype), {}).text);
    const auto argument = client.upload(ones);
    const plugins::DeviceArray* arguments[] = {argument.get()};
    const auto out = program->run(arguments, {});
    out.done.wait();
    const double got = out.arrays.at(0)->read(dtype, {8}).element(7);
    if (got != 2) return fmt::format("{}: 1 + 1 is {}", name(dtype), got);
  } catch (const Error& e) {
    return fmt::format("{}: {}", name(dtype), e.info().message);
  }
  return std::nullopt;
}

/// What the smallest normal number over two is.
bool keeps_denormals(const plugins::Client& client) {
  const auto program = client.compile(stablehlo::emit(*doubled(DType::f32), {}).text);
  HostArray small(DType::f32, {8});
  for (float& x : small.as_mutable<float>()) x = 0x1p-140f;
  const auto argument = client.upload(small);
  const plugins::DeviceArray* arguments[] = {argument.get()};
  const auto out = program->run(arguments, {});
  out.done.wait();
  return out.arrays.at(0)->read(DType::f32, {8}).element(0) == 0x1p-139;
}

json::array lacks(const plugins::Client& client) {
  json::array r;
  auto add = [&](const std::string& what) { r.push_back(json::string(what)); };
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::boolean || is_complex(dtype)) continue;
    if (const auto wrong = try_dtype(client, dtype)) add(*wrong);
  }
  if (!keeps_denormals(client)) add("denormal floats are taken for zeros");
  const auto program = client.compile(stablehlo::emit(*doubled(DType::f32), {}).text);
  if (!program->costs()) add("it does not count operations");
  if (!program->memory()) add("it does not say how much memory a program takes");
  try {
    (void)client.load(program->serialize());
  } catch (const Error& e) {
    add("programs can't be saved and loaded: " + e.info().message);
  }
  return r;
}

/// What becomes of an array that Tlaloc made.
std::string_view uploads(const plugins::Client& client) {
  const bool in_place = client.upload(HostArray(DType::f32, {1024}))->uploaded().in_place > 0;
  return in_place ? "arrays are used where the host has them" : "arrays are copied";
}

/// The end of a pipe to read from, and the process that writes there.
struct Child {
  pid_t pid = -1;
  int output = -1;
};
Child start(const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw InternalError(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // Plugins talk.
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> texts{"tlaloc", "doctor", "--plugin", path};
  std::vector<char*> arguments;
  for (std::string& t : texts) arguments.push_back(t.data());
  arguments.push_back(nullptr);
  // Without it libtpu asks a service on the network where it is, for minutes.
  std::string no_query = "TPU_SKIP_MDS_QUERY=1";
  std::vector<char*> environment{no_query.data()};
  for (char** e = environ; *e; ++e) environment.push_back(*e);
  environment.push_back(nullptr);
  Child c;
  const int error = posix_spawn(&c.pid, "/proc/self/exe", &actions, nullptr, arguments.data(),
                                environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  c.output = ends[0];
  if (error) {
    close(c.output);
    throw InternalError(std::strerror(error));
  }
  return c;
}

/// All that the child writes; nothing if it takes too long.
std::optional<std::string> read_all(const Child& child) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd waiting{child.output, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[4096];
    const ssize_t n = read(child.output, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace

json::object probe_here(const std::string& path) {
  json::object r;
  try {
    const plugins::Plugin& plugin = plugins::Plugin::load(path);
    r["version"] = fmt::format("PJRT 0.{}", plugin.minor_version());
    r["stablehlo"] = plugin.attribute("stablehlo_current_version");
    const plugins::Client& client = plugins::Client::get(plugin);
    r["platform"] = client.platform() + ", " + client.platform_version();
    json::array devices;
    for (std::size_t k = 0; k < client.devices().size(); ++k) {
      devices.push_back(
          json::object{{"name", client.devices()[k].text()}, {"kind", client.device_kind(k)}});
    }
    r["devices"] = std::move(devices);
    r["uploads"] = uploads(client);
    r["lacks"] = lacks(client);
  } catch (const Error& e) {
    r["error"] = e.what();
  }
  return r;
}

json::object probe_in_child(const std::string& path) {
  const Child child = start(path);
  const std::optional<std::string> text = read_all(child);
  if (!text) kill(child.pid, SIGKILL);
  close(child.output);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text) {
    return {{"error", fmt::format("it did not answer within {} seconds", kPatience.count())}};
  }
  if (WIFSIGNALED(status)) {
    return {{"error", fmt::format("it ended the process: {}", strsignal(WTERMSIG(status)))}};
  }
  try {
    // Plugins may write there too: the report is the last line.
    const std::string_view all(text->data(), text->find_last_not_of('\n') + 1);
    const std::size_t line = all.rfind('\n') + 1;
    json::value v = parse_json(all.substr(line), "the report");
    if (v.is_object()) return std::move(v.get_object());
  } catch (const Error&) {
    // Said below.
  }
  return {{"error", "the process that looked at it gave no report"}};
}

}  // namespace tlaloc::command
