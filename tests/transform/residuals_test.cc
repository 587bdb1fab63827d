// What reverse mode keeps of the forward pass: declared rules of composites, policies of remat.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tests/transform/program.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using Names = std::set<std::string>;

std::vector<Type> residual_types(const GraphRef& g, const Policy& policy = {}) {
  const auto parts = transform::linearize(g, transform::differentiable_params(*g), policy);
  const std::vector<Type> all = parts.forward->result_types();
  return {all.end() - static_cast<std::ptrdiff_t>(parts.residual_count), all.end()};
}
std::string texts(const std::vector<Type>& types) {
  std::string s;
  for (Type t : types) s += (s.empty() ? "" : " ") + t.to_string();
  return s;
}
bool scores_among(const std::vector<Type>& types, Dim queries, Dim keys) {
  return std::ranges::any_of(types, [&](Type t) {
    return t.rank() >= 2 && t.dim(t.rank() - 2) == queries && t.dim(t.rank() - 1) == keys;
  });
}

struct Heads {
  Dim queries, keys, heads = 2, kv_heads = 2;
  Type q() const { return f64({heads, queries, 4}); }
  Type k() const { return f64({kv_heads, keys, 4}); }
  Type v() const { return f64({kv_heads, keys, 3}); }
};

TEST(Residuals, AttentionKeepsNoScores) {
  const Policy policies[] = {{}, {.residuals = Policy::Residuals::save}};
  const ops::AttentionParams params[] = {
      {}, {.causal = true}, {.causal = true, .window = 2}, {.causal = true, .soft_cap = 0.5}};
  for (const Policy& policy : policies) {
    for (const ops::AttentionParams& p : params) {
      for (const Heads& h :
           {Heads{5, 7}, Heads{5, 7, 6, 2}, Heads{Symbol::fresh("s"), Symbol::fresh("t")}}) {
        const GraphRef g = graph_of({h.q(), h.k(), h.v()}, [&](const Vals& x) {
          return Vals{ops::attention(x[0], x[1], x[2], {}, p)};
        });
        const auto kept = residual_types(g, policy);
        EXPECT_FALSE(scores_among(kept, h.queries, h.keys)) << texts(kept);
        // q, k, v, the result and one number per query.
        EXPECT_EQ(kept.size(), 5u) << texts(kept);
      }
    }
  }
}

TEST(Residuals, AttentionKeepsItsMaskOnly) {
  const Heads h{5, 7};
  for (DType t : {DType::boolean, DType::f64}) {
    const GraphRef g = graph_of({h.q(), h.k(), h.v(), Type::get(t, {2, 5, 7})}, [](const Vals& x) {
      return Vals{ops::attention(x[0], x[1], x[2], x[3], {})};
    });
    const auto kept = residual_types(g);
    EXPECT_EQ(kept.size(), 6u) << texts(kept);
    EXPECT_EQ(std::ranges::count_if(kept, [](Type k) { return k.dim(k.rank() - 1) == Dim(7); }), 1)
        << texts(kept);
  }
}

// Written out, the probabilities are kept: the check can fail.
TEST(Residuals, AttentionWithoutARuleKeepsScores) {
  const Heads h{5, 7};
  const GraphRef g = graph_of({h.q(), h.k(), h.v()}, [](const Vals& x) {
    const Val s = ops::dot_general(x[0], x[1], {{0}, {0}, {2}, {2}});
    return Vals{ops::matmul(ops::softmax(s, 2), x[2])};
  });
  EXPECT_TRUE(scores_among(residual_types(g), h.queries, h.keys));
}

// ---- remat ----

