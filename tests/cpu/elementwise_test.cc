// Random chains of elementwise operations over all element types, compiled, against the
// interpreter: the same bits, in whole vectors and in what is left of a row. Functions that the
// back end has of its own are not among them: precompiled and compiled, those have the same bits.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <span>

#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

using ops::Comparison;

constexpr std::array kTypes{DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64,
                            DType::u8,      DType::u16, DType::u32, DType::u64, DType::f16,
                            DType::bf16,    DType::f32, DType::f64};
constexpr std::array<std::int64_t, 1> kAxis{0};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : bits_(seed) {}

  /// (v: t[n] for each type t) -> …
  GraphRef run(Dim n) {
    std::vector<Type> types;
    for (DType t : kTypes) types.push_back(Type::get(t, {n}));
    return graph_of(types, [&](const Vals& p) {
      for (std::size_t k = 0; k < kTypes.size(); ++k) pool_[kTypes[k]] = {p[k]};
      for (int k = 0; k < 3; ++k) bitcast(p);
      for (int k = 0; k < 14; ++k) grow(types);
      add(ops::convert(p[static_cast<std::size_t>(below(kTypes.size()))],
                       below(2) ? DType::bf16 : DType::f16));
      Vals results;
      for (const auto& [t, values] : pool_) {
        if (values.size() == 1) continue;
        results.push_back(values.back());
        if (t != DType::boolean && below(3) == 0) {
          results.push_back(below(2) ? ops::reduce_max(draw(t), kAxis)
                                     : ops::reduce_min(draw(t), kAxis));
        }
      }
      return results;
    });
  }

 private:
  int below(int n) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(n)); }
  /// Short floats more often than others.
  DType any() {
    return below(4) ? kTypes[static_cast<std::size_t>(below(kTypes.size()))]
                    : (below(2) ? DType::bf16 : DType::f16);
  }
  Val draw(DType t) {
    const Vals& of = pool_[t];
    const auto count = static_cast<int>(of.size());
    return of[static_cast<std::size_t>(count - 1 - below(below(2) ? count : std::min(2, count)))];
  }
  void add(Val v) { pool_[v.dtype()].push_back(v); }

  /// Of arguments only: what a NaN consists of is nobody's promise.
  void bitcast(const Vals& p) {
    const auto k = static_cast<std::size_t>(below(kTypes.size()));
    if (kTypes[k] == DType::boolean) return;
    for (DType t : kTypes) {
      if (t != DType::boolean && t != kTypes[k] && byte_size(t) == byte_size(kTypes[k]) &&
          below(2)) {
        add(ops::bitcast_convert(p[k], t));
      }
    }
  }
  void grow(const std::vector<Type>& types) {
    const DType t = any();
    const Val a = draw(t), b = draw(t);
    switch (below(7)) {
      case 0:
        return add(ops::convert(a, any()));
      case 1:
        return add(ops::compare(static_cast<Comparison>(below(6)), a, b));
      case 2:
        return add(ops::select(draw(DType::boolean), a, b));
      case 3:
        if (t == DType::boolean) return add(ops::logical_not(a));
        return add(ops::iota(types[static_cast<std::size_t>(t)], 0));
      default:
        if (t == DType::boolean || (is_integer(t) && below(2))) return add(bitwise(t, a, b));
        return add(below(2) ? of_one(t, a) : of_two(t, a, b));
    }
  }
  Val of_one(DType t, Val a) {
    if (is_integer(t)) {
      switch (below(6)) {
        case 0:
          return ops::neg(a);
        case 1:
          return ops::abs(a);
        case 2:
          return ops::sign(a);
        case 3:
          return ops::popcnt(a);
        case 4:
          return ops::clz(a);
        default:
          return ops::integer_pow(a, below(6));
      }
    }
    switch (below(11)) {
      case 0:
        return ops::neg(a);
      case 1:
        return ops::abs(a);
      case 2:
        return ops::sign(a);
      case 3:
        return ops::ceil(a);
      case 4:
        return ops::floor(a);
      case 5:
        return ops::round(a);
      case 6:
        return ops::round_even(a);
      case 7:
        return ops::sqrt(a);
      case 8:
        return ops::rsqrt(a);
      case 9:
        return ops::convert(ops::is_finite(a), t);
      default:
        return ops::integer_pow(a, below(9) - 4);
    }
  }
  Val of_two(DType t, Val a, Val b) {
    switch (below(8)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return ops::max(a, b);
      case 5:
        return ops::min(a, b);
      case 6:
        return ops::clamp(b, a, draw(t));
      default:
        return is_integer(t) ? ops::rem(a, b) : a * ops::scalar(1.5, t);
    }
  }
  Val bitwise(DType t, Val a, Val b) {
    switch (below(t == DType::boolean ? 4 : 7)) {
      case 0:
        return ops::logical_and(a, b);
      case 1:
        return ops::logical_or(a, b);
      case 2:
        return ops::logical_xor(a, b);
      case 3:
        return ops::logical_not(a);
      case 4:
        return ops::shift_left(a, b);
      case 5:
        return ops::shift_right_logical(a, b);
      default:
        return ops::shift_right_arithmetic(a, b);
    }
  }

  std::mt19937_64 bits_;
  std::map<DType, Vals> pool_;
};

