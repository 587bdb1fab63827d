// Helpers for tests of the untyped core: functions on lists of values.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/trace.h"

namespace tlaloc::core::testing {

inline const int kBatchTag = 0, kHiddenTag = 0;
inline constexpr AxisSpec kBatch{.name = "batch", .tag = &kBatchTag};
inline constexpr AxisSpec hidden(std::int64_t size) {
  return {.name = "hidden", .size = size, .tag = &kHiddenTag};
}
inline constexpr AxisSpec dim(std::int64_t size) { return {.size = size}; }

template <class T>
Ref tensor(std::vector<std::int64_t> extents, std::vector<T> values) {
  return from_memory(dtype_of<T>, extents, values.data(), static_cast<std::int64_t>(values.size()),
                     Where::current());
}
inline Ref floats(std::vector<std::int64_t> extents, std::vector<float> values) {
  return tensor<float>(std::move(extents), std::move(values));
}
inline Ref doubles(std::vector<std::int64_t> extents, std::vector<double> values) {
  return tensor<double>(std::move(extents), std::move(values));
}
inline Ref number(double x) { return scalar(DType::f64, x); }
template <class T = double>
std::vector<T> values(const Ref& x) {
  const auto* p = static_cast<const T*>(data(x, Where::current()));
  return {p, p + size(x, Where::current())};
}
inline double value(const Ref& x) { return item(x, Where::current()); }

/// What `f` throws, as text.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// ---- operations on values of equal shapes, or with a scalar ----
inline std::vector<int> leading(const Ref& x) {
  std::vector<int> axes(static_cast<std::size_t>(rank(x)));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  return axes;
}
inline std::vector<AxisSpec> axes_of(const Ref& x) {
  std::vector<AxisSpec> axes;
  for (int i = 0; i < rank(x); ++i) axes.push_back(axis(x, i));
  return axes;
}
inline Ref binary(BinaryOp op, const Ref& a, const Ref& b) {
  return core::binary(op, a, leading(a), b, leading(b), axes_of(rank(a) ? a : b), {});
}
inline Ref unary(UnaryOp op, const Ref& a) { return core::unary(op, a, axes_of(a), {}); }
inline Ref add(const Ref& a, const Ref& b) { return binary(BinaryOp::add, a, b); }
inline Ref mul(const Ref& a, const Ref& b) { return binary(BinaryOp::mul, a, b); }
inline Ref less(const Ref& a, const Ref& b) { return binary(BinaryOp::lt, a, b); }
inline Ref sin(const Ref& a) { return unary(UnaryOp::sin, a); }
inline Ref exp(const Ref& a) { return unary(UnaryOp::exp, a); }
inline Ref sum(const Ref& a) { return reduce(ReduceOp::sum, a, leading(a), false, {}, {}); }

/// A function on lists of values, and how it is traced.
class Fn {
 public:
  using Body = std::function<std::vector<Ref>(const std::vector<Ref>&)>;
  Fn(Body body) : body_(std::move(body)) {}  // NOLINT(google-explicit-constructor)
  operator Function() const {                // NOLINT(google-explicit-constructor)
    return {[](void* self, const Leaves& in, Leaves& out) {
              std::vector<Ref> args;
              for (int i = 0; i < in.size(); ++i) args.push_back(in[i]);
              for (const Ref& r : static_cast<const Fn*>(self)->body_(args)) out.add(r);
            },
            const_cast<Fn*>(this), this, "f"};
  }

 private:
  Body body_;
};

/// One argument per value.
inline Leaves args(const std::vector<Ref>& values) {
  Leaves out;
  for (const Ref& x : values) {
    out.argument();
    out.add(x);
  }
  return out;
}
/// Values without arguments: tangents, cotangents, carries.
inline Leaves list(const std::vector<Ref>& values) {
  Leaves out;
  for (const Ref& x : values) out.add(x);
  return out;
}
inline std::vector<Ref> refs(const Leaves& leaves) {
  std::vector<Ref> out;
  for (int i = 0; i < leaves.size(); ++i) out.push_back(leaves[i]);
  return out;
}

inline const std::vector<int> kFirst{0};
/// The gradient of f's first result with respect to its first argument.
inline Ref grad(const Fn& f, const std::vector<Ref>& at) {
  const Leaves all = value_and_grad(f, args(at), kFirst, Where::current());
  return all[all.size() - 1];
}

}  // namespace tlaloc::core::testing
