// Programs compiled ahead of time, called from C, against the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

#include "tests/cpu/ahead_testing.h"
#include "tests/cpu/random_graphs.h"
#include "tests/transform/derived.h"
#include "tests/transform/programs.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/testing.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/runtime/arguments.h"

namespace tlaloc::testing {
namespace {

using ::testing::HasSubstr;
using Arrays = std::vector<HostArray>;

constexpr int kOk = 0, kScratchTooSmall = 1, kBadSize = 2, kTooManyTrips = 3;

void expect_close(const Arrays& got, const Arrays& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < want.size(); ++k) {
    ASSERT_EQ(got[k].extents(), want[k].extents());
    for (std::int64_t i = 0; i < want[k].size(); ++i) {
      const double x = got[k].element(i), y = want[k].element(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::abs(y))) << "result " << k << ", " << i;
    }
  }
}
std::vector<Extents> extents_of(const Arrays& arrays) {
  std::vector<Extents> r;
  for (const HostArray& a : arrays) r.push_back(a.extents());
  return r;
}
/// The object needs nothing but functions of the C library's <math.h>.
void expect_plain(const AheadProgram& p) {
  static const std::set<std::string> known{
      "exp", "expm1", "log", "log1p", "cbrt", "tanh", "sin", "cos", "tan", "asin", "acos", "atan",
      "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "erfc", "fmod", "pow", "atan2",
      // What a processor has no instruction for.
      "fma", "floor", "ceil", "trunc", "nearbyint"};
  std::istringstream in(p.undefined());
  for (std::string u, symbol; in >> u >> symbol;) {
    if (symbol == "_GLOBAL_OFFSET_TABLE_") continue;  // the linker's own
    const std::string name = symbol.ends_with('f') && !known.contains(symbol)
                                 ? symbol.substr(0, symbol.size() - 1)
                                 : symbol;
    EXPECT_TRUE(known.contains(name)) << "the object needs " << symbol;
  }
}
void expect_interpreters(const GraphRef& g, const Arrays& args, double tolerance,
                         const std::string& cpu = "native") {
  const AheadProgram p(g, cpu);
  const Arrays want = interp::run(*g, args);
  const auto got = p.run(runtime::bind_arguments(*g, args, {}), args, extents_of(want));
  ASSERT_EQ(got.status, kOk);
  expect_close(got.results, want, tolerance);
  expect_plain(p);
}

HostArray waves(DType t, Extents extents, double step) {
  HostArray a(t, std::move(extents));
  auto fill = [&]<class T>(std::span<T> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<T>(std::sin(step * static_cast<double>(i + 1)));
    }
  };
  if (t == DType::f32) fill(a.as_mutable<float>());
  if (t == DType::f64) fill(a.as_mutable<double>());
  return a;
}

class AheadOfTime : public cpu::testing::CodegenTest {};

class Ahead : public AheadOfTime, public ::testing::WithParamInterface<const char*> {};

/// Loops of unknown length, histories, branches, updates in place: and their gradients.
TEST_P(Ahead, Gradients) {
  const Program& p = program(GetParam());
  const GraphRef g = grad_of(p.graph, {});
  expect_interpreters(g, p.args, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Programs, Ahead,
                         ::testing::Values("newton", "sin_until", "n_body", "array_sin", "window",
                                           "rnn"),
                         [](const auto& info) { return std::string(info.param); });

GraphRef mlp(Dim n) {
  return graph_of({f64({n, 20}), f64({20, 33}), f64({33}), f64({33, 16}), f64({16})},
                  [](const Vals& p) -> Vals {
                    auto layer = [](Val x, Val w, Val b) {
                      const Val y = ops::matmul(x, w);
                      return y + ops::broadcast_to(b, y.type().shape());
                    };
                    return {layer(ops::tanh(layer(p[0], p[1], p[2])), p[3], p[4])};
                  });
}
Arrays mlp_arguments(std::int64_t n) {
  return {waves(DType::f64, {n, 20}, 0.7), waves(DType::f64, {20, 33}, 0.3),
          waves(DType::f64, {33}, 0.1), waves(DType::f64, {33, 16}, 0.9),
          waves(DType::f64, {16}, 0.2)};
}

TEST_F(AheadOfTime, ANetworkOfAnyBatchSize) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = mlp(n);
  const AheadProgram p(g);
  for (std::int64_t size : {1, 7, 64, 0}) {
    const Arrays args = mlp_arguments(size);
    const Arrays want = interp::run(*g, args);
    const auto got = p.run({size}, args, extents_of(want));
    ASSERT_EQ(got.status, kOk);
    expect_close(got.results, want, 1e-12);
  }
  expect_plain(p);
  EXPECT_THAT(p.header(), HasSubstr("int64_t f_scratch_bytes(int64_t n);"));
  EXPECT_THAT(p.header(), HasSubstr("arg0: f64[n, 20]"));
}

