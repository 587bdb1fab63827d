#include "tlaloc/ops/linalg.h"

#include <cmath>

#include "tlaloc/ops/kinds.h"
#include "tlaloc/ops/merging.h"
#include "tlaloc/ops/ragged.h"

namespace tlaloc::ops {
namespace {

void check_square(InferContext& c, Type a) {
  if (a.encoding() || !is_float(a.dtype())) {
    c.fail(kDTypeError, "does not accept this element type", "convert the operands first");
  }
  if (a.rank() < 2) c.fail("TL-RANK-001", "takes matrices, with batch axes in front");
  c.require_equal(a.dim(a.rank() - 2), a.dim(a.rank() - 1), "rows and columns");
}
std::int64_t batch_size(const HostArray& a) {
  return element_count(std::span(a.extents()).first(usize(a.rank() - 2)));
}

/// Positions of the last two axes, compared: row - column, as i64 of the shape of `like`.
Val diagonal_distance(Type like) {
  const Type index = like.with_dtype(DType::i64);
  return iota(index, like.rank() - 2) - iota(index, like.rank() - 1);
}

/// Contracts axis `i` of a with axis `k` of b (counted from the end, 1 or 2), over batch axes.
Val matrix_product(Val a, int i, Val b, int k) {
  const std::int64_t nb = a.rank() - 2;
  return dot_general(a, b,
                     {.lhs_batch = axis_range(0, nb),
                      .rhs_batch = axis_range(0, nb),
                      .lhs_contract = {a.rank() - i},
                      .rhs_contract = {b.rank() - k}});
}

}  // namespace

Val triangle(Val x, bool lower, bool strict) {
  const Val distance = diagonal_distance(x.type());
  const Val offset = zeros_like(distance);
  const Val inside = lower ? (strict ? distance > offset : distance >= offset)
                           : (strict ? distance < offset : distance <= offset);
  return select(inside, x, zeros_like(x));
}

// ---- cholesky ----

void Cholesky::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  check_square(c, c.in[0]);
  c.out.push_back(c.in[0]);
}
void Cholesky::eval(EvalContext& c) {
  HostArray y = c.make();
  const std::int64_t n = y.extents().back(), batch = batch_size(y);
  dispatch_float(y.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T* a = static_cast<const T*>(c.in[0].data());
    T* out = static_cast<T*>(y.mutable_data());
    std::vector<C> l(usize(n * n));
    for (std::int64_t b = 0; b < batch; ++b, a += n * n, out += n * n) {
      std::ranges::fill(l, C(0));
      bool definite = true;
      for (std::int64_t j = 0; j < n && definite; ++j) {
        for (std::int64_t i = j; i < n && definite; ++i) {
          C sum = static_cast<C>(a[i * n + j]);
          for (std::int64_t k = 0; k < j; ++k) sum -= l[usize(i * n + k)] * l[usize(j * n + k)];
          if (i == j) {
            definite = sum > 0;  // false for NaN
            l[usize(i * n + j)] = std::sqrt(sum);
          } else {
            l[usize(i * n + j)] = sum / l[usize(j * n + j)];
          }
        }
      }
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          const C nan = std::numeric_limits<C>::quiet_NaN();
          out[i * n + j] = static_cast<T>(definite || j > i ? l[usize(i * n + j)] : nan);
        }
      }
    }
  });
  c.out.push_back(std::move(y));
}
void Cholesky::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const Val l = c.out[0];
  const Val lower = triangle(dx[0], true);
  const Val symmetric = lower + swap_last_axes(triangle(dx[0], true, true));
  const Val right = triangular_solve(l, symmetric, {.left = false, .transpose = true});
  const Val middle = triangular_solve(l, right);
  const Val distance = diagonal_distance(l.type()), zero = zeros_like(distance);
  const Val half =
      select(compare(Comparison::eq, distance, zero), middle * 0.5, triangle(middle, true, true));
  dy[0] = matrix_product(l, 1, half, 2);
}
void Cholesky::batch(const Call& c, BatchContext& ctx) {
  require_same_in_lanes(ctx, c.in_types[0].shape().back(), *c.op, "size of the matrices");
  ctx.set(0, cholesky(ctx.lifted(0)));
}

// ---- triangular_solve ----

