// The negative control: what the mistakes do, done rightly. Bodies of templates are instantiated,
// so this also compiles every operation.
#include <tlaloc/lang/collectives.h>
#include <tlaloc/lang/custom_call.h>
#include <tlaloc/lang/quantized.h>

#include <array>
#include <vector>

#include "model.h"

inline constexpr tl::Axis<struct Head, 8> head;
inline constexpr tl::Axis<struct Width, 64> width;
inline constexpr tl::Axis<struct Keys> keys;
inline constexpr tl::Axis<struct Vocab, 1000> vocab;

struct Batch8 {
  tl::Tensor<float, batch, 8, 8, 3> images;
  tl::Tensor<float, 3, 3, 3, 16> kernel;
};

float operators(const Mlp& m, Images x, Labels y, tl::Array a) {
  auto h = tl::matmul(x, m.w1) + m.b1;
  h += 1;
  h *= m.b1;
  auto p = !(h > 0) || (h < -1 && h != 0);
  y = (y % 3) | (y & ~y);
  h = tl::where(p, h, 0) / tl::sum(h, hidden) - tl::clip(h, 0, m.b1);
  tl::Tensor<float, tl::any, tl::any> open = h;
  h = tl::as<tl::Tensor<float, batch, hidden>>(tl::untyped(open));
  a = -(a + a * 2.0) / 3;
  h = tl::pow(tl::exp(h), 2) + tl::maximum(tl::erf(h), 0.5);
  return tl::mean(h).item() + tl::sqrt(2.0f) + float(tl::sum(h)) + float(y[0].item());
}
auto reductions(const Mlp& m, Images x, tl::Array a) {
  auto h = tl::matmul(x, m.w1);
  return std::tuple(tl::sum<0>(h), tl::max_keep(h, batch), tl::var<1>(h, {}, 1), tl::norm(h),
                    tl::logsumexp<-1>(h), tl::all_of(h > 0), tl::argmax<1>(h), tl::argmin(h),
                    tl::sum(a, 0), tl::mean<0>(a), tl::stddev(h, hidden), tl::argmax(a, 1));
}
auto contractions(const Mlp& m, Images x, tl::Array a) {
  auto h = tl::matmul(x, m.w1);
  return std::tuple(tl::contract(h, m.w2, hidden), tl::contract<hidden>(h, m.w2),
                    tl::einsum<"bi,ij->bj">(x, m.w1), tl::inner(h, h), tl::outer(m.b1, m.b1),
                    tl::tensordot<1>(h, m.w2), tl::matmul(a, a), tl::einsum<"ij->ji">(h));
}
auto layout(const Mlp& m, Images x, tl::Array a) {
  return std::tuple(tl::transpose(x), tl::transpose<1, 0>(a), tl::reshape<batch, 28, 28>(x),
                    tl::broadcast_to<batch, hidden>(m.b1, x), tl::expand<0>(m.b1),
                    tl::squeeze<0>(tl::expand<0>(m.b1)), tl::flip<0>(x), tl::flip(a),
                    tl::cast<double>(x), tl::cast<int>(a), tl::reshape<tl::any>(x));
}
auto joining(const Mlp& m, Images x, tl::Array a) {
  auto h = tl::matmul(x, m.w1);
  auto [q, k] = tl::split<1, 2>(h);
  auto [r, s] = tl::split_sizes<1, 100, 28>(h);
  return std::tuple(tl::concat<1>(h, x), tl::concat<0>(std::vector{h, h}), tl::concat<0>(a, a),
                    tl::stack<0>(q, k), tl::stack<-1>(std::array{h, h}), tl::stack<0>(a, a),
                    tl::slice<1, 10, 20>(x), tl::slice<0, 0, 2>(a), tl::pad<1, 2, 3>(r),
                    tl::pad<0, 1, 1>(a, 2.0), tl::tile<1, 2>(s), tl::repeat<hidden, 2>(h));
}
auto indexing(const Mlp& m, Images x, Labels y, tl::Array a, tl::Tensor<float, vocab, hidden> table,
              tl::Scalar<int> i) {
  return std::tuple(x[0], x[i], x[y], a[0], tl::take<1>(x, y), tl::embedding(table, y),
                    tl::take_along_axis<1>(x, tl::expand<-1>(y)),
                    tl::scatter_add<0>(table, y, tl::embedding(table, y)),
                    tl::scatter_max<0>(table, y, tl::embedding(table, y)), tl::one_hot<10>(y),
                    tl::dynamic_slice<1, 7>(x, i),
                    tl::dynamic_update(m.words, tl::Tensor<float, document, 1, 8>(), 0, i, 0),
                    tl::roll<0>(x, i), tl::axis_size<batch>(x), tl::take<0>(a, 1));
}
auto linear_algebra(tl::Tensor<float, hidden, hidden> a, tl::Tensor<float, hidden, 3> b) {
  return std::tuple(tl::cholesky(a), tl::triangular_solve(a, b, {.lower = false}),
                    tl::diag(tl::einsum<"ii->i">(a)));
}
auto composites(const Mlp& m, Images x, Labels y, tl::Array a,
                tl::Tensor<float, batch, head, length, width> q,
                tl::Tensor<float, batch, 2, keys, width> k) {
  auto h = tl::relu(tl::matmul(x, m.w1));
  return std::tuple(tl::softmax(h), tl::softmax(a, 1), tl::log_softmax<batch>(h),
                    tl::cross_entropy(tl::matmul(h, m.w2), y), tl::layer_norm(h, m.b1, m.b1),
                    tl::rms_norm(h), tl::attention(q, k, k, {.causal = true}),
                    tl::attention(q, k, k, {}, tl::Tensor<bool, length, keys>()), tl::rope(q, 3),
                    tl::batch_norm(h, m.b1, m.b1, m.b1), tl::batch_statistics(h), tl::swiglu(h, h),
                    tl::gelu(h), tl::leaky_relu(h, 0.2), tl::silu(a));
}
auto bits(Images x, tl::Array a) {
  return std::tuple(
      tl::bitcast_convert<double>(tl::bitcast_convert<std::uint32_t>(tl::cast<double>(x))),
      tl::bitcast_convert<int>(a), tl::reduce_precision<8, 7>(x), tl::optimization_barrier(a));
}
auto orders(Images x, tl::Array a) {
  auto [values, places] = tl::top_k<5>(x);
  return std::tuple(values, places, tl::cumsum<0>(x), tl::cummax(a, 0), tl::sort(x),
                    tl::argsort(x, batch, true), tl::cumlogsumexp(x),
                    tl::sort_together<batch, 2>(x, x, x));
}
auto folds(Images x, Labels y) {
  auto plus = [](auto a, auto b) { return a + b; };
  return std::tuple(
      tl::reduce<1>(plus, 0, x), tl::reduce(plus, 1.0f, x, batch), tl::reduce(plus, 0, y),
      tl::reduce([](auto a,
                    auto b) { return std::tuple(std::get<0>(b) + std::get<0>(a), std::get<1>(a)); },
                 std::tuple(0, false), std::tuple(x, x > 1)),
      tl::reduce_window<tl::Window{}, tl::Window{.size = 3, .stride = 2}>(plus, 0, x),
      tl::sort_by([](auto a, auto b) { return a > b; }, x),
      tl::sort_by<batch>([](auto a, auto b) { return std::get<0>(a) > std::get<0>(b); },
                         std::tuple(x, x)));
}
auto creation(Images x, tl::Array a) {
  return std::tuple(
      tl::zeros<float, 3, hidden>(), tl::ones<float, batch, 10>(x), tl::full<float, batch>(0.5, x),
      tl::zeros_like(x), tl::ones_like(a), tl::eye<float, hidden, 3>(), tl::tri<float, batch, 3>(x),
      tl::meshgrid(tl::arange<10>(), tl::arange<3>()), tl::arange<10>(),
      tl::arange<batch, float>(0, 0.5, x), tl::linspace<5>(0, 1), tl::tril(x), tl::triu<1>(x));
}
auto windows(const Batch8& b) {
  return std::tuple(tl::conv2d<1, tl::same_padding>(b.images, b.kernel), tl::max_pool<2>(b.images),
                    tl::conv2d_transposed<2>(b.images, tl::Tensor<float, 3, 3, 16, 3>()),
                    tl::avg_pool<3, 2, 1>(b.images),
                    tl::conv1d(tl::Tensor<float, batch, 28, 3>(), tl::Tensor<float, 5, 3, 4>()));
}

