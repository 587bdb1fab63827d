// Draws against JAX's, bit for bit where only integer operations and rounding are involved.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "tlaloc/lang/core_index.h"
#include "tlaloc/lang/random_core.h"
#include "tlaloc/lang/testing.h"

namespace tlaloc::core::testing {
namespace {

using random::Stream;
using random::StreamScope;
using ::testing::HasSubstr;

const Where kHere = Where::current();

struct Golden {
  std::string stream, function, dtype;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> words;
};

std::vector<Golden> read_goldens() {
  std::ifstream file("tlaloc/lang/testdata/random_goldens.txt");
  EXPECT_TRUE(file) << "run the test from the repository root";
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    Golden g;
    std::string shape, word;
    in >> g.stream >> g.seed >> g.function >> g.dtype >> shape;
    if (shape != "scalar") {
      std::istringstream parts(shape);
      for (std::string n; std::getline(parts, n, 'x');) g.shape.push_back(std::stoll(n));
    }
    while (in >> word) g.words.push_back(std::stoull(word, nullptr, 16));
    all.push_back(std::move(g));
  }
  return all;
}

DType dtype_named(const std::string& name) {
  static const std::map<std::string, DType> names{
      {"bool", DType::boolean},  {"int8", DType::i8},     {"int32", DType::i32},
      {"int64", DType::i64},     {"uint8", DType::u8},    {"uint16", DType::u16},
      {"uint32", DType::u32},    {"uint64", DType::u64},  {"float16", DType::f16},
      {"bfloat16", DType::bf16}, {"float32", DType::f32}, {"float64", DType::f64}};
  return names.at(name);
}

std::vector<std::uint64_t> words_of(const Ref& x) {
  const auto bytes = static_cast<std::size_t>(byte_size(dtype(x)));
  const auto* p = static_cast<const char*>(data(x, kHere));
  std::vector<std::uint64_t> words(static_cast<std::size_t>(size(x, kHere)));
  for (std::size_t i = 0; i < words.size(); ++i) std::memcpy(&words[i], p + i * bytes, bytes);
  return words;
}
/// The number of an element in the order of values, so that neighbours differ by one.
std::int64_t rank_of(std::uint64_t bits, int width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

/// The draw that a line describes.
Ref drawn(const Golden& g) {
  const Ref key = random_key(g.seed);
  std::vector<AxisSpec> axes;
  for (std::int64_t n : g.shape) axes.push_back(dim(n));
  const DType type = dtype_named(g.dtype);
  const Draw draw{type, {}, axes, kHere};
  const std::string& f = g.function;
  const auto number_after = [&](const char* prefix) {
    return std::stoll(f.substr(std::strlen(prefix)));
  };
  if (f == "key") return key;
  if (f.starts_with("split_")) return random_split(key, number_after("split_"), {}, kHere);
  if (f.starts_with("fold_in_")) {
    return random_fold_in(key, scalar_int(DType::i64, number_after("fold_in_")), kHere);
  }
  if (f == "bits") return random_bits(key, draw);
  if (f == "uniform") return random_uniform(key, scalar(type, 0), scalar(type, 1), draw);
  if (f == "uniform_m2_3") return random_uniform(key, scalar(type, -2), scalar(type, 3), draw);
  if (f == "normal") return random_normal(key, draw);
  if (f == "exponential") return random_exponential(key, draw);
  if (f == "gumbel") return random_gumbel(key, draw);
  if (f == "laplace") return random_laplace(key, draw);
  if (f == "truncated_normal_m1_2") {
    return random_truncated_normal(key, scalar(type, -1), scalar(type, 2), draw);
  }
  if (f == "bernoulli_0.3") {
    return random_bernoulli(key, scalar(DType::f32, 0.3f), {}, {DType::boolean, {}, axes, kHere});
  }
  if (f == "randint_m5_100" || f == "randint_0_100" || f == "randint_0_256") {
    const std::int64_t low = f == "randint_m5_100" ? -5 : 0,
                       high = f == "randint_0_256" ? 256 : 100;
    return random_randint(key, scalar_int(DType::i64, low), scalar_int(DType::i64, high), draw);
  }
  if (f == "categorical") {
    std::vector<float> logits;
    for (int i = 0; i < 20; ++i) logits.push_back(static_cast<float>(i) / 7);
    return random_categorical(key, floats({5, 4}, logits), 1, axes, kHere);
  }
  if (f.starts_with("permutation_")) {
    const bool matrix = f.starts_with("permutation_axis_");
    const std::int64_t n = matrix ? 15 : number_after("permutation_");
    std::vector<std::int32_t> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 0);
    return matrix ? random_permutation(key, tensor<std::int32_t>({3, 5}, x),
                                       static_cast<int>(number_after("permutation_axis_")), axes,
                                       kHere)
                  : random_permutation(key, tensor<std::int32_t>({n}, x), 0, axes, kHere);
  }
  return {};
}

/// How many representable numbers a draw may be off: JAX's erf_inv and log are other functions than
/// ours, and XLA fuses u (high - low) + low of a stretched interval, which rounds once where we
/// round twice. Everything else is exact.
std::int64_t tolerance_of(const Golden& g) {
  return g.function == "uniform" || g.dtype.find("float") == g.dtype.npos ? 0 : 4;
}
/// Near zero, where terms of size 1 to 3 cancel, the same rounding errors are many representable
/// numbers: then the difference counts in units of those terms' last place.
bool cancelled(const Golden& g, std::uint64_t got, std::uint64_t want) {
  if (tolerance_of(g) == 0) return false;
  if (g.dtype == "float32") {
    const auto value = [](std::uint64_t w) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(w));
    };
    return std::abs(double{value(got)} - double{value(want)}) <= 4 * 0x1p-22;
  }
  return g.dtype == "float64" &&
         std::abs(std::bit_cast<double>(got) - std::bit_cast<double>(want)) <= 4 * 0x1p-51;
}

