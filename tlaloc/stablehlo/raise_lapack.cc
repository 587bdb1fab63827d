// LAPACK's functions, as JAX calls them.
#include <algorithm>

#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/stablehlo/raise.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Dim;
using ir::Type;
using ir::Val;
using ir::Vals;

char option(const Site& s, std::string_view name, std::string_view letters) {
  const Attribute* config = s.op().find("mhlo.backend_config");
  const Attribute* a = config ? config->find(name) : nullptr;
  if (!a || a->kind != Attribute::Kind::integer)
    s.fail("its option " + std::string(name) + " is missing");
  const bool one = a->integer > 0 && a->integer < 128;
  if (!one || letters.find(static_cast<char>(a->integer)) == std::string_view::npos) {
    s.fail("its option " + std::string(name) + " is none of the letters " + std::string(letters));
  }
  return static_cast<char>(a->integer);
}
void expect_dtype(const Site& s, DType dtype, Val a) {
  if (a.dtype() != dtype) s.fail("it takes " + std::string(name(dtype)));
}

/// The program for one matrix applied to each of `a`.
Vals for_each_matrix(Val a, ir::GraphRef one) {
  const auto leading = static_cast<std::size_t>(a.rank() - 2);
  const Val whole[] = {a};
  if (leading == 0) return ir::call_graph({}, one, whole);
  // All matrices side by side.
  Dim count = 1;
  for (Dim d : a.shape().first(leading)) count *= d;
  const ir::GraphRef all = transform::vmap(one, {0}, count);
  std::vector<Dim> flat{count};
  flat.insert(flat.end(), a.shape().begin() + a.rank() - 2, a.shape().end());
  const Val in[] = {ops::reshape(a, flat)};
  Vals out = ir::call_graph({}, all, in);
  for (Val& y : out) {
    std::vector<Dim> shape(a.shape().begin(), a.shape().end() - 2);
    shape.insert(shape.end(), y.shape().begin() + 1, y.shape().end());
    y = ops::reshape(y, shape);
  }
  return out;
}
Type matrix_type(Val a) {
  return Type::get(a.dtype(), a.shape().subspan(static_cast<std::size_t>(a.rank() - 2)));
}

/// Of the lower triangle of [n, n], the order of the first leading part that has no Cholesky
/// factor, from 1; 0 where all have one.
Val first_broken(Val matrix) {
  using namespace ops;  // NOLINT: the vocabulary of rules
  const Dim n = matrix.dim(0);
  const std::int64_t first_axis[] = {0}, second_axis[] = {1};
  const Val zero = scalar_int(0, DType::i32), one = scalar_int(1, DType::i32);
  const Val rows = iota(Type::get(DType::i32, {n}), 0);
  const LoopResult r = scan({matrix, zero}, {rows}, [&](const Vals& v) -> Vals {
    const Val a = v[0], found = v[1], k = v[2];
    const Val starts[] = {zero, k};
    const Dim column_sizes[] = {n, 1}, flat[] = {n};
    const Val column = reshape(dynamic_slice(a, starts, column_sizes), flat);
    const Val at[] = {k};
    const Dim single[] = {1};
    const Val d = reshape(dynamic_slice(column, at, single), {});
    const Val positive = d > zeros_like(d);  // NaN is not
    const Val divisor = sqrt(select(positive, d, ones(d.type())));
    const Val below = rows > broadcast_in_dim(k, rows.shape(), {});
    const Val l =
        select(below, column / broadcast_in_dim(divisor, column.shape(), {}), zeros_like(column));
    const Val update = mul(broadcast_in_dim(l, a.shape(), first_axis),
                           broadcast_in_dim(l, a.shape(), second_axis));
    const Val here = logical_and(logical_not(positive), compare(Comparison::eq, found, zero));
    return {a - update, select(here, k + one, found)};
  });
  return r.carries[1];
}

template <DType kDType>
Vals potrf(const Site& s) {
  s.expect_operands(1);
  const Val a = s.in(0);
  if (a.rank() < 2) s.fail("it takes matrices");
  expect_dtype(s, kDType, a);
  ops::AxisList swap = ops::axis_range(0, a.rank());
  std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
  const bool lower = option(s, "uplo", "LU") == 'L';
  const Val input = lower ? a : ops::transpose(a, swap);
  const Val l = ops::cholesky(input);
  // What LAPACK reports is 0, or where it stopped. Which matrices have no factor the factors say,
  // which hold NaN then; where, only a second elimination does, whose rounding differs: where that
  // one gets through, it was the last pivot.
  const Dim n = a.dim(a.rank() - 1);
  const Val broken =
      ops::reduce_or(ops::compare(ops::Comparison::ne, l, l), ops::axis_range(a.rank() - 2, 2));
  const Type info = Type::get(DType::i32, broken.shape());
  const Vals where = ops::cond(
      ops::reduce_or(broken, ops::axis_range(0, broken.rank())), {input, broken},
      [&](const Vals& v) -> Vals {
        const Type one = matrix_type(v[0]);
        const ir::GraphRef search =
            ops::trace(
                std::span(&one, 1), [](const Vals& m) -> Vals { return {first_broken(m[0])}; },
                "first_broken")
                .graph;
        const Val found = for_each_matrix(v[0], search)[0], none = ops::zeros(info);
        const Val last =
            ops::broadcast_in_dim(ops::convert(ops::dim_value(n), DType::i32), info.shape(), {});
        const Val at = ops::select(ops::compare(ops::Comparison::ne, found, none), found, last);
        return {ops::select(v[1], at, none)};
      },
      [&](const Vals&) -> Vals { return {ops::zeros(info)}; });
  return {lower ? l : ops::transpose(l, swap), where[0]};
}
template <DType kDType>
Vals trsm(const Site& s) {
  s.expect_operands(2);
  expect_dtype(s, kDType, s.in(0));
  return {ops::triangular_solve(s.in(0), s.in(1),
                                {.left = option(s, "side", "LR") == 'L',
                                 .lower = option(s, "uplo", "LU") == 'L',
                                 .unit = option(s, "diag", "NU") == 'U',
                                 .transpose = option(s, "trans_x", "NTC") != 'N'})};
}

