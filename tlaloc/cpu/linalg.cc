// Halves, recursively: the first half, a product of matrices that takes it out of the second one,
// the second half. What is left at the bottom are tiles.
#include "tlaloc/cpu/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gemm.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;

/// Rows of what is not halved any more, and right sides that are solved at once.
constexpr std::int64_t kTileSide = 16;
/// Columns of a triangle that are computed as one rectangle.
constexpr std::int64_t kTriangle = 96;

/// Element (i, j) lies at data[i * row + j * column].
template <class T>
struct View {
  T* data;
  std::int64_t row, column;
  T& at(std::int64_t i, std::int64_t j) const { return data[i * row + j * column]; }
  View from(std::int64_t i, std::int64_t j) const { return {&at(i, j), row, column}; }
  /// From the last row and column back.
  View reversed_rows(std::int64_t n) const { return {data + (n - 1) * row, -row, column}; }
  View reversed(std::int64_t n) const { return {data + (n - 1) * (row + column), -row, -column}; }
  Matrix matrix() const { return {data, row, column}; }
};

std::int64_t first_half(std::int64_t n) { return (n / 2 + kTileSide - 1) / kTileSide * kTileSide; }

template <class T>
class Factors {
 public:
  /// For matrices up to that size.
  Factors(std::int64_t n, std::byte* scratch)
      : negative_(n > kTileSide ? usize(first_half(n) * (n - first_half(n))) : 0),
        scratch_(scratch) {}

  /// T X = B for a lower T [n, n], with X [n, m] in B's place.
  void solve(const View<const T>& t, const View<T>& x, std::int64_t n, std::int64_t m, bool unit) {
    if (n <= kTileSide) {
      for (std::int64_t j = 0; j < m; j += kTileSide) {
        solve_tile(t, x.from(0, j), n, std::min(kTileSide, m - j), unit);
      }
      return;
    }
    const std::int64_t half = first_half(n);
    solve(t, x, half, m, unit);
    negate(t.from(half, 0), n - half, half);
    add_product(n - half, m, half, negative_.data(), x.matrix(), x.from(half, 0));
    solve(t.from(half, half), x.from(half, 0), n - half, m, unit);
  }

  /// The factor in the lower triangle of a, from what is there. False if there is none.
  bool cholesky(const View<T>& a, std::int64_t n) {
    if (n <= kTileSide) return cholesky_tile(a, n);
    const std::int64_t half = first_half(n), rest = n - half;
    if (!cholesky(a, half)) return false;
    const View<T> below = a.from(half, 0);
    solve({a.data, a.row, a.column}, {below.data, below.column, below.row}, half, rest, false);
    negate({below.data, below.row, below.column}, rest, half);
    for (std::int64_t j = 0; j < rest; j += kTriangle) {
      add_product(rest - j, std::min(kTriangle, rest - j), half, negative_.data() + j * half,
                  below.from(j, 0).matrix().transposed(), a.from(half + j, half + j));
    }
    return cholesky(a.from(half, half), rest);
  }

