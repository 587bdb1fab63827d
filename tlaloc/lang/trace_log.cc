#include "tlaloc/lang/trace_log.h"

#include <algorithm>

#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::core {
namespace {

using Differences = std::vector<std::string>;

}  // namespace

/// What differs from the earlier trace that differs least.
std::string TraceLog::reason(const Traced& now) const {
  Differences best;
  std::size_t nearest = traced_.size();
  for (std::size_t k = 0; k < traced_.size(); ++k) {
    const Traced& then = traced_[k];
    const std::string had = " where trace " + std::to_string(k + 1) + " had ";
    Differences d;
    auto differ = [&](bool same, std::string text) {
      if (!same) d.push_back(std::move(text));
    };
    const bool alike = std::ranges::equal(
        now.leaves, then.leaves, [](const auto& a, const auto& b) { return a.first == b.first; });
    if (alike) {
      for (std::size_t i = 0; i < now.leaves.size(); ++i) {
        const auto& [path, type] = now.leaves[i];
        differ(type == then.leaves[i].second, path + " is " + type + had + then.leaves[i].second);
      }
    } else {
      differ(now.leaves.size() == then.leaves.size(),
             "there are " + std::to_string(now.leaves.size()) + " tensors" + had +
                 std::to_string(then.leaves.size()));
      if (d.empty())
        d.emplace_back("the arguments' structure differs from trace " + std::to_string(k + 1));
    }
    differ(!alike || now.notes == then.notes,
           "a number or an optional in the arguments' structure differs from trace " +
               std::to_string(k + 1));
    differ(now.checks_nan == then.checks_nan,
           now.checks_nan ? "NaNs are looked for now" : "NaNs are no longer looked for");
    differ(now.mapped == then.mapped,
           now.mapped ? "it is differentiated to be mapped" : "it is no longer mapped");
    if (d.empty()) {
      differ(now.type == then.type,
             "the C++ types of its arguments differ from trace " + std::to_string(k + 1));
    }
    if (nearest == traced_.size() || d.size() < best.size()) {
      best = std::move(d);
      nearest = k;
    }
  }
  if (best.empty()) {
    // Such a trace is not kept, or two sizes are one symbol in it and were two.
    return "the sizes that are equal differ from trace " + std::to_string(nearest + 1) +
           ", or that one was not kept";
  }
  std::string text;
  for (const std::string& one : best) text += (text.empty() ? "" : "; ") + one;
  return text;
}

void TraceLog::add(const Function& f, const Leaves& args, const Closure& c, Where where) {
  const Signature& s = c.signature;
  Traced now{f.type, nan_mode(), transform::mapped(), {}, args.data().notes};
  for (std::size_t i = 0; i < s.types.size(); ++i) {
    now.leaves.emplace_back(args.data().path(i),
                            describe(s.types[i].dtype(), s.labels[i], s.types[i].shape()));
  }
  std::string text = "trace " + std::to_string(traced_.size() + 1);
  if (const Place p = place_of(where); p.known()) {
    text += " at " + p.file + ":" + std::to_string(p.line);
  }
  text += traced_.empty() ? ", the first, of\n" : ", since " + reason(now) + ", of\n";
  for (const auto& [path, type] : now.leaves) text += "  " + path + ": " + type + "\n";
  for (const Ref& x : c.captures.captured) {
    text += "  captured, frozen at this trace: " + describe(x) + "\n";
  }
  if (!c.captures.lifted.empty()) {
    text += "  not kept: it reads values of the trace around it\n";
  }
  entries_.push_back(std::move(text));
  traced_.push_back(std::move(now));
}

}  // namespace tlaloc::core