template <class T>
T number(std::mt19937_64& bits) {
  const std::uint64_t x = bits();
  if constexpr (std::is_same_v<T, bool>) {
    return (x & 1) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (x % 3 == 0) return static_cast<T>(x >> 8);
    if constexpr (sizeof(T) >= 4) {
      // One more than what lies in the middle of two short floats.
      if (x % 8 == 1) return (T(0x101) << (8 * sizeof(T) - 10)) + 1;
    }
    return static_cast<T>(static_cast<int>(x % 17) - 8);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    if (x % 3 == 0) return std::bit_cast<T>(static_cast<std::uint16_t>(x >> 8));
    return T(static_cast<float>(static_cast<int>(x % 65) - 32) / 4);
  } else {
    using Limits = std::numeric_limits<T>;
    constexpr std::array kEdges{T(-0.0),
                                Limits::infinity(),
                                -Limits::infinity(),
                                Limits::max(),
                                Limits::denorm_min(),
                                Limits::quiet_NaN(),
                                T(65519),
                                T(65520),
                                T(0x1.010000001p0),
                                T(2147483648.0),
                                T(9223372036854775808.0)};
    if (x % 5 == 0) return kEdges[(x >> 8) % kEdges.size()];
    if (x % 5 == 1) return std::ldexp(static_cast<T>(static_cast<std::int64_t>(x)), -63 + x % 60);
    return static_cast<T>(static_cast<int>(x % 65) - 32) / 4;
  }
}

std::vector<HostArray> arguments(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<HostArray> r;
  for (DType t : kTypes) {
    HostArray a(t, {n});
    dispatch(t, [&]<class T>(TypeTag<T>) {
      for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(a.mutable_data())[i] = number<T>(bits);
    });
    r.push_back(std::move(a));
  }
  return r;
}

/// Where they differ, or -1; a NaN is like another.
std::int64_t difference(const HostArray& a, const HostArray& b) {
  const auto size = static_cast<std::size_t>(byte_size(a.dtype()));
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    const auto* x = static_cast<const std::byte*>(a.data()) + at;
    const auto* y = static_cast<const std::byte*>(b.data()) + at;
    const bool nan = is_float(a.dtype()) && std::isnan(a.element(i)) && std::isnan(b.element(i));
    if (!nan && std::memcmp(x, y, size) != 0) return i;
  }
  return -1;
}

#ifdef TLALOC_FEW_GRAPHS
constexpr std::uint64_t kGraphs = 20;
#else
constexpr std::uint64_t kGraphs = 150;
#endif

TEST(Elementwise, CompiledCodeGivesTheInterpretersBits) {
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFatalFailure(); ++seed) {
    // Known sizes have vectors for what is left of a row; below kShortest and kLanes other code.
    constexpr std::array<std::int64_t, 9> kKnown{4, 3, 33, 5, 28, 8, 13, 70, 15};
    constexpr std::array<std::int64_t, 6> kSizes{1, 15, 16, 33, 64, 70};
    const bool fixed = seed % 3 == 0;
    const std::int64_t known = kKnown[seed / 3 % kKnown.size()];
    const GraphRef graph = Maker(seed).run(fixed ? Dim(known) : Dim(Symbol::fresh("n")));
    const auto executable = cpu::cpu_backend().compile(graph, {});
    for (std::int64_t n : fixed ? std::span(&known, 1) : std::span(kSizes)) {
      const auto args = arguments(n, seed);
      const auto want = interp::run(*graph, args);
      std::vector<runtime::Buffer> buffers(args.begin(), args.end());
      const auto got = executable->bind({})->run(std::move(buffers), {}).outputs;
      for (std::size_t i = 0; i < want.size(); ++i) {
        const HostArray mine = got.at(i).to_host();
        const std::int64_t at = difference(mine, want[i]);
        ASSERT_EQ(at, -1) << "seed " << seed << ", n = " << n << ": result " << i << " ("
                          << name(mine.dtype()) << ") has " << mine.element(at) << " for "
                          << want[i].element(at) << "\n"
                          << graph->to_string();
      }
    }
  }
}