auto loss_of(const Mlp& m, Images x, Labels) {
  return tl::mean(tl::matmul(tl::relu(tl::matmul(x, m.w1) + m.b1), m.w2));
}
auto derivatives(const Mlp& m, Images x, Labels y) {
  auto typed = [](const Mlp& m, Images x, Labels y) { return loss_of(m, x, y); };
  auto generic = [](const auto& m, auto x, auto y) { return loss_of(m, x, y); };
  auto logits = [](const Mlp& m, Images x) { return tl::matmul(tl::matmul(x, m.w1), m.w2); };
  auto [value, pullback] = tl::vjp(logits)(m, x);
  auto [same, tangent] = tl::linearize(logits, tl::argnums<1>)(m, x);
  auto second = tl::hessian(typed)(m, x, y);
  tl::check_grads(logits, {.order = 2})(m, x);
  return std::tuple(tl::grad(typed)(m, x, y), tl::value_and_grad(generic)(m, x, y),
                    tl::grad(typed, tl::argnums<0, 1>)(m, x, y), pullback(value), tangent(x), same,
                    tl::jvp(generic)(m, x, y, m), tl::hvp(typed)(m, x, y, m),
                    tl::jacfwd(logits, tl::argnums<1>)(m, x), tl::jacrev(logits)(m, x)[&Mlp::w2],
                    second[&Mlp::b1][&Mlp::w2],
                    tl::grad(tl::grad([](auto a) { return a * a; }))(2.0));
}
auto other_transforms(const Mlp& m, Images x, Labels y) {
  auto one = [](const Mlp& m, tl::Tensor<float, 784> x) {
    return tl::mean(tl::matmul(tl::matmul(x, m.w1), m.w2));
  };
  auto step = tl::jit(tl::value_and_grad(loss_of));
  auto custom =
      tl::custom_jvp([](auto a) { return tl::exp(a); },
                     [](auto a, auto da) { return std::pair(tl::exp(a), tl::exp(a) * da); });
  return std::tuple(step(m, x, y), tl::remat(one)(m, x[0]), tl::vmap<batch>(tl::grad(one))(m, x),
                    tl::vmap<tl::unmapped, 0>(one)(m, x), tl::grad(custom)(1.0),
                    tl::tree_map([](auto p, auto g) { return p - 0.1 * g; }, m.b1, m.b1));
}
auto control(Images x, tl::Scalar<float> s, tl::Scalar<int> i) {
  auto [last, all] =
      tl::scan([](auto c, auto row) { return std::pair(c + tl::sum(row), row); }, s, x);
  auto [end, path] = tl::scan<100>([](auto a) { return std::pair(a * 0.5, a); }, 1.0);
  return std::tuple(last, all, end, path,
                    tl::cond(
                        s > 0, [&] { return s; }, [] { return 1.0f; }),
                    tl::switch_case(
                        i, [&] { return s; }, [&] { return s + 1; }),
                    tl::while_loop([](auto a) { return a < 10; }, [](auto a) { return a * 2; }, s),
                    tl::fori_loop(0, i, [](auto k, auto a) { return a + tl::cast<float>(k); }, s));
}

// ---- beside tlaloc.h ----

inline constexpr tl::MeshAxis<struct Data, 2> data;
auto beside(Images x, Labels ids, tl::Quantized<tl::QuantFormat::q4_0, 10, 32> w,
            tl::Tensor<double, batch, 32> h) {
  tl::register_custom_call("copy", [](Images x) { return x; });
  return std::tuple(tl::custom_call<Images>("copy", x),
                    tl::custom_call<std::tuple<Images, tl::Scalar<float>>>("two", x, 1.0f),
                    tl::all_reduce(x, data, tl::Collective::max), tl::all_gather<batch>(x, data),
                    tl::reduce_scatter<1>(x, data), tl::dequantize(w), tl::quant_matmul(h, w),
                    tl::quant_matmul<true>(tl::quant_matmul(h, w), w), tl::quant_gather(w, ids),
                    tl::quant_gather(w, 3));
}
