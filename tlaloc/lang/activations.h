// Activations, elementwise. The result has the operand's type; sigmoid and tanh are in special.h.
// Errors: TL-TYPE-002 (not a tensor), TL-DTYPE-003 (not floating).
#pragma once

#include "tlaloc/lang/core_nn.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {
namespace detail {
template <class R, class A>
R activation(core::Activation op, const A& x, double parameter, Where where) {
  if constexpr (kKind<A> == Kind::number) {
    return {};  // refused
  } else {
    return R(core::activation(op, x.ref(), parameter, labels<R>(), where));
  }
}
}  // namespace detail

/// max(x, 0); its derivative at 0 is 0.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> relu(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::relu, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused relu(const A&, Where = Where::current()) = delete;

/// min(max(x, 0), 6).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> relu6(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::relu6, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused relu6(const A&, Where = Where::current()) = delete;

/// x above 0, slope · x below.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> leaky_relu(const A& x, double slope = 0.01, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::leaky_relu, x, slope, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused leaky_relu(const A&, double = 0.01, Where = Where::current()) = delete;

/// x above 0, alpha (eˣ - 1) below (Clevert et al. 2015, arXiv:1511.07289).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> elu(const A& x, double alpha = 1, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::elu, x, alpha, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused elu(const A&, double = 1, Where = Where::current()) = delete;

/// x Φ(x), Φ the normal distribution, by erf (Hendrycks and Gimpel 2016, arXiv:1606.08415).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> gelu(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::gelu, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused gelu(const A&, Where = Where::current()) = delete;

/// x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), the approximation of GELU.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> gelu_tanh(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::gelu_tanh, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused gelu_tanh(const A&, Where = Where::current()) = delete;

/// x · sigmoid(x), also known as swish.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> silu(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::silu, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused silu(const A&, Where = Where::current()) = delete;

/// log(1 + eˣ), without overflow.
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> softplus(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::softplus, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused softplus(const A&, Where = Where::current()) = delete;

/// log sigmoid(x) = -softplus(-x).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> log_sigmoid(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::log_sigmoid, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused log_sigmoid(const A&, Where = Where::current()) = delete;

/// relu6(x + 3) / 6 (Howard et al. 2019, arXiv:1905.02244).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> hard_sigmoid(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::hard_sigmoid, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused hard_sigmoid(const A&, Where = Where::current()) = delete;

/// x · hard_sigmoid(x).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> hard_swish(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::hard_swish, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused hard_swish(const A&, Where = Where::current()) = delete;

/// x · tanh(softplus(x)) (Misra 2019, arXiv:1908.08681).
template <class A, auto Why = detail::kOne<A, Domain::floating>>
Like<A> mish(const A& x, Where where = Where::current()) {
  return detail::activation<Like<A>>(core::Activation::mish, x, 0, where);
}
template <class A, auto Why = detail::kOne<A, Domain::floating>>
  requires IsMistake<Why>
Refused mish(const A&, Where = Where::current()) = delete;

}  // namespace tlaloc
