// A token of a vocabulary of 150,000, and of one of 50,000.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "tlaloc/llm/sampler.h"

namespace {

using tlaloc::llm::Sampler;
using tlaloc::llm::SamplingOptions;

void sample(benchmark::State& state, const SamplingOptions& options) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 2.5f);  // about what models have
  std::vector<float> logits(static_cast<std::size_t>(state.range(0)));
  for (float& x : logits) x = normal(random);
  std::vector<tlaloc::text::TokenId> prompt(1000);
  for (auto& id : prompt) id = static_cast<tlaloc::text::TokenId>(random() % logits.size());
  Sampler sampler(options, prompt);
  for (auto _ : state) benchmark::DoNotOptimize(sampler.next(logits));
}

#define TLALOC_SAMPLE(name, ...) \
  BENCHMARK_CAPTURE(sample, name, SamplingOptions{__VA_ARGS__})->Arg(150'000)->Arg(50'000)
TLALOC_SAMPLE(greedy, .temperature = 0);
TLALOC_SAMPLE(temperature, .temperature = 0.8);
TLALOC_SAMPLE(top_k, .top_k = 40);
TLALOC_SAMPLE(top_p, .top_p = 0.9);
TLALOC_SAMPLE(top_p_hot, .temperature = 2.5, .top_p = 0.95);
TLALOC_SAMPLE(min_p, .min_p = 0.05);
TLALOC_SAMPLE(typical, .typical_p = 0.9);
TLALOC_SAMPLE(all, .repetition_penalty = 1.1, .temperature = 0.7, .top_k = 50, .top_p = 0.9,
              .min_p = 0.02);

}  // namespace
