#include "tests/conformance/conformance.h"

#include <cmath>
#include <limits>

#include "tests/conformance/cases.h"

namespace tlaloc::runtime::conformance {
namespace {

/// How a case is run; they take turns, so that each op meets all of them.
enum class Mode { plain, donated, bound };
constexpr const char* kModeNames[] = {"", "/donated", "/bound"};

std::vector<Buffer> run_case(Backend& backend, const Executable& e, const Case& c, Mode mode) {
  std::vector<Buffer> inputs;
  for (const HostArray& a : c.inputs) {
    // A donated input is a copy of its own: the case is used again.
    HostArray copy = a;
    if (mode == Mode::donated) copy.mutable_data();
    inputs.push_back(backend.upload(std::move(copy)));
  }
  RunOptions options;
  for (ir::Symbol s : e.signature().undetermined) options.dims.emplace(s.id(), c.dims.at(s.id()));
  if (mode == Mode::donated) options.donate.assign(inputs.size(), true);
  RunResult r;
  if (mode == Mode::bound && !inputs.empty()) {
    // The last operand is bound: often the smaller one, as weights would be.
    std::map<std::size_t, Buffer> params{{inputs.size() - 1, inputs.back()}};
    const auto bound = e.bind(std::move(params));
    inputs.pop_back();
    r = bound->run(inputs, options);
  } else {
    r = e.run(inputs, options);
  }
  r.done.wait();
  return r.outputs;
}

/// Denormal floats as zeros of their sign.
HostArray without_denormals(HostArray a) {
  dispatch(a.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      for (T& x : a.as_mutable<T>()) {
        const auto value = static_cast<ComputeType<T>>(x);
        // The least normal number: narrow floats have their own.
        const double least = std::is_same_v<T, Half>     ? 0x1p-14
                             : std::is_same_v<T, double> ? std::numeric_limits<double>::min()
                                                         : 0x1p-126;
        if (std::abs(static_cast<double>(value)) < least) x = static_cast<T>(value * 0);
      }
    }
  });
  return a;
}

class Check {
 public:
  Check(Backend& subject, Backend& reference, const Options& options)
      : subject_(subject), reference_(reference), options_(options) {}

  Report run() {
    const auto table = ops::table();
    const auto rows = all_rows();
    for (const ir::OpDef* op : table) {
      if (!options_.op.empty() && options_.op != op->name) continue;
      OpReport& r = report_.ops[op->name];
      skipped_ = 0;
      if (const Row* row = rows[op->id]) {
        Cases cases(*row, options_.seed, [&](Case c) { run_one(op->name, r, std::move(c)); });
        try {
          row->generate(cases, *row);
        } catch (const Error& e) {
          fail(r, std::string(op->name) + "/generator", e.what());
        }
        r.constant_only = cases.constant_only();
      }
      if (r.cases == 0) report_.uncovered.emplace_back(op->name);
    }
    return std::move(report_);
  }

 private:
  void fail(OpReport& r, std::string name, std::string message) {
    ++r.failed;
    if (static_cast<int>(r.failures.size()) < options_.max_failures_per_op) {
      r.failures.push_back({std::move(name), std::move(message)});
    }
  }

  void run_one(const char* op, OpReport& r, Case c) {
    // Each n-th case, but the modes in turn.
    if (skipped_++ % options_.every != 0) return;
    const Mode mode = static_cast<Mode>(r.cases++ % 3);
    c.name += kModeNames[static_cast<int>(mode)];
    if (const auto own = options_.ulps.find(op); own != options_.ulps.end()) c.ulps = own->second;
    if (!options_.denormals) {
      for (HostArray& a : c.inputs) a = without_denormals(std::move(a));
    }
    std::shared_ptr<const Executable> executable;
    try {
      executable = subject_.compile(c.graph, options_.compile);
    } catch (const UserError& e) {
      if (e.code() != "TL-BACKEND-001") return fail(r, c.name, e.what());
      if (++r.refused == 1) r.refusal = e.what();
      return;
    } catch (const std::exception& e) {
      return fail(r, c.name, e.what());
    }
    std::vector<HostArray> before;
    for (HostArray a : c.inputs) {
      a.mutable_data();
      before.push_back(std::move(a));
    }
    try {
      const auto expected = run_case(reference_, *reference_.compile(c.graph), c, Mode::plain);
      const auto got = run_case(subject_, *executable, c, mode);
      if (expected.size() != got.size()) return fail(r, c.name, "the number of results differs");
      for (std::size_t k = 0; k < got.size(); ++k) {
        HostArray want = expected[k].to_host(), have = got[k].to_host();
        if (!options_.denormals) {
          want = without_denormals(std::move(want));
          have = without_denormals(std::move(have));
        }
        const std::string d = difference(want, have, options_.exact ? 0 : c.ulps);
        if (!d.empty()) return fail(r, c.name, "result " + std::to_string(k) + ", " + d);
      }
    } catch (const std::exception& e) {
      return fail(r, c.name, e.what());
    }
    for (std::size_t k = 0; k < before.size(); ++k) {
      if (!identical(before[k], c.inputs[k])) {
        return fail(r, c.name, "input " + std::to_string(k) + " was changed");
      }
    }
  }

  Backend& subject_;
  Backend& reference_;
  const Options& options_;
  int skipped_ = 0;
  Report report_;
};

}  // namespace

int Report::cases() const {
  int n = 0;
  for (const auto& [op, r] : ops) n += r.cases;
  return n;
}
int Report::failed() const {
  int n = 0;
  for (const auto& [op, r] : ops) n += r.failed;
  return n;
}
int Report::refused() const {
  int n = 0;
  for (const auto& [op, r] : ops) n += r.refused;
  return n;
}
std::string Report::text() const {
  std::string s = std::to_string(cases()) + " cases, " + std::to_string(failed()) + " failed, " +
                  std::to_string(refused()) + " refused\n";
  for (const std::string& op : uncovered) s += op + ": no conformance cases\n";
  for (const auto& [op, r] : ops) {
    if (r.refused) s += op + ": " + std::to_string(r.refused) + " refused: " + r.refusal + "\n";
    if (r.failed) s += op + ": " + std::to_string(r.failed) + " failed\n";
    for (const Failure& f : r.failures) s += "  " + f.name + ": " + f.message + "\n";
  }
  return s;
}

Report check(Backend& subject, Backend& reference, const Options& options) {
  return Check(subject, reference, options).run();
}

}  // namespace tlaloc::runtime::conformance
