#include "tlaloc/llm/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tlaloc::llm {
namespace {

namespace json = boost::json;

/// Radians for each position.
std::vector<double> plain(std::int64_t size, double theta) {
  std::vector<double> f;
  for (std::int64_t i = 0; i < size; i += 2) {
    f.push_back(std::pow(theta, -static_cast<double>(i) / static_cast<double>(size)));
  }
  return f;
}

/// Parameters that a scaling has asked for, with what it takes where they are not there.
struct Scaling {
  Config& given;
  RopeRequest& request;
  json::object& taken;

  template <class T>
  T take(const char* key, T value) const {
    taken[key] = value;
    return value;
  }
  std::int64_t first_length() const {
    constexpr const char* kKey = "original_max_position_embeddings";
    return take(kKey, given.size(kKey, request.context, kMostContext));
  }
  /// By how much the context grows.
  double growth(std::optional<double> otherwise = {}) const {
    const double factor = take("factor", given.positive("factor", otherwise));
    if (factor > 1e6) given.contradict("factor", "it must be a number up to 1000000");
    return factor;
  }
  double positive(const char* key, std::optional<double> otherwise = {}) const {
    return take(key, given.positive(key, otherwise));
  }
};

/// What rope_type llama3 multiplies each frequency by.
struct Llama3 {
  double factor, low, high, length;

