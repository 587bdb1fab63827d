#include "tests/oracle/golden_case.h"

#include "tlaloc/base/error.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::testing {

GoldenCase& GoldenCases::add(const std::string& name, Body body) {
  GoldenCase& c = cases_[name];
  internal_check(c.build.empty(), "two golden cases of one name");
  for (DType real : {DType::f64, DType::f32}) {
    c.build[real] = [=](const std::vector<Type>& types) { return graph_of(types, body, name); };
  }
  return c;
}

GoldenCase& GoldenCases::add(const std::string& name, DType real,
                             std::function<std::string()> program) {
  GoldenCase& c = cases_[name];
  const bool added =
      c.build
          .try_emplace(
              real, [=](const std::vector<Type>&) { return ir::parse_graph(program(), ops::find); })
          .second;
  internal_check(added, "two golden cases of one name");
  return c;
}

}  // namespace tlaloc::testing
