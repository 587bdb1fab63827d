#include "tests/oracle/goldens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/oracle/golden_case.h"
#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::testing {
namespace {

const Goldens& goldens() {
  static const Goldens all = read_goldens("tests/oracle/jax_goldens.txt");
  return all;
}
GoldenCases& cases() {
  static GoldenCases all = [] {
    GoldenCases c;
    op_goldens(c);
    composite_goldens(c);
    return c;
  }();
  return all;
}

std::vector<Type> types_of(const Arrays& arrays) {
  std::vector<Type> types;
  for (const HostArray& a : arrays) {
    types.push_back(Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end())));
  }
  return types;
}
/// Two lanes: a, and a with its floats halved.
HostArray two_lanes(const HostArray& a) {
  std::vector<double> v = ops::testing::values(a);
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) v.push_back(is_float(a.dtype()) ? v[i] / 2 : v[i]);
  Extents e = a.extents();
  e.insert(e.begin(), 2);
  return ops::testing::array(a.dtype(), e, v);
}
HostArray second_lane(const HostArray& a) {
  const std::vector<double> v = ops::testing::values(a);
  const auto half = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  return ops::testing::array(a.dtype(), {a.extents().begin() + 1, a.extents().end()},
                             {half, v.end()});
}
Arrays last(const Arrays& a, std::size_t n) {
  return {a.end() - static_cast<std::ptrdiff_t>(n), a.end()};
}

class Comparison {
 public:
  Comparison(const GoldenCase& c, const Golden& golden, DType real)
      : c_(c), golden_(golden), real_(real), x_(golden.all(real, "in")) {
    graph_ = checked(c.build.at(real)(types_of(x_)));
  }

  std::vector<std::string> run() {
    const Arrays y = interp::run(*graph_, x_);
    compare("out", y);
    for (std::int64_t i = 0; c_.nan_with_value && i < y[0].size(); ++i) {
      if (std::isnan(y[0].element(i))) nan_at_.insert(i);
    }
    const Arrays dx = golden_.all(real_, "dx"), ct = golden_.all(real_, "ct");
    const auto active = transform::differentiable_params(*graph_);
    if (!dx.empty()) {
      const GraphRef jvp = checked(transform::jvp(graph_, active));
      compare("jvp", last(interp::run(*jvp, x_ + dx), ct.size()));
      const GraphRef vjp = checked(transform::vjp(graph_, active));
      compare("vjp", last(interp::run(*vjp, x_ + ct), dx.size()));
      if (golden_.has(real_, "v0")) {
        const GraphRef second =
            checked(transform::jvp(vjp, transform::differentiable_params(*vjp)));
        const Arrays moved = golden_.all(real_, "v") + golden_.all(real_, "w");
        compare("second", last(interp::run(*second, x_ + ct + moved), dx.size()));
      }
    }
    if (golden_.has(real_, "vmap0")) {
      Arrays lanes, results;
      for (const HostArray& a : x_) lanes.push_back(two_lanes(a));
      const GraphRef mapped = vmap_of(graph_);
      for (const HostArray& a : interp::run(*mapped, lanes)) results.push_back(second_lane(a));
      compare("vmap", results);
    }
    for (const Own& own : c_.own) {
      for (std::int64_t at : own.at) {
        if (!used_.contains({own.key, at})) complain(own.key, at, "JAX agrees: no own value");
      }
    }
    if (c_.nan_with_value && !nan_used_) complain("", 0, "JAX agrees where the value is NaN");
    return std::move(complaints_);
  }

 private:
  void complain(const std::string& key, std::int64_t at, const std::string& what) {
    complaints_.push_back(std::string(tlaloc::name(real_)) + " " + key + "[" + std::to_string(at) +
                          "]: " + what);
  }
  void compare(const std::string& key, const Arrays& got) {
    const Arrays want = golden_.all(real_, key);
    if (got.size() != want.size()) return complain(key, -1, "another number of results");
    for (std::size_t k = 0; k < got.size(); ++k) {
      compare(key + std::to_string(k), got[k], want[k], key == "out" && !c_.cancels);
    }
  }
  void compare(const std::string& key, const HostArray& got, const HostArray& want, bool strict) {
    if (got.extents() != want.extents() || is_float(got.dtype()) != is_float(want.dtype())) {
      return complain(key, -1, to_string(got) + " wanted " + to_string(want));
    }
    double scale = 0;
    for (std::int64_t i = 0; i < want.size(); ++i) {
      if (std::isfinite(want.element(i))) scale = std::max(scale, std::abs(want.element(i)));
    }
    for (std::int64_t i = 0; i < want.size(); ++i) {
      const double a = got.element(i), jax = want.element(i);
      const double bound =
          (real_ == DType::f64 ? c_.f64 : c_.f32) * (strict ? std::abs(jax) : scale);
      auto agrees = [&](double b) {
        return a == b || std::abs(a - b) <= bound || (std::isnan(a) && std::isnan(b));
      };
      if (agrees(jax)) continue;
      double b = jax;
      if (!key.starts_with("out") && nan_at_.contains(i)) {
        b = std::numeric_limits<double>::quiet_NaN();
        nan_used_ = true;
      }
      for (const Own& own : c_.own) {
        if (own.key != key || std::ranges::count(own.at, i) == 0) continue;
        b = own.value;
        used_.insert({key, i});
      }
      if (!agrees(b)) {
        char text[80];
        std::snprintf(text, sizeof text, "%.17g wanted %.17g, off by %.2g", a, b,
                      std::abs(a - b) / (strict ? std::abs(b) : scale));
        complain(key, i, text);
      }
    }
  }

