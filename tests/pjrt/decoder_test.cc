// The program of each family's decoder, exported: as text that comes in again, and on plugins.
#include "tlaloc/llm/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/llm/tiny_models.h"
#include "tests/pjrt/plugins.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/stablehlo.h"
#include "tlaloc/lang/target.h"
#include "tlaloc/stablehlo/import.h"
#include "tlaloc/tlaloc.h"

namespace tlaloc::llm {
namespace {

constexpr float kTolerance = 1e-4f;

class Decoder : public ::testing::TestWithParam<std::string> {
 protected:
  /// With transformers' logits.
  void compare(const HostArray& logits) const {
    const auto all = logits.as<float>();
    for (std::size_t i = 0; i < golden.positions.size(); ++i) {
      const std::vector<float>& wanted = golden.logits[i];
      ASSERT_EQ(all.size(), golden.ids.size() * wanted.size());
      float most = 0;
      for (std::size_t j = 0; j < wanted.size(); ++j) {
        most = std::max(most, std::abs(all[golden.positions[i] * wanted.size() + j] - wanted[j]));
      }
      EXPECT_LT(most, kTolerance) << "behind " << golden.positions[i];
    }
  }

  const Golden golden = read_golden(GetParam());
  const std::vector<std::int32_t> ids{golden.ids.begin(), golden.ids.end()};
  const Array tokens = Array::from<std::int32_t>(ids, {1, std::ssize(ids)});
  const std::shared_ptr<const Model> model = load_golden(GetParam(), golden);
  // Weights become a part of what is exported.
  const std::function<Array(const Array&)> f = [this](const Array& x) {
    return logits(model->spec(), model->weights, x);
  };
};

TEST_P(Decoder, ComesBackFromStableHlo) {
  const std::string text = emit_stablehlo(f)(tokens);
  const auto module = stablehlo::import_stablehlo(text);
  const std::vector<HostArray> results =
      interp::run(*module.main().graph, {HostArray::from<std::int32_t>(ids, {1, std::ssize(ids)})});
  ASSERT_EQ(results.size(), 1u);
  compare(results[0]);
}

TEST_P(Decoder, RunsOnPlugins) {
  for (const char* plugin : plugins::tested_plugins()) {
    SCOPED_TRACE(plugin);
    const Array out = jit(f, pjrt(plugin))(tokens);
    compare(core::node(out.ref()).array());
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, Decoder, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tlaloc::llm
