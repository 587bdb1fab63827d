#include "tlaloc/llm/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/llm/logits.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using text::TokenId;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

json::object goldens() {
  const std::string path = "tlaloc/llm/testdata/sampling.json";
  const auto file = MappedFile::open("test", path);
  const auto* text = reinterpret_cast<const char*>(file->bytes().data());
  return parse_json({text, file->bytes().size()}, path).get_object();
}

std::vector<float> floats_of(const json::value& list) {
  std::vector<float> v;
  for (const json::value& x : list.get_array()) v.push_back(x.to_number<float>());
  return v;
}
std::vector<TokenId> ids_of(const json::value& list) {
  std::vector<TokenId> v;
  for (const json::value& x : list.get_array()) v.push_back(x.to_number<TokenId>());
  return v;
}

SamplingOptions options_of(const json::object& o) {
  SamplingOptions s;
  for (const auto& [key, value] : o) {
    if (key == "logit_bias") {
      for (const auto& [id, bias] : value.get_object()) {
        s.logit_bias.emplace_back(std::stoi(std::string(id)), bias.to_number<float>());
      }
    } else if (key == "top_k") {
      s.top_k = value.to_number<std::int64_t>();
    } else {
      double* field = key == "temperature"          ? &s.temperature
                      : key == "top_p"              ? &s.top_p
                      : key == "min_p"              ? &s.min_p
                      : key == "typical_p"          ? &s.typical_p
                      : key == "repetition_penalty" ? &s.repetition_penalty
                      : key == "presence_penalty"   ? &s.presence_penalty
                      : key == "frequency_penalty"  ? &s.frequency_penalty
                                                    : nullptr;
      EXPECT_NE(field, nullptr) << key;
      if (field != nullptr) *field = value.to_number<double>();
    }
  }
  return s;
}

/// What is left once each of `answer` was chosen.
std::vector<Sampler::Candidate> candidates_after(const SamplingOptions& options,
                                                 const std::vector<TokenId>& prompt,
                                                 const std::vector<TokenId>& answer,
                                                 std::span<const float> logits) {
  Sampler sampler(options, prompt);
  for (const TokenId id : answer) {
    std::vector<float> only(logits.size(), -kInf);
    only[static_cast<std::size_t>(id)] = 0;
    EXPECT_EQ(sampler.next(only), id);
  }
  return sampler.candidates(logits);
}

TEST(Sampler, EqualsTransformers) {
  const json::object all = goldens();
  ASSERT_GE(all.at("cases").get_array().size(), 30u);
  for (const json::value& c : all.at("cases").get_array()) {
    SCOPED_TRACE(json::serialize(c.at("options")));
    SamplingOptions options = options_of(c.at("options").get_object());
    const auto got = candidates_after(options, ids_of(c.at("prompt")), ids_of(c.at("answer")),
                                      floats_of(all.at("vectors").at(c.at("logits").get_string())));
    const json::array& expected = c.at("candidates").get_array();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].id, expected[i].at(0).to_number<TokenId>());
      const auto p = expected[i].at(1).to_number<double>();
      ASSERT_NEAR(got[i].probability, p, 1e-7 * p + 1e-11) << "token " << got[i].id;
    }
  }
}

TEST(Sampler, ChoosesWithTheBitsOfJax) {
  const json::object all = goldens();
  for (const json::value& d : all.at("draws").get_array()) {
    SCOPED_TRACE(json::serialize(d.at("options")));
    SamplingOptions options = options_of(d.at("options").get_object());
    options.seed = d.at("seed").to_number<std::uint64_t>();
    const std::vector<float> logits = floats_of(all.at("vectors").at(d.at("logits").get_string()));
    Sampler sampler(options);
    std::vector<TokenId> chosen;
    for (std::size_t i = 0; i < d.at("chosen").get_array().size(); ++i) {
      chosen.push_back(sampler.next(logits));
    }
    EXPECT_THAT(chosen, ElementsAreArray(ids_of(d.at("chosen"))));
  }
}

