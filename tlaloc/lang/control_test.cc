// Branches, loops and rules given by the user: values, derivatives, vmap, and what is refused.
#include <array>
#include <cmath>
#include <limits>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/testing.h"

namespace tlaloc::core::testing {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Where kHere = Where::current();

TEST(Control, CondTakesOneBranch) {
  const Fn square([](const auto& x) { return std::vector{mul(x[0], x[0])}; });
  const Fn wave([](const auto& x) { return std::vector{sin(x[0])}; });
  const Fn f([&](const auto& x) {
    return refs(cond(less(x[0], number(1)), square, wave, list({x[0]}), kHere));
  });
  EXPECT_EQ(value(grad(f, {number(0.5)})), 1);
  EXPECT_EQ(value(grad(f, {number(2)})), std::cos(2));
  const Fn second([&](const auto& x) { return std::vector{grad(f, x)}; });
  EXPECT_EQ(value(grad(second, {number(0.5)})), 2);
  EXPECT_EQ(value(grad(second, {number(2)})), -std::sin(2));
  const Leaves many = vmap(second, args({doubles({3}, {0.5, 2, 0})}), std::array{0}, kBatch, kHere);
  EXPECT_THAT(values(many[0]), ElementsAre(1, std::cos(2), 0));
}

TEST(Control, CondCapturesOuterValuesAndArrays) {
  const Ref w = doubles({20}, std::vector<double>(20, 3));
  const Fn f([&](const auto& x) {
    const Ref y = mul(x[0], x[0]);
    const Fn yes([&](const auto&) { return std::vector{sum(mul(w, y))}; });
    const Fn no([&](const auto&) { return std::vector{x[0]}; });
    return refs(cond(less(x[0], number(1)), yes, no, list({}), kHere));
  });
  EXPECT_EQ(value(grad(f, {number(0.5)})), 60);
  EXPECT_EQ(value(grad(f, {number(5)})), 1);
}

TEST(Control, BranchesMustAgree) {
  const Fn one([](const auto& x) { return std::vector{x[0]}; });
  const Fn two([](const auto& x) { return std::vector{x[0], x[0]}; });
  const Fn wide([](const auto&) { return std::vector{doubles({2}, {1, 2})}; });
  const auto run = [&](const Fn& other) {
    const Fn f([&](const auto& x) {
      return refs(cond(less(x[0], number(1)), one, other, list({x[0]}), kHere));
    });
    return error_of([&] { grad(f, {number(1)}); });
  };
  EXPECT_THAT(run(two), HasSubstr("TL-TREE-002: cond: the branches return different structures"));
  EXPECT_THAT(run(wide), AllOf(HasSubstr("control_test.cc:"),
                               HasSubstr("TL-COND-002: cond: the other branch's "
                                         "result: f64[2] is not f64[]")));
  EXPECT_THAT(error_of([&] { cond(number(1), one, one, list({number(1)}), kHere); }),
              HasSubstr("TL-COND-001: cond: the predicate is f64[], not a bool scalar"));
}

TEST(Control, SwitchClampsItsIndex) {
  std::vector<Fn> branches;
  for (int k = 1; k <= 5; ++k) {
    branches.emplace_back([k](const auto& x) { return std::vector{mul(x[0], number(k))}; });
  }
  std::vector<Function> functions(branches.begin(), branches.end());
  const auto at = [&](int i) {
    const Fn f(
        [&](const auto& x) { return refs(switch_case(x[1], functions, list({x[0]}), kHere)); });
    return value(grad(f, {number(2), scalar_int(DType::i32, i)}));
  };
  EXPECT_EQ(at(-3), 1);
  EXPECT_EQ(at(0), 1);
  EXPECT_EQ(at(2), 3);
  EXPECT_EQ(at(4), 5);
  EXPECT_EQ(at(9), 5);
  const Leaves direct = switch_case(scalar_int(DType::i32, 3), functions, list({number(2)}), kHere);
  EXPECT_EQ(value(direct[0]), 8);
}

/// x, then sin(x) three times: by each kind of loop.
double three_sines(double x) { return std::sin(std::sin(std::sin(x))); }
double three_sines_slope(double x) {
  return std::cos(x) * std::cos(std::sin(x)) * std::cos(std::sin(std::sin(x)));
}

TEST(Control, LoopsAndTheirDerivatives) {
  const Fn in_while([](const auto& x) {
    const Fn test([](const auto& c) { return std::vector{less(c[0], number(3))}; });
    const Fn body([](const auto& c) { return std::vector{add(c[0], number(1)), sin(c[1])}; });
    return std::vector{while_loop(test, body, list({number(0), x[0]}), 10, kHere)[1]};
  });
  const Fn in_scan([](const auto& x) {
    const Fn body([](const auto& c) { return std::vector{sin(c[0])}; });
    return refs(scan(body, list({x[0]}), list({}), 3, false, kHere));
  });
  const Fn in_for([](const auto& x) {
    const Fn body([](const auto& c) { return std::vector{sin(c[1])}; });
    return refs(
        fori_loop(scalar_int(DType::i32, 2), scalar_int(DType::i32, 5), body, list({x[0]}), kHere));
  });
  const Fn counted([](const auto& x) {
    const Fn body([](const auto& c) { return std::vector{sin(c[1])}; });
    return refs(fori_loop(scalar_int(DType::i64, 0), x[1], body, list({x[0]}), kHere));
  });
  const double x = 0.8;
  for (const Fn* f : {&in_while, &in_scan, &in_for, &counted}) {
    std::vector<Ref> at{number(x)};
    if (f == &counted) at.push_back(scalar_int(DType::i64, 3));
    const Leaves both = value_and_grad(*f, args(at), kFirst, kHere);
    EXPECT_NEAR(value(both[0]), three_sines(x), 1e-15);
    EXPECT_NEAR(value(both[1]), three_sines_slope(x), 1e-15);
    const Fn df([&](const auto& y) { return std::vector{grad(*f, y)}; });
    const double h = 1e-6;
    EXPECT_NEAR(value(grad(df, at)),
                (three_sines_slope(x + h) - three_sines_slope(x - h)) / (2 * h), 1e-8);
  }
}

TEST(Control, KnownBoundsAreCountedAndNotStored) {
  const auto i64 = [](std::int64_t i) { return scalar_int(DType::i64, i); };
  // 10^10 numbers would fill 80 GB.
  const Fn body([](const auto& c) { return std::vector{add(c[1], c[0])}; });
  const Fn huge([&](const auto& x) {
    return refs(fori_loop(i64(0), i64(10'000'000'000), body, list({x[0]}), kHere));
  });
  EXPECT_THAT(graph_text(huge, args({i64(0)}), kHere), HasSubstr("10000000000"));
  // At the ends of each type.
  const auto total = [&](const Ref& low, const Ref& high) {
    return item_int(fori_loop(low, high, body, list({scalar_int(dtype(low), 0)}), kHere)[0], kHere);
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(total(i64(3), i64(6)), 3 + 4 + 5);
  EXPECT_EQ(total(i64(6), i64(3)), 0);
  EXPECT_EQ(total(i64(kMost - 1), i64(kMost)), kMost - 1);
  // -128 and -127 remain of the sum, modulo 256.
  EXPECT_EQ(total(scalar_int(DType::i8, -128), scalar_int(DType::i8, 127)), 1);
  const auto u64 = [](std::uint64_t i) { return scalar_unsigned(DType::u64, i); };
  EXPECT_EQ(total(u64(1ull << 63), u64((1ull << 63) + 3)),
            static_cast<std::int64_t>((1ull << 63) + 3));
  EXPECT_THAT(error_of([&] { total(i64(-kMost), i64(kMost)); }),
              HasSubstr("TL-SIZE-001: fori_loop: the loop has 18446744073709551614 trips"));
}

TEST(Control, JitsAndMapsComeInAnyOrder) {
  // sum over i < n, j < i of sin(x): how often depends on values, which decides how a derivative
  // keeps its history.
  const Fn f([](const auto& x) {
    const Fn outer_test([&](const auto& c) { return std::vector{less(c[0], x[1])}; });
    const Fn outer([](const auto& c) {
      const Fn test([&](const auto& d) { return std::vector{less(d[0], c[0])}; });
      const Fn body([](const auto& d) { return std::vector{add(d[0], number(1)), sin(d[1])}; });
      const Leaves inner = while_loop(test, body, list({number(0), c[1]}), 0, kHere);
      return std::vector{add(c[0], number(1)), inner[1]};
    });
    return std::vector{while_loop(outer_test, outer, list({number(0), x[0]}), 0, kHere)[1]};
  });
  const Fn df([&](const auto& x) { return std::vector{grad(f, x)}; });
  const Leaves one = args({number(0.5), number(3)});
  const Leaves lanes = args({doubles({2}, {0.5, 0.8}), doubles({2}, {3, 2})});
  const double slope = three_sines_slope(0.5), short_slope = std::cos(0.8);
  for (const bool map_first : {false, true}) {
    JitCache cache;
    const Fn compiled([&](const auto& x) { return refs(jit(cache, df, args(x), kHere)); });
    const auto map = [&] {
      const Leaves r = vmap(compiled, lanes, std::array{0, 0}, kBatch, kHere);
      EXPECT_THAT(values(r[0]),
                  ElementsAre(DoubleNear(slope, 1e-14), DoubleNear(short_slope, 1e-14)));
    };
    if (map_first) map();
    EXPECT_NEAR(value(jit(cache, df, one, kHere)[0]), slope, 1e-14);
    if (!map_first) map();
  }
}

TEST(Control, ScanStacksAndReverses) {
  const Fn body([](const auto& c) {
    const Ref s = add(c[0], c[1]);
    return std::vector{s, s};
  });
  const Ref xs = doubles({3}, {1, 2, 4});
  EXPECT_THAT(values(scan(body, list({number(0)}), list({xs}), -1, false, kHere)[1]),
              ElementsAre(1, 3, 7));
  EXPECT_THAT(values(scan(body, list({number(0)}), list({xs}), -1, true, kHere)[1]),
              ElementsAre(7, 6, 4));
  EXPECT_THAT(error_of([&] { scan(body, list({number(0)}), list({}), -1, false, kHere); }),
              HasSubstr("TL-LOOP-003: scan: there are no xs and no length"));
  EXPECT_THAT(error_of([&] { scan(body, list({number(0)}), list({number(1)}), -1, false, kHere); }),
              HasSubstr("TL-RANK-001"));
}

TEST(Control, WhileRecordsAndStops) {
  const Fn test([](const auto& c) { return std::vector{less(c[0], number(40))}; });
  const Fn body([](const auto& c) {
    const Ref next = mul(c[0], number(3));
    return std::vector{next, c[0]};
  });
  const Leaves out = while_loop(test, body, list({number(1)}), 0, kHere);
  EXPECT_EQ(value(out[0]), 81);
  EXPECT_THAT(values(out[1]), ElementsAre(1, 3, 9, 27));
  const Fn forever([](const auto& c) { return std::vector{less(number(-1), mul(c[0], c[0]))}; });
  EXPECT_THAT(error_of([&] { while_loop(forever, body, list({number(1)}), 5, kHere); }),
              HasSubstr("TL-LOOP-001"));
  const Fn grows([](const auto&) { return std::vector{doubles({1}, {1})}; });
  EXPECT_THAT(error_of([&] { while_loop(test, grows, list({number(1)}), 5, kHere); }),
              HasSubstr("TL-LOOP-004: while_loop: the body's result: f64[1] is not f64[]"));
  const Fn no_test([](const auto& c) { return c; });
  EXPECT_THAT(error_of([&] { while_loop(no_test, body, list({number(1)}), 5, kHere); }),
              HasSubstr("TL-LOOP-002: while_loop: the condition returns f64[], not a bool scalar"));
}

TEST(Control, SizesThatALoopDecidesStayInside) {
  const auto history = [](const Ref& x) {
    const Fn test([](const auto& c) { return std::vector{less(c[0], number(40))}; });
    const Fn body([](const auto& c) { return std::vector{mul(c[0], number(3)), c[0]}; });
    return while_loop(test, body, list({x}), 0, kHere)[1];
  };
  const Fn whole([&](const auto& x) { return std::vector{history(x[0])}; });
  const Fn reduced([&](const auto& x) { return std::vector{sum(history(x[0]))}; });
  const auto choose = [](const Fn& branch) {
    return Fn([&](const auto& x) {
      return refs(cond(less(x[0], number(2)), branch, branch, list({x[0]}), kHere));
    });
  };
  JitCache cache, other;
  EXPECT_THAT(error_of([&] { jit(cache, choose(whole), args({number(1)}), kHere); }),
              AllOf(HasSubstr("TL-TRACE-005: cond: "),
                    HasSubstr("whose size is known only after the loop that makes it has run")));
  EXPECT_EQ(value(jit(other, choose(reduced), args({number(1)}), kHere)[0]), 1 + 3 + 9 + 27);
}

TEST(Control, LoopsCaptureOuterValues) {
  // s = s * x, n times, x captured: x^n.
  const Fn power([](const auto& x) {
    const Fn body([&](const auto& c) { return std::vector{mul(c[0], x[0])}; });
    return refs(scan(body, list({number(1)}), list({}), 4, false, kHere));
  });
  EXPECT_NEAR(value(grad(power, {number(1.5)})), 4 * std::pow(1.5, 3), 1e-13);
  const Fn slope([&](const auto& x) { return std::vector{grad(power, x)}; });
  EXPECT_NEAR(value(grad(slope, {number(1.5)})), 12 * std::pow(1.5, 2), 1e-13);
  const Leaves lanes = vmap(slope, args({doubles({2}, {1, 2})}), std::array{0}, kBatch, kHere);
  EXPECT_THAT(values(lanes[0]), ElementsAre(4, 32));
}

TEST(Rules, RematChangesNothingButTheGraph) {
  const Fn f([](const auto& x) {
    const Fn inner([](const auto& y) { return std::vector{sin(sin(y[0]))}; });
    return refs(remat(inner, args(x), "nothing", kHere));
  });
  EXPECT_NEAR(value(grad(f, {number(0.3)})), std::cos(0.3) * std::cos(std::sin(0.3)), 1e-15);
  const Fn plain([](const auto& x) { return x; });
  EXPECT_THAT(error_of([&] { remat(plain, args({number(1)}), "some", kHere); }),
              HasSubstr("TL-REMAT-001: remat: unknown policy 'some'"));
}

TEST(Rules, RematKeepsWhatHasAName) {
  // y = exp(sin(h)), h = sin(x): how often a sine is computed for y and its slope.
  const auto sines = [](const char* policy) {
    const Fn both([=](const auto& x) {
      const Fn f([=](const auto& a) {
        const Fn inner([](const auto& b) {
          return std::vector{exp(sin(checkpoint_name(sin(b[0]), "h", {}, kHere)))};
        });
        return refs(remat(inner, args(a), policy, kHere));
      });
      return refs(value_and_grad(f, args(x), kFirst, kHere));
    });
    const std::string text = graph_text(both, args({number(0.3)}), kHere);
    int n = 0;
    for (auto at = text.find("sin("); at != text.npos; at = text.find("sin(", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(sines("nothing"), 4);
  EXPECT_EQ(sines("names:h"), 3);
  EXPECT_EQ(sines("everything"), 2);
}

TEST(Rules, CustomJvpIsUsedInBothModes) {
  // A rule that is wrong on purpose: three times the slope.
  const Fn f([](const auto& x) { return std::vector{mul(x[0], x[1])}; });
  const Fn rule([](const auto& x) {
    const Ref slope = add(mul(x[2], x[1]), mul(x[0], x[3]));
    return std::vector{mul(x[0], x[1]), mul(number(3), slope)};
  });
  const Fn g([&](const auto& x) { return refs(custom_jvp(f, rule, args(x), kHere)); });
  EXPECT_EQ(value(grad(g, {number(2), number(5)})), 15);
  const Leaves forward = jvp(g, args({number(2), number(5)}), list({number(1), Ref()}), kHere);
  EXPECT_EQ(value(forward[0]), 10);
  EXPECT_EQ(value(forward[1]), 15);
  EXPECT_EQ(value(custom_jvp(f, rule, args({number(2), number(5)}), kHere)[0]), 10);
}

TEST(Rules, CustomVjpKeepsResiduals) {
  const Fn f([](const auto& x) { return std::vector{sin(x[0])}; });
  const Fn forward([](const auto& x) { return std::vector{sin(x[0]), x[0]}; });
  const Fn backward(
      [](const auto& r) { return std::vector{mul(number(10), mul(r[1], r[0])), Ref()}; });
  const Fn g([&](const auto& x) {
    return refs(custom_vjp(f, forward, backward, args({x[0], scalar_int(DType::i32, 1)}), kHere));
  });
  EXPECT_EQ(value(grad(g, {number(2)})), 20);
  const Leaves lanes = vmap(Fn([&](const auto& x) { return std::vector{grad(g, x)}; }),
                            args({doubles({2}, {1, 2})}), std::array{0}, kBatch, kHere);
  EXPECT_THAT(values(lanes[0]), ElementsAre(10, 20));
}

TEST(Rules, CapturedValuesAreOperandsAndMayNotMove) {
  const Ref w = doubles({20}, std::vector<double>(20, 2));
  const auto scaled = [&](const Ref& factor) {
    return Fn([&w, factor](const auto& x) {
      const Fn f([&](const auto& y) { return std::vector{mul(mul(y[0], factor), sum(w))}; });
      const Fn rule([&](const auto& y) {
        const Ref k = mul(factor, sum(w));
        return std::vector{mul(y[0], k), mul(y[1], k)};
      });
      return refs(custom_jvp(f, rule, args({x[0]}), kHere));
    });
  };
  EXPECT_EQ(value(grad(scaled(number(3)), {number(1)})), 120);
  // Captured from a trace, but constant there.
  const Fn constant_capture([&](const auto& x) { return std::vector{grad(scaled(x[1]), {x[0]})}; });
  JitCache cache;
  EXPECT_EQ(value(jit(cache, constant_capture, args({number(1), number(3)}), kHere)[0]), 120);
  const Fn moving([&](const auto& x) {
    return refs(
        static_cast<Leaves>(list({value_and_grad(scaled(x[0]), args({x[0]}), {}, kHere)[0]})));
  });
  EXPECT_THAT(error_of([&] { grad(moving, {number(1)}); }), HasSubstr("TL-CUSTOM-001"));
}

}  // namespace
}  // namespace tlaloc::core::testing
