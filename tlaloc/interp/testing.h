// Short forms for tests that build graphs by hand.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::interp::testing {

template <Element T>
HostArray array(Extents extents, std::initializer_list<T> values) {
  std::vector<T> dense(values);
  if constexpr (std::is_same_v<T, bool>) {
    HostArray a = HostArray::uninitialized(DType::boolean, std::move(extents));
    std::copy(dense.begin(), dense.end(), static_cast<bool*>(a.mutable_data()));
    return a;
  } else {
    return HostArray::from(std::span<const T>(dense), std::move(extents));
  }
}
template <Element T>
HostArray vec(std::initializer_list<T> values) {
  return array<T>({static_cast<std::int64_t>(values.size())}, values);
}
inline HostArray f64s(std::initializer_list<double> values) { return vec<double>(values); }
inline HostArray i64s(std::initializer_list<std::int64_t> values) {
  return vec<std::int64_t>(values);
}

/// Arguments that nobody else holds; a braced list would hold them until the call returns.
template <class... A>
std::vector<HostArray> owned(A... arrays) {
  std::vector<HostArray> r;
  (r.push_back(std::move(arrays)), ...);
  return r;
}

inline ir::Type scalar_type(DType dtype) { return ir::Type::scalar(dtype); }
inline ir::Type f64(std::initializer_list<ir::Dim> shape = {}) {
  return ir::Type::get(DType::f64, shape);
}
inline ir::Type i64(std::initializer_list<ir::Dim> shape = {}) {
  return ir::Type::get(DType::i64, shape);
}

/// A graph of parameters of these types; `f` maps their handles to the results.
template <class F>
ir::GraphRef graph(const std::vector<ir::Type>& params, const F& f, ir::Builder::Close close = {}) {
  ir::Builder b;
  ir::Vals in;
  for (ir::Type t : params) in.push_back(b.param(t));
  const ir::Vals out = f(in);
  return b.build(out, std::move(close));
}

/// As `graph`, where `f` also fills in the result dims.
template <class F>
ir::GraphRef graph_with_dims(const std::vector<ir::Type>& params, const F& f) {
  ir::Builder b;
  ir::Vals in;
  for (ir::Type t : params) in.push_back(b.param(t));
  std::vector<ir::Dim> dims;
  const ir::Vals out = f(in, dims);
  return b.build(out, {.result_dims = dims});
}

inline std::vector<std::string> texts(const std::vector<HostArray>& arrays) {
  std::vector<std::string> r;
  for (const HostArray& a : arrays) r.push_back(to_string(a));
  return r;
}

/// The text of the error that f throws; empty if it throws none.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace tlaloc::interp::testing
