// Values as Eigen maps and from Eigen expressions. Optional: needs Eigen 3.3 or newer.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>

#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// The elements of a matrix or vector, shared and read-only: valid while `x` or a copy of it lives.
/// Error: TL-TRACE-001 on a value of a trace.
template <class T, auto... D>
  requires(sizeof...(D) == 2)
auto as_eigen(const Tensor<T, D...>& x, Where where = Where::current()) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Matrix>(x.data(where).data(), x.size(0, where), x.size(1, where));
}
template <class T, auto... D>
  requires(sizeof...(D) == 1)
auto as_eigen(const Tensor<T, D...>& x, Where where = Where::current()) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  return Eigen::Map<const Vector>(x.data(where).data(), x.size(0, where));
}
/// A temporary's elements would be gone.
template <class T, auto... D>
auto as_eigen(const Tensor<T, D...>&&, Where = Where::current()) = delete;

/// A copy of an Eigen matrix or vector: from_eigen<Tensor<float, batch, 784>>(m).
/// Errors: TL-SHAPE-002 (sizes that the type does not have), TL-BOUND-001.
template <AnyTensor R, class Derived>
  requires(R::rank == 1 || R::rank == 2)
R from_eigen(const Eigen::DenseBase<Derived>& m, Where where = Where::current()) {
  using T = typename R::element_type;
  static_assert(std::is_same_v<T, typename Derived::Scalar>,
                "TL-DTYPE-001: dtypes differ: use cast<T>() on the Eigen side");
  static_assert(R::rank == 2 || Derived::IsVectorAtCompileTime,
                "TL-RANK-001: a matrix where a vector is due");
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = m;
  const std::span<const T> elements(rows.data(), static_cast<std::size_t>(rows.size()));
  if constexpr (R::rank == 1) {
    return R::from(elements, {static_cast<std::int64_t>(m.size())}, where);
  } else {
    return R::from(elements, {m.rows(), m.cols()}, where);
  }
}

}  // namespace tlaloc
