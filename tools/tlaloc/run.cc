#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "tlaloc/base/array_text.h"
#include "tlaloc/base/error.h"
#include "tlaloc/bounded/program.h"
#include "tlaloc/io/npy.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tools/tlaloc/backend.h"
#include "tools/tlaloc/compare.h"
#include "tools/tlaloc/inputs.h"
#include "tools/tlaloc/module.h"
#include "tools/tlaloc/report_text.h"

namespace tlaloc::command {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

/// Runs again and again for so long, at least five times.
void benchmark(const std::function<void()>& run_once, double compile_seconds, double seconds) {
  std::vector<double> times;
  auto run = [&] {
    const Clock::time_point start = Clock::now();
    run_once();
    return seconds_since(start);
  };
  const double first = run();
  const Clock::time_point start = Clock::now();
  while (times.size() < 5 || seconds_since(start) < seconds) times.push_back(run());
  std::ranges::sort(times);
  auto quantile = [&](double q) {
    return time_text(times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))]);
  };
  fmt::print(std::cout,
             "compile  {}\nfirst    {}\nrun      median {}, half of them {} to {}, all {} to {}, "
             "of {} runs\n",
             time_text(compile_seconds), time_text(first), quantile(0.5), quantile(0.25),
             quantile(0.75), quantile(0), quantile(1), times.size());
}

std::string title(std::size_t k, const std::string& name) {
  return fmt::format("result {}{}", k, name.empty() ? "" : " (" + name + ")");
}

/// TL-ARITY-001 for more files or values than there are results; before anything is compiled.
void check_counts(const RunArguments& a, std::size_t results) {
  const auto check = [&](const std::vector<std::string>& texts, const char* option) {
    if (texts.size() <= results) return;
    throw UserError({"TL-ARITY-001",
                     "tlaloc",
                     fmt::format("{} times {} for {} results", texts.size(), option, results),
                     "give one for each result, in their order",
                     {}});
  };
  check(a.outputs, "--output");
  check(a.expected, "--expect");
}

/// A program with its arguments.
struct Prepared {
  std::vector<std::string> result_names;
  double compile_seconds = 0;
  std::function<std::vector<HostArray>()> run;
  std::function<void()> run_in_place;  ///< arguments and results stay where the back end has them
  /// How the arguments of `run_in_place` came to a device.
  std::optional<plugins::Uploaded> uploaded;
  /// What was compiled so far, where the back end says so.
  std::function<std::vector<std::string>()> compilations = [] {
    return std::vector<std::string>();
  };
};

std::vector<runtime::Buffer> uploaded(runtime::Backend& backend,
                                      const std::vector<HostArray>& arrays) {
  std::vector<runtime::Buffer> buffers;
  for (const HostArray& a : arrays) buffers.push_back(backend.upload(a));
  for (const runtime::Buffer& b : buffers) b.ready().wait();
  return buffers;
}

Prepared prepare_module(const RunArguments& a, runtime::Backend& backend) {
  const stablehlo::ImportedFunction f = read_function(a);
  const ir::Graph& g = *f.graph;
  Prepared p;
  for (std::size_t k = 0; k < f.result_count; ++k) {
    p.result_names.push_back(g.result_label(k).name);
  }
  check_counts(a, p.result_names.size());
  const runtime::DimValues dims = read_dims(g, a.dims);
  std::vector<HostArray> inputs = make_inputs(g, {a.inputs, a.rest, a.seed}, dims);
  const Clock::time_point start = Clock::now();
  const auto executable = backend.compile(f.graph);
  const auto program = executable->bind({});
  p.compile_seconds = seconds_since(start);
  p.compilations = [program] { return plugins::compilations(*program); };
  runtime::RunOptions options;
  for (ir::Symbol s : executable->signature().undetermined) {
    const auto it = dims.find(s.id());
    if (it != dims.end()) options.dims.insert(*it);
  }
  if (a.benchmark) {
    std::vector<runtime::Buffer> there = uploaded(backend, inputs);
    if (!backend.devices().front().is_host()) p.uploaded = plugins::uploaded(there);
    p.run_in_place = [=, buffers = std::move(there)] {
      const runtime::RunResult r = program->run(buffers, options);
      r.done.wait();
      for (const runtime::Buffer& b : r.outputs) b.ready().wait();
    };
  }
  p.run = [=, inputs = std::move(inputs)] {
    std::vector<const HostArray*> pointers;
    for (const HostArray& x : inputs) pointers.push_back(&x);
    return program->run_host(pointers, options);
  };
  return p;
}

/// Of a folder: compiling is a part of its first run.
Prepared prepare_bounded(const RunArguments& a, runtime::Backend& backend) {
  if (!a.function.empty()) {
    throw UserError({"TL-HLO-003",
                     "tlaloc",
                     "a bounded program has no functions to choose from",
                     "leave --function out",
                     {}});
  }
  const std::shared_ptr<const bounded::Program> program = bounded::Program::open(a.module, backend);
  Prepared p;
  for (const bounded::Value& v : program->manifest().results) p.result_names.push_back(v.name);
  check_counts(a, p.result_names.size());
  const ir::GraphRef g = program->signature();
  std::vector<HostArray> inputs =
      make_inputs(*g, {a.inputs, a.rest, a.seed}, read_dims(*g, a.dims));
  if (a.benchmark) {
    p.run_in_place = [=, buffers = uploaded(backend, inputs)] {
      for (const runtime::Buffer& b : program->run(buffers)) b.ready().wait();
    };
  }
  p.run = [=, inputs = std::move(inputs)] { return program->run_host(inputs); };
  return p;
}

}  // namespace

int run(const RunArguments& a) {
  const auto backend = choose_backend(a.backend);
  std::error_code unreadable;  // what is no folder is read as a module, which says why it can't be
  const Prepared p = std::filesystem::is_directory(a.module, unreadable)
                         ? prepare_bounded(a, *backend)
                         : prepare_module(a, *backend);
  if (a.benchmark) {
    benchmark(p.run_in_place, p.compile_seconds, *a.benchmark);
    for (const std::string& line : p.compilations()) fmt::print(std::cout, "compiled {}\n", line);
    if (p.uploaded) {
      fmt::print(std::cout, "uploaded {} used where they lie, {} copied\n",
                 bytes_text(p.uploaded->in_place), bytes_text(p.uploaded->copied));
    }
  }
  const std::vector<HostArray> got = p.run();
  int status = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (k < a.outputs.size()) {
      io::write_npy(a.outputs[k], got[k]);
    } else if (a.expected.empty() && !a.benchmark) {
      fmt::print(std::cout, "{}: {}{}\n{}\n", title(k, p.result_names[k]), name(got[k].dtype()),
                 to_string(got[k].extents()), array_text(got[k], ArrayLayout::lines));
    }
    if (k >= a.expected.size()) continue;
    const HostArray expected = make_array(a.expected[k], got[k].dtype(), got[k].extents());
    const auto wrong = difference(got[k], expected, a.tolerance);
    fmt::print(std::cout, "{}: {}\n", title(k, p.result_names[k]), wrong ? *wrong : "as expected");
    if (wrong) status = 1;
  }
  return status;
}

}  // namespace tlaloc::command
