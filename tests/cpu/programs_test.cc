// Programs with loops and branches, and all their derivatives and lanes, on the CPU back end: the
// interpreter's results, and the complex step's.
#include "tests/transform/programs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/transform/random_check.h"
#include "tests/transform/random_programs.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp.h"

#ifndef TLALOC_RANDOM_PROGRAMS
#define TLALOC_RANDOM_PROGRAMS 200
#endif

namespace tlaloc::testing {
namespace {

Arrays run_on_cpu(const GraphRef& g, const Arrays& args, bool compiled) {
  std::vector<runtime::Buffer> inputs(args.begin(), args.end());
  const auto e = cpu::cpu_backend().compile(g, {.run_once = !compiled});
  Arrays r;
  for (const runtime::Buffer& b : e->run(std::move(inputs)).outputs) {
    r.push_back(b.to_host());
  }
  return r;
}

/// The largest difference by size, where sums may add up in another order; infinite for others.
double distance(const HostArray& a, const HostArray& b) {
  if (a.dtype() != b.dtype() || a.extents() != b.extents()) return INFINITY;
  double worst = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.element(i), y = b.element(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / (1 + std::abs(y));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst;
}

/// Runs on both, and stops at the first disagreement with all there is to reproduce it.
Arrays agreed(const GraphRef& g, const Arrays& args, bool compiled) {
  const Arrays got = run_on_cpu(g, args, compiled);
  const Arrays want = interp::run(*g, args);
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (k < got.size() && distance(got[k], want[k]) < 1e-10) continue;
    std::string text = "result " + std::to_string(k) + " is " + to_string(got.at(k)) +
                       " where the interpreter gives " + to_string(want[k]) + " for\n" +
                       g->to_string();
    for (const HostArray& a : args) text += to_string(a) + "\n";
    throw std::runtime_error(text);
  }
  return got;
}

Arrays on_both(const GraphRef& g, const Arrays& args) { return agreed(g, args, false); }

/// Code for the program and some derivatives; for all of them it would take minutes.
void check_compiled(const Program& p, bool lanes) {
  const Policy policy{Policy::Residuals::min_cut,
                      lanes ? Policy::Nested::recompute : Policy::Nested::append};
  const GraphRef gradient = grad_of(p.graph, policy);
  agreed(p.graph, p.args, true);
  agreed(gradient, p.args, true);
  if (!lanes) return;
  Arrays batch;
  for (const HostArray& a : p.args) batch.push_back(stacked({a, a, a}));
  agreed(vmap_of(gradient), batch, true);
}

class Worked : public ::testing::TestWithParam<const Program*> {};
TEST_P(Worked, GivesTheInterpretersResults) {
  for (const auto nested : {Policy::Nested::recompute, Policy::Nested::append}) {
    CheckOptions o{.policy = {Policy::Residuals::min_cut, nested}, .evaluate = on_both};
    o.lanes = nested == Policy::Nested::recompute;
    for (const std::string& line : check(GetParam()->graph, GetParam()->args, o).disagreements) {
      ADD_FAILURE() << describe(o.policy) << ": " << line.substr(0, 6000);
    }
  }
}
TEST_P(Worked, GivesThemCompiled) {
  check_compiled(*GetParam(), false);
  check_compiled(*GetParam(), true);
}
std::vector<const Program*> all_programs() {
  std::vector<const Program*> r;
  for (const Program& p : programs()) r.push_back(&p);
  return r;
}
INSTANTIATE_TEST_SUITE_P(Programs, Worked, ::testing::ValuesIn(all_programs()),
                         [](const auto& info) { return info.param->name; });

TEST(Random, GivesTheInterpretersResults) {
  int agree = 0;
  for (std::uint64_t seed = 0; seed < TLALOC_RANDOM_PROGRAMS; ++seed) {
    const RandomResult r = check_random(seed, on_both);
    agree += r.verdict == Verdict::agrees;
    for (const std::string& line : r.lines) {
      ADD_FAILURE() << "seed " << seed << ", " << r.policy << ": " << line.substr(0, 6000);
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(agree, TLALOC_RANDOM_PROGRAMS / 5) << "too few programs are checked";
}

TEST(Random, GivesThemCompiled) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Program p = random_program(seed);
    if (node_count(*p.graph) > 110) continue;
    SCOPED_TRACE(seed);
    check_compiled(p, seed % 2 == 0);
  }
}

TEST(Random, AWrongResultIsFound) {
  const auto spoiled = [](const GraphRef& g, const Arrays& args) {
    Arrays r = run_on_cpu(g, args, false);
    if (r[0].dtype() == DType::f64 && r[0].size()) r[0].as_mutable<double>()[0] += 1e-3;
    return r;
  };
  int found = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    found += check_random(seed, spoiled).verdict == Verdict::wrong;
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace tlaloc::testing