 private:
  void negate(const View<const T>& a, std::int64_t rows, std::int64_t columns) {
    T* to = negative_.data();
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) *to++ = -a.at(i, j);
    }
  }
  /// c += a b, with rows of a that are k long.
  void add_product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const Matrix& b,
                   const View<T>& c) {
    gemm({.dtype = dtype_of<T>,
          .m = m,
          .n = n,
          .k = k,
          .a = {a, k, 1},
          .b = b,
          .c = c.matrix(),
          .accumulate = true,
          .shared = true},
         scratch_);
  }

  static void solve_tile(const View<const T>& t, const View<T>& x, std::int64_t n,
                         std::int64_t count, bool unit) {
    alignas(64) T tile[kTileSide][kTileSide] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < count; ++j) tile[i][j] = x.at(i, j);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t p = 0; p < i; ++p) {
        const T factor = t.at(i, p);
        for (std::int64_t j = 0; j < kTileSide; ++j) tile[i][j] -= factor * tile[p][j];
      }
      if (unit) continue;
      const T pivot = t.at(i, i);
      for (std::int64_t j = 0; j < kTileSide; ++j) tile[i][j] /= pivot;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < count; ++j) x.at(i, j) = tile[i][j];
    }
  }

  static bool cholesky_tile(const View<T>& a, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        T sum = a.at(i, j);
        for (std::int64_t k = 0; k < j; ++k) sum -= a.at(i, k) * a.at(j, k);
        if (i > j) {
          a.at(i, j) = sum / a.at(j, j);
        } else if (sum > 0) {
          a.at(j, j) = std::sqrt(sum);
        } else {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<T> negative_;  ///< the left side of a product
  std::byte* scratch_;
};

// A step's integers: the number of matrices, n; of a solve m, then.

struct Solve {
  DType dtype;
  ops::TriangularAttrs attrs;
};

void run_triangular_solve(const KernelCall& call) {
  const Solve& s = *static_cast<const Solve*>(call.data);
  const std::int64_t batch = call.ints[0], n = call.ints[1], m = call.ints[2];
  // Another size may be too large for 64 bits where one is 0.
  if (batch == 0 || n == 0 || m == 0) return;
  const auto run = [&]<class T>(TypeTag<T>) {
    const ops::TriangularAttrs& t = s.attrs;
    // X op(A) = B is op(A)^T X^T = B^T. What is upper is lower from its end.
    const bool transposed = t.transpose == t.left, lower = t.lower != transposed;
    const auto* a = reinterpret_cast<const T*>(call.storages[0]);
    auto* x = reinterpret_cast<T*>(call.storages[1]);
    Factors<T> factors(n, call.scratch);
    for (std::int64_t k = 0; k < batch; ++k, a += n * n, x += n * m) {
      View<const T> triangle{a, transposed ? 1 : n, transposed ? n : 1};
      View<T> sides{x, t.left ? m : 1, t.left ? 1 : n};
      if (!lower) {
        triangle = triangle.reversed(n);
        sides = sides.reversed_rows(n);
      }
      factors.solve(triangle, sides, n, m, t.unit);
    }
  };
  s.dtype == DType::f32 ? run(TypeTag<float>{}) : run(TypeTag<double>{});
}

void run_cholesky(const KernelCall& call) {
  const std::int64_t batch = call.ints[0], n = call.ints[1];
  if (batch == 0 || n == 0) return;
  const auto run = [&]<class T>(TypeTag<T>) {
    auto* a = reinterpret_cast<T*>(call.storages[0]);
    Factors<T> factors(n, call.scratch);
    for (std::int64_t k = 0; k < batch; ++k, a += n * n) {
      const bool definite = factors.cholesky({a, n, 1}, n);
      for (std::int64_t i = 0; i < n; ++i) {
        T* row = a + i * n;
        if (!definite) std::fill_n(row, i + 1, std::numeric_limits<T>::quiet_NaN());
        std::fill_n(row + i + 1, n - i - 1, T(0));
      }
    }
  };
  *static_cast<const DType*>(call.data) == DType::f32 ? run(TypeTag<float>{})
                                                      : run(TypeTag<double>{});
}

/// The number of matrices, and the sizes of one.
std::vector<Dim> sizes_of(ir::Type t) {
  const int r = t.rank();
  Dim batch = 1;
  for (int i = 0; i + 2 < r; ++i) batch *= t.dim(i);
  return {batch, t.dim(r - 2), t.dim(r - 1)};
}

}  // namespace

Value emit_cholesky(Emitter& e, const Value& a) {
  const StorageId to = e.copy(a, "cholesky");
  Step s;
  s.name = "cholesky";
  s.run = run_cholesky;
  s.storages = {to};
  s.scratch = gemm_scratch_bytes(a.type.dtype());
  s.data = std::make_shared<const DType>(a.type.dtype());
  const std::vector<Dim> sizes = sizes_of(a.type);
  for (Dim d : {sizes[0], sizes[1]}) s.ints.push_back(e.sizes.of(d));
  e.emit_step(std::move(s));
  return dense_value(a.type, to);
}

Value emit_triangular_solve(Emitter& e, const Value& a, const Value& b,
                            const ops::TriangularAttrs& attrs) {
  const StorageId triangle = e.dense(a, "triangular_solve");
  const StorageId to = e.copy(b, "triangular_solve");
  Step s;
  s.name = "triangular_solve";
  s.run = run_triangular_solve;
  s.storages = {triangle, to};
  s.reads = 1;
  s.scratch = gemm_scratch_bytes(a.type.dtype());
  s.data = std::make_shared<const Solve>(Solve{a.type.dtype(), attrs});
  const std::vector<Dim> sizes = sizes_of(b.type);
  for (Dim d : {sizes[0], attrs.left ? sizes[1] : sizes[2], attrs.left ? sizes[2] : sizes[1]}) {
    s.ints.push_back(e.sizes.of(d));
  }
  e.emit_step(std::move(s));
  return dense_value(b.type, to);
}

}  // namespace tlaloc::cpu
