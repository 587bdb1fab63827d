// What is emitted comes in again: of every conformance case a third, as text, is a graph that
// gives the interpreter's results, and the same graph where one operation of StableHLO says it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/conformance/cases.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/import.h"

namespace tlaloc::runtime::conformance {
namespace {

/// Emitted as several operations, always or for some element types and modes.
constexpr std::string_view kInParts[] = {"all_gather",
                                         "all_reduce",
                                         "argmax",
                                         "argmin",
                                         "call",
                                         "cholesky",
                                         "clamp",
                                         "convert",
                                         "convolution",
                                         "cosh",
                                         "cumlogsumexp",
                                         "cummax",
                                         "cummin",
                                         "cumprod",
                                         "cumsum",
                                         "dequantize",
                                         "dot_general",
                                         "dynamic_slice",
                                         "dynamic_update_slice",
                                         "gather",
                                         "if",
                                         "integer_pow",
                                         "manual_computation",
                                         "pow",
                                         "quant_gather",
                                         "quant_matmul",
                                         "reduce",
                                         "reduce_prod",
                                         "reduce_scatter",
                                         "reduce_sum",
                                         "reduce_window",
                                         "scan",
                                         "scatter",
                                         "select_and_gather",
                                         "select_and_scatter",
                                         "sign",
                                         "sinh",
                                         "stop_gradient",
                                         "threefry2x32",
                                         "top_k",
                                         "triangular_solve",
                                         "while"};

constexpr std::int64_t kTrips = 64;
/// What a loop records is padded to so many trips, and its length is a result of its own; some of
/// these have such loops.
bool is_padded(std::string_view op, const Extents& got, const Extents& want) {
  if ((op != "while" && op != "if") || got.size() != want.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != want[i] && got[i] != kTrips) return false;
  }
  return true;
}

ir::GraphRef there_and_back(const ir::Graph& g) {
  return stablehlo::import_stablehlo(stablehlo::emit(g, {}, {.recorded_trips = kTrips}).text)
      .main()
      .graph;
}

TEST(RoundTrip, EveryOperation) {
  int compared = 0, same = 0;
  for (const Row* row : all_rows()) {
    if (!row) continue;
    const bool in_parts = std::ranges::find(kInParts, row->op->name) != std::end(kInParts);
    int index = 0;
    auto add = [&](const Case& c) {
      if (!c.graph->dims().empty() || index++ % 3) return;
      ir::GraphRef back;
      try {
        back = there_and_back(*c.graph);
      } catch (const UserError& e) {
        EXPECT_EQ(e.code(), "TL-BACKEND-001") << c.name << ": " << e.what();
        return;
      }
      const auto want = interp::run(*c.graph, c.inputs);
      const auto got = interp::run(*back, c.inputs);
      ASSERT_GE(got.size(), want.size()) << c.name;
      for (std::size_t k = 0; k < want.size(); ++k) {
        if (got[k].extents() != want[k].extents()) {
          EXPECT_TRUE(is_padded(row->op->name, got[k].extents(), want[k].extents()))
              << c.name << ": " << to_string(got[k].extents()) << " of "
              << to_string(want[k].extents());
          continue;
        }
        EXPECT_EQ(difference(want[k], got[k], c.ulps), "") << c.name;
        ++compared;
      }
      const bool nothing =
          std::ranges::all_of(want, [](const HostArray& a) { return a.size() == 0; });
      if (in_parts || nothing) return;
      EXPECT_EQ(back->content_hash(), c.graph->content_hash())
          << c.name << "\n"
          << c.graph->to_string() << back->to_string();
      ++same;
    };
    Cases cases(*row, 1, add);
    row->generate(cases, *row);
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(same, 800);
}

}  // namespace
}  // namespace tlaloc::runtime::conformance