/// One matrix [m, n] as its factors L (below the diagonal, whose own is 1) and U, with the row that
/// each step exchanged with its own, from 1: Gaussian elimination with the largest pivot.
Vals factor(Val matrix) {
  using namespace ops;  // NOLINT: the vocabulary of rules
  const Dim m = matrix.dim(0), n = matrix.dim(1), steps = min(m, n);
  const std::int64_t rows_axis[] = {0}, columns_axis[] = {1};
  const Val one = scalar_int(1, DType::i32), zero = scalar_int(0, DType::i32);
  const LoopResult r =
      scan({matrix}, {iota(Type::get(DType::i32, {steps}), 0)}, [&](const Vals& v) -> Vals {
        Val a = v[0];
        const Val k = v[1];
        const Val rows = iota(Type::get(DType::i32, {m}), 0),
                  columns = iota(Type::get(DType::i32, {n}), 0);
        auto everywhere = [](Val x, Val like) { return broadcast_in_dim(x, like.shape(), {}); };
        auto column = [&](Val x) {
          const Val starts[] = {zero, k};
          const Dim sizes[] = {m, 1}, flat[] = {m};
          return reshape(dynamic_slice(x, starts, sizes), flat);
        };
        auto row = [&](Val x, Val i) {
          const Val starts[] = {i, zero};
          const Dim sizes[] = {1, n};
          return dynamic_slice(x, starts, sizes);
        };
        auto with_row = [&](Val x, Val update, Val i) {
          const Val starts[] = {i, zero};
          return dynamic_update_slice(x, update, starts);
        };
        const Val size = abs(column(a));
        const Val candidates = select(rows >= everywhere(k, rows), size, full(-1, size.type()));
        const Val pivot = argmax(candidates, 0, DType::i32);
        const Val upper = row(a, pivot), lower = row(a, k);
        a = with_row(with_row(a, lower, pivot), upper, k);
        const Val x = column(a);
        const Dim flat[] = {n};
        const Val u = reshape(upper, flat);
        const Val d = reduce_sum(
            select(compare(Comparison::eq, columns, everywhere(k, columns)), u, zeros_like(u)),
            rows_axis);
        // Without a pivot there is nothing below it.
        const Val divisor = select(compare(Comparison::ne, d, zeros_like(d)), d, ones(d.type()));
        const Val l = x / everywhere(divisor, x);
        const Val below = rows > everywhere(k, rows), right = columns > everywhere(k, columns);
        const Val update =
            mul(broadcast_in_dim(select(below, l, zeros_like(l)), a.shape(), rows_axis),
                broadcast_in_dim(select(right, u, zeros_like(u)), a.shape(), columns_axis));
        const Val here =
            logical_and(broadcast_in_dim(below, a.shape(), rows_axis),
                        broadcast_in_dim(compare(Comparison::eq, columns, everywhere(k, columns)),
                                         a.shape(), columns_axis));
        a = select(here, broadcast_in_dim(l, a.shape(), rows_axis), a - update);
        return {a, pivot + one};
      });
  // Where the elimination met a column of zeros, from 1; otherwise 0.
  const Val full_rows = iota(Type::get(DType::i32, {m, n}), 0),
            full_columns = iota(Type::get(DType::i32, {m, n}), 1);
  const Val lu = r.carries[0];
  const Val on_diagonal = compare(Comparison::eq, full_rows, full_columns);
  const Val missing = logical_and(on_diagonal, compare(Comparison::eq, lu, zeros_like(lu)));
  const Val none = full(std::numeric_limits<std::int32_t>::max(), full_rows.type());
  const std::int64_t both[] = {0, 1};
  const Val first = reduce_min(select(missing, full_rows, none), both);
  const Val info = select(compare(Comparison::eq, first,
                                  scalar_int(std::numeric_limits<std::int32_t>::max(), DType::i32)),
                          zero, first + one);
  return {lu, r.ys[0], info};
}
template <DType kDType>
Vals getrf(const Site& s) {
  s.expect_operands(1);
  const Val a = s.in(0);
  if (a.rank() < 2) s.fail("it takes matrices");
  expect_dtype(s, kDType, a);
  const Type one = matrix_type(a);
  if (one.dim(0) == Dim(0) ||
      one.dim(1) == Dim(0)) {  // nothing to do, but in LAPACK's result types
    std::vector<Dim> many(a.shape().begin(), a.shape().end() - 2);
    const Val info = ops::zeros(Type::get(DType::i32, many));
    many.emplace_back(0);
    return {a, ops::zeros(Type::get(DType::i32, many)), info};
  }
  return for_each_matrix(
      a, ops::trace(std::span(&one, 1), [](const Vals& v) { return factor(v[0]); }, "lu").graph);
}

}  // namespace

void add_lapack(RaiseTable& t) {
  t["lapack_spotrf_ffi"] = potrf<DType::f32>;
  t["lapack_dpotrf_ffi"] = potrf<DType::f64>;
  t["lapack_strsm_ffi"] = trsm<DType::f32>;
  t["lapack_dtrsm_ffi"] = trsm<DType::f64>;
  t["lapack_sgetrf_ffi"] = getrf<DType::f32>;
  t["lapack_dgetrf_ffi"] = getrf<DType::f64>;
}

}  // namespace tlaloc::stablehlo::raising
