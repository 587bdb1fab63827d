// The result types of transforms, and trees: what is one and what its leaves are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/activations.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/custom.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/hessian.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/scan.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/tangents.h"
#include "tlaloc/lang/tree_map.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::transform_types_test {

template <class A, class B>
inline constexpr bool is = std::is_same_v<std::remove_cvref_t<A>, B>;

inline constexpr Axis<struct Batch> batch;
inline constexpr Axis<struct Hidden, 128> hidden;
inline constexpr Axis<struct Ensemble, 5> ensemble;
inline constexpr Axis<struct Time> steps;

struct Linear {
  Tensor<float, 784, hidden> w;
  Tensor<float, hidden> b;
};
struct Mlp {
  Linear in;
  Tensor<float, hidden, 10> w2;
};
using Images = Tensor<float, batch, 784>;
using Image = Tensor<float, 784>;
using Labels = Tensor<int, batch>;

// Only their types are used.
extern Mlp m;
extern Images x;
extern Image x1;
extern Labels y;
extern Tensor<float> s;
extern Tensor<int> i;
extern Tensor<float, 3, 784> x3;
extern Tensor<float, 784, 4> xt;
extern Tensor<float, 8> h0;
extern Tensor<float, steps, 8> sequence;
extern With<Mlp, ensemble> many;

// Each once typed and once generic.
inline constexpr auto loss = [](const Mlp& m, Images x, Labels) {
  return mean(matmul(relu(matmul(x, m.in.w) + m.in.b), m.w2));
};
inline constexpr auto generic_loss = [](const auto& m, auto x, auto) {
  return mean(matmul(relu(matmul(x, m.in.w) + m.in.b), m.w2));
};
inline constexpr auto one_loss = [](const Mlp& m, Image x, Tensor<int>) {
  return mean(matmul(relu(matmul(x, m.in.w) + m.in.b), m.w2));
};
inline constexpr auto logits = [](const Mlp& m, Image x) {
  return matmul(relu(matmul(x, m.in.w) + m.in.b), m.w2);
};
inline constexpr auto with_aux = [](const Mlp& m, Images x) {
  auto h = matmul(x, m.in.w);
  return std::pair{mean(h), h};
};
inline constexpr auto square = [](auto a) { return a * a * 2.0; };
inline constexpr auto cube = [](Tensor<double> a) { return a * a * a; };

// ---- grad ----

static_assert(is<decltype(grad(loss)(m, x, y)), Mlp>);
static_assert(is<decltype(grad(generic_loss)(m, x, y)), Mlp>);
static_assert(is<decltype(grad(loss, argnums<0, 1>)(m, x, y)), std::tuple<Mlp, Images>>);
static_assert(is<decltype(grad(generic_loss, argnums<1>)(m, x, y)), Images>);
static_assert(is<decltype(value_and_grad(loss)(m, x, y)), std::pair<Tensor<float>, Mlp>>);
static_assert(is<decltype(value_and_grad(with_aux)(m, x)),
                 std::pair<std::pair<Tensor<float>, Tensor<float, batch, hidden>>, Mlp>>);
static_assert(is<decltype(grad(with_aux)(m, x)), std::pair<Mlp, Tensor<float, batch, hidden>>>);
static_assert(is<decltype(grad(square)(2.0)), Tensor<double>>);
static_assert(is<decltype(grad(grad(square))(2.0)), Tensor<double>>);
static_assert(is<decltype(grad(grad(cube))(2.0)), Tensor<double>>);  // typed: 2.0 converts
static_assert(is<decltype(grad(+[](Tensor<double> a) { return a; })(3)), Tensor<double>>);

// ---- other derivatives ----

static_assert(is<decltype(jvp(loss)(m, x, y, m)), std::pair<Tensor<float>, Tensor<float>>>);
static_assert(is<decltype(jvp(generic_loss, argnums<0, 1>)(m, x, y, m, x)),
                 std::pair<Tensor<float>, Tensor<float>>>);
static_assert(is<decltype(vjp(logits)(m, x1).first), Tensor<float, 10>>);
static_assert(is<decltype(vjp(logits)(m, x1).second(Tensor<float, 10>{})), Mlp>);
static_assert(is<decltype(linearize(logits, argnums<1>)(m, x1).second(x1)), Tensor<float, 10>>);
static_assert(
    is<decltype(linearize(logits, argnums<0, 1>)(m, x1).second(m, x1)), Tensor<float, 10>>);