TEST_F(AheadOfTime, GradientsOfANetworkOnEveryCpu) {
  const GraphRef g = grad_of(sum_of_squares(mlp(9)), {});
  for (const char* cpu : {"x86-64", "x86-64-v2", "native"}) {
    expect_interpreters(g, mlp_arguments(9), 1e-11, cpu);
  }
}

/// Numbers whose products and sums f32 has exactly, so that only the result is rounded, once.
HostArray short_floats(DType t, Extents extents, std::int64_t step) {
  HostArray a(t, std::move(extents));
  auto fill = [&]<class T>(std::span<T> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto k = static_cast<std::int64_t>(i) * step % 255 - 127;
      to[i] = static_cast<T>(static_cast<float>(k) / 64);
    }
  };
  if (t == DType::f16) fill(a.as_mutable<Half>());
  if (t == DType::bf16) fill(a.as_mutable<BFloat16>());
  return a;
}

TEST_F(AheadOfTime, ProductsOfShortFloatsAreRoundedOnce) {
  // Result and rhs along rows, along columns, and with a batch.
  const ops::DotDims dims[] = {{{}, {}, {1}, {0}}, {{}, {}, {0}, {1}}, {{0}, {1}, {1}, {0}}};
  for (const DType t : {DType::bf16, DType::f16}) {
    // x86-64-v3 is what has instructions for f16.
    if (t == DType::f16 && !__builtin_cpu_supports("avx2")) continue;
    for (const ops::DotDims& d : dims) {
      const GraphRef g =
          graph_of({Type::get(t, {64, 64}), Type::get(t, {64, 64})},
                   [&](const Vals& p) -> Vals { return {ops::dot_general(p[0], p[1], d)}; });
      expect_interpreters(g, {short_floats(t, {64, 64}, 37), short_floats(t, {64, 64}, 101)}, 0,
                          t == DType::f16 ? "x86-64-v3" : "x86-64-v2");
    }
  }
}

/// Padding that is met, cropped and dilated; groups; a kernel read from its end; infinities there.
TEST_F(AheadOfTime, Convolutions) {
  const ops::ConvAttrs plain = ops::plain_convolution(2);
  auto attrs = [&](const std::function<void(ops::ConvAttrs&)>& change) {
    ops::ConvAttrs a = plain;
    change(a);
    return a;
  };
  const ops::ConvAttrs cases[] = {
      plain,
      attrs([](ops::ConvAttrs& a) {
        a.low = {1, 2};
        a.high = {2, 1};
        a.strides = {2, 1};
      }),
      attrs([](ops::ConvAttrs& a) {
        a.low = {-1, 1};
        a.high = {3, -2};
        a.lhs_dilation = {2, 3};
        a.rhs_dilation = {1, 2};
        a.reversed = {true, false};
      }),
      attrs([](ops::ConvAttrs& a) {
        a.low = a.high = {1, 1};
        a.feature_groups = 2;
      }),
      attrs([](ops::ConvAttrs& a) { a.batch_groups = 2; }),
  };
  for (const ops::ConvAttrs& a : cases) {
    const std::int64_t in = a.feature_groups == Dim(2) ? 2 : 4;
    HostArray kernel = waves(DType::f64, {6, in, 3, 2}, 0.3);
    kernel.as_mutable<double>()[0] = std::numeric_limits<double>::infinity();
    const GraphRef g =
        graph_of({f64({2, 4, 9, 20}), f64({6, in, 3, 2})},
                 [&](const Vals& p) -> Vals { return {ops::convolution(p[0], p[1], a)}; });
    expect_interpreters(g, {waves(DType::f64, {2, 4, 9, 20}, 0.7), kernel}, 1e-12);
  }
  // Features last, as a network has them, and its gradients; any number of images.
  ops::ConvAttrs last = plain;
  last.dims = {.lhs_batch = 0,
               .lhs_feature = 3,
               .lhs_spatial = {1, 2},
               .rhs_in = 2,
               .rhs_out = 3,
               .rhs_spatial = {0, 1},
               .out_batch = 0,
               .out_feature = 3,
               .out_spatial = {1, 2}};
  last.low = last.high = {1, 1};
  const Symbol n = Symbol::fresh("n");
  const GraphRef net = graph_of(
      {f64({n, 8, 8, 3}), f64({3, 3, 3, 16})},
      [&](const Vals& p) -> Vals { return {ops::tanh(ops::convolution(p[0], p[1], last))}; });
  const Arrays args{waves(DType::f64, {2, 8, 8, 3}, 0.7), waves(DType::f64, {3, 3, 3, 16}, 0.3)};
  expect_interpreters(net, args, 1e-12);
  expect_interpreters(grad_of(sum_of_squares(net), {}), args, 1e-11);
}

