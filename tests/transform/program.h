// Short forms that the test programs are written in.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/index_testing.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::testing {

using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::Body;

/// A graph of one f64 scalar result, and arguments for it.
struct Program {
  std::string name;
  GraphRef graph;
  std::vector<HostArray> args;
};

// ---- types, constants, arrays ----
inline Type f64(std::initializer_list<Dim> shape = {}) { return Type::get(DType::f64, shape); }
inline Type i64(std::initializer_list<Dim> shape = {}) { return Type::get(DType::i64, shape); }
inline Val real(double x) { return ops::scalar(x, DType::f64); }
inline Val integer(std::int64_t x) { return ops::scalar_int(x, DType::i64); }
HostArray reals(std::initializer_list<double> values, Extents extents = {});
HostArray integers(std::initializer_list<std::int64_t> values);

/// A closed graph of the results that f gives for params of these types.
GraphRef graph_of(const std::vector<Type>& params, const Body& f, const std::string& name = "f");

// ---- operators: those of ops, and with numbers ----
using ops::operator-;
using ops::operator+;
using ops::operator*;
using ops::operator/;
using ops::operator<;
using ops::operator>;
inline Val operator>(Val a, double b) { return a > ops::scalar(b, a.dtype()); }
inline Val operator<(Val a, double b) { return a < ops::scalar(b, a.dtype()); }
inline Val operator&&(Val a, Val b) { return ops::logical_and(a, b); }
inline Val operator||(Val a, Val b) { return ops::logical_or(a, b); }
inline Val operator!(Val a) { return ops::logical_not(a); }

// ---- arrays ----
inline Val at(Val a, Val i) { return ops::dynamic_index(a, i); }
inline Val put(Val a, Val i, Val v) { return ops::dynamic_update_index(a, v, i); }
/// Elements i, i + 1, …, i + size - 1; the start is clamped.
Val window(Val a, Val i, std::int64_t size);
/// a with a[i] += v.
Val add_at(Val a, Val i, Val v);
/// The sum over all axes.
Val sum(Val x);
Val dot(Val a, Val b);     ///< of vectors
Val matvec(Val a, Val b);  ///< [m, k] times [k]
inline Val size0(Val a) { return ops::dim_value(a.dim(0)); }

// ---- loops ----
using Indexed = std::function<Vals(Val i, const Vals& carries)>;
using Scalar = std::function<Val(Val i, Val carry)>;
/// for (i = 0; i < count; ++i), as a while over an i64 carry.
Vals fori(Val count, const Vals& init, const Indexed& body);
Val fori(Val count, Val init, const Scalar& body);
inline Val fori(std::int64_t count, Val init, const Scalar& body) {
  return fori(integer(count), init, body);
}
/// The same as a scan of known length.
Val fors(Dim length, Val init, const Scalar& body);
/// while (condition(x)) x = body(x), for one carry.
Val while_one(Val init, const std::function<Val(Val)>& condition,
              const std::function<Val(Val)>& body);

}  // namespace tlaloc::testing