TEST(Random, DrawsAreJaxs) {
  std::map<std::string, int> checked;
  for (const Golden& g : read_goldens()) {
    const StreamScope scope(g.stream == "classic" ? Stream::classic : Stream::partitionable);
    const std::string what = g.stream + " " + std::to_string(g.seed) + " " + g.function + " " +
                             g.dtype + " " + std::to_string(g.shape.size());
    Ref x;
    try {
      x = drawn(g);
    } catch (const Error& e) {
      ADD_FAILURE() << what << ": " << e.what();
      continue;
    }
    ASSERT_TRUE(x) << what;
    ASSERT_EQ(dtype(x), dtype_named(g.dtype)) << what;
    const std::vector<std::uint64_t> words = words_of(x);
    ASSERT_EQ(words.size(), g.words.size()) << what;
    const int width = 8 * byte_size(dtype(x));
    std::int64_t worst = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (cancelled(g, words[i], g.words[i])) continue;
      worst = std::max(worst, std::abs(rank_of(words[i], width) - rank_of(g.words[i], width)));
    }
    EXPECT_LE(worst, tolerance_of(g)) << what;
    ++checked[g.function];
  }
  EXPECT_GE(checked.size(), 20u);
}

TEST(Random, ANegativeControl) {
  const auto goldens = read_goldens();
  const auto at = std::find_if(goldens.begin(), goldens.end(), [](const Golden& g) {
    return g.function == "bits" && g.seed == 42 && g.words.size() == 7;
  });
  ASSERT_NE(at, goldens.end());
  Golden other = *at;
  other.seed = 43;
  EXPECT_NE(words_of(drawn(other)), at->words);
}

