// What a planned program copies: arrays that a loop updates stay where they are, also in gradients.
#include <gtest/gtest.h>

#include "tests/transform/derived.h"
#include "tests/transform/programs.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/plan.h"

namespace tlaloc::testing {
namespace {

/// A step that only moves elements from one dense array to another.
bool is_copy(const cpu::Step& s) {
  if (s.run != cpu::run_loop) return false;
  const auto& loop = *static_cast<const cpu::Loop*>(s.data.get());
  return loop.ops.size() == 1 && loop.ops[0].kind == cpu::Loop::Op::Kind::load && !loop.fold &&
         loop.rank > 0;
}

/// Copies of whole arrays inside of loops: each would make the program quadratic.
int copies_in_loops(const GraphRef& g) {
  const auto p = cpu::plan(g);
  std::vector<bool> in_loop(p->code.size());
  for (std::uint32_t at = 0; at < p->code.size(); ++at) {
    const cpu::Instruction& i = p->code[at];
    if (i.code != cpu::Code::jump || i.target > at) continue;
    std::fill(in_loop.begin() + i.target, in_loop.begin() + at, true);
  }
  int copies = 0;
  for (std::uint32_t at = 0; at < p->code.size(); ++at) {
    if (p->code[at].code != cpu::Code::step || !in_loop[at]) continue;
    const cpu::Step& s = p->steps[p->code[at].index];
    if (!is_copy(s)) continue;
    // All of the array, not a row or an element of it.
    const cpu::Storage& to = p->storages[s.written()[0]];
    const bool whole = s.ints[0] == to.elements;
    copies += whole;
  }
  return copies;
}

class InPlace : public ::testing::TestWithParam<const char*> {};

TEST_P(InPlace, Primal) { EXPECT_EQ(copies_in_loops(program(GetParam()).graph), 0); }
TEST_P(InPlace, Gradient) { EXPECT_EQ(copies_in_loops(grad_of(program(GetParam()).graph, {})), 0); }
TEST_P(InPlace, Tangent) { EXPECT_EQ(copies_in_loops(jvp_of(program(GetParam()).graph)), 0); }

INSTANTIATE_TEST_SUITE_P(Programs, InPlace,
                         ::testing::Values("array_sin", "array_sin_scan", "recurrence",
                                           "gather_acc", "histogram", "window", "n_body"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tlaloc::testing
