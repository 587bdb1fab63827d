#include "tlaloc/llm/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tlaloc/base/error.h"
#include "tlaloc/llm/logits.h"
#include "tlaloc/ops/random_bits.h"

namespace tlaloc::llm {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr const char* kCaller = "sample";

[[noreturn]] void refuse_option(const std::string& message, const std::string& hint) {
  throw UserError({"TL-SAMPLE-001", kCaller, message, hint, {}});
}

void check(bool fits, const char* option, double value, const char* range) {
  if (!fits) refuse_option(fmt::format("{} is {}", option, value), std::string("give ") + range);
}

void check(const SamplingOptions& o) {
  check(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature,
        "0, which chooses the most probable token, or a positive number");
  check(o.top_k >= 0, "top_k", static_cast<double>(o.top_k),
        "0, for all tokens, or a positive number");
  check(o.top_p >= 0 && o.top_p <= 1, "top_p", o.top_p, "a number from 0 to 1");
  check(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "a number from 0 to 1");
  check(o.typical_p > 0 && o.typical_p <= 1, "typical_p", o.typical_p, "a number above 0, to 1");
  check(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), "repetition_penalty",
        o.repetition_penalty, "a positive number; 1 changes nothing");
  check(std::isfinite(o.presence_penalty), "presence_penalty", o.presence_penalty,
        "a number; 0 changes nothing");
  check(std::isfinite(o.frequency_penalty), "frequency_penalty", o.frequency_penalty,
        "a number; 0 changes nothing");
  for (const auto& [id, bias] : o.logit_bias) {
    if (!(bias < kInfinity)) {
      refuse_option(fmt::format("the bias of token {} is {}", id, bias),
                    "give a number, or -infinity to forbid the token");
    }
  }
}

/// Uniform in [0, bound): the high half of bound times 64 bits, those that jax.random.bits has for
/// key(seed) at `index`.
std::uint64_t uniform(std::uint64_t seed, std::uint64_t index, std::uint64_t bound) {
  auto high = static_cast<std::uint32_t>(index >> 32), low = static_cast<std::uint32_t>(index);
  ops::threefry2x32_block(static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed),
                          high, low);
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t bits = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint64_t>(static_cast<Wide>(bits) * bound >> 64);
}

/// The first of `order`, once it is ordered by `before`, at which the weights up to it, its own
/// included, reach `wanted`; the last where they don't. Time linear in them: the half that it is
/// not in is not ordered.
template <class Before>
std::size_t where_reached(std::vector<std::size_t>& order,
                          const std::vector<std::uint64_t>& weights, std::uint64_t wanted,
                          const Before& before) {
  auto begin = order.begin(), end = order.end();
  std::uint64_t sum = 0;
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, before);
    const std::uint64_t half = std::accumulate(
        begin, middle, sum, [&](std::uint64_t s, std::size_t i) { return s + weights[i]; });
    if (half >= wanted) {
      end = middle;
    } else {
      begin = middle;
      sum = half;
    }
  }
  return *begin;
}

/// What part of a total has to be reached: at least a unit, so that a token with a weight is kept.
std::uint64_t share(double p, std::uint64_t total) {
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(p * static_cast<double>(total)), 1,
                                   total);
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options, std::span<const text::TokenId> prompt)
    : options_(options),
      penalties_(options.repetition_penalty != 1 || options.presence_penalty != 0 ||
                 options.frequency_penalty != 0) {
  check(options_);
  if (penalties_) {
    for (const text::TokenId id : prompt) counts_.try_emplace(id, 0);
  }
}

void Sampler::change_logits() {
  for (const auto& [id, bias] : options_.logit_bias) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits_.size()) {
      refuse_option(
          fmt::format("token {} has a bias, but no logit: there are {}", id, logits_.size()),
          "give ids of the model's tokens");
    }
    logits_[static_cast<std::size_t>(id)] += bias;
  }
  for (const auto& [id, count] : counts_) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits_.size()) continue;
    float& logit = logits_[static_cast<std::size_t>(id)];
    double x = logit;
    x = x < 0 ? x * options_.repetition_penalty : x / options_.repetition_penalty;
    x -= options_.frequency_penalty * static_cast<double>(count);
    if (count > 0) x -= options_.presence_penalty;
    logit = static_cast<float>(x);
  }
}

