#include "tests/cxx/compiled.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

// Reads arguments and writes results; an array is its length and its elements.
constexpr const char* kHarness = R"(
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace harness {

inline std::FILE* in;
inline std::FILE* out;

template <class T>
struct Io {
  static T get() {
    T x{};
    if (std::fread(&x, sizeof x, 1, in) != 1) std::terminate();
    return x;
  }
  static void put(const T& x) { std::fwrite(&x, sizeof x, 1, out); }
};
template <class T>
struct Io<std::vector<T>> {
  static std::vector<T> get() {
    std::vector<T> v(Io<std::int64_t>::get());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = Io<T>::get();
    return v;
  }
  static void put(const std::vector<T>& v) {
    Io<std::int64_t>::put(std::ssize(v));
    for (std::size_t i = 0; i < v.size(); ++i) Io<T>::put(v[i]);
  }
};
template <class T>
void put(const T& x) {
  Io<T>::put(x);
}
inline void put(const std::string& s) {
  Io<std::int64_t>::put(std::ssize(s));
  std::fwrite(s.data(), 1, s.size(), out);
}

}  // namespace harness
)";

std::string read_file(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}
void write_bytes(std::string& to, const void* data, std::size_t size) {
  to.append(static_cast<const char*>(data), size);
}
void write_int(std::string& to, std::int64_t x) { write_bytes(to, &x, sizeof x); }

/// A cursor over what the programs wrote.
struct Reader {
  const std::string& bytes;
  std::size_t at = 0;
  void read(void* to, std::size_t size) {
    if (at + size > bytes.size()) throw InternalError("a printed program ended too early");
    if (size) std::memcpy(to, bytes.data() + at, size);
    at += size;
  }
  std::int64_t integer() {
    std::int64_t x = 0;
    read(&x, sizeof x);
    return x;
  }
};

}  // namespace

Compiled::Compiled() {
  std::string name = (std::filesystem::temp_directory_path() / "tlaloc_cxx_XXXXXX").string();
  if (!mkdtemp(name.data())) throw InternalError("no temporary folder");
  folder_ = name;
}
Compiled::~Compiled() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::size_t Compiled::add(const ir::GraphRef& g, const cxx::Options& options) {
  return add_printed(g, cxx::print_with_signature(*g, options));
}
std::size_t Compiled::add_printed(const ir::GraphRef& g, cxx::Printed printed) {
  programs_.push_back({g, std::move(printed)});
  return programs_.size() - 1;
}

std::string Compiled::source() const {
  std::string includes, body, cases;
  for (std::size_t k = 0; k < programs_.size(); ++k) {
    const cxx::Printed& p = programs_[k].printed;
    const std::string space = "program_" + std::to_string(k);
    body += "namespace " + space + " {\n";
    std::istringstream lines(p.text);
    for (std::string line; std::getline(lines, line);) {
      (line.starts_with("#include") ? includes : body) += line + "\n";
    }
    body += "inline void run() {\n";
    std::string args;
    for (std::size_t i = 0; i < p.param_types.size(); ++i) {
      const std::string a = "a" + std::to_string(i);
      body += "  const auto " + a + " = harness::Io<" + p.param_types[i] + ">::get();\n";
      args += (i ? ", " : "") + a;
    }
    body += "  try {\n    const auto r = " + p.function + "(" + args + ");\n";
    body += "    harness::put(std::string());\n";
    if (p.result_fields.empty()) body += "    harness::put(r);\n";
    for (const std::string& f : p.result_fields) body += "    harness::put(r." + f + ");\n";
    body +=
        "  } catch (const std::exception& e) {\n    harness::put(std::string(e.what()));\n  }\n";
    body += "}\n}  // namespace " + space + "\n\n";
    cases += "      case " + std::to_string(k) + ": " + space + "::run(); break;\n";
  }
  return kHarness + includes + body + R"(
int main(int, char** argv) {
  harness::in = std::fopen(argv[1], "rb");
  harness::out = std::fopen(argv[2], "wb");
  std::int64_t k = 0;
  while (std::fread(&k, sizeof k, 1, harness::in) == 1) {
    switch (k) {
)" + cases +
         R"(    }
  }
  std::fclose(harness::out);
}
)";
}

std::string Compiled::compile(const std::string& flags) {
  std::ofstream(folder_ + "/programs.cc") << source();
  const std::string command = "cd " + folder_ +
                              " && g++ -std=c++20 -ffp-contract=off -Wall -Wextra -Werror " +
                              flags + " programs.cc -o programs > log 2>&1";
  return std::system(command.c_str()) == 0 ? "" : read_file(folder_ + "/log");
}

std::vector<Compiled::Outcome> Compiled::run(const std::vector<Run>& runs) const {
  std::string input;
  for (const Run& r : runs) {
    const Program& p = programs_[r.program];
    write_int(input, static_cast<std::int64_t>(r.program));
    for (ir::Symbol s : p.printed.sizes) {
      // A size that no argument's length tells: found by its axis.
      std::int64_t size = 0;
      for (std::size_t k = 0; k < r.args.size(); ++k) {
        const ir::Type t = p.graph->type(static_cast<ir::ValueId>(k));
        for (int i = 0; i < t.rank(); ++i) {
          if (t.dim(i) == ir::Dim(s)) size = r.args[k].extents()[static_cast<std::size_t>(i)];
        }
      }
      write_int(input, size);
    }
    for (const HostArray& a : r.args) {
      if (a.rank() > 0) write_int(input, a.size());
      write_bytes(input, a.data(), a.bytes());
    }
  }
  std::ofstream(folder_ + "/in", std::ios::binary) << input;
  const std::string command = "cd " + folder_ + " && ./programs in out";
  if (std::system(command.c_str()) != 0) throw InternalError("a printed program crashed");
  const std::string output = read_file(folder_ + "/out");
  Reader reader{output};
  std::vector<Outcome> outcomes;
  for (const Run& r : runs) {
    Outcome o;
    o.error.resize(static_cast<std::size_t>(reader.integer()));
    reader.read(o.error.data(), o.error.size());
    const auto types = programs_[r.program].graph->result_types();
    for (std::size_t k = 0; o.error.empty() && k < types.size(); ++k) {
      const Extents extents = types[k].rank() ? Extents{reader.integer()} : Extents{};
      HostArray a = HostArray::uninitialized(types[k].dtype(), extents);
      reader.read(a.mutable_data(), a.bytes());
      o.results.push_back(std::move(a));
    }
    outcomes.push_back(std::move(o));
  }
  return outcomes;
}

std::string difference(const Arrays& got, const Arrays& want) {
  if (got.size() != want.size()) return "the numbers of results differ";
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k].dtype() != want[k].dtype() || got[k].size() != want[k].size()) {
      return "result " + std::to_string(k) + " is of another type";
    }
    const auto size = static_cast<std::size_t>(byte_size(got[k].dtype()));
    for (std::int64_t i = 0; i < got[k].size(); ++i) {
      const auto* a = static_cast<const char*>(got[k].data()) + static_cast<std::size_t>(i) * size;
      const auto* b = static_cast<const char*>(want[k].data()) + static_cast<std::size_t>(i) * size;
      if (std::memcmp(a, b, size) == 0) continue;
      const double x = got[k].element(i), y = want[k].element(i);
      if (std::isnan(x) && std::isnan(y)) continue;
      char text[128];
      std::snprintf(text, sizeof text, "result %zu, element %lld: %.17g instead of %.17g", k,
                    static_cast<long long>(i), x, y);
      return text;
    }
  }
  return "";
}

}  // namespace tlaloc::testing