  const GoldenCase& c_;
  const Golden& golden_;
  const DType real_;
  const Arrays x_;
  GraphRef graph_;
  std::set<std::int64_t> nan_at_;
  std::set<std::pair<std::string, std::int64_t>> used_;
  bool nan_used_ = false;
  std::vector<std::string> complaints_;
};

std::vector<std::string> names_of_goldens() {
  std::vector<std::string> names;
  for (const auto& [name, golden] : goldens()) names.push_back(name);
  return names;
}
std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string s = info.param;
  std::ranges::replace_if(s, [](unsigned char ch) { return !std::isalnum(ch); }, '_');
  return s;
}

class Jax : public ::testing::TestWithParam<std::string> {};
TEST_P(Jax, Agrees) {
  const auto it = cases().all().find(GetParam());
  ASSERT_NE(it, cases().all().end()) << "no such case here";
  for (DType real : {DType::f64, DType::f32}) {
    Comparison c(it->second, goldens().at(GetParam()), real);
    for (const std::string& line : c.run()) ADD_FAILURE() << line;
  }
}
INSTANTIATE_TEST_SUITE_P(Goldens, Jax, ::testing::ValuesIn(names_of_goldens()), test_name);

TEST(Goldens, EveryCaseHasOneAndSaysWhyItsBoundIsWide) {
  for (const auto& [name, c] : cases().all()) {
    EXPECT_TRUE(goldens().contains(name)) << name;
    const GoldenCase usual;
    EXPECT_EQ(c.f64 > usual.f64 || c.f32 > usual.f32, !c.reason.empty()) << name;
  }
}

void collect(const ir::Graph& g, std::set<std::string>& names) {
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    names.insert(g.node(i).op().name);
    for (const ir::Region& r : g.node(i).regions()) collect(*r.graph, names);
  }
}
TEST(Goldens, EveryDifferentiableOpIsThere) {
  std::set<std::string> seen;
  for (const auto& [name, c] : cases().all()) {
    const GraphRef g = c.build.at(DType::f64)(types_of(goldens().at(name).all(DType::f64, "in")));
    collect(*g, seen);
    collect(*transform::jvp(g, transform::differentiable_params(*g)), seen);
    collect(*transform::vjp(g, transform::differentiable_params(*g)), seen);
  }
  // JAX has no block-quantized weights; tests/ops compares them with dense ones.
  for (const char* name : {"dequantize", "quant_matmul", "quant_gather"}) seen.insert(name);
  for (const ir::OpDef* op : ops::table()) {
    if (op->jvp && op->region_kind == ir::RegionKind::none) {
      EXPECT_TRUE(seen.contains(op->name)) << op->name;
    }
  }
}

TEST(Goldens, NegativeControl) {
  const Golden& golden = goldens().at("tanh");
  GoldenCases wrong;
  auto complaints = [&](const GoldenCase& c) { return Comparison(c, golden, DType::f64).run(); };
  // The value, the first derivative, the second.
  wrong.add("value", [](const Vals& p) { return Vals{ops::tanh(p[0]) * (1 + 1e-11)}; });
  EXPECT_THAT(complaints(wrong["value"]), ::testing::Contains(::testing::HasSubstr("out0")));
  wrong.add("first", [](const Vals& p) {
    return Vals{ops::tanh(p[0]) + (p[0] - ops::stop_gradient(p[0])) * 1e-6};
  });
  EXPECT_THAT(complaints(wrong["first"]), ::testing::Contains(::testing::HasSubstr("jvp0")));
  EXPECT_THAT(complaints(wrong["first"]), ::testing::Contains(::testing::HasSubstr("vjp0")));
  wrong.add("second", [](const Vals& p) {
    const Val d = p[0] - ops::stop_gradient(p[0]);
    return Vals{ops::tanh(p[0]) + d * d * 1e-6};
  });
  EXPECT_THAT(complaints(wrong["second"]), ::testing::Each(::testing::HasSubstr("second0")));
  EXPECT_FALSE(complaints(wrong["second"]).empty());
  // An own value that JAX has too.
  wrong.add("own", [](const Vals& p) { return Vals{ops::tanh(p[0])}; }).own = {{"out0", {0}, 3}};
  EXPECT_THAT(complaints(wrong["own"]), ::testing::Contains(::testing::HasSubstr("JAX agrees")));
}

}  // namespace
}  // namespace tlaloc::testing
