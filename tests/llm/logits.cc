// usage: llm_logits MODEL CONTEXT < IDS
// Writes the logits behind each token of a text, a line each. CONTEXT 0 is the model's.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <iterator>

#include "tlaloc/lang/node.h"
#include "tlaloc/llm/decoder.h"
#include "tlaloc/llm/model.h"

int main(int argc, char** argv) {
  using namespace tlaloc;
  if (argc != 3) return 2;
  try {
    llm::LoadOptions options;
    options.weights = llm::WeightPolicy::f32;
    options.checkpoint.context = std::atoll(argv[2]);
    const auto model = llm::load(argv[1], options);
    const std::vector<std::int32_t> ids{std::istream_iterator<std::int32_t>(std::cin), {}};
    const auto n = static_cast<std::int64_t>(ids.size());
    const Array out =
        llm::logits(model->spec(), model->weights, Array::from<std::int32_t>(ids, {1, n}));
    const HostArray all = core::node(out.ref()).array();
    const std::span<const float> values = all.as<float>();
    const auto vocabulary = static_cast<std::size_t>(model->spec().vocabulary);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::printf("%.8g%c", static_cast<double>(values[i]),
                  i % vocabulary == vocabulary - 1 ? '\n' : ' ');
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
