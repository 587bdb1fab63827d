// Threads, the NaN mode, checks of derivatives, and places of errors.
#include <array>
#include <cmath>
#include <thread>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/testing.h"
#include "tlaloc/ops/effects.h"

namespace tlaloc::core::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Where kHere = Where::current();

TEST(Threads, TraceAtOnce) {
  const Fn f([](const auto& x) { return std::vector{sum(mul(sin(x[0]), exp(x[0])))}; });
  const Fn df([&](const auto& x) { return std::vector{grad(f, x)}; });
  const std::array axes{kBatch};
  JitCache shared;
  std::vector<std::string> failures(8);
  const auto work = [&](std::size_t t) {
    for (int round = 0; round < 20; ++round) {
      const auto n = static_cast<std::int64_t>(t) + 1;
      const std::vector<double> at(static_cast<std::size_t>(n), 0.1 * static_cast<double>(n));
      const double slope = std::exp(at[0]) * (std::sin(at[0]) + std::cos(at[0]));
      Leaves in;
      in.argument();
      in.add(doubles({n}, at), DType::f64, axes);
      const double compiled = values(jit(shared, df, in, kHere)[0])[0];
      const double traced = values(grad(f, {doubles({n}, at)}))[0];
      const Fn fails([](const auto&) -> std::vector<Ref> { throw std::runtime_error("no"); });
      bool thrown = false;
      try {
        grad(fails, {number(1)});
      } catch (const std::runtime_error&) {
        thrown = true;
      }
      if (std::abs(compiled - slope) > 1e-12 || std::abs(traced - slope) > 1e-12 || !thrown) {
        failures[t] = std::to_string(compiled) + " " + std::to_string(traced);
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  EXPECT_EQ(values(jit(shared, df, args({doubles({1}, {0})}), kHere)[0])[0], 1);
}

TEST(NanMode, NamesTheOperationAndTheLine) {
  const Ref zero = number(0);
  EXPECT_TRUE(std::isnan(value(binary(BinaryOp::div, zero, zero))));
  const check_nan on;
  EXPECT_THAT(error_of([&] { core::binary(BinaryOp::div, zero, {}, zero, {}, {}, kHere); }),
              AllOf(HasSubstr("modes_test.cc:" + std::to_string(kHere.line())),
                    HasSubstr("TL-NAN-001: div")));
  const Fn f([&](const auto& x) {
    return std::vector{core::binary(BinaryOp::div, x[0], {}, mul(x[0], x[0]), {}, {}, kHere)};
  });
  JitCache cache;
  EXPECT_THAT(error_of([&] { jit(cache, f, args({zero}), Where::current()); }),
              AllOf(HasSubstr("modes_test.cc:" + std::to_string(kHere.line())),
                    HasSubstr("TL-NAN-001: div")));
  {
    const check_nan off(false);
    EXPECT_TRUE(std::isnan(value(jit(cache, f, args({zero}), kHere)[0])));
  }
  // An infinity that an operand had is not the operation's.
  EXPECT_EQ(value(mul(number(INFINITY), number(2))), INFINITY);
}

TEST(NanMode, LooksAtWhatACompiledFunctionComputedOfItsCaptures) {
  // Nothing but a captured array makes the NaN: it is computed when the function is compiled.
  const Ref w = doubles({20}, std::vector<double>(20, -1));
  const Fn f([&](const auto& x) {
    return std::vector{mul(sum(core::unary(UnaryOp::log, w, {}, kHere)), x[0])};
  });
  JitCache cache;
  EXPECT_TRUE(std::isnan(value(jit(cache, f, args({number(1)}), kHere)[0])));
  const check_nan on;
  EXPECT_THAT(error_of([&] { jit(cache, f, args({number(1)}), kHere); }),
              AllOf(HasSubstr("modes_test.cc:" + std::to_string(kHere.line())),
                    HasSubstr("TL-NAN-001: log")));
}

TEST(NanMode, TheEnvironmentIsReadOnce) {
  ASSERT_FALSE(nan_mode());
  ASSERT_EQ(setenv("TLALOC_CHECK_NAN", "1", 1), 0);
  bool elsewhere = true;
  std::thread([&] { elsewhere = nan_mode(); }).join();
  unsetenv("TLALOC_CHECK_NAN");
  EXPECT_FALSE(elsewhere) << "this process has begun without it";
}

TEST(Jit, AMovedFromFunctionIsRefused) {
  const Fn f([](const auto& x) { return x; });
  JitCache from;
  JitCache to = std::move(from);
  EXPECT_EQ(value(jit(to, f, args({number(1)}), kHere)[0]), 1);
  EXPECT_THAT(error_of([&] { jit(from, f, args({number(1)}), kHere); }),  // NOLINT: the point
              HasSubstr("TL-VALUE-001: jit: a compiled function that was moved away is called"));
  EXPECT_EQ(from.traces(), 0);  // NOLINT
}

TEST(NanMode, FindsTheLinesOfOperatorsInTracedCode) {
  if (!can_find_places()) GTEST_SKIP() << "built without libdw";
  const check_nan on;
  int line = 0;
  const Fn f([&](const auto& x) {
    line = __LINE__ + 1;
    const Ref y = core::binary(BinaryOp::div, x[0], {}, x[0], {}, {}, {});
    return std::vector{y};
  });
  JitCache cache;
  const std::string text = error_of([&] { jit(cache, f, args({number(0)}), {}); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("modes_test.cc:" + std::to_string(line)), HasSubstr("TL-NAN-001")));
}

TEST(CheckGrads, AcceptsRightAndRefusesWrongRules) {
  const Fn f([](const auto& x) { return std::vector{sum(mul(sin(x[0]), x[1])), exp(x[1])}; });
  const Leaves at =
      args({doubles({3}, {0.1, 0.5, -2}), doubles({3}, {1, -1, 0.3}), scalar_int(DType::i32, 3)});
  EXPECT_NO_THROW(check_grads(f, at, std::array{0, 1, 2}, {.order = 3}, kHere));
  const auto with_rule = [&](double factor) {
    return Fn([factor](const auto& x) {
      const Fn g([](const auto& y) { return std::vector{sin(y[0])}; });
      const Fn rule([factor](const auto& y) {
        return std::vector{sin(y[0]), mul(number(factor), mul(y[1], unary(UnaryOp::cos, y[0])))};
      });
      return refs(custom_jvp(g, rule, args(x), kHere));
    });
  };
  const Leaves scalar_at = args({number(0.7)});
  EXPECT_NO_THROW(check_grads(with_rule(1), scalar_at, kFirst, {.order = 2}, kHere));
  EXPECT_THAT(
      error_of([&] { check_grads(with_rule(1.01), scalar_at, kFirst, {.order = 2}, kHere); }),
      AllOf(HasSubstr("modes_test.cc:" + std::to_string(kHere.line())),
            HasSubstr("TL-GRAD-007: check_grads: the forward derivative")));
  // A wrong reverse rule of one of two arguments is found there.
  const Fn wrong([](const auto& x) {
    const Fn g([](const auto& y) { return std::vector{mul(y[0], y[1])}; });
    const Fn forward([](const auto& y) { return std::vector{mul(y[0], y[1]), y[0], y[1]}; });
    const Fn backward([](const auto& r) {
      return std::vector{mul(r[1], r[2]), mul(number(2), mul(r[0], r[2]))};
    });
    return refs(custom_vjp(g, forward, backward, args(x), kHere));
  });
  EXPECT_THAT(error_of([&] {
                check_grads(wrong, args({number(2), number(3)}), std::array{0, 1}, {}, kHere);
              }),
              HasSubstr("TL-GRAD-007"));
}

/// Collects what is printed while it lives.
class Printed {
 public:
  Printed()
      : previous_(ops::set_print_hook([this](std::string_view t) { lines.emplace_back(t); })) {}
  ~Printed() { ops::set_print_hook(std::move(previous_)); }
  std::vector<std::string> lines;

 private:
  ops::PrintHook previous_;
};

TEST(DebugPrint, PrintsWhenTheProgramRuns) {
  Printed printed;
  const Fn f([](const auto& x) {
    const Ref y = mul(x[0], x[0]);
    debug_print("x = {}, y = {}", std::array{x[0], y}, kHere);
    return std::vector{y};
  });
  JitCache cache;
  jit(cache, f, args({number(2)}), kHere);
  jit(cache, f, args({number(3)}), kHere);
  EXPECT_THAT(printed.lines, ::testing::ElementsAre("x = 2, y = 4", "x = 3, y = 9"));
  printed.lines.clear();
  EXPECT_EQ(value(grad(f, {number(4)})), 8);
  EXPECT_THAT(printed.lines, ::testing::ElementsAre("x = 4, y = 16"));
  printed.lines.clear();
  // Outside of a trace at once; known values in a trace when it runs.
  debug_print("{}", std::array{number(1)}, kHere);
  const Fn constant_only([](const auto& x) {
    debug_print("here {}", std::array{number(7)}, kHere);
    return x;
  });
  JitCache other;
  for (int i = 0; i < 2; ++i) jit(other, constant_only, args({number(0)}), kHere);
  EXPECT_THAT(printed.lines, ::testing::ElementsAre("1", "here 7", "here 7"));
  printed.lines.clear();
  debug_print("{} of {}", std::array{doubles({2, 2}, {1, 2.5, 3, 4}), number(2)}, kHere);
  debug_print("{}", std::array{doubles({40, 30}, std::vector<double>(1200, 1))}, kHere);
  debug_print("{}", std::array{make_concrete(HostArray(DType::f32, {1'000'000'000'000, 0}))},
              kHere);
  ASSERT_EQ(printed.lines.size(), 3u);
  EXPECT_EQ(printed.lines[0], "[[1, 2.5], [3, 4]] of 2");
  EXPECT_THAT(printed.lines[1], ::testing::StartsWith("[[1, 1, 1, ..., 1, 1, 1], "));
  EXPECT_LT(printed.lines[1].size(), 250u);
  EXPECT_EQ(printed.lines[2], "[] of shape [1000000000000, 0]");
  EXPECT_THAT(error_of([] { debug_print("{} {}", std::array{number(1)}, kHere); }),
              AllOf(HasSubstr("modes_test.cc:" + std::to_string(kHere.line())),
                    HasSubstr("TL-FORMAT-001")));
}

TEST(Places, TellUsersFilesFromOurs) {
  EXPECT_TRUE(is_user_file("/src/model.cc"));
  EXPECT_TRUE(is_user_file("/src/tlaloc/lang/core_test.cc"));
  EXPECT_TRUE(is_user_file("/src/tlaloc/examples/digits/main.cc"));
  EXPECT_TRUE(is_user_file("tlaloc_user/lang/a.cc"));
  EXPECT_TRUE(is_user_file("/src/tlaloc/model/a.cc"));
  EXPECT_FALSE(is_user_file("/src/tlaloc/lang/operators.h"));
  EXPECT_FALSE(is_user_file("/usr/include/c++/12/functional"));
  EXPECT_FALSE(is_user_file("/usr/local/include/tlaloc/lang/tensor.h"));
  EXPECT_FALSE(is_user_file(""));
}

TEST(Inspect, ExplainsWhyItWasTraced) {
  const Fn f([](const auto& x) { return std::vector{sum(x[0])}; });
  JitCache cache;
  jit(cache, f, args({doubles({2}, {1, 2})}), kHere);
  jit(cache, f, args({doubles({3}, {1, 2, 3})}), kHere);
  jit(cache, f, args({doubles({3}, {1, 2, 3})}), kHere);
  const std::string text = explain(cache);
  EXPECT_THAT(text, AllOf(HasSubstr("traced 2 times"), HasSubstr("argument 0: f64[2]"),
                          HasSubstr("since argument 0 is f64[3] where trace 1 had f64[2]"),
                          HasSubstr("modes_test.cc")));
  EXPECT_THAT(graph_text(f, args({doubles({2}, {1, 2})}), kHere), HasSubstr("reduce_sum"));
}

}  // namespace
}  // namespace tlaloc::core::testing
