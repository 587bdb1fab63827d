// The list in docs/pjrt.md of what can't be done, made from what emission refuses and from what
// each plugin does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "tests/conformance/cases.h"
#include "tests/pjrt/tolerances.h"
#include "tlaloc/base/error.h"
#include "tlaloc/pjrt/finder.h"
#include "tlaloc/pjrt/host_calls.h"
#include "tlaloc/pjrt/pjrt_backend.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::plugins {
namespace {

using runtime::conformance::Case;
using runtime::conformance::Cases;

/// "`op`: why", once each, of all conformance cases.
std::set<std::string> refusals() {
  std::set<std::string> found;
  for (const auto* row : runtime::conformance::all_rows()) {
    if (!row) continue;
    Cases cases(*row, 1, [&](const Case& c) {
      try {
        stablehlo::check_emittable(*c.graph, {.host_calls = true});
      } catch (const UserError& e) {
        const std::string& why = e.info().message;
        found.insert("`" + e.info().op + "`: " + why.substr(why.find(": ") + 2));
      }
    });
    row->generate(cases, *row);
  }
  return found;
}

std::string limits_of(const char* name) {
  const Plugin& plugin = Plugin::load(find_plugin(name));
  const Client& client = Client::get(plugin);
  const char* text =
      "func.func @main(%0: tensor<f32>, %1: tensor<f32>) -> tensor<f32> {\n"
      "  %2 = stablehlo.multiply %0, %1 : tensor<f32>\n"
      "  return %2 : tensor<f32>\n}\n";
  const auto program = client.compile(text);
  const auto tiny = client.upload(HostArray::scalar(std::numeric_limits<float>::denorm_min()));
  const auto two = client.upload(HostArray::scalar(2.0f));
  const DeviceArray* args[] = {tiny.get(), two.get()};
  const float product = program->run(args, {}).arrays.at(0)->read(DType::f32, {}).as<float>()[0];
  std::string s = "\n" + std::string(name) + " (PJRT 0." + std::to_string(plugin.minor_version()) +
                  ", StableHLO " + plugin.attribute("stablehlo_current_version") + "):\n\n";
  if (product == 0) s += "- denormal floats are taken for zeros;\n";
  for (const auto& [op, ulps] : kUlps) {
    s += "- `" + op + "` in f32 may be " + std::to_string(static_cast<int>(ulps)) +
         " units in the last place off;\n";
  }
  for (const auto& [op, ulps] : kNarrowUlps) {
    s += "- `" + op + "` in f16 and bf16 may be " + std::to_string(static_cast<int>(ulps)) +
         " units in the last place off;\n";
  }
  if (!program->costs()) s += "- it does not count operations (`Program::costs`);\n";
  if (!program->memory())
    s += "- it does not tell what memory a program takes (`Program::memory`);\n";
  if (!takes_host_calls(client)) s += "- it runs no custom calls;\n";
  s.replace(s.size() - 2, 1, ".");
  return s;
}

TEST(Limits, AreThoseOfTheDocumentation) {
  std::string limits = "StableHLO can't say, on any plugin:\n\n";
  for (const std::string& r : refusals()) limits += "- " + r + "\n";
  for (const char* name : {"xla_cpu_pjrt", "lammps_jax_pjrt_cpu"}) limits += limits_of(name);

  const char* page = "docs/pjrt.md";
  std::stringstream read;
  read << std::ifstream(page).rdbuf();
  const std::string text = read.str(), begin = "<!-- limits -->\n",
                    end = "<!-- end of limits -->\n";
  const std::size_t from = text.find(begin) + begin.size(), to = text.find(end);
  ASSERT_LT(from, text.size());
  ASSERT_LE(from, to);
  if (std::getenv("TLALOC_UPDATE_DOCS")) {
    std::ofstream(page) << text.substr(0, from) + limits + text.substr(to);
    return;
  }
  EXPECT_EQ(text.substr(from, to - from), limits) << "TLALOC_UPDATE_DOCS=1 writes it anew";
}

}  // namespace
}  // namespace tlaloc::plugins
