// For tests of this folder: one op through its row, without a graph.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/op.h"

namespace tlaloc::ops::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// An array of that element type; values are converted as `convert` would.
inline HostArray array(DType dtype, Extents extents, const std::vector<double>& values) {
  HostArray a = HostArray::uninitialized(dtype, std::move(extents));
  EXPECT_EQ(static_cast<std::size_t>(a.size()), values.size());
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(a.mutable_data());
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = convert_element<T>(values[i]);
  });
  return a;
}
/// start, start + 1, … in row-major order.
inline HostArray counting(DType dtype, Extents extents, double start = 0) {
  std::vector<double> values(static_cast<std::size_t>(element_count(extents)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<double>(i);
  return array(dtype, std::move(extents), values);
}
/// One axis of numbers.
inline HostArray numbers(DType dtype, const std::vector<double>& values) {
  return array(dtype, {static_cast<std::int64_t>(values.size())}, values);
}
inline HostArray f64(const std::vector<double>& values) { return numbers(DType::f64, values); }
inline std::vector<double> values(const HostArray& a) {
  std::vector<double> r;
  for (std::int64_t i = 0; i < a.size(); ++i) r.push_back(a.element(i));
  return r;
}

/// Collects what inference could not prove as "equal: what: a, b" or "at most: what: a, b".
class RecordingInfer final : public InferContext {
 public:
  std::vector<std::string> unproved;
  void require_equal(Dim a, Dim b, const std::string& what) override {
    check("equal", equal(a, b), a, b, what);
  }
  void require_less_equal(Dim a, Dim b, const std::string& what) override {
    check("at most", less_equal(a, b), a, b, what);
  }

 private:
  void check(const char* relation, ir::Truth t, Dim a, Dim b, const std::string& what) {
    const std::string text = what + ": " + a.to_string() + ", " + b.to_string();
    if (t == ir::Truth::no) throw UserError({"TL-SHAPE-001", op->name, text, "", {}});
    if (t == ir::Truth::unknown) unproved.push_back(relation + (": " + text));
  }
};

/// The result types as text, "f32[2, n]; i32[2]", then what remained unproved, one line each.
inline std::string inferred(const ir::OpDef& op, const ir::AttrRef& attr,
                            const std::vector<Type>& in) {
  RecordingInfer c;
  c.op = &op;
  c.attr = attr.get();
  c.in = in;
  op.infer(c);
  std::string text;
  for (const Type t : c.out) text += (text.empty() ? "" : "; ") + t.to_string();
  for (const std::string& line : c.unproved) text += "\n" + line;
  return text;
}
/// The code of the refusal, "" if inference accepts.
inline std::string refusal(const ir::OpDef& op, const ir::AttrRef& attr,
                           const std::vector<Type>& in) {
  try {
    inferred(op, attr, in);
    return "";
  } catch (const UserError& e) {
    return e.code();
  }
}

inline Type type_of(const HostArray& a) {
  return Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end()));
}
using SymbolValues = std::vector<std::pair<ir::Symbol, std::int64_t>>;

/// All results. `types`: of the arguments where their arrays do not say them (quantized ones).
inline std::vector<HostArray> eval_all(const ir::OpDef& op, const ir::AttrRef& attr,
                                       std::vector<HostArray> args,
                                       const SymbolValues& symbols = {},
                                       std::vector<Type> types = {}) {
  if (types.empty()) {
    for (const HostArray& a : args) types.push_back(type_of(a));
  }
  RecordingInfer infer;
  infer.op = &op;
  infer.attr = attr.get();
  infer.in = types;
  op.infer(infer);
  auto size_of = [&](Dim d) {
    return d.evaluate([&](ir::Symbol s) -> std::int64_t {
      for (const auto& [symbol, value] : symbols) {
        if (symbol == s) return value;
      }
      throw InternalError("a symbol without a value");
    });
  };
  std::vector<DType> dtypes;
  std::vector<Extents> extents;
  for (const Type t : infer.out) {
    dtypes.push_back(t.dtype());
    Extents e;
    for (Dim d : t.shape()) e.push_back(size_of(d));
    extents.push_back(std::move(e));
  }
  EvalContext c;
  c.op = &op;
  c.attr = attr.get();
  c.in = args;
  c.out_dtypes = dtypes;
  c.out_extents = extents;
  c.size_of = size_of;
  op.eval(c);
  EXPECT_EQ(c.out.size(), infer.out.size());
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    EXPECT_EQ(c.out[k].dtype(), dtypes[k]);
    EXPECT_EQ(c.out[k].extents(), extents[k]);
  }
  return std::move(c.out);
}
inline HostArray eval(const ir::OpDef& op, const ir::AttrRef& attr, std::vector<HostArray> args,
                      const SymbolValues& symbols = {}) {
  return eval_all(op, attr, std::move(args), symbols).at(0);
}

/// "" if both hold the same numbers: NaN equals NaN, -0 differs from +0, and finite ones may differ
/// by `relative`. Otherwise both as text.
inline std::string difference(const HostArray& got, const HostArray& want, double relative = 0) {
  bool same = got.dtype() == want.dtype() && got.extents() == want.extents();
  for (std::int64_t i = 0; same && i < got.size(); ++i) {
    if (is_integer(got.dtype())) {
      same = got.element_int(i) == want.element_int(i);
      continue;
    }
    const double a = got.element(i), b = want.element(i);
    if (std::isnan(a) || std::isnan(b))
      same = std::isnan(a) && std::isnan(b);
    else if (a == b)
      same = std::signbit(a) == std::signbit(b);
    else
      same = std::abs(a - b) <= relative * std::abs(b);
  }
  return same ? "" : "got " + to_string(got) + ", want " + to_string(want);
}

/// Every element type that arrays may have.
inline std::vector<DType> all_dtypes() {
  std::vector<DType> r;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (!is_complex(static_cast<DType>(i))) r.push_back(static_cast<DType>(i));
  }
  return r;
}

}  // namespace tlaloc::ops::testing
