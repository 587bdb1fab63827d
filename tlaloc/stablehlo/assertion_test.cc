// What modules require of their sizes, by shape_assertion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tlaloc/stablehlo/import_testing.h"

namespace tlaloc::stablehlo {
namespace {

using ::testing::HasSubstr;

/// A function of two arrays of n and m numbers that asserts %p, which `body` defines.
std::string asserting(const std::string& body, const std::string& attributes = "",
                      const std::string& operands = "%p", const std::string& types = "tensor<i1>") {
  return R"(func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %lt = stablehlo.compare LT, %n, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %ge = stablehlo.compare GE, %n, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %rest = stablehlo.remainder %m, %three : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %even = stablehlo.compare EQ, %rest, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  )" + body +
         "\n  stablehlo.custom_call @shape_assertion(" + operands + ") {" + attributes + "} : (" +
         types + ") -> ()\n  return\n}\n";
}

/// Whether sizes meet all that the graph requires.
bool hold(const ir::Graph& g, std::int64_t n, std::int64_t m) {
  auto size = [&](ir::Symbol s) { return s == g.dims()[0] ? n : m; };
  for (const ir::Constraint& c : g.constraints()) {
    const std::int64_t a = c.a.evaluate(size), b = c.b.evaluate(size);
    if (c.kind == ir::Constraint::Kind::equal ? a != b : a > b) return false;
  }
  return true;
}

TEST(Assertions, AnyConditionOnSizes) {
  struct Row {
    std::string body;
    std::function<bool(bool lt, bool ge, bool multiple)> holds;
  };
  const Row rows[] = {
      {"%p = stablehlo.not %lt : tensor<i1>", [](bool a, bool, bool) { return !a; }},
      {"%p = stablehlo.and %lt, %ge : tensor<i1>", [](bool a, bool b, bool) { return a && b; }},
      {"%p = stablehlo.or %lt, %ge : tensor<i1>", [](bool a, bool b, bool) { return a || b; }},
      {"%p = stablehlo.xor %lt, %ge : tensor<i1>", [](bool a, bool b, bool) { return a != b; }},
      {"%p = stablehlo.convert %even : tensor<i1>", [](bool, bool, bool c) { return c; }},
      {"%p = stablehlo.select %lt, %ge, %even : tensor<i1>, tensor<i1>",
       [](bool a, bool b, bool c) { return a ? b : c; }},
      {"%q = stablehlo.or %ge, %even : tensor<i1>\n  %r = stablehlo.not %q : tensor<i1>\n  "
       "%p = stablehlo.or %r, %lt : tensor<i1>",
       [](bool a, bool b, bool c) { return !(b || c) || a; }},
      {"%p = stablehlo.compare NE, %n, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>", {}},
  };
  for (const Row& row : rows) {
    const ir::GraphRef g = imported(asserting(row.body));
    ASSERT_EQ(g->dims().size(), 2u);
    EXPECT_FALSE(g->constraints().empty()) << row.body;
    for (std::int64_t n = 0; n < 7; ++n) {
      for (std::int64_t m = 0; m < 7; ++m) {
        const bool wanted = row.holds ? row.holds(n < m, n >= 3, m % 3 == 0) : n != m;
        EXPECT_EQ(hold(*g, n, m), wanted) << row.body << ": " << n << ", " << m;
      }
    }
  }
}

TEST(Assertions, EachPartOfAConjunctionIsRequiredByItself) {
  const ir::GraphRef g = imported(asserting("%p = stablehlo.and %lt, %ge : tensor<i1>"));
  ASSERT_EQ(g->constraints().size(), 2u);
  EXPECT_EQ(g->constraints()[1].a, ir::Dim(3));
}

TEST(Assertions, MessagesHaveTheirSizes) {
  const ir::GraphRef g =
      imported(asserting("%p = stablehlo.convert %lt : tensor<i1>",
                         "error_message = \"{1} is more than {0}, {} {2} {x} {1\"", "%p, %n, %m",
                         "tensor<i1>, tensor<i32>, tensor<i32>"));
  ASSERT_EQ(g->constraints().size(), 1u);
  const std::string n = ir::Dim(g->dims()[0]).to_string(), m = ir::Dim(g->dims()[1]).to_string();
  EXPECT_EQ(g->constraints()[0].what, m + " is more than " + n + ", {} {2} {x} {1");
  EXPECT_EQ(g->constraints()[0].place.line, 11);
}

TEST(Assertions, OthersAreRefused) {
  EXPECT_THAT(error_of("TL-HLO-002",
                       asserting("%f = stablehlo.is_finite %x : (tensor<?xf32>) -> tensor<?xi1>\n"
                                 "  %t = stablehlo.constant dense<true> : tensor<i1>\n  %p = "
                                 "stablehlo.reduce(%f init: %t) applies stablehlo.and across "
                                 "dimensions = [0] : (tensor<?xi1>, tensor<i1>) -> tensor<i1>",
                                 "error_message = \"all are finite\"")),
              AllOf(HasSubstr("something else than a condition on sizes: all are finite"),
                    HasSubstr("export it for sizes that are numbers")));
  std::string chain = "%p0 = stablehlo.and %lt, %lt : tensor<i1>\n";
  for (int k = 1; k < 40; ++k) {  // 2^40 parts, of forty operations
    const std::string of = "%p" + std::to_string(k - 1);
    chain += "%p" + std::to_string(k) + " = stablehlo.and " + of + ", " + of + " : tensor<i1>\n";
  }
  error_of("TL-HLO-002", asserting(chain + "%p = stablehlo.and %p39, %p39 : tensor<i1>"));
}

}  // namespace
}  // namespace tlaloc::stablehlo
