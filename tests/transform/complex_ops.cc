// Complex evaluation of ops without regions.
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <string_view>

#include "tests/transform/complex_interp.h"
#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::testing {
namespace {

using C = std::complex<double>;

const std::set<std::string_view> kLinear{"neg",
                                         "add",
                                         "sub",
                                         "select",
                                         "convert",
                                         "broadcast_in_dim",
                                         "reshape",
                                         "slice",
                                         "transpose",
                                         "gather",
                                         "scatter",
                                         "dynamic_slice",
                                         "concatenate",
                                         "pad",
                                         "reduce_sum",
                                         "reverse",
                                         "cumsum",
                                         "dynamic_update_slice",
                                         "optimization_barrier"};
const std::set<std::string_view> kBilinear{"mul", "dot_general", "convolution"};
/// Piecewise constant: no derivative wherever there is one.
const std::set<std::string_view> kPiecewiseConstant{
    "sign", "ceil", "floor", "round", "compare", "round_even", "is_finite", "stop_gradient"};

C logistic(C x) { return 1.0 / (1.0 + std::exp(-x)); }
/// By the derivative: <complex> has no erf.
C erf(C x) {
  const double slope = 2 / std::sqrt(std::numbers::pi) * std::exp(-x.real() * x.real());
  return {std::erf(x.real()), slope * x.imag()};
}
/// a + ib for small b: expm1 and log1p without the cancellation of exp(x) - 1.
C expm1(C x) { return {std::expm1(x.real()), std::exp(x.real()) * x.imag()}; }
C log1p(C x) { return {std::log1p(x.real()), x.imag() / (1 + x.real())}; }
C abs(C x) { return x.real() < 0 ? -x : x; }

const std::map<std::string_view, std::function<C(C)>> kUnary{
    {"exp", [](C x) { return std::exp(x); }},
    {"expm1", expm1},
    {"log", [](C x) { return std::log(x); }},
    {"log1p", log1p},
    {"sqrt", [](C x) { return std::sqrt(x); }},
    {"rsqrt", [](C x) { return 1.0 / std::sqrt(x); }},
    {"cbrt", [](C x) { return x.real() < 0 ? -std::pow(-x, 1.0 / 3) : std::pow(x, 1.0 / 3); }},
    {"logistic", logistic},
    {"tanh", [](C x) { return std::tanh(x); }},
    {"sin", [](C x) { return std::sin(x); }},
    {"cos", [](C x) { return std::cos(x); }},
    {"tan", [](C x) { return std::tan(x); }},
    {"sinh", [](C x) { return std::sinh(x); }},
    {"cosh", [](C x) { return std::cosh(x); }},
    {"abs", abs},
    {"erf", erf},
};
const std::map<std::string_view, std::function<C(C, C)>> kBinary{
    {"div", [](C a, C b) { return a / b; }},
    {"pow", [](C a, C b) { return std::pow(a, b); }},
    {"max",
     [](C a, C b) { return a.real() == b.real()  ? (a + b) / 2.0
                           : a.real() > b.real() ? a
                                                 : b; }},
    {"min",
     [](C a, C b) { return a.real() == b.real()  ? (a + b) / 2.0
                           : a.real() < b.real() ? a
                                                 : b; }},
};

class Primitive {
 public:
  Primitive(const ir::Node& n, ComplexArrays in, const Sizes& sizes)
      : n_(n), sizes_(sizes), in_(std::move(in)) {
    for (ir::Type t : n.result_types()) {
      dtypes_.push_back(t.dtype());
      Extents e;
      for (ir::Dim d : t.shape()) e.push_back(size_of(d, sizes_));
      extents_.push_back(std::move(e));
    }
  }

  ComplexArrays run() {
    std::vector<HostArray> re;
    bool moves = false;
    for (const ComplexArray& x : in_) {
      re.push_back(x.re);
      moves = moves || !x.im.empty_handle();
    }
    ComplexArrays out;
    for (HostArray& a : eval(re, n_.attr().get())) out.push_back({std::move(a), {}});
    const std::string_view name = n_.op().name;
    if (!moves || dtypes_[0] != DType::f64 || kPiecewiseConstant.contains(name)) return out;
    internal_check(out.size() == 1, "a complex primitive with several results");
    out[0].im = imaginary_part(name, out[0].re);
    return out;
  }

