#include "tests/ops/checks.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::testing {
namespace {

constexpr std::int64_t kLanes = 3;
// Differences of fourth order are off by h^4 f'''''/30, about 1e-13, and by rounding / h, 1e-13.
constexpr double kStepSize = 1e-3;

/// Of the case's params, with f64 as `real`.
std::vector<Type> types_of(const Case& c, DType real = DType::f64) {
  std::vector<Type> types;
  for (std::size_t k = 0; k < c.args.size(); ++k) {
    const HostArray& a = c.args[k];
    std::vector<Dim> shape(a.extents().begin(), a.extents().end());
    const ir::Encoding* e = k < c.encodings.size() ? c.encodings[k] : nullptr;
    if (e) shape.back() = a.extents().back() / e->block_bytes * e->block_elements;
    types.push_back(Type::get(e || a.dtype() == DType::f64 ? real : a.dtype(), shape, e));
  }
  return types;
}
HostArray converted(const HostArray& a, DType dtype) {
  if (a.dtype() != DType::f64 || dtype == DType::f64) return a;
  HostArray r = HostArray::uninitialized(dtype, a.extents());
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(r.mutable_data());
    for (double v : a.as<double>()) *out++ = ops::convert_element<T>(v);
  });
  return r;
}
/// The elements moved on by `by`: another argument of the same kind.
HostArray rotated(const HostArray& a, std::int64_t by) {
  if (a.size() == 0) return a;
  HostArray r = HostArray::uninitialized(a.dtype(), a.extents());
  const auto size = static_cast<std::size_t>(byte_size(a.dtype()));
  for (std::int64_t i = 0; i < a.size(); ++i) {
    std::copy_n(static_cast<const std::byte*>(a.data()) +
                    static_cast<std::size_t>((i + by) % a.size()) * size,
                size,
                static_cast<std::byte*>(r.mutable_data()) + static_cast<std::size_t>(i) * size);
  }
  return r;
}

class Checker {
 public:
  explicit Checker(const Case& c) : c_(c), random_(7), x_(c.args), types_(types_of(c)) {
    for (const HostArray& a : x_) {
      if (a.dtype() != DType::f64) continue;
      u_.push_back(random_.like(a, 0.5));
      v_.push_back(random_.like(a, 0.5));
    }
  }

  std::vector<std::string> run() {
    try {
      values();
      if (!u_.empty()) {
        first();
        if (c_.second) second();
        if (c_.narrow) narrow();
      }
      if (!c_.linear.empty()) linear();
      if (c_.symbolic) symbolic();
      lanes();
    } catch (const std::exception& e) {
      complaints_.push_back(stage_ + ": " + e.what());
    }
    return std::move(complaints_);
  }

 private:
  static Arrays eval(const GraphRef& g, const Arrays& args) { return interp::run(*g, args); }

