// Every op, by the cases of the derivative checks: printed, compiled and compared with the
// interpreter bit for bit; what is refused is refused by name.
#include <gtest/gtest.h>

#include <map>

#include "tests/cxx/compiled.h"
#include "tests/cxx/convert_graph.h"
#include "tests/ops/checks.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

class PrintedOps : public ::testing::TestWithParam<DType> {};

TEST_P(PrintedOps, GiveTheInterpretersBits) {
  const DType dtype = GetParam();
  Compiled compiled;
  std::vector<Compiled::Run> runs;
  std::vector<Arrays> wanted;
  std::vector<std::string> names;
  for (const Case& c : all_cases()) {
    ir::GraphRef g = graph_of_case(c);
    Arrays args;
    for (const HostArray& a : c.args) args.push_back(with_floats(a, dtype));
    if (dtype != DType::f64) g = with_floats(g, dtype);
    try {
      runs.push_back({compiled.add(g, {.mode = cxx::Mode::plain, .function = "f"}), args});
    } catch (const UserError& e) {
      if (!e.code().starts_with("TL-CXX-")) ADD_FAILURE() << c.name << ": " << e.what();
      continue;  // the list below says which these are
    }
    wanted.push_back(interp::run(*g, args));
    names.push_back(c.name);
  }
  ASSERT_EQ(compiled.compile("-O0"), "");
  const auto got = compiled.run(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string diff =
        got[i].error.empty() ? difference(got[i].results, wanted[i]) : got[i].error;
    if (!diff.empty())
      ADD_FAILURE() << names[i] << ": " << diff << "\n" << compiled.printed(i).text;
  }
}
INSTANTIATE_TEST_SUITE_P(DTypes, PrintedOps, ::testing::Values(DType::f64, DType::f32),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(PrintingRules, EveryOpHasOne) {
  for (const ir::OpDef* op : ops::table()) {
    if (op->region_kind != ir::RegionKind::none) continue;
    const cxx::Rule* rule = cxx::find_rule(*op);
    ASSERT_NE(rule, nullptr) << op->name;
    EXPECT_EQ(rule->refusal != nullptr, rule->hint != nullptr) << op->name;
  }
}

/// What printing refuses, by op.
std::map<std::string, std::string> refusals() {
  std::map<std::string, std::string> r;
  for (const Case& c : all_cases()) {
    try {
      cxx::print(*graph_of_case(c), {.mode = cxx::Mode::plain});
    } catch (const UserError& e) {
      r.emplace(e.info().op, e.what());
    }
  }
  return r;
}
TEST(PrintingRules, RefusalsSayWhyAndWhatToDo) {
  const auto r = refusals();
  std::vector<std::string> ops;
  for (const auto& [op, text] : r) ops.push_back(op);
  EXPECT_EQ(ops,
            (std::vector<std::string>{"all_gather", "all_reduce", "bitcast_convert", "custom_call",
                                      "debug_print", "reduce_scatter", "to_source"}));
  // Quantized weights have no C++ type, so they are refused as parameters.
  EXPECT_EQ(r.at("to_source").substr(0, 49), "TL-CXX-002: to_source: no C++ type stands for f64");
  EXPECT_EQ(r.at("debug_print"),
            "TL-CXX-001: debug_print: can't be printed as C++: printing is no part of what a "
            "function computes; take the debug_print out of the function");
}

}  // namespace
}  // namespace tlaloc::testing