static_assert(is<decltype(hvp(loss)(m, x, y, m)), Mlp>);
static_assert(is<decltype(hvp(generic_loss, argnums<1>)(m, x, y, x)), Images>);

// A Jacobian has the result's axes, then the argument's.
static_assert(is<decltype(jacfwd([](Image a) { return reshape<28, 28>(a); })(x1)),
                 Tensor<float, 28, 28, 784>>);
static_assert(is<decltype(jacrev(logits)(m, x1)), With<Mlp, 10>>);
static_assert(is<decltype(jacrev(logits)(m, x1)[&Mlp::w2]), Tensor<float, 10, hidden, 10>>);
static_assert(is<decltype(jacfwd(logits, argnums<0, 1>)(m, x1)),
                 std::tuple<With<Mlp, 10>, Tensor<float, 10, 784>>>);
static_assert(is<decltype(jacfwd([](auto a) { return std::pair{sum(a), 2.0 * a}; })(x1)),
                 std::pair<Tensor<float, 784>, Tensor<float, 784, 784>>>);
static_assert(is<decltype(hessian(generic_loss, argnums<1>)(m, x, y)),
                 Tensor<float, batch, 784, batch, 784>>);
using Hessian = decltype(hessian(loss)(m, x, y));
static_assert(is<decltype(std::declval<Hessian>()[&Mlp::in][&Linear::b]), With<Mlp, hidden>>);
static_assert(is<decltype(std::declval<Hessian>()[&Mlp::in][&Linear::b][&Mlp::w2]),
                 Tensor<float, hidden, hidden, 10>>);
static_assert(std::is_void_v<decltype(check_grads(logits)(m, x1))>);
static_assert(
    is<decltype(grad([](auto a) { return jvp([](auto b) { return sin(b); })(a, a).second; })(1.0)),
       Tensor<double>>);

// ---- vmap ----

static_assert(is<decltype(vmap<batch>(one_loss)(m, x, y)), Tensor<float, batch>>);
static_assert(is<decltype(vmap<batch>(generic_loss)(m, x, y)), Tensor<float, batch>>);
using PerExample = decltype(vmap<batch>(grad(one_loss))(m, x, y));
static_assert(is<PerExample, With<Mlp, batch>>);
static_assert(is<decltype(std::declval<PerExample>()[&Mlp::w2]), Tensor<float, batch, hidden, 10>>);
static_assert(
    is<decltype(std::declval<PerExample>()[&Mlp::in][&Linear::b]), Tensor<float, batch, hidden>>);
static_assert(is<decltype(vmap<batch>(grad(generic_loss))(m, x, y)), With<Mlp, batch>>);
static_assert(is<decltype(vmap<0>([](auto a) { return sum(a); })(x3)), Tensor<float, 3>>);
static_assert(is<decltype(vmap<-1>([](auto a) { return sum(a); })(xt)), Tensor<float, 4>>);
static_assert(is<decltype(vmap<0>([](auto a) { return sum(a); })(x)), Tensor<float, batch>>);
static_assert(is<decltype(vmap<unmapped, 0, unmapped>(one_loss)(m, x3, 3)), Tensor<float, 3>>);
static_assert(is<decltype(vmap<batch>(vmap<hidden>([](auto a) {
                   return 2.0 * a;
                 }))(Tensor<float, batch, 3, hidden>{})),
                 Tensor<float, batch, hidden, 3>>);
static_assert(is<decltype(vmap<ensemble>(logits)(many, x1)), Tensor<float, ensemble, 10>>);
static_assert(is<decltype(vmap<batch>([](auto p) {
                   return std::tuple{p.first, sum(p.second)};
                 })(std::pair{y, x})),
                 std::tuple<Labels, Tensor<float, batch>>>);
static_assert(is<decltype(vmap<batch>([](auto v) { return v; })(std::vector<Images>{})),
                 std::vector<Images>>);

// ---- jit, remat, custom rules ----

static_assert(is<decltype(jit(value_and_grad(loss))(m, x, y)), std::pair<Tensor<float>, Mlp>>);
static_assert(
    is<decltype(jit(value_and_grad(generic_loss))(m, x, y)), std::pair<Tensor<float>, Mlp>>);
static_assert(is<decltype(jit(vmap<batch>(grad(one_loss)))(m, x, y)), With<Mlp, batch>>);
static_assert(is<decltype(remat(loss)(m, x, y)), Tensor<float>>);
static_assert(is<decltype(checkpoint_name(x, "x")), Images>);
static_assert(is<decltype(grad(custom_jvp([](Tensor<double> a) { return exp(a); },
                                          [](Tensor<double> a, Tensor<double> da) {
                                            return std::pair{exp(a), exp(a) * da};
                                          }))(2.0)),
                 Tensor<double>>);
