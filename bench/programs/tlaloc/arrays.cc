// Operations on large arrays: chains of elementwise operations, reductions, rows.
#include "bench/programs/tlaloc/programs.h"

namespace bench {
namespace {

inline constexpr tl::Axis<struct Count> count;
inline constexpr tl::Axis<struct Rows> rows;
using Vector = tl::Tensor<float, count>;
using Matrix = tl::Tensor<float, rows, 1024>;
using Row = tl::Tensor<float, 1024>;

Vector vector(std::uint32_t seed, std::int64_t size) {
  return Vector::from(uniform<float>(seed, static_cast<std::size_t>(size)));
}
Matrix matrix(std::uint32_t seed, std::int64_t size) {
  return Matrix::from(uniform<float>(seed, static_cast<std::size_t>(size) * 1024));
}
/// Something of the result that any peer has at hand.
template <class X>
double end(const X& x) {
  return static_cast<double>(x.data().back());
}
float shift(std::int64_t i) { return 1e-3f * static_cast<float>(i % 100); }

}  // namespace

void chain(std::int64_t size) {
  const Vector x = vector(101, size), y = vector(102, size), z = vector(103, size);
  const auto f =
      tl::jit([](const Vector& x, const Vector& y, const Vector& z, const tl::Scalar<float>& a) {
        return tl::relu(a * x + y) * z - 0.5f * x;
      });
  serve([&](std::int64_t i) { return end(f(x, y, z, shift(i))); });
}

void exp_chain(std::int64_t size) {
  const Vector x = vector(101, size), y = vector(102, size);
  const auto f = tl::jit([](const Vector& x, const Vector& y, const tl::Scalar<float>& a) {
    return tl::exp(-x * x) * a + tl::tanh(y);
  });
  serve([&](std::int64_t i) { return end(f(x, y, shift(i))); });
}

void sum(std::int64_t size) {
  const Vector x = vector(101, size), y = vector(102, size);
  const auto f = tl::jit([](const Vector& x, const Vector& y, const tl::Scalar<float>& a) {
    return tl::sum((x - a) * y);
  });
  serve([&](std::int64_t i) { return static_cast<double>(f(x, y, shift(i)).item()); });
}

void softmax(std::int64_t size) {
  const Matrix x = matrix(101, size);
  const auto f =
      tl::jit([](const Matrix& x, const tl::Scalar<float>& a) { return tl::softmax(x * a); });
  serve([&](std::int64_t i) { return end(f(x, 1 + shift(i))); });
}

void softmax_gradient(std::int64_t size) {
  const Matrix x = matrix(101, size), y = matrix(102, size);
  const auto f = tl::jit([](const Matrix& x, const Matrix& y, const tl::Scalar<float>& a) {
    return tl::grad([](const Matrix& x, const Matrix& y) { return tl::sum(tl::softmax(x) * y); })(
        x * a, y);
  });
  serve([&](std::int64_t i) { return end(f(x, y, 1 + shift(i))); });
}

void layer_norm(std::int64_t size) {
  const Matrix x = matrix(101, size);
  const Row scale = Row::from(uniform<float>(1, 1024)), bias = Row::from(uniform<float>(2, 1024));
  const auto f =
      tl::jit([](const Matrix& x, const Row& scale, const Row& bias, const tl::Scalar<float>& a) {
        return tl::layer_norm(x + a, scale, bias);
      });
  serve([&](std::int64_t i) { return end(f(x, scale, bias, shift(i))); });
}

void layer_norm_gradient(std::int64_t size) {
  const Matrix x = matrix(101, size), y = matrix(102, size);
  const Row scale = Row::from(uniform<float>(1, 1024)), bias = Row::from(uniform<float>(2, 1024));
  const auto f = tl::jit([](const Matrix& x, const Row& scale, const Row& bias, const Matrix& y,
                            const tl::Scalar<float>& a) {
    const auto loss = [](const Matrix& x, const Row& scale, const Row& bias, const Matrix& y) {
      return tl::sum(tl::layer_norm(x, scale, bias) * y);
    };
    return tl::grad(loss, tl::argnums<0, 1, 2>)(x * a, scale, bias, y);
  });
  serve([&](std::int64_t i) {
    const auto [dx, dscale, dbias] = f(x, scale, bias, y, 1 + shift(i));
    return end(dx) + end(dscale) + end(dbias);
  });
}

}  // namespace bench