void TriangularSolve::infer(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes two operands");
  const Type a = c.in[0], b = c.in[1];
  check_square(c, a);
  if (a.dtype() != b.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert one operand");
  if (b.encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (a.rank() != b.rank()) c.fail("TL-RANK-001", "ranks differ", "reshape a vector to a matrix");
  for (int i = 0; i + 2 < a.rank(); ++i) {
    c.require_equal(a.dim(i), b.dim(i), "batch axis " + std::to_string(i));
  }
  const int axis = b.rank() - (c.as<TriangularAttrs>().left ? 2 : 1);
  c.require_equal(a.dim(a.rank() - 1), b.dim(axis), "size of the matrix and of the right side");
  c.out.push_back(b);
}
void TriangularSolve::eval(EvalContext& c) {
  const TriangularAttrs& t = c.as<TriangularAttrs>();
  HostArray y = c.make();
  const std::int64_t n = c.in[0].extents().back(), batch = batch_size(y);
  const std::int64_t m = y.extents()[usize(y.rank() - (t.left ? 1 : 2))];
  // A system per column (left), or per row with the transpose of op(A) (right).
  const bool transposed = t.transpose == t.left;
  const bool forward = t.lower != transposed;
  const std::int64_t step = t.left ? m : 1, next = t.left ? 1 : n;
  dispatch_float(y.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T* a = static_cast<const T*>(c.in[0].data());
    const T* b = static_cast<const T*>(c.in[1].data());
    T* out = static_cast<T*>(y.mutable_data());
    std::vector<C> x(usize(n));
    for (std::int64_t g = 0; g < batch; ++g, a += n * n, b += n * m, out += n * m) {
      for (std::int64_t j = 0; j < m; ++j) {
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t i = forward ? k : n - 1 - k;
          C sum = static_cast<C>(b[i * step + j * next]);
          for (std::int64_t q = 0; q < k; ++q) {
            const std::int64_t p = forward ? q : n - 1 - q;
            sum -= static_cast<C>(transposed ? a[p * n + i] : a[i * n + p]) * x[usize(p)];
          }
          x[usize(i)] = t.unit ? sum : sum / static_cast<C>(a[i * n + i]);
        }
        for (std::int64_t i = 0; i < n; ++i) out[i * step + j * next] = static_cast<T>(x[usize(i)]);
      }
    }
  });
  c.out.push_back(std::move(y));
}
void TriangularSolve::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const TriangularAttrs& t = c.as<TriangularAttrs>();
  Val right = dx[1];
  if (dx[0]) {
    const Val da = triangle(dx[0], t.lower, t.unit);
    const Val product = t.left ? matrix_product(da, t.transpose ? 2 : 1, c.out[0], 2)
                               : matrix_product(c.out[0], 1, da, t.transpose ? 1 : 2);
    right = right ? right - product : neg(product);
  }
  dy[0] = triangular_solve(c.in[0], right, t);
}
void TriangularSolve::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  require_linear(c, static_cast<bool>(c.in[0]),
                 "a triangular solve is linear in its right side only");
  TriangularAttrs t = c.as<TriangularAttrs>();
  t.transpose = !t.transpose;
  sink.add(1, triangular_solve(c.in[0], ct[0], t));
}
void TriangularSolve::batch(const Call& c, BatchContext& ctx) {
  const TriangularAttrs& t = c.as<TriangularAttrs>();
  require_same_in_lanes(ctx, c.in_types[0].shape().back(), *c.op, "size of the matrix");
  if (ctx.batched(0)) {
    ctx.set(0, triangular_solve(ctx.lifted(0), ctx.lifted(1), t));
    return;
  }
  // One matrix for all lanes: their right sides stand side by side.
  const std::int64_t axis = c.in_types[1].rank() - (t.left ? 1 : 2);
  const Val x = triangular_solve(c.in[0], merge_lanes(ctx.lifted(1), axis), t);
  ctx.set(0, split_lanes(x, axis, ctx.lanes()));
}

TLALOC_ROW(Cholesky);
TLALOC_ROW(TriangularSolve);

Val cholesky(Val a) { return ir::Builder::current().emit(rows::Cholesky, nullptr, {a}); }
Val triangular_solve(Val a, Val b, TriangularAttrs attrs) {
  return ir::Builder::current().emit(rows::TriangularSolve, ir::make_attr(attrs), {a, b});
}

}  // namespace tlaloc::ops
