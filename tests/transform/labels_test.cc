// What a function's results are called is kept by every transform.
#include <gtest/gtest.h>

#include "tlaloc/ops/val_ops.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::transform {
namespace {

std::string labels(const GraphRef& g) {
  std::string text;
  for (std::size_t k = 0; k < g->results().size(); ++k) {
    const ir::Label& l = g->result_label(k);
    text += (k ? " " : "") + (l.name.empty() ? "-" : l.name);
    for (const std::string& axis : l.axes) text += "/" + axis;
  }
  return text;
}

TEST(Labels, OfResultsAreKept) {
  ir::Builder b("f");
  const ir::Val x = b.param(ir::Type::get(DType::f64, {3}), {.name = "x"});
  const ir::Val i = b.param(ir::Type::scalar(DType::i32), {.name = "i"});
  const GraphRef g = b.build(ir::Vals{ops::sin(ops::sin(x)), i},
                             {.result_labels = {{"wave", {"time"}}, {"step", {}}}});
  const Mask first{true, false};
  EXPECT_EQ(labels(jvp(g, first)), "wave/time step d_wave/time");
  EXPECT_EQ(labels(vjp(g, first)), "wave/time step -");
  EXPECT_EQ(labels(linearize(g, first).forward).substr(0, 14), "wave/time step");
  EXPECT_EQ(labels(vmap(g, {0, 0}, ir::Dim(4))), "wave//time step");
}

}  // namespace
}  // namespace tlaloc::transform