TEST_F(AheadOfTime, WhatDoesNotFitHasAStatus) {
  const Symbol n = Symbol::fresh("n");
  const AheadProgram p(mlp(n));
  const Arrays args = mlp_arguments(4);
  const std::vector<Extents> result{{4, 16}};
  EXPECT_EQ(p.run({4}, args, result, 10).status, kScratchTooSmall);
  EXPECT_EQ(p.run({4}, args, result, p.scratch_bytes({4})).status, kOk);
  EXPECT_EQ(p.run({-4}, args, result, 1 << 20).status, kBadSize);
  EXPECT_EQ(p.scratch_bytes({-4}), -1);
  EXPECT_EQ(p.scratch_bytes({std::int64_t{1} << 62}), -1);
  EXPECT_EQ(p.run({std::int64_t{1} << 62}, args, result, 1 << 20).status, kBadSize);
}

TEST_F(AheadOfTime, LoopsAskForMoreScratchMemory) {
  const Program& newton = program("newton");
  const GraphRef g = grad_of(newton.graph, {});
  const AheadProgram p(g);
  const Arrays want = interp::run(*g, newton.args);
  EXPECT_EQ(p.run({}, newton.args, extents_of(want), p.scratch_bytes({})).status, kScratchTooSmall);
  std::int64_t bytes = p.scratch_bytes({});
  AheadProgram::Outcome got;
  do {
    bytes += 64;
    got = p.run({}, newton.args, extents_of(want), bytes);
  } while (got.status == kScratchTooSmall && bytes < 1 << 20);
  ASSERT_EQ(got.status, kOk);
  expect_close(got.results, want, 1e-12);
  EXPECT_THAT(p.header(), HasSubstr("beside what its loops keep"));
}

TEST_F(AheadOfTime, ALoopHasALimit) {
  const GraphRef g = graph_of({f64()}, [](const Vals& v) -> Vals {
    return {ops::while_loop(
                {v[0]}, [](const Vals& c) -> Vals { return {c[0] < 100.0}; },
                [](const Vals& c) -> Vals { return {c[0] + real(1)}; }, 10)
                .carries[0]};
  });
  const AheadProgram p(g);
  EXPECT_EQ(p.run({}, {HostArray::scalar(95.0)}, {{}}).status, kOk);
  EXPECT_EQ(p.run({}, {HostArray::scalar(5.0)}, {{}}).status, kTooManyTrips);
}

/// Arguments and constants that are results, one value twice.
TEST_F(AheadOfTime, ResultsMayLieElsewhere) {
  const GraphRef g = graph_of({f64({3})}, [](const Vals& v) -> Vals {
    const Val y = v[0] + v[0];
    return {v[0], y, y, ops::constant(reals({7, 8}, {2}))};
  });
  expect_interpreters(g, {reals({1, 2, 3}, {3})}, 0);
}

