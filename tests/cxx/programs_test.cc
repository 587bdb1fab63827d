// The worked programs of the transforms, and their first and second derivatives, printed, compiled
// and compared with the interpreter bit for bit.
#include "tests/transform/programs.h"

#include <gtest/gtest.h>

#include "tests/cxx/compiled.h"
#include "tests/cxx/convert_graph.h"
#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

struct Entry {
  std::string name;
  GraphRef graph;
  Arrays args;
};

/// The program, its gradient, its tangent, and the derivative of its gradient along a direction.
void add_derived(std::vector<Entry>& to, const Program& p, const Policy& policy) {
  Noise noise(7);
  Arrays with_direction = p.args;
  for (const HostArray& a : p.args) {
    if (a.dtype() == DType::f64) with_direction.push_back(noise.like(a, 1));
  }
  to.push_back({p.name, p.graph, p.args});
  to.push_back({p.name + ", gradient", grad_of(p.graph, policy), p.args});
  to.push_back({p.name + ", tangent", jvp_of(p.graph), with_direction});
  to.push_back(
      {p.name + ", second order", grad_of(grad_dot(p.graph, policy), policy), with_direction});
}

std::vector<Entry> entries(DType dtype) {
  std::vector<Entry> all;
  using Nested = Policy::Nested;
  for (const Program& p : programs()) {
    add_derived(all, p, {Policy::Residuals::min_cut, Nested::automatic});
    if (dtype == DType::f64) {
      all.push_back({p.name + ", saved, recomputed",
                     grad_of(p.graph, {Policy::Residuals::save, Nested::recompute}), p.args});
    }
  }
  if (dtype == DType::f32) {
    for (Entry& e : all) {
      e.graph = with_floats(e.graph, dtype);
      for (HostArray& a : e.args) a = with_floats(a, dtype);
    }
  }
  return all;
}

class Printed : public ::testing::TestWithParam<DType> {};

TEST_P(Printed, GivesTheInterpretersBits) {
  Compiled compiled;
  std::vector<Entry> printed;
  for (const Entry& e : entries(GetParam())) {
    try {
      compiled.add(e.graph, {.mode = cxx::Mode::plain, .function = "f"});
      printed.push_back(e);
    } catch (const UserError& error) {
      ADD_FAILURE() << e.name << ": " << error.what();
    }
  }
  ASSERT_EQ(compiled.compile(), "");
  std::vector<Compiled::Run> runs;
  std::vector<Arrays> wanted;
  for (std::size_t k = 0; k < printed.size(); ++k) {
    Noise noise(k);
    for (int trial = 0; trial < 3; ++trial) {
      Arrays args = printed[k].args;
      for (HostArray& a : args) {
        if (trial > 0 && is_float(a.dtype()))
          a = with_floats(axpy(with_floats(a, DType::f64), 0.05, noise.like(a, 1)), a.dtype());
      }
      try {
        wanted.push_back(interp::run(*printed[k].graph, args));
        runs.push_back({k, args});
      } catch (const Error& e) {
        ADD_FAILURE() << printed[k].name << ": " << e.what();
      }
    }
  }
  const auto got = compiled.run(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t k = runs[i].program;
    const std::string diff =
        got[i].error.empty() ? difference(got[i].results, wanted[i]) : got[i].error;
    if (!diff.empty())
      ADD_FAILURE() << printed[k].name << ": " << diff << "\n" << compiled.printed(k).text;
  }
}
INSTANTIATE_TEST_SUITE_P(DTypes, Printed, ::testing::Values(DType::f64, DType::f32),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace tlaloc::testing