TEST(Random, KeysAreTracedLikeAnyValue) {
  const std::array axes{kBatch};
  const Fn f([&](const auto& x) {
    const std::array sizes{x[1]};
    return std::vector{
        random_uniform(x[0], number(0), number(1), {DType::f64, sizes, axes, kHere})};
  });
  JitCache cache;
  const auto at = [&](std::int64_t n) {
    Leaves in;
    in.argument();
    in.add(random_key(7));
    in.argument();
    in.add(doubles({n}, std::vector<double>(static_cast<std::size_t>(n))), DType::f64, axes);
    return values(jit(cache, f, in, kHere)[0]);
  };
  const auto four = at(4), nine = at(9);
  EXPECT_EQ(cache.traces(), 1);
  // Each element hashes its own position: a shorter draw is a prefix.
  EXPECT_TRUE(std::equal(four.begin(), four.end(), nine.begin()));
  const std::array fixed{dim(9)};
  EXPECT_EQ(
      values(random_uniform(random_key(7), number(0), number(1), {DType::f64, {}, fixed, kHere})),
      nine);
  // One key per lane.
  const Fn one([&](const auto& k) {
    return std::vector{random_uniform(k[0], number(0), number(1), {DType::f64, {}, {}, kHere})};
  });
  const Ref keys = random_split(random_key(7), 3, {}, kHere);
  const Leaves lanes = vmap(one, args({keys}), std::array{0}, kBatch, kHere);
  const std::array two{dim(2)};
  for (std::int32_t i = 0; i < 3; ++i) {
    const Ref key = take(keys, 0, scalar_int(DType::i32, i), two, kHere);
    EXPECT_EQ(values(lanes[0])[static_cast<std::size_t>(i)],
              value(random_uniform(key, number(0), number(1), {DType::f64, {}, {}, kHere})));
  }
}

TEST(Random, TheClassicStreamEndsWhereItsCountersDo) {
  const std::array words{dim((std::int64_t{1} << 32) - 1)};
  const auto draw = [&] { random_bits(random_key(1), {DType::u32, {}, words, kHere}); };
  const StreamScope scope(Stream::classic);
  try {
    draw();
    ADD_FAILURE() << "no error";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("TL-RANDOM-003: random: 4294967295 words of the classic stream"));
  }
}

TEST(Random, SamplesDifferentiateInTheirParameters) {
  const Fn f([](const auto& x) {
    return std::vector{random_uniform(random_key(1), x[0], x[1], {DType::f64, {}, {}, kHere})};
  });
  const double u =
      value(random_uniform(random_key(1), number(0), number(1), {DType::f64, {}, {}, kHere}));
  EXPECT_NEAR(value(grad(f, {number(0), number(1)})), 1 - u, 1e-15);
}

TEST(Random, BoundsBeyondANarrowTypeAreItsOwn) {
  // From jax.random.randint(key(1), (5,), low, high, dtype).
  const std::array five{dim(5)};
  const auto drawn = [&](DType type, std::int32_t low, std::int32_t high) {
    const Ref drawn = random_randint(random_key(1), scalar_int(DType::i32, low),
                                     scalar_int(DType::i32, high), {type, {}, five, kHere});
    return values(convert(drawn, DType::f64, {}, kHere));
  };
  EXPECT_THAT(drawn(DType::u8, 0, 1000), ::testing::ElementsAre(252, 175, 224, 105, 160));
  EXPECT_THAT(drawn(DType::u8, -1, 257), ::testing::ElementsAre(252, 175, 224, 105, 160));
  EXPECT_THAT(drawn(DType::i8, -300, 40), ::testing::ElementsAre(-28, -57, 24, -39, -112));
}

TEST(Random, Refusals) {
  const Draw draw{DType::f32, {}, {}, kHere};
  EXPECT_THAT(error_of([&] { random_normal(floats({2}, {1, 2}), draw); }),
              HasSubstr("TL-RANDOM-001: normal: f32[2] is not a key"));
  EXPECT_THAT(error_of([&] { random_normal(random_key(1), {DType::i32, {}, {}, kHere}); }),
              HasSubstr("TL-RANDOM-002: normal: i32 is not a floating type"));
  EXPECT_THAT(error_of([&] { random_bits(random_key(1), draw); }), HasSubstr("TL-RANDOM-002"));
}

}  // namespace
}  // namespace tlaloc::core::testing
