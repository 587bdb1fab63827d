#include "tests/conformance/conformance.h"

#include <cmath>
#include <limits>

#include "tests/conformance/cases.h"
#include "tlaloc/ir/builder.h"

namespace tlaloc::runtime::conformance {
namespace {

/// How a case is run; they take turns, so that each op meets all of them.
enum class Mode { plain, donated, bound };
constexpr const char* kModeNames[] = {"", "/donated", "/bound"};

struct Turn {
  Case c;
  Mode mode;
};

/// One graph that does what each of them does.
ir::GraphRef joined(std::span<const Turn> turns) {
  if (turns.size() == 1) return turns[0].c.graph;
  ir::Builder b("batch");
  std::vector<ir::Vals> params;
  for (const Turn& t : turns) {
    ir::Vals& own = params.emplace_back();
    for (ir::Type type : t.c.graph->param_types()) own.push_back(b.param(type));
  }
  ir::Vals results;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const ir::Graph& g = *turns[i].c.graph;
    const std::vector<ir::Dim> sizes(g.dims().begin(), g.dims().end());
    for (ir::Val v : ir::inline_graph(g, params[i], sizes).results) results.push_back(v);
  }
  return b.build(results);
}

/// The results of all, one after the other.
std::vector<Buffer> run_cases(Backend& backend, const Executable& e, std::span<const Turn> turns) {
  std::vector<Buffer> inputs;
  std::map<std::size_t, Buffer> bound;
  RunOptions options;
  std::size_t param = 0;
  DimValues dims;
  for (const auto& [c, mode] : turns) {
    dims.insert(c.dims.begin(), c.dims.end());
    for (std::size_t k = 0; k < c.inputs.size(); ++k, ++param) {
      // A donated input is a copy of its own: the case is used again.
      HostArray copy = c.inputs[k];
      if (mode == Mode::donated) copy.mutable_data();
      // The last operand is bound: often the smaller one, as weights would be.
      if (mode == Mode::bound && k + 1 == c.inputs.size()) {
        bound.emplace(param, backend.upload(std::move(copy)));
      } else {
        inputs.push_back(backend.upload(std::move(copy)));
        options.donate.push_back(mode == Mode::donated);
      }
    }
  }
  for (ir::Symbol s : e.signature().undetermined) options.dims.emplace(s.id(), dims.at(s.id()));
  RunResult r =
      bound.empty() ? e.run(inputs, options) : e.bind(std::move(bound))->run(inputs, options);
  r.done.wait();
  return r.outputs;
}

/// Denormal floats as zeros of their sign, and those whose half is one.
HostArray without_denormals(HostArray a) {
  dispatch(a.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      for (T& x : a.as_mutable<T>()) {
        const auto value = static_cast<ComputeType<T>>(x);
        // The least normal number: narrow floats have their own.
        const double least = std::is_same_v<T, Half>     ? 0x1p-14
                             : std::is_same_v<T, double> ? std::numeric_limits<double>::min()
                                                         : 0x1p-126;
        if (std::abs(static_cast<double>(value)) < 2 * least) x = static_cast<T>(value * 0);
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
      place_ = 0;
      if (const Row* row = rows[op->id]) {
        Cases cases(*row, options_.seed, [&](Case c) { add(op->name, r, std::move(c)); });
        try {
          row->generate(cases, *row);
          flush(r);
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

  void add(const char* op, OpReport& r, Case c) {
    // The first few, which have the fewest elements, and each n-th one; but the modes in turn.
    const int place = place_++;
    if (place >= 4 && place % options_.every != options_.every / 2) return;
    Mode mode = static_cast<Mode>(r.cases++ % 3);
    // What is bound makes programs of their own: in all of a batch, of each third one.
    if (options_.batch > 1) {
      mode = batches_ % 3 == 2 ? Mode::bound : static_cast<Mode>(r.cases % 2);
    }
    c.name += kModeNames[static_cast<int>(mode)];
    if (const auto own = options_.ulps.find(op); own != options_.ulps.end()) c.ulps = own->second;
    if (const auto own = options_.narrow_ulps.find(op); own != options_.narrow_ulps.end()) {
      c.narrow_ulps = own->second;
    }
    if (!options_.denormals) {
      for (HostArray& a : c.inputs) a = without_denormals(std::move(a));
    }
    batch_.push_back({std::move(c), mode});
    if (static_cast<int>(batch_.size()) >= options_.batch) flush(r);
  }
  void flush(OpReport& r) {
    if (batch_.empty()) return;
    ++batches_;
    run(r, batch_);
    batch_.clear();
  }

  void run(OpReport& r, std::span<const Turn> turns) {
    const int before = r.failed + r.refused;
    std::shared_ptr<const Executable> executable;
    try {
      executable = subject_.compile(joined(turns), options_.compile);
      run_together(r, *executable, turns);
    } catch (const std::exception& e) {
      if (turns.size() > 1) {
        run(r, turns.first(turns.size() / 2));
        run(r, turns.subspan(turns.size() / 2));
        if (r.failed + r.refused > before) return;
      }
      const auto* user = dynamic_cast<const UserError*>(&e);
      if (turns.size() > 1 || executable || !user || user->code() != "TL-BACKEND-001") {
        return fail(r, turns[0].c.name, e.what());
      }
      if (++r.refused == 1) r.refusal = e.what();
    }
  }

  /// Throws what running throws.
  void run_together(OpReport& r, const Executable& executable, std::span<const Turn> turns) {
    std::vector<HostArray> before;
    for (const Turn& t : turns) {
      for (HostArray a : t.c.inputs) {
        a.mutable_data();
        before.push_back(std::move(a));
      }
    }
    // The reference first: it must not see inputs that the subject has changed.
    std::vector<std::vector<Buffer>> expected;
    for (const Turn& t : turns) {
      const Turn plain{t.c, Mode::plain};
      expected.push_back(
          run_cases(reference_, *reference_.compile(t.c.graph), std::span(&plain, 1)));
    }
    const std::vector<Buffer> got = run_cases(subject_, executable, turns);
    std::size_t count = 0, result = 0, input = 0;
    for (const auto& e : expected) count += e.size();
    if (count != got.size()) return fail(r, turns[0].c.name, "the number of results differs");
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const Case& c = turns[i].c;
      compare(r, c, expected[i], std::span(got).subspan(result, expected[i].size()),
              std::span(before).subspan(input, c.inputs.size()));
      result += expected[i].size();
      input += c.inputs.size();
    }
  }
  void compare(OpReport& r, const Case& c, std::span<const Buffer> expected,
               std::span<const Buffer> got, std::span<const HostArray> inputs) {
    for (std::size_t k = 0; k < got.size(); ++k) {
      HostArray want = expected[k].to_host(), have = got[k].to_host();
      if (!options_.denormals) {
        want = without_denormals(std::move(want));
        have = without_denormals(std::move(have));
      }
      r.elements += want.size();
      const std::string d = difference(want, have, options_.exact ? 0 : c.ulps, c.narrow_ulps);
      if (!d.empty()) return fail(r, c.name, "result " + std::to_string(k) + ", " + d);
    }
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!identical(inputs[k], c.inputs[k])) {
        return fail(r, c.name, "input " + std::to_string(k) + " was changed");
      }
    }
  }

  Backend& subject_;
  Backend& reference_;
  const Options& options_;
  int place_ = 0, batches_ = 0;
  std::vector<Turn> batch_;
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