static_assert(is<decltype(custom_vjp([](auto a) { return sin(a); },
                                     [](auto a) { return std::pair{sin(a), cos(a)}; },
                                     [](auto c, auto ct) { return c * ct; })(h0)),
                 Tensor<float, 8>>);

// ---- control flow ----

static_assert(is<decltype(cond(s > 0, [] { return 1.0f; }, [] { return s; })), Tensor<float>>);
static_assert(is<decltype(cond(
                     s > 0, [](auto a) { return a; }, [](auto a) { return -a; }, h0)),
                 Tensor<float, 8>>);
static_assert(is<decltype(cond(s > 0, [] { return m; }, [] { return m; })), Mlp>);
static_assert(is<decltype(switch_case(i, [] { return s; }, [] { return 0.5f; })), Tensor<float>>);
static_assert(
    is<decltype(while_loop([](auto a) { return a < 100.0; }, [](auto a) { return a * 2.0; }, 1.0)),
       Tensor<double>>);
static_assert(is<decltype(fori_loop(
                     0, 10, [](Tensor<int> k, auto c) { return c + cast<float>(k); }, s)),
                 Tensor<float>>);
static_assert(
    is<decltype(scan([](auto h, auto a) { return std::pair{tanh(h + a), sum(h)}; }, h0, sequence)),
       std::pair<Tensor<float, 8>, Tensor<float, steps>>>);
static_assert(is<decltype(scan([](auto c, auto) { return std::pair{c, m}; }, 1.0, sequence)),
                 std::pair<Tensor<double>, With<Mlp, steps>>>);
static_assert(is<decltype(scan<100>([](auto a) { return std::pair{a * 0.5, a}; }, 1.0)),
                 std::pair<Tensor<double>, Tensor<double, 100>>>);

// ---- trees ----

struct Model {
  Linear in;
  std::vector<Linear> blocks;
  std::optional<Tensor<float, 5>> bias;
  std::array<Tensor<float, 2>, 2> pair;
  std::tuple<Tensor<float>, Tensor<float, 7>> tuple;
  float rate = 0.5f;
};
struct Base {
  Tensor<float, 3> z;
};
struct Derived : Base {
  Tensor<float, 4> q;
};
struct CArray {
  Tensor<float, 2> a[2];
  Tensor<float, 3> b;
};
// clang-format off
struct Most {
  Tensor<float> a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
      a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, last;
};
// clang-format on
struct TooMany {
  Most most;
};
static_assert(!IsMistake<detail::kTree<Model>> && !IsMistake<detail::kTree<Most>>);
static_assert(IsMistake<detail::kTree<Derived>> && IsMistake<detail::kTree<CArray>>);
static_assert(IsMistake<detail::kTree<int*>> && IsMistake<detail::kTree<std::string>>);
static_assert(IsMistake<detail::kTree<std::vector<bool>>>);
static_assert(detail::kFieldCount<Most> == 32 && detail::kFieldCount<Model> == 6);

TEST(Tree, PathsFollowFieldsAndElements) {
  Model model;
  model.blocks.resize(2);
  model.bias.emplace();
  std::string paths;
  tree_each([&](const char* path, const auto&) { paths += std::string(path) + " "; }, model);
  EXPECT_EQ(paths,
            "in.w in.b blocks[0].w blocks[0].b blocks[1].w blocks[1].b bias pair[0] pair[1] "
            "tuple.0 tuple.1 rate ");
  std::string last;
  tree_each([&](const char* path, const auto&) { last = path; }, TooMany{});
  EXPECT_EQ(last, "most.last");
}

TEST(Tree, MapKeepsNumbersAndStructure) {
  Model model;
  model.blocks.resize(3);
  int leaves = 0;
  const Model copy = tree_map(
      [&](auto a, auto) {
        ++leaves;
        return a;
      },
      model, model);
  EXPECT_EQ(leaves, 2 + 6 + 2 + 2);
  EXPECT_EQ(copy.blocks.size(), 3u);
  EXPECT_FALSE(copy.bias.has_value());
  EXPECT_EQ(copy.rate, 0.5f);
  Model shorter = model;
  shorter.blocks.pop_back();
  try {
    tree_map([](auto a, auto) { return a; }, model, shorter);
    ADD_FAILURE() << "no error";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("TL-TREE-006: tree: "));
  }
}

}  // namespace tlaloc::transform_types_test
