#include "tests/cpu/plan_counts.h"

#include <fmt/format.h>

#include <sstream>

#include "tlaloc/cpu/explain.h"
#include "tlaloc/cpu/plan.h"

namespace tlaloc::testing {

std::string plan_counts(const ir::GraphRef& g) {
  const auto p = cpu::plan(g);
  const std::vector<std::int64_t> dims(g->dims().size(), 64);
  const runtime::Report r =
      cpu::explain_program(*p, {.compiled = true, .why_not = "", .timed = {}}, dims);
  std::map<std::string, int> on;
  std::int64_t read = 0, written = 0, in_place = 0, open = 0;
  double flops = 0;
  for (const runtime::KernelReport& k : r.kernels) {
    ++on[k.runs_on];
    in_place += k.in_place;
    open += !k.bytes_read;
    read += k.bytes_read.value_or(0);
    written += k.bytes_written.value_or(0);
    flops += k.flops.value_or(0);
  }
  std::string places;
  for (const auto& [where, n] : on)
    places += (places.empty() ? "" : ", ") + fmt::format("{} {}", where, n);
  std::int64_t storages = 0;
  for (const runtime::MemoryReport& m : r.memory)
    storages += m.kind == "arena" || m.kind == "grows";
  return fmt::format(
      "kernels {} ({}), in place {}, sizes open {}, instructions {}, storages {}, arena {} B, "
      "reads "
      "{} B, writes {} B, flops {:.0f}",
      r.kernels.size(), places, in_place, open, p->code.size(), storages, r.arena_bytes, read,
      written, flops);
}

PlanCounts parse_counts(const std::string& text) {
  PlanCounts counts;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    counts[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return counts;
}

std::string counts_text(const PlanCounts& counts) {
  std::string text =
      "# What plans cost: written by tests/cpu/plan_counts_test.cc, which says how.\n";
  for (const auto& [name, line] : counts) text += name + ": " + line + "\n";
  return text;
}

std::string differences(const PlanCounts& want, const PlanCounts& have) {
  std::string text;
  for (const auto& [name, line] : have) {
    const auto it = want.find(name);
    if (it != want.end() && it->second == line) continue;
    text += name + "\n  was " + (it == want.end() ? "not there" : it->second) + "\n  is  " + line +
            "\n";
  }
  for (const auto& [name, line] : want) {
    if (!have.contains(name)) text += name + "\n  was " + line + "\n  is  not there\n";
  }
  return text;
}

}  // namespace tlaloc::testing