template <class Keep>
void Sampler::keep_if(const Keep& keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!keep(i)) continue;
    ids_[kept] = ids_[i];
    logits_[kept] = logits_[i];
    weights_[kept] = weights_[i];
    ++kept;
  }
  ids_.resize(kept);
  logits_.resize(kept);
  weights_.resize(kept);
}

std::uint64_t Sampler::total() const {
  return std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
}

void Sampler::keep_top_k() {
  const auto k = static_cast<std::size_t>(options_.top_k);
  if (k == 0 || k >= logits_.size()) return;
  const float floor = kth_largest(logits_, k);
  keep_if([&](std::size_t i) { return logits_[i] >= floor; });
}

void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  const std::uint64_t all = total(), wanted = share(options_.top_p, all);
  // n tokens with less than 1 / n of what may be left out are left out: sorting is for the others.
  const std::uint64_t floor = (all - wanted) / weights_.size();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (weights_[i] >= floor) order.push_back(i);
  }
  auto before = [&](std::size_t a, std::size_t b) {
    return weights_[a] != weights_[b] ? weights_[a] > weights_[b] : a < b;
  };
  const std::size_t last = where_reached(order, weights_, wanted, before);
  const std::uint64_t weight = weights_[last];
  const text::TokenId id = ids_[last];
  keep_if([&](std::size_t i) {
    return weights_[i] > weight || (weights_[i] == weight && ids_[i] <= id);
  });
}

void Sampler::keep_min_p() {
  if (options_.min_p <= 0) return;
  const auto floor = static_cast<std::uint64_t>(options_.min_p * static_cast<double>(kWeightOfOne));
  keep_if([&](std::size_t i) { return weights_[i] >= floor; });
}

void Sampler::keep_typical() {
  if (options_.typical_p >= 1) return;
  // With x = (logit - largest) / temperature, -log p is log Σ exp(x) - x, and the entropy is its
  // mean: their difference is the mean of x, less x.
  const std::uint64_t all = total();
  std::vector<double> distances(ids_.size());
  double mean = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    distances[i] = (static_cast<double>(logits_[i]) - largest_) / options_.temperature;
    // A weight of 0 is that of a logit so low that 0 · -infinity must not count.
    if (weights_[i] > 0) mean += static_cast<double>(weights_[i]) * distances[i];
  }
  mean /= static_cast<double>(all);
  for (double& d : distances) d = std::abs(mean - d);
  std::vector<std::size_t> order(ids_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto before = [&](std::size_t a, std::size_t b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
  };
  const double most =
      distances[where_reached(order, weights_, share(options_.typical_p, all), before)];
  keep_if([&](std::size_t i) { return distances[i] <= most; });
}

void Sampler::filter(std::span<const float> logits) {
  largest_ = largest_logit(kCaller, logits);
  logits_.assign(logits.begin(), logits.end());
  if (!options_.logit_bias.empty() || !counts_.empty()) {
    change_logits();
    largest_ = largest_logit(kCaller, logits_);
  }
  if (options_.temperature == 0) {
    const auto first = std::find(logits_.begin(), logits_.end(), largest_);
    ids_ = {static_cast<text::TokenId>(first - logits_.begin())};
    weights_ = {kWeightOfOne};
    return;
  }
  ids_.resize(logits.size());
  std::iota(ids_.begin(), ids_.end(), text::TokenId{0});
  weights_.resize(logits.size());
  keep_top_k();
  weights_of(logits_, largest_, options_.temperature, weights_.data());
  keep_top_p();
  keep_min_p();
  keep_typical();
}

std::vector<Sampler::Candidate> Sampler::candidates(std::span<const float> logits) {
  filter(logits);
  const auto all = static_cast<double>(total());
  std::vector<Candidate> list;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (weights_[i] == 0) continue;
    list.push_back({ids_[i], static_cast<double>(weights_[i]) / all});
  }
  return list;
}

text::TokenId Sampler::next(std::span<const float> logits) {
  filter(logits);
  std::uint64_t left = uniform(options_.seed, chosen_, total());
  std::size_t i = 0;
  while (left >= weights_[i]) left -= weights_[i++];
  ++chosen_;
  if (penalties_) ++counts_[ids_[i]];
  return ids_[i];
}

}  // namespace tlaloc::llm
