#include "tests/transform/random_check.h"

#include <utility>

#include "tests/transform/random_programs.h"

namespace tlaloc::testing {

RandomResult check_random(std::uint64_t seed, decltype(CheckOptions::evaluate) evaluate) {
  using R = Policy::Residuals;
  using N = Policy::Nested;
  constexpr N kNested[] = {N::recompute, N::append, N::automatic};
  CheckOptions o{.policy = {seed % 2 ? R::save : R::min_cut, kNested[seed / 2 % 3]},
                 .tolerance = 1e-8,
                 .seed = seed,
                 .evaluate = std::move(evaluate)};
  o.lanes = o.policy.nested != N::append;
  RandomResult r{.policy = describe(o.policy)};
  try {
    const Program p = random_program(seed);
    if (node_count(*p.graph) > (o.lanes ? 110u : 220u)) {
      r.verdict = Verdict::skipped;
      return r;
    }
    const CheckResult c = check(p.graph, p.args, o);
    r.lines = c.disagreements;
    r.verdict = !r.lines.empty()    ? Verdict::wrong
                : c.ill_conditioned ? Verdict::skipped
                                    : Verdict::agrees;
  } catch (const std::exception& e) {
    r.verdict = Verdict::wrong;
    r.lines.push_back(std::string("building the program: ") + e.what());
  }
  return r;
}

}  // namespace tlaloc::testing
