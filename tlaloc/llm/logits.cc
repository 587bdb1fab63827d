#include "tlaloc/llm/logits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tlaloc/base/error.h"

namespace tlaloc::llm {
namespace {

/// Logits are looked at in blocks: loops of fixed length are vectorized.
constexpr std::size_t kBlock = 64;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// NaN where one of the block is.
float largest_of_block(const float* p) {
  constexpr std::size_t kLanes = 8;
  float lanes[kLanes], differences[kLanes] = {};
  std::copy_n(p, kLanes, lanes);
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      lanes[j] = p[i + j] > lanes[j] ? p[i + j] : lanes[j];
      differences[j] += p[i + j] * 0.0f;  // NaN of NaN and infinities
    }
  }
  float all = 0;
  for (const float d : differences) all += d;
  return all == 0 ? *std::max_element(lanes, lanes + kLanes)
                  : std::accumulate(p, p + kBlock, -kInfinity, [](float most, float x) {
                      return std::isnan(most) || most >= x ? most : x;
                    });
}

/// Of each block; the last may be short.
std::vector<float> largest_of_blocks(std::span<const float> logits) {
  std::vector<float> most;
  most.reserve(logits.size() / kBlock + 1);
  std::size_t i = 0;
  for (; i + kBlock <= logits.size(); i += kBlock) {
    most.push_back(largest_of_block(logits.data() + i));
  }
  if (i < logits.size()) {
    float rest[kBlock];
    std::fill_n(rest, kBlock, logits[i]);
    std::copy(logits.begin() + static_cast<std::ptrdiff_t>(i), logits.end(), rest);
    most.push_back(largest_of_block(rest));
  }
  return most;
}

[[noreturn]] void refuse(const char* caller, const std::string& message) {
  throw UserError({"TL-SAMPLE-002",
                   caller,
                   message,
                   "the model's weights may be damaged, or biases and penalties leave nothing",
                   {}});
}

float nth(std::vector<float>& values, std::size_t k) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), at, values.end(), std::greater<>());
  return *at;
}

/// exp(x) in units of 1 / kWeightOfOne, for -64 <= x <= 0. exp(x) = 2^n exp(r) with |r| <= ln(2) /
/// 2; the error of its Taylor polynomial of degree 11 is 0.35^12 / 12! = 7e-15, where a unit is
/// 2e-12.
std::uint64_t weight_of(double x) {
  // Adding it rounds to an integer, which the low bits of the sum then are.
  constexpr double kRound = 0x1.8p52;
  const double sum = x * 0x1.71547652b82fep0 + kRound;
  const double n = sum - kRound;
  const double r = x - n * 0x1.62e42fefa0000p-1 - n * 0x1.cf79abc9e3b3ap-40;
  double e = 1.0 / 39916800;
  e = e * r + 1.0 / 3628800;
  e = e * r + 1.0 / 362880;
  e = e * r + 1.0 / 40320;
  e = e * r + 1.0 / 5040;
  e = e * r + 1.0 / 720;
  e = e * r + 1.0 / 120;
  e = e * r + 1.0 / 24;
  e = e * r + 1.0 / 6;
  e = e * r + 1.0 / 2;
  e = e * r + 1;
  e = e * r + 1;
  const std::uint64_t exponent =
      std::bit_cast<std::uint64_t>(sum) - std::bit_cast<std::uint64_t>(kRound) + 1023;
  const double power = std::bit_cast<double>(exponent << 52);
  constexpr double kUnits = 0x1p52;  // from here to its double, doubles are the integers
  return std::bit_cast<std::uint64_t>(e * power * static_cast<double>(kWeightOfOne) + kUnits) -
         std::bit_cast<std::uint64_t>(kUnits);
}

void weights_of_block(const float* logits, std::size_t n, float largest, double temperature,
                      std::uint64_t* weights) {
  double x[kBlock] = {};
  for (std::size_t i = 0; i < n; ++i) {
    // exp(-64) is far below a unit.
    x[i] = std::max((static_cast<double>(logits[i]) - largest) / temperature, -64.0);
  }
  std::uint64_t w[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) w[i] = weight_of(x[i]);
  std::copy_n(w, n, weights);
}

}  // namespace

float largest_logit(const char* caller, std::span<const float> logits) {
  float most = -kInfinity;
  for (const float x : largest_of_blocks(logits)) {
    if (std::isnan(x) || x == kInfinity) {
      const auto at = std::find_if(logits.begin(), logits.end(),
                                   [](float v) { return std::isnan(v) || v == kInfinity; });
      refuse(caller, fmt::format("the logit of token {} is {}", at - logits.begin(),
                                 std::isnan(*at) ? "NaN" : "infinite"));
    }
    most = std::max(most, x);
  }
  if (most == -kInfinity) {
    refuse(caller, fmt::format("all {} logits are -infinity", logits.size()));
  }
  return most;
}

float kth_largest(std::span<const float> logits, std::size_t k) {
  std::vector<float> most = largest_of_blocks(logits);
  // k blocks have a logit that is at least the k-th largest of their largest.
  float floor = -kInfinity;
  if (k <= most.size()) floor = nth(most, k);
  std::vector<float> few;
  for (const float x : logits) {
    if (x >= floor) few.push_back(x);
  }
  return nth(few, k);
}

std::vector<TokenLogit> top_logits(std::span<const float> logits, std::size_t count) {
  count = std::min(count, logits.size());
  std::vector<TokenLogit> top;
  if (count == 0) return top;
  const float floor = kth_largest(logits, count);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] >= floor) top.push_back({static_cast<text::TokenId>(i), logits[i]});
  }
  std::stable_sort(top.begin(), top.end(),
                   [](const TokenLogit& a, const TokenLogit& b) { return a.logit > b.logit; });
  top.resize(count);
  return top;
}

void weights_of(std::span<const float> logits, float largest, double temperature,
                std::uint64_t* weights) {
  for (std::size_t i = 0; i < logits.size(); i += kBlock) {
    weights_of_block(logits.data() + i, std::min(kBlock, logits.size() - i), largest, temperature,
                     weights + i);
  }
}

double log_sum_exp(std::span<const float> logits, float largest) {
  std::vector<std::uint64_t> weights(logits.size());
  weights_of(logits, largest, 1, weights.data());
  const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  return largest + std::log(static_cast<double>(sum) / static_cast<double>(kWeightOfOne));
}

}  // namespace tlaloc::llm