/// a = W x, b = sin a, c = softmax b, d = V c, y = sin d; b and c have names.
class Remat : public ::testing::Test {
 protected:
  static Val named(Val x, const std::string& name) {
    ir::Origin origin;
    origin.name = name;
    const ir::OriginScope scope(std::move(origin));
    return ops::optimization_barrier(x);
  }
  /// Results: y, and if wanted a, b, c, d.
  static Vals body(const Vals& p, bool all) {
    const Val a = ops::matmul(p[1], p[0]), b = named(ops::sin(a), "b");
    const Val c = named(ops::softmax(b, 0), "c"), d = ops::matmul(p[2], c);
    return all ? Vals{a, b, c, d, ops::sin(d)} : Vals{ops::sin(d)};
  }
  GraphRef with_policy(const std::string& policy) const {
    const GraphRef callee = graph_of(types_, [](const Vals& p) { return body(p, false); });
    return checked(graph_of(types_, [&](const Vals& p) {
      return ir::call_graph({.name = "block", .kind = ir::CallKind::remat, .policy = policy},
                            callee, p);
    }));
  }
  /// The values among the residuals, recognized by their elements.
  Names kept(const std::string& policy) const {
    std::map<std::string, HostArray> values{{"x", args_[0]}, {"W", args_[1]}, {"V", args_[2]}};
    const GraphRef all = graph_of(types_, [](const Vals& p) { return body(p, true); });
    const Arrays inner = interp::run(*all, args_);
    for (std::size_t k = 0; k < 4; ++k) values.emplace(std::string(1, "abcd"[k]), inner[k]);

    const GraphRef g = with_policy(policy);
    const auto parts = transform::linearize(g, transform::differentiable_params(*g));
    const Arrays r = interp::run(*parts.forward, args_);
    Names names;
    for (std::size_t k = r.size() - parts.residual_count; k < r.size(); ++k) {
      std::string name = "?" + to_string(r[k]);
      for (const auto& [n, value] : values) {
        if (to_string(value) == to_string(r[k])) name = n;
      }
      names.insert(name);
    }
    EXPECT_EQ(names.size(), parts.residual_count) << "one value twice";
    return names;
  }

  const std::vector<Type> types_{f64({3}), f64({5, 3}), f64({7, 5})};
  const Arrays args_{reals({0.3, -0.7, 1.1}), Noise(1).like(HostArray(DType::f64, {5, 3}), 1),
                     Noise(2).like(HostArray(DType::f64, {7, 5}), 1)};
};

TEST_F(Remat, PoliciesSayWhatIsKept) {
  EXPECT_EQ(kept("nothing"), (Names{"V", "W", "x"}));
  EXPECT_EQ(kept(""), kept("nothing"));
  EXPECT_EQ(kept("dots"), (Names{"V", "W", "a", "d", "x"}));
  EXPECT_EQ(kept("names:b"), (Names{"V", "W", "b", "x"}));
  EXPECT_EQ(kept("names:other,c,b"), (Names{"V", "W", "b", "c", "x"}));
  EXPECT_EQ(kept("names:other"), kept("nothing"));
}

TEST_F(Remat, EverythingKeepsWhatPlainCodeKeeps) {
  const GraphRef plain = graph_of(types_, [](const Vals& p) { return body(p, false); });
  const auto sizes = [](std::vector<Type> types) {
    std::multiset<std::string> s;
    for (Type t : types) s.insert(t.to_string());
    return s;
  };
  EXPECT_EQ(sizes(residual_types(with_policy("everything"))),
            sizes(residual_types(plain, {.residuals = Policy::Residuals::save})));
  EXPECT_GT(residual_types(with_policy("everything")).size(), kept("dots").size());
}

TEST_F(Remat, EveryPolicyGivesTheSameGradient) {
  const GraphRef plain = graph_of(types_, [](const Vals& p) { return body(p, false); });
  const Arrays ct{Noise(3).like(HostArray(DType::f64, {7}), 1)};
  const auto gradient = [&](const GraphRef& g) {
    std::string s;
    const auto vjp = checked(transform::vjp(g, transform::differentiable_params(*g)));
    for (const HostArray& a : interp::run(*vjp, args_ + ct)) s += to_string(a);
    return s;
  };
  for (const char* policy : {"nothing", "everything", "dots", "names:b", "names:b,c"}) {
    EXPECT_EQ(gradient(with_policy(policy)), gradient(plain)) << policy;
  }
}

}  // namespace
}  // namespace tlaloc::testing