std::vector<float> random_logits(std::size_t n, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> logits(n);
  for (float& x : logits) x = normal(random);
  return logits;
}

TEST(Sampler, ChoosesAsOftenAsIsProbable) {
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0.6, .top_p = 0.9, .seed = 5},
        SamplingOptions{.temperature = 2, .top_k = 7, .min_p = 0.1, .seed = 9}}) {
    const std::vector<float> logits = random_logits(24, 1.0f, 3);
    Sampler sampler(options);
    const auto candidates = sampler.candidates(logits);
    constexpr int kDraws = 40000;
    std::vector<int> counts(logits.size());
    for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(sampler.next(logits))];
    double chi_square = 0;
    int seen = 0;
    for (const auto& [id, p] : candidates) {
      const int count = counts[static_cast<std::size_t>(id)];
      seen += count;
      chi_square += (count - kDraws * p) * (count - kDraws * p) / (kDraws * p);
    }
    EXPECT_EQ(seen, kDraws);
    // Beyond this once in some 30000 seeds, by the normal approximation of Wilson and Hilferty.
    const double n = static_cast<double>(candidates.size()) - 1;
    EXPECT_LT(chi_square, n * std::pow(1 - 2 / (9 * n) + 4 * std::sqrt(2 / (9 * n)), 3));
  }
}