// ---- the back end's own functions ----

std::vector<HostArray> run(const GraphRef& graph, const std::vector<HostArray>& args, bool once) {
  const auto executable = cpu::cpu_backend().compile(graph, {.run_once = once});
  std::vector<runtime::Buffer> buffers(args.begin(), args.end());
  std::vector<HostArray> r;
  for (const runtime::Buffer& b : executable->bind({})->run(std::move(buffers), {}).outputs) {
    r.push_back(b.to_host());
  }
  return r;
}

TEST(Elementwise, OwnFunctionsHaveTheSameBitsPrecompiledAndCompiled) {
  using Shapes = std::vector<std::vector<std::int64_t>>;
  const std::pair<DType, Shapes> cases[] = {{DType::f32, {{}, {4, 33}, {5, 7}}},
                                            {DType::f64, {{5, 3}, {70}, {3, 13}, {2, 4}}},
                                            {DType::f16, {{70}}},
                                            {DType::bf16, {{3}}}};
  for (const auto& [t, shapes] : cases) {
    for (const auto& shape : shapes) {
      std::vector<Dim> dims(shape.begin(), shape.end());
      const Type type = Type::get(t, dims);
      const GraphRef graph = graph_of({type, type}, [&](const Vals& p) -> Vals {
        const Val x = p[0], y = p[1];
        return {ops::exp(x),      ops::expm1(x),    ops::log(x),           ops::log1p(x),
                ops::logistic(x), ops::tanh(x),     ops::sinh(x),          ops::cosh(x),
                ops::erf(x),      ops::erfc(x),     ops::sin(x),           ops::cos(x),
                ops::tan(x),      ops::asin(x),     ops::acos(x),          ops::atan(x),
                ops::pow(x, y),   ops::atan2(x, y), ops::cbrt(ops::exp(x))};
      });
      std::mt19937_64 bits(3);
      std::vector<HostArray> args;
      for (int k = 0; k < 2; ++k) {
        HostArray a(t, shape);
        dispatch(t, [&]<class T>(TypeTag<T>) {
          for (std::int64_t i = 0; i < a.size(); ++i) {
            static_cast<T*>(a.mutable_data())[i] = number<T>(bits);
          }
        });
        args.push_back(std::move(a));
      }
      const auto want = run(graph, args, true), got = run(graph, args, false);
      for (std::size_t i = 0; i < want.size(); ++i) {
        const std::int64_t at = difference(got[i], want[i]);
        ASSERT_EQ(at, -1) << "result " << i << " (" << type.to_string() << ") is "
                          << got[i].element(at) << " compiled, " << want[i].element(at)
                          << " precompiled";
      }
    }
  }
}

/// Kept axes so short that all their results are folded at once, by vectors or not; of integers,
/// whose order does not count.
TEST(Elementwise, FoldsIntoFewResultsVisitEveryElementOnce) {
  const std::vector<std::vector<std::int64_t>> shapes{{40, 5, 4}, {3, 7, 9}, {6, 13}, {20, 3, 2},
                                                      {2, 2, 60}, {50, 8},   {1, 4},  {9, 0, 4}};
  for (const auto& shape : shapes) {
    for (std::int64_t kept = 1; kept < std::int64_t{1} << shape.size(); ++kept) {
      for (const bool fixed : {true, false}) {
        std::vector<Dim> dims(shape.begin(), shape.end());
        if (!fixed) dims[0] = Symbol::fresh("n");
        std::vector<std::int64_t> axes;
        for (std::size_t k = 0; k < shape.size(); ++k) {
          if (!(kept >> k & 1)) axes.push_back(static_cast<std::int64_t>(k));
        }
        const Type type = Type::get(DType::f64, dims);
        const GraphRef graph = graph_of({type}, [&](const Vals& p) -> Vals {
          const Val square = ops::mul(p[0], p[0]);
          return {ops::reduce_sum(p[0], axes), ops::reduce_max(square, axes)};
        });
        HostArray x(DType::f64, shape);
        for (std::int64_t i = 0; i < x.size(); ++i) {
          static_cast<double*>(x.mutable_data())[i] = static_cast<double>(i * 37 % 101 - 50);
        }
        const auto want = interp::run(*graph, {x}), got = run(graph, {x}, false);
        for (std::size_t i = 0; i < want.size(); ++i) {
          EXPECT_EQ(difference(got[i], want[i]), -1) << graph->to_string();
        }
      }
    }
  }
}

}  // namespace
}  // namespace tlaloc::testing
