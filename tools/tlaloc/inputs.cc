#include "tools/tlaloc/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/io/npy.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tools/tlaloc/literal.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

bool is_file(const std::string& text) { return text.ends_with(".npy"); }

struct RandomRange {
  bool uniform = false;
  double low = 0, high = 0;
};

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw UserError({"TL-INPUT-001", "tlaloc", message, hint, {}});
}

/// Nothing where `text` asks for no random numbers.
std::optional<RandomRange> random_range(const std::string& text) {
  if (text == "random") return RandomRange{};
  constexpr std::string_view kRandom = "random:";
  if (!text.starts_with(kRandom)) return std::nullopt;
  RandomRange r{true, 0, 0};
  const char* end = text.data() + text.size();
  const auto low = std::from_chars(text.data() + kRandom.size(), end, r.low);
  if (low.ec == std::errc() && low.ptr != end && *low.ptr == ':') {
    const auto high = std::from_chars(low.ptr + 1, end, r.high);
    const double width = r.high - r.low;
    if (high.ec == std::errc() && high.ptr == end && width > 0 && std::isfinite(width)) return r;
  }
  refuse("'" + text + "' is no range", "random:LOW:HIGH, such as random:0:1, with LOW < HIGH");
}

/// Random numbers that are the same with every standard library, whose distributions differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}

  /// [0, 1)
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// [0, n), near enough to uniform for n far below 2^64.
  std::uint64_t below(std::uint64_t n) { return bits_() % n; }

 private:
  std::mt19937_64 bits_;
};

template <class T>
T random_element(const RandomRange& range, Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!range.uniform) return random.below(2) == 1;
    return range.low + static_cast<double>(
                           random.below(static_cast<std::uint64_t>(range.high - range.low))) ==
           1;
  } else if constexpr (std::is_integral_v<T>) {
    const std::int64_t low = range.uniform ? static_cast<std::int64_t>(range.low) : 0;
    const std::int64_t high = range.uniform ? static_cast<std::int64_t>(range.high) : 10;
    return static_cast<T>(
        low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low))));
  } else {
    const double x =
        range.uniform ? range.low + (range.high - range.low) * random.uniform() : random.normal();
    return T(static_cast<ComputeType<T>>(x));
  }
}

/// Integers of [LOW, HIGH) must be integers of the type, and some; of bools 0 and 1 are.
template <class T>
void check_range(const RandomRange& r, DType dtype) {
  if constexpr (std::is_integral_v<T>) {
    constexpr double kMost = 0x1p53;  // a double has all integers below
    const double highest = std::min(static_cast<double>(std::numeric_limits<T>::max()), kMost);
    const double lowest = std::max(static_cast<double>(std::numeric_limits<T>::min()), -kMost);
    if (r.low < lowest || r.high - 1 > highest || r.low != std::trunc(r.low) ||
        r.high != std::trunc(r.high)) {
      refuse("the range has no uniform numbers of the type " + std::string(name(dtype)),
             "give integers that the type holds: random:0:10");
    }
  }
}

HostArray random_array(DType dtype, Extents extents, const RandomRange& range, std::uint64_t seed) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    if (range.uniform) check_range<T>(range, dtype);
    Random random(seed);
    HostArray a = HostArray::uninitialized(dtype, std::move(extents));
    for (T& x : a.as_mutable<T>()) x = random_element<T>(range, random);
    return a;
  });
}

HostArray filled(const HostArray& number, Extents extents) {
  return dispatch(number.dtype(), [&]<class T>(TypeTag<T>) {
    HostArray a = HostArray::uninitialized(number.dtype(), std::move(extents));
    for (T& x : a.as_mutable<T>()) x = number.as<T>()[0];
    return a;
  });
}

struct Named {
  std::size_t param;
  std::string value;
};
/// Nothing where `text` names no parameter.
std::optional<Named> named_input(const ir::Graph& g, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return std::nullopt;
  std::string names;
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const std::string given = text.substr(0, equals);
    if (param_name(g, k) == given || std::to_string(k) == given) {
      return Named{k, text.substr(equals + 1)};
    }
    names += " " + param_name(g, k);
  }
  if (is_file(text)) return std::nullopt;
  refuse("there is no parameter '" + text.substr(0, equals) + "'",
         names.empty() ? "the function takes none" : "the function takes" + names);
}

