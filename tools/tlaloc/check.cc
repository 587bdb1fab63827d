#include <fmt/format.h>
#include <fmt/ostream.h>

#include <exception>
#include <iostream>
#include <optional>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/backend.h"
#include "tools/tlaloc/compare.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

/// What fails first, or nothing.
std::optional<std::string> run_checks(const stablehlo::ImportedFunction& f,
                                      runtime::Backend& backend) {
  if (!f.refusal.empty()) return f.refusal;
  if (f.graph->param_count() > 0) {
    return fmt::format("it takes {} arguments, which a test has none for", f.graph->param_count());
  }
  const std::vector<HostArray> results = backend.compile(f.graph)->bind({})->run_host({});
  for (const stablehlo::Check& c : f.checks) {
    const auto wrong = failure(c, results[c.got], results[c.expected]);
    if (wrong) return fmt::format("{}:{}: {}", c.place.file, c.place.line, *wrong);
  }
  return std::nullopt;
}

/// Runs `body`; what it throws is a failure, and other modules go on.
template <class Body>
std::optional<std::string> failure_of(const Body& body) {
  try {
    return body();
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

int check(const CheckArguments& a) {
  const auto backend = choose_backend(a.backend);
  std::size_t functions = 0, failures = 0;
  auto report = [&](const std::string& name, const std::optional<std::string>& wrong) {
    ++functions;
    failures += wrong ? 1 : 0;
    fmt::print(std::cout, "{} {}{}\n", wrong ? "FAIL" : "pass", name, wrong ? ": " + *wrong : "");
  };
  for (const std::string& path : a.modules) {
    std::size_t checked = 0;
    const auto unread = failure_of([&]() -> std::optional<std::string> {
      const std::vector<stablehlo::ImportedModule> modules = read_each_function(path);
      for (const stablehlo::ImportedModule& m : modules) {
        for (const stablehlo::ImportedFunction& f : m.functions) {
          // Whether one that is refused checks anything, or has this name, nobody knows.
          if (f.checks.empty() && f.refusal.empty()) continue;
          if (!a.function.empty() && !f.name.empty() && f.name != a.function) continue;
          ++checked;
          report(f.name.empty() ? path : path + ": " + f.name,
                 failure_of([&] { return run_checks(f, *backend); }));
        }
      }
      if (checked > 0) return std::nullopt;
      return a.function.empty() ? "no function checks anything"
                                : "no function '" + a.function + "' checks anything";
    });
    if (unread) report(path, unread);
  }
  fmt::print(std::cout, "{} functions, {} failures\n", functions, failures);
  return failures ? 1 : 0;
}

}  // namespace tlaloc::command