/// The same by sorting everything.
std::vector<TokenId> kept_by_sorting(const std::vector<float>& logits, const SamplingOptions& o) {
  struct Entry {
    TokenId id;
    long double x, p, distance;
  };
  std::vector<Entry> entries;
  const float most = *std::max_element(logits.begin(), logits.end());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    entries.push_back({static_cast<TokenId>(i), (logits[i] - most) / o.temperature, 0, 0});
  }
  auto sort_by = [&](auto key) {
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  };
  auto normalize = [&] {
    long double sum = 0;
    for (Entry& e : entries) sum += e.p = std::exp(e.x);
    for (Entry& e : entries) e.p /= sum;
  };
  auto cut = [&](double mass) {
    normalize();
    long double sum = 0;
    std::size_t n = 0;
    while (n < entries.size() && sum < mass) sum += entries[n++].p;
    entries.resize(n);
  };
  auto minus_x = [](const Entry& e) { return -e.x; };
  sort_by(minus_x);
  if (o.top_k > 0) entries.resize(static_cast<std::size_t>(o.top_k));
  if (o.top_p < 1) cut(o.top_p);
  if (o.min_p > 0) {
    normalize();
    std::erase_if(entries, [p = o.min_p * entries[0].p](const Entry& e) { return e.p < p; });
  }
  if (o.typical_p < 1) {
    normalize();
    long double entropy = 0;
    for (const Entry& e : entries) entropy -= e.p * std::log(e.p);
    for (Entry& e : entries) e.distance = std::abs(-std::log(e.p) - entropy);
    sort_by([](const Entry& e) { return e.distance; });
    cut(o.typical_p);
  }
  std::vector<TokenId> ids;
  for (const Entry& e : entries) ids.push_back(e.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(Sampler, KeepsWhatSortingKeeps) {
  for (const float scale : {0.01f, 1.0f, 4.0f}) {
    const std::vector<float> logits = random_logits(20'011, scale, 17);
    for (const SamplingOptions& options :
         {SamplingOptions{.top_k = 50}, SamplingOptions{.top_k = 9000},
          SamplingOptions{.top_p = 0.1}, SamplingOptions{.top_p = 0.9},
          SamplingOptions{.top_p = 0.999}, SamplingOptions{.min_p = 0.3},
          SamplingOptions{.typical_p = 0.2}, SamplingOptions{.typical_p = 0.9},
          SamplingOptions{.temperature = 1.7, .top_k = 700, .top_p = 0.8, .typical_p = 0.6}}) {
      std::vector<TokenId> ids;
      for (const auto& c : Sampler(options).candidates(logits)) ids.push_back(c.id);
      ASSERT_EQ(ids, kept_by_sorting(logits, options))
          << scale << " " << options.top_k << " " << options.top_p << " " << options.typical_p;
    }
  }
}

std::vector<TokenId> kept(const SamplingOptions& options, const std::vector<float>& logits) {
  std::vector<TokenId> ids;
  for (const auto& c : Sampler(options).candidates(logits)) ids.push_back(c.id);
  return ids;
}

TEST(Sampler, EqualLogits) {
  const std::vector<float> logits = {1, 3, 2, 3, 2, 2, -kInf};
  EXPECT_THAT(kept({.temperature = 0}, logits), ElementsAre(1));
  EXPECT_THAT(kept({.top_k = 1}, logits), ElementsAre(1, 3));
  EXPECT_THAT(kept({.top_k = 3}, logits), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(kept({.top_p = 0}, logits), ElementsAre(1));
  EXPECT_THAT(kept({.top_p = 0.7}, logits), ElementsAre(1, 2, 3));
  EXPECT_THAT(kept({.top_p = 0.5}, {1, 1}), ElementsAre(0));
  EXPECT_THAT(kept({.min_p = 1}, logits), ElementsAre(1, 3));
  EXPECT_THAT(kept({}, logits), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(kept({.typical_p = 0.01}, logits), ElementsAre(1, 3));
  EXPECT_THAT(kept({.typical_p = 0.7}, logits), ElementsAre(1, 2, 3, 4, 5));
}

TEST(Sampler, FiltersThatKeepAllChangeNothing) {
  const std::vector<float> logits = random_logits(500, 2.0f, 1);
  Sampler plain(SamplingOptions{.seed = 77});
  Sampler filtered(SamplingOptions{
      .top_k = 500, .top_p = 1 - 1e-15, .min_p = 1e-14, .typical_p = 1 - 1e-15, .seed = 77});
  for (int i = 0; i < 200; ++i) ASSERT_EQ(plain.next(logits), filtered.next(logits));
}

TEST(Sampler, ExtremeTemperaturesAndLogits) {
  const std::vector<float> logits = {-3e38f, 0, 3e38f, 2.9e38f};
  EXPECT_THAT(kept({.temperature = 1e-300}, logits), ElementsAre(2));
  EXPECT_THAT(kept({.temperature = 5e-324, .typical_p = 0.5}, logits), ElementsAre(2));
  EXPECT_THAT(kept({.temperature = 1e300}, logits), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(kept({.repetition_penalty = 1e300}, {-kInf, -1}), ElementsAre(1));
}

TEST(Sampler, ForbidsTokens) {
  Sampler sampler(SamplingOptions{.logit_bias = {{0, -kInf}, {2, -kInf}}});
  EXPECT_EQ(sampler.next(std::vector<float>{9, 0, 9}), 1);
  EXPECT_THAT([&] { sampler.next(std::vector<float>{9, -kInf, 9}); },
              ThrowsMessage<UserError>(HasSubstr("TL-SAMPLE-002: sample: all 3 logits are "
                                                 "-infinity")));
  EXPECT_THAT([&] { sampler.next(std::vector<float>{9, 0}); },
              ThrowsMessage<UserError>(HasSubstr("TL-SAMPLE-001: sample: token 2 has a bias, but "
                                                 "no logit: there are 2")));
}

TEST(Sampler, RefusesLogits) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{70}, std::size_t{129}}) {
    for (const double temperature : {0.0, 1.0}) {
      std::vector<float> logits(130, -1.0f);
      logits[5] = -kInf;
      logits[at] = kNan;
      Sampler sampler(SamplingOptions{.temperature = temperature});
      EXPECT_THAT([&] { sampler.next(logits); },
                  ThrowsMessage<UserError>(HasSubstr("TL-SAMPLE-002: sample: the logit of token " +
                                                     std::to_string(at) + " is NaN")));
      logits[at] = kInf;
      EXPECT_THAT(
          [&] { sampler.next(logits); },
          ThrowsMessage<UserError>(HasSubstr("token " + std::to_string(at) + " is infinite")));
    }
  }
  EXPECT_THAT([] { Sampler({}).next({}); }, ThrowsMessage<UserError>(HasSubstr("TL-SAMPLE-002")));
}

TEST(Sampler, RefusesOptions) {
  auto expect = [](const SamplingOptions& options, const std::string& message) {
    EXPECT_THAT([&] { Sampler{options}; },
                ThrowsMessage<UserError>(HasSubstr("TL-SAMPLE-001: sample: " + message)));
  };
  expect({.temperature = -1}, "temperature is -1; give 0, which");
  expect({.temperature = kNan}, "temperature is nan");
  expect({.temperature = kInf}, "temperature is inf");
  expect({.top_k = -2}, "top_k is -2; give 0, for all tokens");
  expect({.top_p = 1.5}, "top_p is 1.5; give a number from 0 to 1");
  expect({.min_p = -0.1}, "min_p is -0.1");
  expect({.typical_p = 0}, "typical_p is 0; give a number above 0, to 1");
  expect({.repetition_penalty = 0}, "repetition_penalty is 0; give a positive number");
  expect({.frequency_penalty = kNan}, "frequency_penalty is nan");
  expect({.presence_penalty = kInf}, "presence_penalty is inf");
  expect({.logit_bias = {{4, kInf}}}, "the bias of token 4 is inf");
  expect({.logit_bias = {{4, kNan}}}, "the bias of token 4 is nan");
}

TEST(Logits, TopAreThoseOfSorting) {
  for (const std::size_t n : {1u, 5u, 64u, 65u, 1000u}) {
    std::vector<float> logits = random_logits(n, 1.0f, static_cast<unsigned>(n));
    for (float& x : logits) x = std::round(x * 4);  // many are equal
    std::vector<TokenLogit> sorted;
    for (std::size_t i = 0; i < n; ++i) sorted.push_back({static_cast<TokenId>(i), logits[i]});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const TokenLogit& a, const TokenLogit& b) { return a.logit > b.logit; });
    for (std::size_t k = 1; k <= n; k += 1 + k / 7) {
      ASSERT_EQ(kth_largest(logits, k), sorted[k - 1].logit) << n << " " << k;
      const std::vector<TokenLogit> first(sorted.begin(),
                                          sorted.begin() + static_cast<std::ptrdiff_t>(k));
      ASSERT_EQ(top_logits(logits, k), first) << n << " " << k;
    }
    EXPECT_EQ(top_logits(logits, n + 3), sorted);
    EXPECT_TRUE(top_logits(logits, 0).empty());
  }
}

TEST(Logits, LogSumExp) {
  const std::vector<float> logits = random_logits(5000, 5.0f, 8);
  const float most = largest_logit("test", logits);
  EXPECT_EQ(most, *std::max_element(logits.begin(), logits.end()));
  long double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<long double>(x) - most);
  EXPECT_NEAR(log_sum_exp(logits, most), static_cast<double>(most + std::log(sum)), 1e-9);
}

TEST(Logits, WeightsAreExponentials) {
  std::vector<float> logits;
  for (float x = 0; x > -40; x -= 0.0371f) logits.push_back(x);
  std::vector<std::uint64_t> weights(logits.size());
  weights_of(logits, 0, 0.75, weights.data());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const long double exact = std::exp(static_cast<long double>(logits[i]) / 0.75L) * kWeightOfOne;
    // Half a unit of rounding, and a unit for the polynomial.
    ASSERT_NEAR(static_cast<double>(weights[i]), static_cast<double>(exact), 1.5) << logits[i];
  }
}

}  // namespace
}  // namespace tlaloc::llm