 private:
  std::vector<HostArray> eval(std::vector<HostArray> in, const ir::Attr* attr) const {
    ir::EvalContext c;
    c.op = &n_.op();
    c.attr = attr;
    c.in = in;
    c.out_dtypes = dtypes_;
    c.out_extents = extents_;
    c.size_of = [this](ir::Dim d) { return size_of(d, sizes_); };
    n_.op().eval(c);
    return std::move(c.out);
  }

  HostArray imaginary_part(std::string_view name, const HostArray& value) const {
    if (kLinear.contains(name)) return linear(name);
    if (kBilinear.contains(name)) {
      const HostArray a = eval({in_[0].re, imaginary(in_[1])}, n_.attr().get())[0];
      const HostArray b = eval({imaginary(in_[0]), in_[1].re}, n_.attr().get())[0];
      return zip(a, b, [](double x, double y) { return x + y; });
    }
    if (auto f = kUnary.find(name); f != kUnary.end()) {
      HostArray im = HostArray::uninitialized(DType::f64, value.extents());
      const auto x = in_[0].re.as<double>(), dx = in_[0].im.as<double>(), y = value.as<double>();
      const auto to = im.as_mutable<double>();
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = std::isnan(y[i]) ? y[i] : f->second({x[i], dx[i]}).imag();
      }
      return im;
    }
    if (auto f = kBinary.find(name); f != kBinary.end()) {
      HostArray im = HostArray::uninitialized(DType::f64, value.extents());
      const HostArray ia = imaginary(in_[0]), ib = imaginary(in_[1]);
      const auto a = in_[0].re.as<double>(), b = in_[1].re.as<double>(), y = value.as<double>();
      const auto da = ia.as<double>(), db = ib.as<double>();
      const auto to = im.as_mutable<double>();
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = std::isnan(y[i]) ? y[i] : f->second({a[i], da[i]}, {b[i], db[i]}).imag();
      }
      return im;
    }
    throw InternalError("the complex evaluator has no formula for " + std::string(name));
  }

  HostArray linear(std::string_view name) const {
    std::vector<HostArray> im;
    for (const ComplexArray& x : in_)
      im.push_back(x.re.dtype() == DType::f64 ? imaginary(x) : x.re);
    ir::AttrRef attr = n_.attr();
    if (name == "gather") {  // what is read out of bounds is a constant
      ops::GatherAttrs a = n_.as<ops::GatherAttrs>();
      a.fill = 0;
      attr = ir::make_attr(std::move(a));
    }
    if (name == "scatter") {
      const ops::Update u = n_.as<ops::ScatterAttrs>().update;
      internal_check(u == ops::Update::add || u == ops::Update::set,
                     "the complex evaluator has no formula for this kind of scatter");
    }
    return eval(std::move(im), attr.get())[0];
  }

  template <class F>
  static HostArray zip(const HostArray& a, const HostArray& b, const F& f) {
    HostArray r = HostArray::uninitialized(DType::f64, a.extents());
    const auto x = a.as<double>(), y = b.as<double>();
    const auto to = r.as_mutable<double>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(x[i], y[i]);
    return r;
  }

  const ir::Node& n_;
  const Sizes& sizes_;
  ComplexArrays in_;
  std::vector<DType> dtypes_;
  std::vector<Extents> extents_;
};

}  // namespace

HostArray imaginary(const ComplexArray& x) {
  return x.im.empty_handle() ? HostArray(DType::f64, x.re.extents()) : x.im;
}

std::int64_t size_of(ir::Dim d, const Sizes& sizes) {
  return d.evaluate([&](ir::Symbol s) {
    const auto it = sizes.find(s.id());
    internal_check(it != sizes.end(), "the complex evaluator lacks a size");
    return it->second;
  });
}

ComplexArrays eval_complex_primitive(const ir::Node& n, ComplexArrays in, const Sizes& sizes) {
  return Primitive(n, std::move(in), sizes).run();
}

}  // namespace tlaloc::testing