std::string refusal(const GraphRef& g, const cpu::AheadOptions& options = {}) {
  try {
    cpu::compile_ahead(g, options);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST_F(AheadOfTime, WhatStandsNotAloneIsRefused) {
  const GraphRef crop = graph_of({f64({8})}, [](const Vals& p) -> Vals {
    const Dim low[] = {-1}, zero[] = {0};
    return {ops::pad(p[0], real(0), low, zero, zero)};
  });
  EXPECT_THAT(refusal(crop), HasSubstr("TL-AOT-001: pad: what it runs is a part of Tlaloc"));
  // Lists of lists: histories of loops in loops.
  EXPECT_THAT(refusal(grad_of(program("array_if_nest").graph, {})), HasSubstr("TL-AOT-001: scan:"));
  const GraphRef power = graph_of({Type::get(DType::i32, {100})},
                                  [](const Vals& p) -> Vals { return {ops::pow(p[0], p[0])}; });
  EXPECT_THAT(refusal(power), HasSubstr("TL-AOT-001: pow: there is no code for it on"));
  const GraphRef half =
      graph_of({Type::get(DType::f16, {100})}, [](const Vals& p) -> Vals { return {p[0] + p[0]}; });
  EXPECT_THAT(refusal(half), HasSubstr("TL-AOT-001: add: x86-64-v2 has no instructions for f16"));
  const GraphRef plain = graph_of({f64()}, [](const Vals& p) -> Vals { return {p[0] + p[0]}; });
  EXPECT_THAT(refusal(plain, {.function = "2f"}),
              HasSubstr("TL-AOT-002: compile_ahead: '2f' is no name of a function in C"));
  EXPECT_THAT(refusal(plain, {.function = "f", .cpu = "z80"}),
              HasSubstr("TL-AOT-002: compile_ahead: 'z80' is no CPU; take one of native, x86-64"));
}

TEST_F(AheadOfTime, NamesThatProgramsHaveAlreadyAreRefused) {
  const GraphRef g = graph_of({f64()}, [](const Vals& p) -> Vals { return {p[0] + p[0]}; });
  for (const char* name : {"double", "_Bool", "__builtin_memcpy", "int64_t", "co_await", "linux"}) {
    EXPECT_THAT(refusal(g, {.function = name}), HasSubstr("is no name of a function in C")) << name;
  }
  for (const char* name : {"main", "memset", "malloc", "exp", "expf", "sinl", "write", "fork"}) {
    EXPECT_THAT(refusal(g, {.function = name}), HasSubstr("is a name of the C library's")) << name;
  }
  for (const char* name : {"F", "Loss", "mallocf", "f_1"}) {
    EXPECT_EQ(refusal(g, {.function = name}), "") << name;
  }
}

/// The header, behind headers that define much, with names that C or C++ does not take; twice, as
/// names of two functions may differ in capitals alone.
TEST_F(AheadOfTime, HeadersTakeAnyName) {
  const std::vector<std::string> names{
      "_Bool",   "_Generic", "__x",    "typeof",  "wchar_t",       "char8_t", "co_yield", "bitand",
      "int64_t", "uint8_t",  "linux",  "unix",    "INT64_MAX",     "F_OK",    "I",        "NULL",
      "scratch", "errno",    "and_eq", "complex", "static_assert", "9",       "__",       "W1"};
  const Symbol n = Symbol::fresh("int32_t");
  const GraphRef g = graph_of(std::vector<Type>(names.size(), f64({n})),
                              [](const Vals& p) -> Vals { return {p[0] + p[1]}; });
  const cpu::testing::TemporaryFolder folder;
  const std::string path = folder.path();
  std::ofstream program(path + "/program.c");
  program << "#include <complex.h>\n#include <errno.h>\n#include <stdio.h>\n"
             "#include <unistd.h>\n";
  for (const char* function : {"f", "F", "r"}) {
    const auto code = cpu::compile_ahead(g, {.function = function, .params = names});
    EXPECT_THAT(code.header, HasSubstr("const double* W1,"));
    const std::string file = std::string("header_of_") + function + ".h";
    std::ofstream(path + "/" + file) << code.header;
    program << "#include \"" << file << "\"\nint use_" << function << "(void);\nint use_"
            << function << "(void) { return " << function << "_status_ok + (int)" << function
            << "_scratch_bytes(1); }\n";
  }
  program.close();
  for (const char* compiler : {"cc -std=c99", "cc", "c++ -x c++ -std=gnu++20"}) {
    const std::string command = std::string(compiler) +
                                " -Wall -Wextra -Wpedantic -Werror -fsyntax-only " + path +
                                "/program.c";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

/// Random graphs: what is not refused gives the interpreter's results.
TEST_F(AheadOfTime, RandomGraphs) {
  int compiled = 0;
  // Of a hundred graphs far more than a dozen are taken.
  for (std::uint64_t seed = 0; compiled < 12; ++seed) {
    ASSERT_LT(seed, 100U) << "only " << compiled << " graphs were taken";
    const RandomGraph g = random_graph(seed);
    if (!refusal(g.graph).empty()) continue;
    ++compiled;
    const std::int64_t size = g.size.value_or(4);
    const Arrays args = random_arguments(g, size, seed);
    Arrays want;
    try {
      want = interp::run(*g.graph, args);
    } catch (const UserError&) {
      continue;
    }
    const AheadProgram p(g.graph);
    const auto got =
        p.run(std::vector<std::int64_t>(g.graph->dims().size(), size), args, extents_of(want));
    ASSERT_EQ(got.status, kOk) << "seed " << seed;
    for (std::size_t k = 0; k < want.size(); ++k) {
      for (std::int64_t i = 0; i < want[k].size(); ++i) {
        const double x = got.results[k].element(i), y = want[k].element(i);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        // Numbers are small multiples of a power of two, which sums have exactly. Where they have
        // grown beyond that, sums depend on their order.
        const double size = std::max(std::abs(x), std::abs(y));
        ASSERT_TRUE(size > 1e6 && std::isfinite(size) && std::abs(x - y) <= 1e-5 * size)
            << "seed " << seed << ": " << x << " and " << y;
      }
    }
  }
}

}  // namespace
}  // namespace tlaloc::testing