  double operator()(double frequency) const {
    const double turns = length * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    return kept + (1 - kept) / factor;
  }
};

void scale_llama3(const Scaling& p, std::vector<double>& frequencies) {
  Llama3 scale{};
  scale.factor = p.growth();
  scale.low = p.positive("low_freq_factor");
  scale.high = p.positive("high_freq_factor");
  scale.length = static_cast<double>(p.first_length());
  if (scale.low >= scale.high) {
    p.given.contradict("low_freq_factor", "it must be below high_freq_factor");
  }
  for (double& f : frequencies) f *= scale(f);
}

double scale_yarn(const Scaling& s, std::int64_t size, double theta,
                  std::vector<double>& frequencies) {
  Config& p = s.given;
  RopeRequest& r = s.request;
  const std::int64_t first = s.first_length();
  const auto length = static_cast<double>(first);
  const double factor = s.growth(static_cast<double>(r.context) / length);
  r.context =
      std::min(std::max(r.context, static_cast<std::int64_t>(factor * length)), kMostContext);
  const auto width = static_cast<double>(size);
  // The element whose frequency turns so often over the first length.
  auto element = [&](double turns) {
    return width * std::log(length / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  double low = element(s.positive("beta_fast", 32.0));
  double high = element(s.positive("beta_slow", 1.0));
  if (p.flag("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, width - 1);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double slowed = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= 1 - slowed + slowed / factor;
  }
  auto magnitude = [&](double m) { return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1; };
  const std::optional<double> given = p.number("attention_factor");
  const double m = p.number("mscale").value_or(0), all = p.number("mscale_all_dim").value_or(0);
  if (given) return p.positive("attention_factor");
  return m != 0 && all != 0 ? magnitude(m) / magnitude(all) : magnitude(1);
}

double scale_longrope(const Scaling& s, std::vector<double>& frequencies) {
  Config& p = s.given;
  const RopeRequest& r = s.request;
  const std::int64_t first = s.first_length();
  if (first < 2) p.contradict("original_max_position_embeddings", "it must be above 1");
  const auto length = static_cast<double>(first);
  const double factor = s.growth(static_cast<double>(r.context) / length);
  const std::int64_t used = r.used <= 0 ? r.context : r.used;
  for (const char* key : {"short_factor", "long_factor"}) {
    const std::vector<double> factors = p.numbers(key);
    s.taken[key] = json::array(factors.begin(), factors.end());
    if (factors.size() != frequencies.size()) {
      p.contradict(key, "there must be " + std::to_string(frequencies.size()) + " numbers");
    }
    if (*std::min_element(factors.begin(), factors.end()) <= 0) {
      p.contradict(key, "its numbers must be above 0");
    }
    if ((used > first) != (key == std::string_view("long_factor"))) continue;
    for (std::size_t i = 0; i < factors.size(); ++i) frequencies[i] /= factors[i];
  }
  if (p.has("attention_factor")) return p.positive("attention_factor");
  return longrope_attention_factor(factor, length);
}

/// 10000 is 10000.0.
bool is_same(const json::value& a, const json::value& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  return a.to_number<double>() == b.to_number<double>();
}

}  // namespace

double longrope_attention_factor(double growth, double first_length) {
  return growth <= 1 ? 1 : std::sqrt(1 + std::log(growth) / std::log(first_length));
}

RopeParameters rope_parameters(Config& c) {
  const json::object *five = c.object("rope_parameters"), *four = c.object("rope_scaling");
  if (five != nullptr && four != nullptr) {
    c.contradict("rope_scaling", "rope_parameters says it too: one of them must go");
  }
  RopeParameters all;
  if (five != nullptr) all.values = *five;
  if (four != nullptr) {
    all.values = *four;
    all.path = "rope_scaling";
  }
  for (const char* key : {"rope_theta", "partial_rotary_factor"}) {
    const json::value* v = c.find(key);
    if (v == nullptr) continue;
    json::value& inner = all.values[key];
    if (!inner.is_null() && !is_same(inner, *v))
      c.contradict(key, all.path + " says another value");
    inner = *v;
    all.elsewhere.emplace(key, key);
  }
  return all;
}

RopeSpec read_rope(Config& p, RopeRequest& r) {
  const std::string old = p.text("type", "");
  const std::string type = p.text("rope_type", old.empty() ? "default" : old);
  if (!old.empty() && old != type) p.contradict("type", "rope_type says another one");
  const double theta = p.positive("rope_theta", r.theta);
  const double part = p.positive("partial_rotary_factor", 1.0);
  const auto size =
      static_cast<std::int64_t>(static_cast<double>(r.head_width) * std::min(part, 1.0));
  if (part > 1 || size < 2 || size % 2 != 0) {
    p.contradict("partial_rotary_factor", "an even number of the " + std::to_string(r.head_width) +
                                              " elements of a head must be turned");
  }
  if (theta <= 1) p.contradict("rope_theta", "it must be above 1");
  std::vector<double> frequencies = plain(size, theta);
  RopeSpec rope;
  rope.parameters = {{"rope_type", type == "su" ? "longrope" : type},
                     {"rope_theta", theta},
                     {"max_position_embeddings", r.context}};
  const Scaling scaling{p, r, rope.parameters};
  if (type == "linear") {
    const double factor = scaling.growth();
    for (double& f : frequencies) f /= factor;
  } else if (type == "dynamic") {
    scaling.growth();
  } else if (type == "llama3") {
    scale_llama3(scaling, frequencies);
  } else if (type == "yarn") {
    rope.factor = scale_yarn(scaling, size, theta, frequencies);
  } else if (type == "longrope" || type == "su") {
    rope.factor = scale_longrope(scaling, frequencies);
  } else if (type != "default") {
    p.refuse(p.has("rope_type") ? "rope_type" : "type",
             "supported: default, linear, dynamic, llama3, yarn, longrope");
  }
  p.finish();
  rope.frequencies.assign(frequencies.begin(), frequencies.end());
  for (const float f : rope.frequencies) {
    if (!std::isfinite(f)) p.contradict("rope_theta", "a frequency is too large for f32");
  }
  return rope;
}

std::vector<float> llama3_factors(const RopeSpec& rope) {
  auto number = [&](const char* key) { return rope.parameters.at(key).to_number<double>(); };
  const Llama3 scale{number("factor"), number("low_freq_factor"), number("high_freq_factor"),
                     number("original_max_position_embeddings")};
  std::vector<float> factors;
  for (const double f : plain(2 * std::ssize(rope.frequencies), number("rope_theta"))) {
    factors.push_back(static_cast<float>(1 / scale(f)));
  }
  return factors;
}

std::optional<json::object> llama3_parameters(std::span<const float> factors, double theta) {
  const std::vector<double> frequencies = plain(2 * std::ssize(factors), theta);
  Llama3 scale{0, 1, 4, 0};
  for (const float f : factors) scale.factor = std::max(scale.factor, static_cast<double>(f));
  if (!(scale.factor > 1 && scale.factor <= 1e6)) return std::nullopt;
  auto fits = [&](double high, double length) {
    scale.high = high;
    scale.length = length;
    if (!(high > 1) || !(length >= 1 && length <= static_cast<double>(kMostContext))) return false;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double made = static_cast<double>(factors[i]) * scale(frequencies[i]);
      if (!(std::abs(made - 1) < 1e-5)) return false;
    }
    return true;
  };
  // Of those between the two bounds, what is kept of the frequency is linear in how often it turns
  // over the first length.
  struct Point {
    double frequency, kept;
  };
  std::vector<Point> between;
  double most = static_cast<double>(kMostContext);  // of the length, by what is slowed fully
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double kept =
        (1 / static_cast<double>(factors[i]) - 1 / scale.factor) / (1 - 1 / scale.factor);
    const double length = 2 * std::numbers::pi / frequencies[i];
    if (kept <= 0) most = std::min(most, length);
    if (kept > 0 && kept < 1) between.push_back({frequencies[i], kept});
  }
  bool found = false;
  if (between.empty()) {
    // The longest that it may be, and a power of two, as lengths are.
    found = fits(4, std::exp2(std::floor(std::log2(most))));
  } else {
    const Point& p = between.front();
    found = fits(4, std::round((1 + 3 * p.kept) * 2 * std::numbers::pi / p.frequency));
  }
  if (!found && between.size() > 1) {
    const Point &p = between.front(), &q = between.back();
    const double slope = (p.kept - q.kept) / (p.frequency - q.frequency);
    const double above = 1 / (slope * p.frequency - p.kept);  // high - low
    found =
        fits(1 + std::round(above * 1e3) / 1e3, std::round(2 * std::numbers::pi * slope * above));
  }
  if (!found) return std::nullopt;
  return json::object{{"rope_type", "llama3"},
                      {"factor", scale.factor},
                      {"low_freq_factor", scale.low},
                      {"high_freq_factor", scale.high},
                      {"original_max_position_embeddings", std::llround(scale.length)}};
}

}  // namespace tlaloc::llm
