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

std::int64_t first_length(Config& p, const RopeRequest& r) {
  return p.size("original_max_position_embeddings", r.context, kMostContext);
}
/// By how much the context grows.
double growth(Config& p, std::optional<double> otherwise = {}) {
  const double factor = p.positive("factor", otherwise);
  if (factor > 1e6) p.contradict("factor", "it must be a number up to 1000000");
  return factor;
}

void scale_llama3(Config& p, const RopeRequest& r, std::vector<double>& frequencies) {
  const double factor = growth(p);
  const double low = p.positive("low_freq_factor"), high = p.positive("high_freq_factor");
  const auto length = static_cast<double>(first_length(p, r));
  if (low >= high) p.contradict("low_freq_factor", "it must be below high_freq_factor");
  for (double& f : frequencies) {
    const double turns = length * f / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    f *= kept + (1 - kept) / factor;
  }
}

double scale_yarn(Config& p, RopeRequest& r, std::int64_t size, double theta,
                  std::vector<double>& frequencies) {
  const std::int64_t first = first_length(p, r);
  const auto length = static_cast<double>(first);
  const double factor = growth(p, static_cast<double>(r.context) / length);
  r.context =
      std::min(std::max(r.context, static_cast<std::int64_t>(factor * length)), kMostContext);
  const auto width = static_cast<double>(size);
  // The element whose frequency turns so often over the first length.
  auto element = [&](double turns) {
    return width * std::log(length / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  double low = element(p.positive("beta_fast", 32.0));
  double high = element(p.positive("beta_slow", 1.0));
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

double scale_longrope(Config& p, const RopeRequest& r, std::vector<double>& frequencies) {
  const std::int64_t first = first_length(p, r);
  if (first < 2) p.contradict("original_max_position_embeddings", "it must be above 1");
  const auto length = static_cast<double>(first);
  const double factor = growth(p, static_cast<double>(r.context) / length);
  const std::int64_t used = r.used <= 0 ? r.context : r.used;
  for (const char* key : {"short_factor", "long_factor"}) {
    const std::vector<double> factors = p.numbers(key);
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
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(length));
}

/// 10000 is 10000.0.
bool is_same(const json::value& a, const json::value& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  return a.to_number<double>() == b.to_number<double>();
}

}  // namespace

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
  if (type == "linear") {
    const double factor = growth(p);
    for (double& f : frequencies) f /= factor;
  } else if (type == "dynamic") {
    growth(p);
  } else if (type == "llama3") {
    scale_llama3(p, r, frequencies);
  } else if (type == "yarn") {
    rope.factor = scale_yarn(p, r, size, theta, frequencies);
  } else if (type == "longrope" || type == "su") {
    rope.factor = scale_longrope(p, r, frequencies);
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

}  // namespace tlaloc::llm
