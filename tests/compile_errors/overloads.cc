// Every deleted overload and every verdict: a line each, with the verdict's code. mistakes/ looks
// at the kinds of mistakes one by one, in the places where users make them.
#include <tlaloc/lang/ahead.h>
#include <tlaloc/lang/bounded.h>
#include <tlaloc/lang/collectives.h>
#include <tlaloc/lang/custom_call.h>
#include <tlaloc/lang/graph_of.h>
#include <tlaloc/lang/import.h>
#include <tlaloc/lang/mesh.h>
#include <tlaloc/lang/quantized.h>
#include <tlaloc/lang/source.h>
#include <tlaloc/lang/stablehlo.h>
#include <tlaloc/lang/target.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model.h"

// clang-format off: a mistake and its code share a line
namespace {

int f;  // not callable
const std::string text;

void values(const Mlp& m, Images x, Labels ids, tl::Tensor<bool, batch> flags, tl::Array a) {
  x + m.w2;     // TL-SHAPE-001
  x - m.w2;     // TL-SHAPE-001
  x * m.w2;     // TL-SHAPE-001
  x / m.w2;     // TL-SHAPE-001
  x % m.w2;     // TL-SHAPE-001
  x == m.w2;    // TL-SHAPE-001
  x != m.w2;    // TL-SHAPE-001
  x < m.w2;     // TL-SHAPE-001
  x <= m.w2;    // TL-SHAPE-001
  x > m.w2;     // TL-SHAPE-001
  x >= m.w2;    // TL-SHAPE-001
  x && flags;   // TL-DTYPE-001
  ids || ids;   // TL-DTYPE-003
  x & x;        // TL-DTYPE-003
  x | x;        // TL-DTYPE-003
  x ^ x;        // TL-DTYPE-003
  -flags;       // TL-DTYPE-003
  !ids;         // TL-DTYPE-003
  ~x;           // TL-DTYPE-003
  tl::checkpoint_name(text, "a");  // TL-TYPE-002
  x += m.w2;    // TL-SHAPE-001
  x -= m.w2;    // TL-SHAPE-001
  x *= m.w2;    // TL-SHAPE-001
  x /= m.w2;    // TL-SHAPE-001
  x[0.5];       // TL-DTYPE-003
  a[text];      // TL-TYPE-002
  static_cast<bool>(x);  // TL-TRACE-002
  static_cast<bool>(a);  // TL-TRACE-002
  Labels wrong = x;  // TL-DTYPE-001
  tl::as<Labels>(x);  // TL-DTYPE-001
}

void elementwise(const Mlp& m, Images x, Labels ids) {
  tl::abs(text);                     // TL-TYPE-002
  tl::sign(text);                    // TL-TYPE-002
  tl::ceil(ids);                     // TL-DTYPE-003
  tl::floor(ids);                    // TL-DTYPE-003
  tl::round(ids);                    // TL-DTYPE-003
  tl::round_even(ids);               // TL-DTYPE-003
  tl::exp(ids);                      // TL-DTYPE-003
  tl::expm1(ids);                    // TL-DTYPE-003
  tl::log(ids);                      // TL-DTYPE-003
  tl::log1p(ids);                    // TL-DTYPE-003
  tl::sqrt(ids);                     // TL-DTYPE-003
  tl::rsqrt(ids);                    // TL-DTYPE-003
  tl::cbrt(ids);                     // TL-DTYPE-003
  tl::is_finite(ids);                // TL-DTYPE-003
  tl::is_nan(ids);                   // TL-DTYPE-003
  tl::popcount(x);                   // TL-DTYPE-003
  tl::count_leading_zeros(x);        // TL-DTYPE-003
  tl::stop_gradient(text);           // TL-TYPE-002
  tl::maximum(x, m.w2);              // TL-SHAPE-001
  tl::minimum(x, m.w2);              // TL-SHAPE-001
  tl::pow(x, m.w2);                  // TL-SHAPE-001
  tl::atan2(x, m.w2);                // TL-SHAPE-001
  tl::remainder(x, m.w2);            // TL-SHAPE-001
  tl::logical_and(x, x);             // TL-DTYPE-003
  tl::logical_or(x, x);              // TL-DTYPE-003
  tl::logical_xor(x, x);             // TL-DTYPE-003
  tl::shift_left(x, 1);              // TL-DTYPE-003
  tl::shift_right(x, 1);             // TL-DTYPE-003
  tl::shift_right_logical(x, 1);     // TL-DTYPE-003
  tl::sin(ids);                      // TL-DTYPE-003
  tl::cos(ids);                      // TL-DTYPE-003
  tl::tan(ids);                      // TL-DTYPE-003
  tl::asin(ids);                     // TL-DTYPE-003
  tl::acos(ids);                     // TL-DTYPE-003
  tl::atan(ids);                     // TL-DTYPE-003
  tl::sinh(ids);                     // TL-DTYPE-003
  tl::cosh(ids);                     // TL-DTYPE-003
  tl::tanh(ids);                     // TL-DTYPE-003
  tl::asinh(ids);                    // TL-DTYPE-003
  tl::acosh(ids);                    // TL-DTYPE-003
  tl::atanh(ids);                    // TL-DTYPE-003
  tl::erf(ids);                      // TL-DTYPE-003
  tl::erfc(ids);                     // TL-DTYPE-003
  tl::erf_inv(ids);                  // TL-DTYPE-003
  tl::sigmoid(ids);                  // TL-DTYPE-003
  tl::relu(text);                    // TL-TYPE-002
  tl::relu6(text);                   // TL-TYPE-002
  tl::leaky_relu(ids);               // TL-DTYPE-003
  tl::elu(ids);                      // TL-DTYPE-003
  tl::gelu(ids);                     // TL-DTYPE-003
  tl::gelu_tanh(ids);                // TL-DTYPE-003
  tl::silu(ids);                     // TL-DTYPE-003
  tl::softplus(ids);                 // TL-DTYPE-003
  tl::log_sigmoid(ids);              // TL-DTYPE-003
  tl::hard_sigmoid(ids);             // TL-DTYPE-003
  tl::hard_swish(ids);               // TL-DTYPE-003
  tl::mish(ids);                     // TL-DTYPE-003
  tl::select(x, x, x);               // TL-DTYPE-003
  tl::where(x, x, x);                // TL-DTYPE-003
  tl::clip(x, 0, m.w2);              // TL-SHAPE-001
}

void reductions(Images x) {
  tl::sum(x, embed);                 // TL-AXIS-001
  tl::sum_keep(x, embed);            // TL-AXIS-001
  tl::prod(x, embed);                // TL-AXIS-001
  tl::prod_keep(x, embed);           // TL-AXIS-001
  tl::max(x, embed);                 // TL-AXIS-001
  tl::max_keep(x, embed);            // TL-AXIS-001
  tl::min(x, embed);                 // TL-AXIS-001
  tl::min_keep(x, embed);            // TL-AXIS-001
  tl::all_of(x);                     // TL-DTYPE-003
  tl::all_of_keep(x);                // TL-DTYPE-003
  tl::any_of(x);                     // TL-DTYPE-003
  tl::any_of_keep(x);                // TL-DTYPE-003
  tl::mean(x, embed);                // TL-AXIS-001
  tl::mean_keep(x, embed);           // TL-AXIS-001
  tl::var(x, embed);                 // TL-AXIS-001
  tl::var_keep(x, embed);            // TL-AXIS-001
  tl::stddev(x, embed);              // TL-AXIS-001
  tl::stddev_keep(x, embed);         // TL-AXIS-001
  tl::norm(x, embed);                // TL-AXIS-001
  tl::norm_keep(x, embed);           // TL-AXIS-001
  tl::logsumexp(x, embed);           // TL-AXIS-001
  tl::logsumexp_keep(x, embed);      // TL-AXIS-001
  tl::cumsum(x, embed);              // TL-AXIS-001
  tl::cumprod(x, embed);             // TL-AXIS-001
  tl::cummax(x, embed);              // TL-AXIS-001
  tl::cummin(x, embed);              // TL-AXIS-001
  tl::cumlogsumexp(x, embed);        // TL-AXIS-001
  tl::sort(x, embed);                // TL-AXIS-001
  tl::argsort(x, embed);             // TL-AXIS-001
  tl::argmax(x, embed);              // TL-AXIS-001
  tl::argmax_keep(x, embed);         // TL-AXIS-001
  tl::argmin(x, embed);              // TL-AXIS-001
  tl::argmin_keep(x, embed);         // TL-AXIS-001
  tl::sort_together<0, 3>(x, x);     // TL-ATTR-001
  tl::sort_together(x, tl::Tensor<int, hidden, 784>());  // TL-SHAPE-001
  tl::sort_together(x, tl::Array());  // TL-TYPE-004
  tl::top_k<800>(x);                 // TL-SHAPE-007
  tl::softmax(x, embed);             // TL-AXIS-001
  tl::log_softmax(x, embed);         // TL-AXIS-001
}

void folds(Images x, Labels ids) {
  const auto plus = [](tl::Scalar<float> a, tl::Scalar<float> b) { return a + b; };
  const auto less = [](tl::Scalar<float> a, tl::Scalar<float> b) { return a < b; };
  tl::sort_by(less, x > 0);                                           // TL-LOOP-005
  tl::sort_by(plus, x);                                               // TL-COND-001
  tl::sort_by(f, x);                                                  // TL-CALL-002
  tl::sort_by<2>(less, x);                                            // TL-AXIS-001
  tl::sort_by(less, tl::Array());                                     // TL-TYPE-004
  tl::sort_by(less, std::tuple(x, ids));                              // TL-RANK-001
  tl::reduce(less, 0, x, embed);                                      // TL-AXIS-001
  tl::reduce(f, 0, x);                                                // TL-CALL-002
  tl::reduce(plus, true, ids);                                        // TL-LOOP-004
  tl::reduce(plus, 0, ids);                                           // TL-LOOP-005
  tl::reduce(less, 0, x);                                             // TL-LOOP-004
  tl::reduce(plus, 0, "x");                                           // TL-TYPE-002
  tl::reduce_window<tl::Window{}>(plus, 0, x);                        // TL-RANK-001
  tl::reduce_window<tl::Window{}, tl::Window{.size = 0}>(plus, 0, x); // TL-SHAPE-007
  tl::reduce_window<tl::Window{}, tl::Window{.low = 1, .same = true}>(plus, 0, x);  // TL-SHAPE-007
  tl::reduce_window<tl::Window{}, tl::Window{}>(less, 0, x);          // TL-LOOP-004
}

void host_code(Images x, int* pointer) {
  tl::register_custom_call("name", [](auto x) { return x; });             // TL-CALL-002
  tl::register_custom_call("name", [](double x) { return tl::Scalar<double>(x); });  // TL-TYPE-002
  tl::register_custom_call("name", [](Images x) { return &x; });          // TL-TREE-001
  tl::custom_call<float>("name", x);                                      // TL-TYPE-002
  tl::custom_call<Images>("name", pointer);                               // TL-TREE-001
  tl::custom_call<int*>("name", x);                                       // TL-TREE-001
}

void devices(Images x) {
  constexpr tl::MeshAxis<struct Data, 3> data;
  tl::all_reduce(x, batch);          // TL-AXIS-004
  tl::all_reduce(x > 0, data);       // TL-DTYPE-003
  tl::all_gather<2>(x, data);        // TL-AXIS-001
  tl::reduce_scatter<1>(x, data);    // TL-SHAPE-008
  constexpr tl::MeshAxis<struct Other, 2> other;
  constexpr tl::Mesh mesh(data);
  tl::with_sharding(x, tl::sharding(mesh, tl::whole, data));   // TL-SHAPE-008
  tl::with_sharding(x, tl::sharding(mesh, tl::whole, other));  // TL-MESH-002
  const auto same = [](auto part) { return part; };
  tl::manual(mesh, tl::parts(tl::whole, data), tl::parts(tl::whole, data), same)(x);   // TL-SHAPE-008
  tl::manual(mesh, tl::parts(tl::whole, tl::whole), tl::parts(tl::whole), same)(x);    // TL-MESH-002
  tl::manual(mesh, tl::parts(tl::whole, tl::whole), tl::parts(tl::whole), same)(x, x);  // TL-MESH-002
}

void weights(Images x, Labels ids, tl::Quantized<tl::QuantFormat::q4_0, 10, 32> w) {
  tl::exp(w);                             // TL-TYPE-002
  tl::dequantize(x);                      // TL-TYPE-002
  tl::quant_matmul(x, x);                 // TL-TYPE-002
  tl::quant_matmul(x, w);                 // TL-SHAPE-003
  tl::quant_matmul(ids, w);               // TL-DTYPE-003
  tl::quant_matmul(tl::Array(), w);       // TL-TYPE-004
  tl::quant_matmul(tl::Scalar<float>(), w);  // TL-RANK-001
  tl::quant_gather(x, ids);               // TL-TYPE-002
  tl::quant_gather(w, x);                 // TL-DTYPE-003
  tl::quant_gather(tl::Quantized<tl::QuantFormat::q8_0, 32>(), ids);  // TL-RANK-001
  tl::vmap<1>([](auto w) { return tl::dequantize(w); })(w);           // TL-VMAP-001
}

void products(const Mlp& m, Images x, Labels ids) {
  tl::matmul(x, m.w2);               // TL-SHAPE-003
  tl::contract(x, m.w2, embed);      // TL-AXIS-003
  tl::tensordot<1>(x, m.w2);         // TL-SHAPE-003
  tl::inner(x, m.w2);                // TL-SHAPE-003
  tl::outer(x, m.w3);                // TL-DTYPE-001
  tl::einsum<"bi,ij->bj">(x, m.w2);  // TL-SHAPE-003
  tl::cross_entropy(x, x);           // TL-DTYPE-003
  tl::layer_norm(x, m.b1);           // TL-SHAPE-001
  tl::rms_norm(x, m.b1);             // TL-SHAPE-001
  tl::batch_statistics(m.b1);        // TL-RANK-001
  tl::batch_norm(x, m.b1, m.b1);     // TL-SHAPE-001
  tl::bitcast_convert<bool>(x);      // TL-DTYPE-003
  tl::bitcast_convert<double>(m.w1); // TL-SHAPE-004
  tl::bitcast_convert<double>(tl::Scalar<float>());  // TL-RANK-001
  tl::reduce_precision<0, 7>(x);     // TL-ATTR-001
  tl::optimization_barrier("x");     // TL-TYPE-002
  tl::meshgrid(m.b1, x);             // TL-RANK-001
  tl::tri<float, batch, 3>();        // TL-SHAPE-009
  tl::attention(x, x, m.w1);         // TL-SHAPE-006
  tl::rope(x, 0.5);                  // TL-DTYPE-003
  tl::swiglu(x, m.w1);               // TL-SHAPE-001
  tl::cholesky(x);                   // TL-SHAPE-012
  tl::triangular_solve(m.w1, x);     // TL-SHAPE-012
  tl::diag(x);                       // TL-RANK-001
  tl::conv1d(x, m.w1);               // TL-RANK-001
  tl::conv2d(x, m.w1);               // TL-RANK-001
  tl::conv3d(x, m.w1);               // TL-RANK-001
  tl::conv1d_transposed(x, m.w1);    // TL-RANK-001
  tl::conv2d_transposed(x, m.w1);    // TL-RANK-001
  tl::conv3d_transposed(x, m.w1);    // TL-RANK-001
  tl::max_pool<2>(x);                // TL-RANK-001
  tl::avg_pool<2>(x);                // TL-RANK-001
}

void layout(const Mlp& m, Images x, Labels ids) {
  tl::transpose<0, 0>(x);            // TL-AXIS-002
  tl::reshape<batch, 28, 27>(x);     // TL-SHAPE-004
  tl::broadcast_to<hidden>(x);       // TL-SHAPE-001
  tl::expand<7>(x);                  // TL-AXIS-001
  tl::squeeze<1>(x);                 // TL-SHAPE-010
  tl::flip<2>(x);                    // TL-AXIS-001
  tl::cast<std::string>(x);          // TL-DTYPE-003
  tl::slice<1, 700, 800>(x);         // TL-SHAPE-007
  tl::split<1, 5>(x);                // TL-SHAPE-008
  tl::split_sizes<1, 5, 6>(x);       // TL-SHAPE-008
  tl::pad<2, 1, 1>(x);               // TL-AXIS-001
  tl::tile<2>(x);                    // TL-RANK-001
  tl::repeat<2, 2>(x);               // TL-AXIS-001
  tl::concat<0>(x, m.w1);            // TL-SHAPE-006
  tl::stack<0>(x, m.w1);             // TL-SHAPE-006
  tl::take<2>(x, ids);               // TL-AXIS-001
  tl::embedding(m.w1, x);            // TL-DTYPE-003
  tl::take_along_axis<1>(x, ids);    // TL-RANK-001
  tl::scatter_add<0>(x, ids, 1.0f);  // TL-TYPE-002
  tl::scatter_mul<0>(x, x, x);       // TL-DTYPE-003
  tl::scatter_min<0>(x, x, x);       // TL-DTYPE-003
  tl::scatter_max<0>(x, x, x);       // TL-DTYPE-003
  tl::scatter_set<0>(x, x, x);       // TL-DTYPE-003
  tl::one_hot<10>(x);                // TL-DTYPE-003
  tl::dynamic_slice<1, 800>(x, 0);   // TL-SHAPE-007
  tl::dynamic_update(x, m.b1, 0);    // TL-RANK-001
  tl::roll<2>(x, 1);                 // TL-AXIS-001
  tl::axis_size<hidden>(x);          // TL-AXIS-001
  tl::tril(ids);                     // TL-RANK-001
  tl::triu(ids);                     // TL-RANK-001
}

void creation(Images x, tl::random::Key k) {
  tl::zeros<float, batch>();                          // TL-SHAPE-009
  tl::ones<float, batch>();                           // TL-SHAPE-009
  tl::full<float, batch>(1);                          // TL-SHAPE-009
  tl::zeros_like(text);                               // TL-TYPE-002
  tl::ones_like(text);                                // TL-TYPE-002
  tl::eye<float, batch, 3>();                         // TL-SHAPE-009
  tl::arange<batch>();                                // TL-SHAPE-009
  tl::linspace<batch>(0, 1);                          // TL-SHAPE-009
  tl::random::bits<float, 3>(k);                      // TL-DTYPE-003
  tl::random::uniform<int, 3>(k);                     // TL-DTYPE-003
  tl::random::normal<int, 3>(k);                      // TL-DTYPE-003
  tl::random::truncated_normal<int, 3>(k, -1, 1);     // TL-DTYPE-003
  tl::random::exponential<int, 3>(k);                 // TL-DTYPE-003
  tl::random::gumbel<int, 3>(k);                      // TL-DTYPE-003
  tl::random::laplace<int, 3>(k);                     // TL-DTYPE-003
  tl::random::randint<float, 3>(k, 0, 9);             // TL-DTYPE-003
  tl::random::bernoulli<batch>(k);                    // TL-SHAPE-009
  tl::random::categorical(k, text);                   // TL-TYPE-002
  tl::random::permutation<2>(k, x);                   // TL-AXIS-001
}

void transforms(const Mlp& m, Images x, int* pointer) {
  tl::grad(f);               // TL-CALL-002
  tl::value_and_grad(f);     // TL-CALL-002
  tl::vjp(f);                // TL-CALL-002
  tl::jvp(f);                // TL-CALL-002
  tl::hvp(f);                // TL-CALL-002
  tl::linearize(f);          // TL-CALL-002
  tl::jacfwd(f);             // TL-CALL-002
  tl::jacrev(f);             // TL-CALL-002
  tl::hessian(f);            // TL-CALL-002
  tl::check_grads(f);        // TL-CALL-002
  tl::graph_of(f);           // TL-CALL-002
  tl::to_source(f);          // TL-CALL-002
  tl::compile_ahead(f);                                               // TL-CALL-002
  tl::jit(f);                // TL-CALL-002
  tl::jit(f, tl::pjrt());    // TL-CALL-002
  tl::emit_stablehlo(f);     // TL-CALL-002
  tl::export_bounded(f);     // TL-CALL-002
  tl::import_stablehlo("")(3);  // TL-TYPE-002
  tl::remat(f);              // TL-CALL-002
  tl::vmap<0>(f);            // TL-CALL-002
  tl::custom_jvp(f, f);      // TL-CALL-002
  tl::custom_vjp(f, f, f);   // TL-CALL-002
  tl::cond(x, f, f);         // TL-COND-001
  tl::switch_case(x, f, f);  // TL-COND-001
  tl::while_loop(f, f, x);   // TL-CALL-002
  tl::fori_loop(0, 3, f, x); // TL-CALL-002
  tl::scan(f, x, x);         // TL-CALL-002
  tl::tree_map([](auto leaf) { return leaf; }, pointer);  // TL-TREE-001
  tl::tree_each([](auto, auto) {}, pointer);              // TL-TREE-001
}

// ---- the other verdicts ----

using Square = tl::Tensor<float, hidden, hidden>;
using Grid = tl::Tensor<float, batch, 8, 8, 3>;
constexpr struct Letters {
} letters;

void axes_and_kinds(const Mlp& m, Images x, Labels ids, Square square, tl::Array a) {
  tl::sum<letters>(x);                        // TL-AXIS-004
  tl::sum<0>(x, batch);                       // TL-AXIS-004
  tl::sum(x, 0);                              // TL-AXIS-004
  tl::sum(x, text);                           // TL-AXIS-004
  tl::sum<0, 0>(x);                           // TL-AXIS-002
  tl::sum(square, hidden);                    // TL-AXIS-002
  tl::sum<7>(x);                              // TL-AXIS-001
  tl::softmax<letters>(x);                    // TL-AXIS-004
  tl::argmax<0, 1>(x);                        // TL-AXIS-004
  tl::slice<letters, 0, 1>(x);                // TL-AXIS-004
  tl::take<letters>(x, ids);                  // TL-AXIS-004
  tl::dynamic_slice<letters, 1>(x, 0);        // TL-AXIS-004
  tl::concat<letters>(x, x);                  // TL-AXIS-004
  tl::flip<letters>(x);                       // TL-AXIS-004
  tl::one_hot<letters>(ids);                  // TL-AXIS-004
  tl::one_hot<document>(ids);                 // TL-SHAPE-009
  tl::zeros<float, letters>();                // TL-AXIS-004
  tl::zeros<std::string, 3>();                // TL-DTYPE-003
  tl::zeros<float, batch>(text);              // TL-TYPE-002
  tl::full<float, 3>(text);                   // TL-TYPE-002
  tl::full<float, 3>(m.b1);                   // TL-RANK-001
  tl::full<int, 3>(0.5);                      // TL-DTYPE-002
  tl::contract(x, m.w1, text);                // TL-AXIS-004
  tl::contract(x, m.w1);                      // TL-AXIS-004
  tl::contract(square, m.w2, hidden);         // TL-AXIS-002
  tl::contract(a, a, hidden);                 // TL-TYPE-004
  tl::tensordot<3>(x, m.w1);                  // TL-RANK-001
  tl::inner(tl::Scalar<float>(), x);          // TL-RANK-001
  tl::matmul(tl::Scalar<float>(), x);         // TL-RANK-001
  tl::exp(1);                                 // TL-DTYPE-003
  tl::select(x > 0, true, x);                 // TL-DTYPE-003
  tl::maximum(1, 2);                          // TL-TYPE-002
  tl::select(true, x, x);                     // TL-TYPE-002
  tl::select(a, 1, 2);                        // TL-TYPE-004
  tl::select(x > 0, 1.0L, 2.0L);              // TL-DTYPE-003
  tl::select(a, x, x);                        // TL-TYPE-003
  tl::select(x > 0, x, m.w1);                 // TL-SHAPE-001
  tl::select(tl::Tensor<bool, 3>(), x, x);    // TL-SHAPE-001
  tl::as<float>(x);                           // TL-TYPE-004
  tl::as<tl::Tensor<float, batch>>(x);        // TL-RANK-001
  x + a;                                      // TL-TYPE-003
  ids + 0.5;                                  // TL-DTYPE-002
  tl::Tensor<float, batch> row = x;           // TL-RANK-001
}

void shapes(const Mlp& m, Images x, Labels ids, Square square, Grid grid, tl::Array a) {
  tl::outer(tl::Tensor<float, 1, 1, 1, 1, 1, 1, 1>(), tl::Tensor<float, 1, 1, 1, 1, 1, 1>());  // TL-RANK-002
  tl::transpose<0>(x);                        // TL-RANK-001
  tl::reshape<document, 784>(x);              // TL-AXIS-001
  tl::reshape<tl::any, tl::any>(x);           // TL-SHAPE-005
  tl::broadcast_to<784>(x);                   // TL-RANK-001
  tl::squeeze<5>(x);                          // TL-AXIS-001
  tl::concat<0>(x, m.b1);                     // TL-RANK-001
  tl::stack<0>(x, m.b1);                      // TL-RANK-001
  tl::stack<5>(x, x);                         // TL-AXIS-001
  tl::slice<1, 0, 600>(m.words);              // TL-BOUND-001
  tl::pad<1, -500, -500>(x);                  // TL-SHAPE-007
  tl::tile<-1, 2>(x);                         // TL-SHAPE-007
  tl::repeat<0, -2>(x);                       // TL-SHAPE-007
  tl::dynamic_slice<1, 7>(x, ids);            // TL-RANK-001
  tl::dynamic_update(x, x, 0.5, 0.5);         // TL-DTYPE-003
  tl::dynamic_update(x, x, 0);                // TL-RANK-001
  tl::dynamic_update(x, x, ids, ids);         // TL-RANK-001
  tl::scatter_add<0>(x, ids, m.b1);           // TL-RANK-001
  tl::cross_entropy(x, 3);                    // TL-RANK-001
  tl::layer_norm(x, m.w1);                    // TL-RANK-001
  tl::attention(m.b1, x, x);                  // TL-RANK-001
  tl::attention(x, x, x, {}, tl::Tensor<bool, 3, 3, 3>());  // TL-SHAPE-001
  tl::rope(tl::Scalar<float>(), 0);           // TL-RANK-001
  tl::rope(tl::Tensor<float, batch, 7>(), 0); // TL-SHAPE-008
  tl::rope(x, tl::Tensor<int, 3, 3>());       // TL-SHAPE-001
  tl::swiglu(x, m.b1);                        // TL-RANK-001
  tl::cholesky(m.b1);                         // TL-RANK-001
  tl::triangular_solve(square, m.b1);         // TL-RANK-001
  tl::triangular_solve(square, x);            // TL-SHAPE-006
  tl::conv2d<0>(grid, tl::Tensor<float, 3, 3, 3, 16>());             // TL-SHAPE-007
  tl::conv2d<1, 0, 1, 3>(grid, tl::Tensor<float, 3, 3, 1, 16>());    // TL-SHAPE-008
  tl::conv2d(grid, tl::Tensor<float, batch, 3, 3, 16>());            // TL-SHAPE-009
  tl::conv2d_transposed<0>(grid, tl::Tensor<float, 3, 3, 16, 3>());  // TL-SHAPE-007
  tl::conv2d_transposed(grid, tl::Tensor<float, 3, 3, 3, 16>());     // TL-SHAPE-003
  tl::conv2d_transposed(grid, tl::Tensor<float, batch, 3, 16, 3>()); // TL-SHAPE-009
  tl::max_pool<0>(grid);                      // TL-SHAPE-007
  tl::einsum<"bi,ij->bj">(x, a);              // TL-TYPE-004
  tl::einsum<"b,ij->bj">(x, m.w1);            // TL-RANK-001
  tl::einsum<"bij,ij->bj">(x, m.w1);          // TL-RANK-001
  tl::einsum<"bi,ij,jk->bk">(x, m.w1);        // TL-EINSUM-002
  tl::einsum<"bi->b">(x, m.w1);               // TL-EINSUM-002
  tl::einsum<"bi,ij-bj">(x, m.w1);            // TL-EINSUM-001
  tl::einsum<"bi;ij->bj">(x, m.w1);           // TL-EINSUM-001
  tl::einsum<"bi,ij->bk">(x, m.w1);           // TL-EINSUM-001
  tl::einsum<"bi,ij->bb">(x, m.w1);           // TL-EINSUM-001
  tl::einsum<"bi,ij">(x, m.w1);               // TL-EINSUM-001
}

auto nothing = [](auto) {};
auto nothing_at_all = [] {};
auto identity = [](auto x) { return x; };
auto doubled = [](auto x) { return std::pair(x, x); };
auto positive = [](auto) { return tl::Tensor<bool>(); };
auto loss = [](Images x) { return tl::mean(x); };
auto of_labels = [](Labels y) { return y; };
struct Based : Mlp {};

void callables(const Mlp& m, Images x, Labels ids, tl::Scalar<float> s, tl::Scalar<int> i) {
  tl::grad([](Images) { return 1.0; });                               // TL-GRAD-001
  tl::grad([](Images) {});                                            // TL-CALL-001
  tl::grad(loss, tl::argnums<>);                                      // TL-GRAD-004
  tl::grad(loss, tl::argnums<1>);                                     // TL-GRAD-004
  tl::grad([](double a) { return tl::Scalar<double>(a); });           // TL-GRAD-003
  tl::hessian([](std::tuple<Images, Images> a) { return tl::mean(std::get<0>(a)); });  // TL-JAC-002
  tl::jacfwd([](Images) { return 1; });                               // TL-JAC-001
  tl::jvp(identity)(x);                                               // TL-GRAD-005
  tl::cond(true, f, f);                                               // TL-CALL-002
  tl::cond(true, of_labels, of_labels, x);                            // TL-COND-003
  tl::cond(true, nothing_at_all, nothing_at_all);                     // TL-CALL-001
  tl::cond(true, [&] { return x; }, [&] { return ids; });             // TL-COND-002
  tl::switch_case(0);                                                 // TL-COND-003
  tl::while_loop(of_labels, identity, x);                             // TL-LOOP-005
  tl::while_loop(positive, of_labels, x);                             // TL-LOOP-005
  tl::while_loop([](Images) {}, identity, x);                         // TL-CALL-001
  tl::while_loop(positive, [](Images) { return std::pair(1, 2); }, x);  // TL-LOOP-004
  tl::fori_loop(0, 3, of_labels, x);                                  // TL-LOOP-005
  tl::fori_loop(x, 3, identity, x);                                   // TL-COND-001
  tl::scan([](Labels y) { return std::pair(y, y); }, s, x);           // TL-LOOP-005
  tl::scan(doubled, s, 3);                                            // TL-LOOP-003
  tl::scan<3>(of_labels, s);                                          // TL-LOOP-005
  tl::scan<letters>(identity, s);                                     // TL-AXIS-004
  tl::scan<batch>(identity, s);                                       // TL-SHAPE-009
  tl::scan(identity, s);                                              // TL-LOOP-003
  tl::scan([](tl::Scalar<float> c, tl::Tensor<float, 784>) { return c; }, s, x);  // TL-LOOP-006
  tl::custom_jvp(identity, f);                                        // TL-CALL-002
  tl::custom_vjp(identity, f, f);                                     // TL-CALL-002
  tl::custom_jvp(loss, of_labels);                                    // TL-CUSTOM-001
  tl::custom_vjp(loss, loss, loss);                                   // TL-CUSTOM-001
  tl::vmap(identity);                                                 // TL-VMAP-001
  tl::vmap<letters>(identity);                                        // TL-AXIS-004
  tl::vmap<document>(identity)(x);                                    // TL-VMAP-001
  tl::vmap<batch>(of_labels)(x);                                      // TL-VMAP-004
  tl::vmap<0, 0>(identity)(x);                                        // TL-VMAP-005
  tl::vmap<0>(identity)(m);                                           // TL-VMAP-002
  tl::tree_each([](auto, auto) {}, Based());                          // TL-TREE-003
  tl::tree_each([](auto, auto) {}, std::vector<bool>());              // TL-TREE-001
}

}  // namespace
