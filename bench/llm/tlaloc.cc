// This side: llm_bench MODEL [f32], which is how activations meet block-quantized weights.
#include <algorithm>
#include <exception>
#include <string_view>

#include "bench/llm/serve.h"
#include "tlaloc/llm/engine.h"

int main(int argc, char** argv) {
  using namespace tlaloc;
  if (argc < 2) return 2;
  try {
    const bool f32 = argc > 2 && std::string_view(argv[2]) == "f32";
    llm::Engine engine(
        llm::load(argv[1]),
        {.context = 1024, .activations = f32 ? QuantActivation::f32 : QuantActivation::q8_32});
    llm::Sequence sequence = engine.sequence();
    HostArray logits;
    bench::serve(
        static_cast<int>(engine.model().spec().vocabulary),
        [&](const std::vector<int>& tokens) {
          const std::vector<text::TokenId> ids(tokens.begin(), tokens.end());
          const llm::Engine::Work work{&sequence, ids};
          logits = engine.run({&work, 1});
        },
        [&] {
          const auto values = logits.as<float>();
          return static_cast<int>(std::ranges::max_element(values) - values.begin());
        },
        [&] { sequence.truncate(0); },
        [&](const std::vector<int>& tokens, const auto& each) {
          sequence.truncate(0);
          const std::vector<text::TokenId> ids(tokens.begin(), tokens.end());
          const llm::Engine::Work work{&sequence, ids, static_cast<std::int64_t>(ids.size())};
          const HostArray all = engine.run({&work, 1});
          const auto width = static_cast<std::size_t>(all.extents()[1]);
          for (std::size_t i = 0; i < ids.size(); ++i) {
            each(i, all.as<float>().data() + i * width);
          }
        });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
