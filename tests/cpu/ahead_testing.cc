#include "tests/cpu/ahead_testing.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tlaloc/base/error.h"

namespace tlaloc::testing {
namespace {

using Call = std::int32_t (*)(const std::int64_t* dims, void* const* args, void* const* results,
                              void* scratch, std::int64_t scratch_bytes);
using Size = std::int64_t (*)(const std::int64_t* dims);

constexpr std::size_t kGuard = 256;

std::string list(const char* name, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += std::string(name) + "[" + std::to_string(i) + "], ";
  return text;
}
/// A caller in C with one signature for all programs.
std::string caller(const ir::Graph& g) {
  std::string dims = list("dims", g.dims().size());
  std::string text =
      "#include \"f.h\"\n#include <stddef.h>\nint64_t size(const int64_t* dims);\n"
      "int32_t call(const int64_t* dims, void* const* args, void* const* results,\n"
      "             void* scratch, int64_t scratch_bytes);\n"
      "int32_t call(const int64_t* dims, void* const* args, void* const* results,\n"
      "             void* scratch, int64_t scratch_bytes) {\n"
      "  (void)dims; (void)args; (void)results;\n  return f(" +
      dims + list("args", g.param_count()) + list("results", g.results().size()) +
      "scratch, scratch_bytes);\n}\n";
  if (!dims.empty()) dims.resize(dims.size() - 2);
  return text + "int64_t size(const int64_t* dims) {\n  (void)dims;\n  return f_scratch_bytes(" +
         dims + ");\n}\n";
}

/// An array between guards that must stay.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes)
      : bytes_(bytes), memory_(bytes + 2 * kGuard, std::byte{0xA5}) {}
  std::byte* data() { return memory_.data() + kGuard; }
  bool intact() const {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != std::byte{0xA5} || memory_[kGuard + bytes_ + i] != std::byte{0xA5}) {
        return false;
      }
    }
    return true;
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

void run_command(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

}  // namespace

AheadProgram::AheadProgram(const ir::GraphRef& g, const std::string& cpu)
    : graph_(g), code_(cpu::compile_ahead(g, {.function = "f", .cpu = cpu})) {
  const std::string folder = folder_.path();
  std::ofstream(folder + "/f.o", std::ios::binary)
      .write(reinterpret_cast<const char*>(code_.object.data()),
             static_cast<std::streamsize>(code_.object.size()));
  std::ofstream(folder + "/f.h") << code_.header;
  std::ofstream(folder + "/caller.c") << caller(*g);
  // -z defs: a symbol that neither it nor the C library has is an error.
  run_command("cd " + folder +
              " && cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O1 -fPIC -shared -o f.so caller.c "
              "f.o -Wl,-z,defs -lm && nm -u f.o > undefined");
  std::stringstream text;
  text << std::ifstream(folder + "/undefined").rdbuf();
  undefined_ = text.str();
  library_ = dlopen((folder + "/f.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) throw std::runtime_error(dlerror());
}

AheadProgram::~AheadProgram() {
  if (library_) dlclose(library_);
}

std::int64_t AheadProgram::scratch_bytes(const std::vector<std::int64_t>& dims) const {
  return reinterpret_cast<Size>(dlsym(library_, "size"))(dims.data());
}

AheadProgram::Outcome AheadProgram::run(const std::vector<std::int64_t>& dims,
                                        const std::vector<HostArray>& args,
                                        const std::vector<Extents>& extents,
                                        std::int64_t scratch) const {
  if (scratch < 0) {
    const std::int64_t n = scratch_bytes(dims);
    scratch = n == 0 ? 0 : std::max<std::int64_t>(n, 0) + (std::int64_t{64} << 10);
  }
  std::vector<void*> in, out;
  for (const HostArray& a : args) in.push_back(const_cast<void*>(a.data()));
  std::vector<Guarded> memory;
  Outcome r;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const DType t = graph_->type(graph_->results()[k]).dtype();
    r.results.push_back(HostArray::uninitialized(t, extents[k]));
    memory.emplace_back(r.results.back().bytes());
  }
  for (Guarded& m : memory) out.push_back(m.data());
  Guarded room(static_cast<std::size_t>(scratch) + 1);
  // Scratch memory needs no alignment.
  r.status = reinterpret_cast<Call>(dlsym(library_, "call"))(dims.data(), in.data(), out.data(),
                                                             room.data() + 1, scratch);
  EXPECT_TRUE(room.intact()) << "written beyond the scratch memory";
  for (std::size_t k = 0; k < memory.size(); ++k) {
    EXPECT_TRUE(memory[k].intact()) << "written beyond result " << k;
    std::memcpy(r.results[k].mutable_data(), memory[k].data(), r.results[k].bytes());
  }
  return r;
}

}  // namespace tlaloc::testing
