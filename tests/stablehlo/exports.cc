// Imports the programs that jax_exports.py wrote, runs them, and compares with what JAX computed.
//
//   exports FOLDER REFUSED BACKEND PROGRAM    BACKEND: interp, cpu, or a PJRT plugin
//
// PROGRAM is a name, or "0/2", which means every second one, from the first.
//
// REFUSED names what is not imported or differentiated: a line per program, "NAME import CODE
// reason" or "NAME gradient CODE reason". A program that is on the list and works is a failure too.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/io/npy.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/stablehlo/import.h"
#include "tlaloc/transform/api.h"

namespace tlaloc {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct Program {
  std::string name;
  std::int64_t runs;
  double tolerance;
  bool scaled;  ///< off by a part of a result's largest number, not by a part of each
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("can't read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Program> corpus(const fs::path& folder) {
  std::vector<Program> r;
  const json::value list = parse_json(read(folder / "corpus.json"), "corpus.json");
  for (const json::value& v : list.as_array()) {
    const json::object& o = v.as_object();
    r.push_back({std::string(o.at("name").as_string()), o.at("runs").as_int64(),
                 o.at("tolerance").to_number<double>(), o.at("scaled").as_bool()});
  }
  return r;
}

/// By "NAME import" and "NAME gradient".
std::map<std::string, std::string> refusals(const fs::path& path) {
  std::map<std::string, std::string> r;
  std::istringstream in(read(path));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string program, what, code;
    words >> program >> what >> code;
    r[program + " " + what] = code;
  }
  return r;
}

/// The arrays in0, in1, …
std::vector<HostArray> numbered(const io::NamedArrays& all, const std::string& prefix) {
  std::vector<std::pair<int, HostArray>> found;
  for (const auto& [name, array] : all) {
    if (name.starts_with(prefix) && std::isdigit(static_cast<unsigned char>(name[prefix.size()]))) {
      found.emplace_back(std::stoi(name.substr(prefix.size())), array);
    }
  }
  std::ranges::sort(found, {}, &std::pair<int, HostArray>::first);
  std::vector<HostArray> r;
  for (auto& f : found) r.push_back(std::move(f.second));
  return r;
}

/// As programs.py has it.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 2e-12;
    case DType::f32:
      return 4e-6;
    case DType::f16:
      return 2e-3;
    default:
      return 1.6e-2;
  }
}

/// XLA takes denormal numbers for zeros.
double smallest(DType dtype) { return dtype == DType::f64 ? 1e-307 : 1e-37; }

/// What differs, or nothing. Any NaN equals any NaN.
std::optional<std::string> difference(const HostArray& got, const HostArray& expected,
                                      double factor, bool scaled) {
  if (got.dtype() != expected.dtype() || got.extents() != expected.extents()) {
    return fmt::format("got {}{}, expected {}{}", name(got.dtype()), to_string(got.extents()),
                       name(expected.dtype()), to_string(expected.extents()));
  }
  if (!is_float(got.dtype())) {
    for (std::int64_t i = 0; i < got.size(); ++i) {
      if (got.element_int(i) != expected.element_int(i)) {
        return fmt::format("element {}: got {}, expected {}", i, got.element_int(i),
                           expected.element_int(i));
      }
    }
    return std::nullopt;
  }
  double largest = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(expected.element(i))) {
      largest = std::max(largest, std::abs(expected.element(i)));
    }
  }
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double a = got.element(i), e = expected.element(i);
    if (std::isnan(a) && std::isnan(e)) continue;
    if (a == e) continue;
    const double scale = scaled ? largest : std::abs(e);
    const double allowed = factor * tolerance(got.dtype()) * scale + smallest(got.dtype());
    if (!(std::abs(a - e) <= allowed)) {
      return fmt::format(
          "element {} of {}: got {}, expected {}, off by {:.1f} times what it may be", i,
          to_string(got.extents()), a, e, std::abs(a - e) / allowed);
    }
  }
  return std::nullopt;
}

std::optional<std::string> compare_all(const std::vector<HostArray>& got,
                                       const std::vector<HostArray>& expected, double factor,
                                       bool scaled, const char* what) {
  if (got.size() != expected.size()) {
    return fmt::format("{} {}s, expected {}", got.size(), what, expected.size());
  }
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (const auto wrong = difference(got[k], expected[k], factor, scaled)) {
      return fmt::format("{} {}: {}", what, k, *wrong);
    }
  }
  return std::nullopt;
}

class Corpus {
 public:
  Corpus(fs::path folder, runtime::Backend& backend, std::map<std::string, std::string> refused)
      : folder_(std::move(folder)), backend_(backend), refused_(std::move(refused)) {}

