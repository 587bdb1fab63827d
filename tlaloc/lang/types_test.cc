// The result type of every operation on tensors, decided at compile time.
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tlaloc/lang/activations.h"
#include "tlaloc/lang/attention.h"
#include "tlaloc/lang/composites.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/create.h"
#include "tlaloc/lang/cut.h"
#include "tlaloc/lang/einsum.h"
#include "tlaloc/lang/index.h"
#include "tlaloc/lang/join.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/math2.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/order.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/scatter.h"
#include "tlaloc/lang/select.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/statistics.h"
#include "tlaloc/lang/window.h"

namespace tlaloc::types_test {

template <class A, class B>
inline constexpr bool is = std::is_same_v<std::remove_cvref_t<A>, B>;

inline constexpr Axis<struct Batch> batch;
inline constexpr Axis<struct Hidden, 128> hidden;
inline constexpr Axis<struct Vocab, 1000> vocab;
inline constexpr Axis<struct Head, 8> head;
inline constexpr Axis<struct HeadWidth, 64> dh;
inline constexpr Axis<struct Keys> keys;
inline constexpr Axis<struct Features, 16> feat;
inline constexpr Axis<struct Height> hh;
inline constexpr Bounded<struct Length, 512> len;

// Only their types are used.
extern Tensor<float, batch, 784> x;
extern Tensor<float, 784, hidden> w1;
extern Tensor<float, hidden> b1;
extern Tensor<float, hidden, 10> w2;
extern Tensor<float, batch, hidden> h;
extern Tensor<float, batch, 10> lg;
extern Tensor<float, batch, 1> k;
extern Tensor<float, any, any> d;
extern Tensor<float, len, 4> seq;
extern Tensor<float> s;
extern Tensor<int, batch> y;
extern Tensor<int, batch, len> ids;
extern Tensor<int> i;
extern Tensor<bool, batch, hidden> p;
extern Tensor<float, vocab, hidden> table;
extern Tensor<float, batch, head, len, dh> q;
extern Tensor<float, batch, 2, keys, dh> kk;
extern Tensor<float, batch, 2, keys, 32> v;
extern Array arr;

// ---- operators ----

static_assert(is<decltype(h + b1), Tensor<float, batch, hidden>>);
static_assert(is<decltype(2.0 * h + 1), Tensor<float, batch, hidden>>);
static_assert(is<decltype(h * k), Tensor<float, batch, hidden>>);
static_assert(is<decltype(k * h), Tensor<float, batch, hidden>>);
static_assert(is<decltype(h + d), Tensor<float, batch, hidden>>);
static_assert(is<decltype(d + h), Tensor<float, batch, hidden>>);
static_assert(is<decltype(d + b1), Tensor<float, any, hidden>>);
static_assert(is<decltype(h > 0), Tensor<bool, batch, hidden>>);
static_assert(is<decltype(h > 0 && p), Tensor<bool, batch, hidden>>);
static_assert(is<decltype(-h), Tensor<float, batch, hidden>>);
static_assert(is<decltype(!p), Tensor<bool, batch, hidden>>);
static_assert(is<decltype(y + 3), Tensor<int, batch>>);
static_assert(is<decltype(arr + arr * 2.0), Array>);
static_assert(is<decltype(Tensor<float, batch>{} + h), Tensor<float, batch, hidden>>);
static_assert(is<decltype(Tensor<float, 128>{} + h), Tensor<float, batch, hidden>>);
static_assert(is<decltype(h + s), Tensor<float, batch, hidden>>);

// 784 never meets an axis without a size; a name never meets another one of the same size.
static_assert(std::is_convertible_v<Tensor<float, batch, hidden>, Tensor<float, any, any>>);
static_assert(std::is_convertible_v<Tensor<float, any, any>, Tensor<float, batch, hidden>>);
static_assert(std::is_convertible_v<Tensor<float, batch, 128>, Tensor<float, batch, hidden>>);
static_assert(!std::is_convertible_v<Tensor<float, 784>, Tensor<float, batch>>);
static_assert(
    !std::is_convertible_v<Tensor<float, hidden>, Tensor<float, Axis<struct Other, 128>{}>>);
static_assert(!std::is_convertible_v<Tensor<float, 3>, Tensor<double, 3>>);
static_assert(!std::is_convertible_v<Array, Tensor<float, 3>>);
static_assert(!std::is_convertible_v<Tensor<bool>, bool>);
// Numbers: anything meets floating, integers meet integers, bool stays apart.
static_assert(std::is_convertible_v<int, Tensor<float>> &&
              std::is_convertible_v<double, Tensor<float>>);
static_assert(std::is_convertible_v<int, Tensor<int>> &&
              !std::is_convertible_v<double, Tensor<int>>);
static_assert(std::is_convertible_v<bool, Tensor<bool>> &&
              !std::is_convertible_v<int, Tensor<bool>>);
static_assert(!std::is_convertible_v<double, Tensor<float, 3>>);
static_assert(sizeof(Tensor<float, batch, 784>) == sizeof(void*));
static_assert(
    is<decltype(as<Tensor<float, batch, 10>>(Tensor<float, 32, 10>{})), Tensor<float, batch, 10>>);
static_assert(is<decltype(as<Tensor<float, batch, 10>>(arr)), Tensor<float, batch, 10>>);
static_assert(is<decltype(untyped(x)), Array>);
static_assert(is<decltype(h += 1), Tensor<float, batch, hidden>>);
static_assert(is<decltype(h *= b1), Tensor<float, batch, hidden>>);

// ---- reductions and elementwise functions ----

static_assert(is<decltype(sum(h)), Tensor<float>>);
static_assert(is<decltype(sum<0>(h)), Tensor<float, hidden>>);
static_assert(is<decltype(sum<-1>(h)), Tensor<float, batch>>);
static_assert(is<decltype(sum<batch>(h)), Tensor<float, hidden>>);
static_assert(is<decltype(sum(h, batch)), Tensor<float, hidden>>);
static_assert(is<decltype(sum(arr, 0)), Array>);
static_assert(is<decltype(sum<0>(arr)), Array>);
static_assert(is<decltype(h / sum(h, hidden)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(h / sum_keep<-1>(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(var<0>(h, {}, 1)), Tensor<float, hidden>>);
static_assert(is<decltype(any_of(h > 0, batch)), Tensor<bool, hidden>>);
static_assert(is<decltype(maximum(exp(h), 0)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(sqrt(64.0f)), float>);

static_assert(is<decltype(mean(h, batch)), Tensor<float, hidden>>);
static_assert(is<decltype(prod<0>(y)), Tensor<int>>);
static_assert(is<decltype(max_keep<batch>(h)), Tensor<float, 1, hidden>>);
static_assert(is<decltype(min(h)), Tensor<float>>);
static_assert(is<decltype(all_of(p)), Tensor<bool>>);
static_assert(is<decltype(stddev<batch>(h)), Tensor<float, hidden>>);
static_assert(is<decltype(norm(h)), Tensor<float>>);
static_assert(is<decltype(logsumexp(lg, batch)), Tensor<float, 10>>);
static_assert(is<decltype(sum<0, 1>(h)), Tensor<float>>);
static_assert(is<decltype(sum<-2, -1>(q)), Tensor<float, batch, head>>);
static_assert(is<decltype(is_finite(h)), Tensor<bool, batch, hidden>>);
static_assert(is<decltype(is_nan(h)), Tensor<bool, batch, hidden>>);
static_assert(is<decltype(pow(h, 2)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(atan2(1.0, h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(popcount(y)), Tensor<int, batch>>);
static_assert(is<decltype(shift_left(y, 2)), Tensor<int, batch>>);
static_assert(is<decltype(stop_gradient(y)), Tensor<int, batch>>);
static_assert(is<decltype(erf(sigmoid(tanh(h)))), Tensor<float, batch, hidden>>);
static_assert(is<decltype(exp(arr)), Array>);

// ---- contractions and choices ----

static_assert(is<decltype(matmul(x, w1)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(matmul(b1, b1)), Tensor<float>>);
static_assert(is<decltype(matmul(h, b1)), Tensor<float, batch>>);
static_assert(is<decltype(matmul(Tensor<float, batch, head, len, dh>{},
                                 Tensor<float, batch, head, dh, len>{})),
                 Tensor<float, batch, head, len, len>>);
static_assert(
    is<decltype(matmul(Tensor<float, head, len, dh>{}, Tensor<float, batch, head, dh, 3>{})),
       Tensor<float, batch, head, len, 3>>);
static_assert(is<decltype(matmul(arr, arr)), Array>);
static_assert(is<decltype(contract(h, w2, hidden)), Tensor<float, batch, 10>>);
static_assert(is<decltype(contract<hidden>(h, w2)), Tensor<float, batch, 10>>);
static_assert(is<decltype(contract(h, h, hidden)), Tensor<float, batch>>);
static_assert(is<decltype(contract<head, dh>(Tensor<float, batch, head, len, dh>{},
                                             Tensor<float, head, dh, 3>{})),
                 Tensor<float, batch, len, 3>>);
static_assert(is<decltype(einsum<"bi,ij->bj">(h, w2)), Tensor<float, batch, 10>>);
static_assert(is<decltype(einsum<"bi, ij -> jb">(h, w2)), Tensor<float, 10, batch>>);
static_assert(is<decltype(einsum<"ii->i">(Tensor<float, 3, 3>{})), Tensor<float, 3>>);
static_assert(is<decltype(einsum<"bi,ij,j->b">(h, w2, Tensor<float, 10>{})), Tensor<float, batch>>);
static_assert(is<decltype(outer(b1, Tensor<float, 3>{})), Tensor<float, hidden, 3>>);
static_assert(is<decltype(inner(h, h)), Tensor<float, batch, batch>>);
static_assert(is<decltype(tensordot<1>(h, w2)), Tensor<float, batch, 10>>);
static_assert(is<decltype(select(p, h, 0)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(select(p, 1.0f, 0.0f)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(where(h > 0, b1, h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(select(s > 0, h, h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(clip(h, 0, 1.0)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(select(p, b1, k)), Tensor<float, batch, hidden>>);

// ---- layout ----

static_assert(is<decltype(transpose(h)), Tensor<float, hidden, batch>>);
static_assert(is<decltype(transpose<1, 0>(h)), Tensor<float, hidden, batch>>);
static_assert(is<decltype(transpose<hidden, batch>(h)), Tensor<float, hidden, batch>>);
static_assert(is<decltype(reshape<batch, 28, 28>(x)), Tensor<float, batch, 28, 28>>);
static_assert(is<decltype(reshape<784, batch>(x)), Tensor<float, 784, batch>>);
static_assert(is<decltype(reshape<any>(x)), Tensor<float, any>>);
static_assert(is<decltype(reshape<batch, 10>(d)), Tensor<float, batch, 10>>);
static_assert(is<decltype(broadcast_to<batch, hidden>(b1, h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(broadcast_to<3, hidden>(b1)), Tensor<float, 3, hidden>>);
static_assert(is<decltype(expand<-1>(b1)), Tensor<float, hidden, 1>>);
static_assert(is<decltype(expand<0>(b1)), Tensor<float, 1, hidden>>);
static_assert(is<decltype(squeeze<1>(k)), Tensor<float, batch>>);
static_assert(is<decltype(flip<batch>(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(flip(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(cast<int>(h)), Tensor<int, batch, hidden>>);
static_assert(is<decltype(cast<int>(arr)), Array>);
static_assert(is<decltype(transpose<0, 1>(arr)), Array>);

// ---- joining and cutting ----

static_assert(is<decltype(concat<1>(h, lg)), Tensor<float, batch, 138>>);
static_assert(is<decltype(concat<hidden>(h, h)), Tensor<float, batch, 256>>);
static_assert(is<decltype(concat<0>(h, h)), Tensor<float, any, hidden>>);
static_assert(is<decltype(concat<0>(std::vector{h, h})), Tensor<float, any, hidden>>);
static_assert(is<decltype(concat<0>(arr, arr)), Array>);
static_assert(is<decltype(concat<1>(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(stack<0>(h, h, h)), Tensor<float, 3, batch, hidden>>);
static_assert(is<decltype(stack<-1>(h, h)), Tensor<float, batch, hidden, 2>>);
static_assert(is<decltype(stack<0>(std::array{h, h})), Tensor<float, any, batch, hidden>>);
static_assert(is<decltype(slice<1, 10, 20>(x)), Tensor<float, batch, 10>>);
static_assert(is<decltype(slice<1, -10, -1, 2>(x)), Tensor<float, batch, 5>>);
static_assert(is<decltype(slice<hidden, 0, 64>(h)), Tensor<float, batch, 64>>);
static_assert(is<decltype(slice<0, 0, 64>(arr)), Array>);
static_assert(is<decltype(split<1, 2>(h)), std::array<Tensor<float, batch, 64>, 2>>);
static_assert(is<decltype(split<batch, 2>(h)), std::array<Tensor<float, any, hidden>, 2>>);
static_assert(is<decltype(split_sizes<1, 100, 28>(h)),
                 std::tuple<Tensor<float, batch, 100>, Tensor<float, batch, 28>>>);
static_assert(is<decltype(pad<1, 2, 3>(h)), Tensor<float, batch, 133>>);
static_assert(is<decltype(pad<batch, 2, 3>(h, 1.5)), Tensor<float, any, hidden>>);
static_assert(is<decltype(tile<1, 2>(h)), Tensor<float, batch, 256>>);
static_assert(is<decltype(repeat<hidden, 2>(h)), Tensor<float, batch, 256>>);

// ---- indexing ----

static_assert(is<decltype(h[0]), Tensor<float, hidden>>);
static_assert(is<decltype(h[i]), Tensor<float, hidden>>);
static_assert(is<decltype(h[i][3]), Tensor<float>>);
static_assert(is<decltype(h[y]), Tensor<float, batch, hidden>>);
static_assert(is<decltype(take<1>(h, y)), Tensor<float, batch, batch>>);
static_assert(is<decltype(take<hidden>(h, 3)), Tensor<float, batch>>);
static_assert(is<decltype(embedding(table, ids)), Tensor<float, batch, len, hidden>>);
static_assert(
    is<decltype(take_along_axis<1>(lg, Tensor<int, batch, 1>{})), Tensor<float, batch, 1>>);
static_assert(
    is<decltype(scatter_add<0>(table, ids, embedding(table, ids))), Tensor<float, vocab, hidden>>);
static_assert(is<decltype(one_hot<10>(y)), Tensor<float, batch, 10>>);
static_assert(is<decltype(one_hot<vocab, double>(y)), Tensor<double, batch, vocab>>);
static_assert(is<decltype(dynamic_slice<1, 7>(h, i)), Tensor<float, batch, 7>>);
static_assert(is<decltype(dynamic_slice<len, 7>(seq, 3)), Tensor<float, 7, 4>>);
static_assert(
    is<decltype(dynamic_update(seq, Tensor<float, 1, 4>{}, i, 0)), Tensor<float, len, 4>>);
static_assert(is<decltype(roll<0>(h, 3)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(axis_size<batch>(h)), Tensor<std::int64_t>>);
static_assert(is<decltype(arr[0]), Array>);

// ---- composites, creation, orders ----

static_assert(is<decltype(softmax(lg)), Tensor<float, batch, 10>>);
static_assert(is<decltype(softmax<0>(lg)), Tensor<float, batch, 10>>);
static_assert(is<decltype(log_softmax(lg, batch)), Tensor<float, batch, 10>>);
static_assert(is<decltype(softmax(arr, 1)), Array>);
static_assert(is<decltype(cross_entropy(lg, y)), Tensor<float, batch>>);
static_assert(is<decltype(layer_norm(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(layer_norm(h, b1, b1)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(rms_norm(h, b1)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(attention(q, kk, v)), Tensor<float, batch, head, len, 32>>);
static_assert(is<decltype(attention(q, kk, v, {.causal = true}, Tensor<bool, len, keys>{})),
                 Tensor<float, batch, head, len, 32>>);
static_assert(is<decltype(rope(q, Tensor<int, len>{})), Tensor<float, batch, head, len, dh>>);
static_assert(is<decltype(rope(q, 3)), Tensor<float, batch, head, len, dh>>);
static_assert(is<decltype(swiglu(h, h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(zeros<float, 3, hidden>()), Tensor<float, 3, hidden>>);
static_assert(is<decltype(zeros<float, batch, 10>(x)), Tensor<float, batch, 10>>);
static_assert(is<decltype(full<float, batch, 10>(0.5, x)), Tensor<float, batch, 10>>);
static_assert(is<decltype(full<float>(s)), Tensor<float>>);
static_assert(is<decltype(ones_like(x)), Tensor<float, batch, 784>>);
static_assert(is<decltype(zeros_like(arr)), Array>);
static_assert(is<decltype(eye<float, hidden, 3>()), Tensor<float, hidden, 3>>);
static_assert(is<decltype(arange<10>()), Tensor<int, 10>>);
static_assert(is<decltype(arange<batch, float>(0, 0.5, x)), Tensor<float, batch>>);
static_assert(is<decltype(linspace<5>(0, 1)), Tensor<float, 5>>);
static_assert(is<decltype(tril<1>(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(cumsum<0>(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(cumsum(h, batch, true)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(sort(h)), Tensor<float, batch, hidden>>);
static_assert(is<decltype(argsort(h, {}, true)), Tensor<int, batch, hidden>>);
static_assert(is<decltype(argmax(h)), Tensor<int>>);
static_assert(is<decltype(argmax<1>(h)), Tensor<int, batch>>);
static_assert(is<decltype(argmin_keep(h, hidden)), Tensor<int, batch, 1>>);
static_assert(
    is<decltype(top_k<5>(lg)), std::pair<Tensor<float, batch, 5>, Tensor<int, batch, 5>>>);
static_assert(is<decltype(relu(leaky_relu(h, 0.2))), Tensor<float, batch, hidden>>);

// ---- windows ----

extern Tensor<float, batch, 28, 28, 3> img;
extern Tensor<float, batch, hh, 28, 3> img2;
extern Tensor<float, batch, 28, 3> line;
extern Tensor<float, 3, 3, 3, 16> kernel;
extern Tensor<float, 3, 3, 1, 3> depthwise;
extern Tensor<float, batch, 8, 8, 8, 2> volume;
static_assert(is<decltype(conv2d<2, 1>(img, kernel)), Tensor<float, batch, 14, 14, 16>>);
static_assert(
    is<decltype(conv2d<1, same_padding>(img2, kernel)), Tensor<float, batch, hh, 28, 16>>);
static_assert(is<decltype(conv2d<1, 0>(img2, kernel)), Tensor<float, batch, any, 26, 16>>);
static_assert(is<decltype(conv2d<1, 0, 2>(img, kernel)), Tensor<float, batch, 24, 24, 16>>);
static_assert(is<decltype(conv2d<1, 0, 1, 3>(img, depthwise)), Tensor<float, batch, 26, 26, 3>>);
static_assert(
    is<decltype(conv1d(line, Tensor<float, 5, 3, feat>{})), Tensor<float, batch, 24, feat>>);
static_assert(
    is<decltype(conv3d(volume, Tensor<float, 2, 2, 2, 2, 4>{})), Tensor<float, batch, 7, 7, 7, 4>>);
static_assert(is<decltype(max_pool<2>(img)), Tensor<float, batch, 14, 14, 3>>);
static_assert(is<decltype(avg_pool<3, 2, same_padding>(img)), Tensor<float, batch, 14, 14, 3>>);

}  // namespace tlaloc::types_test