  void want(const std::string& what, const HostArray& got, const HostArray& ref, double tolerance) {
    bool same = got.dtype() == ref.dtype() && got.extents() == ref.extents();
    for (std::int64_t i = 0; same && i < got.size(); ++i) {
      const double a = got.element(i), b = ref.element(i);
      same = a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b)) ||
             (std::isnan(a) && std::isnan(b));
    }
    if (!same) complaints_.push_back(what + ": " + to_string(got) + " wanted " + to_string(ref));
  }
  void want(const std::string& what, const Arrays& got, const Arrays& ref, double tolerance) {
    if (got.size() != ref.size()) {
      complaints_.push_back(what + ": " + std::to_string(got.size()) + " results, wanted " +
                            std::to_string(ref.size()));
      return;
    }
    for (std::size_t k = 0; k < got.size(); ++k) {
      want(what + " result " + std::to_string(k), got[k], ref[k], tolerance);
    }
  }
  void want(const std::string& what, double got, double ref) {
    // A case that rounds on its way says so by its tolerance.
    want(what, HostArray::scalar(got), HostArray::scalar(ref), std::max(1e-9, 1e-3 * c_.tolerance));
  }

  /// args + h direction, where the direction has the f64 args only.
  static Arrays moved(const Arrays& args, double h, const Arrays& direction) {
    Arrays r = args;
    std::size_t next = 0;
    for (HostArray& a : r) {
      if (a.dtype() == DType::f64) a = axpy(a, h, direction.at(next++));
    }
    return r;
  }
  /// The derivative of g's f64 results along the direction.
  static Arrays differences(const GraphRef& g, const Arrays& args, const Arrays& direction) {
    auto at = [&](double k) { return reals_of(eval(g, moved(args, k * kStepSize, direction))); };
    const Arrays a = at(1), b = at(-1), c = at(2), d = at(-2);
    Arrays r;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double s = 1 / (12 * kStepSize);
      HostArray sum(DType::f64, a[k].extents());
      for (auto [w, part] : {std::pair{8 * s, a[k]}, {-8 * s, b[k]}, {-s, c[k]}, {s, d[k]}}) {
        sum = axpy(sum, w, part);
      }
      r.push_back(std::move(sum));
    }
    return r;
  }
  Arrays random_like(const Arrays& arrays) {
    Arrays r;
    for (const HostArray& a : arrays) r.push_back(random_.like(a, 0.5));
    return r;
  }
  static Arrays tail(const Arrays& a, std::size_t from) {
    return {a.begin() + static_cast<std::ptrdiff_t>(from), a.end()};
  }
  static GraphRef vjp_of(const GraphRef& g) {
    return checked(transform::vjp(g, transform::differentiable_params(*g)));
  }
  void adjoint(const std::string& what, const GraphRef& g, const Arrays& args,
               const Arrays& direction) {
    const Arrays y = eval(jvp_of(g), args + direction);
    const Arrays dy = tail(y, g->results().size());
    const Arrays ct = random_like(dy);
    const Arrays back = tail(eval(vjp_of(g), args + ct), g->results().size());
    want(what, inner(back, direction), inner(ct, dy));
  }

  void values() {
    stage_ = "values";
    g_ = checked(graph_of(types_, c_.build, c_.name));
    y_ = eval(g_, x_);
  }
  void first() {
    stage_ = "jvp";
    const GraphRef j = jvp_of(g_);
    const Arrays r = eval(j, x_ + u_);
    want("jvp values", Arrays(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(y_.size())), y_,
         0);
    want("jvp", tail(r, y_.size()), differences(g_, x_, u_), c_.tolerance);
    stage_ = "vjp";
    adjoint("vjp", g_, x_, u_);
    ct_ = random_like(reals_of(y_));
  }
  void second() {
    stage_ = "jvp of jvp";
    const GraphRef j = jvp_of(g_);
    Arrays still;
    for (const HostArray& a : u_) still.emplace_back(DType::f64, a.extents());
    const Arrays jj = eval(jvp_of(j), x_ + u_ + v_ + still);
    want("jvp of jvp", tail(jj, j->results().size()), differences(j, x_ + u_, v_ + still),
         c_.tolerance);
    stage_ = "jvp of vjp";
    const GraphRef r = vjp_of(g_);
    const Arrays w = random_like(ct_);
    const Arrays jr = eval(jvp_of(r), x_ + ct_ + v_ + w);
    want("jvp of vjp", tail(jr, r->results().size()), differences(r, x_ + ct_, v_ + w),
         c_.tolerance);
    stage_ = "vjp of vjp";
    adjoint("vjp of vjp", r, x_ + ct_, v_ + w);
  }
  void linear() {
    stage_ = "linear_transpose";
    const GraphRef t = checked(transform::linear_transpose(g_, c_.linear));
    Arrays fixed, free;
    for (std::size_t k = 0; k < x_.size(); ++k) (c_.linear[k] ? free : fixed).push_back(x_[k]);
    const Arrays ct = random_like(y_);
    want("linear_transpose", inner(eval(t, fixed + ct), free), inner(ct, y_));
  }
  void narrow() {
    stage_ = "narrow";
    const Arrays wide = eval(vjp_of(g_), x_ + ct_);
    for (DType t : {DType::f32, DType::bf16}) {
      Arrays args;
      for (const HostArray& a : x_ + ct_) args.push_back(converted(a, t));
      const GraphRef g = checked(graph_of(types_of(c_, t), c_.build, c_.name));
      const Arrays got = eval(vjp_of(g), args);
      for (std::size_t k = 0; k < got.size(); ++k) {
        // What is compared in bf16 is only that nothing is grossly wrong.
        want("vjp in " + std::string(name(t)), got[k], converted(wide[k], got[k].dtype()),
             t == DType::f32 ? 1e-4 : 0.25);
      }
    }
  }
  void symbolic() {
    stage_ = "symbolic";
    std::map<std::int64_t, Symbol> symbols;
    std::vector<Type> types;
    for (Type t : types_) {
      std::vector<Dim> shape;
      for (Dim d : t.shape()) {
        const std::int64_t n = d.constant();
        if (n == 1)
          shape.emplace_back(1);
        else
          shape.emplace_back(
              symbols.try_emplace(n, Symbol::fresh("n" + std::to_string(n))).first->second);
      }
      types.push_back(Type::get(t.dtype(), shape, t.encoding()));
    }
    const GraphRef g = checked(graph_of(types, c_.build, c_.name));
    want("symbolic values", eval(g, x_), y_, 0);
    if (u_.empty()) return;
    want("symbolic vjp", eval(vjp_of(g), x_ + ct_), eval(vjp_of(g_), x_ + ct_), 1e-12);
  }

  /// vmap of g with the params of the mask mapped, against a loop.
  void lanes_of(const std::string& what, const GraphRef& g, const Arrays& args,
                const std::vector<bool>& mask) {
    Arrays batch;
    std::vector<Arrays> alone(kLanes);
    for (std::size_t k = 0; k < args.size(); ++k) {
      Arrays rows;
      for (std::int64_t l = 0; l < kLanes; ++l) {
        const bool real = args[k].dtype() == DType::f64;
        rows.push_back(!mask[k] ? args[k]
                       : real
                           ? axpy(args[k], 0.003 * static_cast<double>(l), random_.like(args[k], 1))
                           : rotated(args[k], l));
        alone[static_cast<std::size_t>(l)].push_back(rows.back());
      }
      batch.push_back(mask[k] ? stacked(rows) : args[k]);
    }
    std::vector<Arrays> columns(g->results().size());
    for (const Arrays& one : alone) {
      const Arrays r = eval(g, one);
      for (std::size_t k = 0; k < r.size(); ++k) columns[k].push_back(r[k]);
    }
    Arrays ref;
    for (const Arrays& c : columns) ref.push_back(stacked(c));
    want(what, eval(vmap_of(g, mask), batch), ref, 1e-12);
  }
  void lanes() {
    stage_ = "vmap";
    std::vector<bool> mapped;
    for (Type t : types_) mapped.push_back(!t.encoding());
    const auto count = std::ranges::count(mapped, true);
    if (count == 0) return;
    lanes_of("vmap", g_, x_, mapped);
    for (std::size_t k = 0; k < x_.size() && count > 1; ++k) {
      if (!mapped[k]) continue;
      std::vector<bool> mask(x_.size());
      mask[k] = true;
      lanes_of("vmap over argument " + std::to_string(k), g_, x_, mask);
    }
    if (u_.empty()) return;
    stage_ = "vmap of vjp";
    const GraphRef r = vjp_of(g_);
    mapped.resize(r->param_count(), true);
    lanes_of("vmap of vjp", r, x_ + ct_, mapped);
  }

  const Case& c_;
  Noise random_;
  const Arrays x_;
  const std::vector<Type> types_;
  GraphRef g_;
  Arrays y_, u_, v_, ct_;
  std::string stage_;
  std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> check_case(const Case& c) { return Checker(c).run(); }

GraphRef graph_of_case(const Case& c) { return graph_of(types_of(c), c.build, c.name); }

}  // namespace tlaloc::testing