  void run(const Program& p) {
    ++programs_;
    ir::GraphRef g;
    attempt(p.name, "import", [&]() -> std::optional<std::string> {
      const std::string file = p.name + ".mlir";
      const stablehlo::ImportedModule m = stablehlo::import_stablehlo(read(folder_ / file), file);
      g = m.main().graph;
      ir::verify(*g);
      return std::nullopt;
    });
    if (!g) return;
    for (std::int64_t k = 0; k < p.runs; ++k) {
      const io::NamedArrays arrays =
          io::read_npz((folder_ / fmt::format("{}.{}.npz", p.name, k)).string());
      attempt(p.name, "run", [&] { return compare_results(p, g, arrays); });
      const std::vector<HostArray> grads = numbered(arrays, "grad");
      if (grads.empty()) continue;
      ++gradients_;
      attempt(p.name, "gradient", [&] { return compare_gradients(p, g, arrays, grads); });
    }
  }

  int report() const {
    if (programs_ == 0) fmt::print("there is no such program\n");
    fmt::print("{} programs and {} gradients on {}, {} refused as listed, {} failures\n", programs_,
               gradients_, backend_.name(), refusals_, failures_);
    return failures_ || programs_ == 0 ? 1 : 0;
  }

 private:
  /// Counts what `body` finds wrong or throws, unless the list has it.
  template <class Body>
  void attempt(const std::string& program, const char* what, const Body& body) {
    std::optional<std::string> wrong;
    std::string code;
    try {
      wrong = body();
    } catch (const UserError& e) {
      wrong = e.what();
      code = e.code();
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    const auto listed = refused_.find(program + " " + what);
    if (listed != refused_.end()) {
      if (wrong && code == listed->second) {
        ++refusals_;
        return;
      }
      if (!wrong) wrong = "is on the list of what is refused, and works";
    }
    if (!wrong) return;
    ++failures_;
    fmt::print("{} {}: {}\n", program, what, *wrong);
  }

  std::vector<HostArray> run_graph(const ir::GraphRef& g, const std::vector<HostArray>& inputs) {
    std::vector<const HostArray*> pointers;
    for (const HostArray& a : inputs) pointers.push_back(&a);
    return backend_.compile(g, {.run_once = true})->bind({})->run_host(pointers);
  }

  std::optional<std::string> compare_results(const Program& p, const ir::GraphRef& g,
                                             const io::NamedArrays& arrays) {
    return compare_all(run_graph(g, numbered(arrays, "in")), numbered(arrays, "out"), p.tolerance,
                       p.scaled, "result");
  }

  std::optional<std::string> compare_gradients(const Program& p, const ir::GraphRef& g,
                                               const io::NamedArrays& arrays,
                                               const std::vector<HostArray>& expected) {
    const ir::GraphRef vjp = transform::vjp(g, transform::differentiable_params(*g));
    std::vector<HostArray> inputs = numbered(arrays, "in");
    const std::vector<HostArray> cotangents = numbered(arrays, "ct");
    inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
    std::vector<HostArray> got = run_graph(vjp, inputs);
    got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(g->results().size()));
    // Derivatives add up more, and lose more, than what they are taken of.
    return compare_all(got, expected, 4 * p.tolerance, true, "gradient");
  }

  fs::path folder_;
  runtime::Backend& backend_;
  std::map<std::string, std::string> refused_;
  int programs_ = 0, gradients_ = 0, refusals_ = 0, failures_ = 0;
};

/// The comparison sees what is off by a bit too much.
void check_the_check() {
  const HostArray one = HostArray::scalar(1.0F);
  if (difference(one, HostArray::scalar(1.000002F), 1, false) ||
      !difference(one, HostArray::scalar(1.000008F), 1, false) ||
      !difference(one, HostArray::scalar(1.0), 1, false) ||
      !difference(one, HostArray::scalar(NAN), 1, false)) {
    throw std::runtime_error("the comparison is broken");
  }
}

int check(char** argv) {
  check_the_check();
  const std::string name = argv[3];
  std::shared_ptr<runtime::Backend> plugin;
  if (name != "interp" && name != "cpu") {
    // Trips kept of loops whose gradient is taken.
    plugin = plugins::make_backend({.plugin = name, .recorded_trips = 64});
  }
  runtime::Backend& backend = plugin          ? *plugin
                              : name == "cpu" ? cpu::cpu_backend()
                                              : interp::interp_backend();
  Corpus c(argv[1], backend, refusals(argv[2]));
  const std::string wanted = argv[4];
  const std::size_t slash = wanted.find('/');
  const std::vector<Program> all = corpus(argv[1]);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool chosen = slash == wanted.npos
                            ? all[k].name == wanted
                            : k % std::stoul(wanted.substr(slash + 1)) == std::stoul(wanted);
    if (chosen) c.run(all[k]);
  }
  return c.report();
}

}  // namespace
}  // namespace tlaloc

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: exports FOLDER REFUSED BACKEND PROGRAM\n";
    return 2;
  }
  try {
    return tlaloc::check(argv);
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