/// Which text is each parameter's.
std::vector<std::string> assign(const ir::Graph& g, const InputTexts& texts) {
  std::vector<std::string> r(g.param_count());
  std::size_t next = 0;
  for (const std::string& text : texts.inputs) {
    std::optional<Named> named = named_input(g, text);
    if (!named) {
      while (next < r.size() && !r[next].empty()) ++next;
      named = Named{next, text};
    }
    if (named->param >= r.size()) {
      throw UserError({"TL-ARITY-001",
                       "tlaloc",
                       std::to_string(texts.inputs.size()) + " inputs for " +
                           std::to_string(r.size()) + " parameters",
                       "`tlaloc inspect` prints what the function takes",
                       {}});
    }
    std::string& value = r[named->param];
    if (named->value.empty() || !value.empty()) {
      refuse("the parameter " + param_name(g, named->param) +
                 (value.empty() ? " has an empty input" : " has two inputs"),
             "give one --input for each");
    }
    value = std::move(named->value);
  }
  for (std::size_t k = 0; k < r.size(); ++k) {
    if (r[k].empty()) r[k] = texts.rest;
    if (!r[k].empty()) continue;
    throw UserError({"TL-ARITY-001",
                     "tlaloc",
                     "there is no input for the parameter " + param_name(g, k) + ": " +
                         g.type(static_cast<ir::ValueId>(k)).to_string(),
                     "give one --input for each, or --rest random",
                     {}});
  }
  return r;
}

/// Sizes that the array gives, where an axis is one size.
void learn_sizes(ir::Type t, const HostArray& a, runtime::DimValues& sizes) {
  if (a.rank() != t.rank()) return;
  for (int axis = 0; axis < t.rank(); ++axis) {
    const auto symbol = t.dim(axis).as_symbol();
    if (symbol) sizes.emplace(symbol->id(), a.extents()[static_cast<std::size_t>(axis)]);
  }
}

Extents extents_of(ir::Type t, const runtime::DimValues& sizes) {
  Extents extents;
  for (ir::Dim d : t.shape()) {
    extents.push_back(d.evaluate([&](ir::Symbol s) {
      const auto it = sizes.find(s.id());
      if (it != sizes.end()) return it->second;
      throw UserError({"TL-SHAPE-004",
                       "tlaloc",
                       "nothing gives the size " + s.name(),
                       "pass --dim " + s.name() + "=128, or an input that has it",
                       {}});
    }));
  }
  return extents;
}

}  // namespace

std::vector<HostArray> make_inputs(const ir::Graph& g, const InputTexts& texts,
                                   const runtime::DimValues& dims) {
  const std::vector<std::string> values = assign(g, texts);
  std::vector<HostArray> arrays(values.size());
  runtime::DimValues sizes = dims;
  auto type = [&](std::size_t k) { return ops::storage_type(g.type(static_cast<ir::ValueId>(k))); };
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (random_range(values[k])) continue;
    arrays[k] =
        is_file(values[k]) ? io::read_npy(values[k]) : parse_literal(values[k], type(k).dtype());
    if (is_file(values[k]) || arrays[k].rank() > 0) learn_sizes(type(k), arrays[k], sizes);
  }
  add_equal_sizes(g, sizes);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto range = random_range(values[k]);
    if (range) {
      std::seed_seq mixed{texts.seed, texts.seed >> 32, std::uint64_t{k}};
      std::uint32_t words[2];
      mixed.generate(words, words + 2);
      arrays[k] = random_array(type(k).dtype(), extents_of(type(k), sizes), *range,
                               std::uint64_t{words[0]} << 32 | words[1]);
    } else if (arrays[k].rank() == 0 && type(k).rank() > 0 && !is_file(values[k])) {
      arrays[k] = filled(arrays[k], extents_of(type(k), sizes));
    }
  }
  return arrays;
}

HostArray make_array(const std::string& text, DType dtype, const Extents& extents) {
  if (random_range(text)) {
    refuse("'" + text + "' is no result to expect: what a function gives is not random",
           "give file.npy or a literal; --output FILE.npy of a run on interp writes one");
  }
  HostArray a = is_file(text) ? io::read_npy(text) : parse_literal(text, dtype);
  if (a.rank() == 0 && !extents.empty() && !is_file(text)) a = filled(a, extents);
  if (a.dtype() != dtype || a.extents() != extents) {
    throw UserError({"TL-SHAPE-002",
                     "tlaloc",
                     text + " is " + std::string(name(a.dtype())) + to_string(a.extents()) +
                         " where " + std::string(name(dtype)) + to_string(extents) + " is expected",
                     "give an array of that type and shape",
                     {}});
  }
  return a;
}

}  // namespace tlaloc::command
