#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::core {
namespace {

/// Leaves, each its own argument.
Leaves flat(std::span<const Ref> values) {
  Leaves out;
  for (const Ref& x : values) {
    out.argument();
    out.add(x);
  }
  return out;
}
std::vector<Ref> call(const Function& f, std::span<const Ref> values) {
  Leaves out;
  f.call(f.self, flat(values), out);
  return out.data().values;
}
using transform::Mask;

/// Those of `among` that carry tangents.
Mask moving(std::span<const Ref> xs, Mask among = {}) {
  among.resize(xs.size(), among.empty());
  for (std::size_t k = 0; k < xs.size(); ++k) {
    among[k] = among[k] && carries_tangents(node(xs[k]).type);
  }
  return among;
}
void append(std::vector<Ref>& out, std::span<const Ref> values, const Mask& mask) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (mask[k]) out.push_back(values[k]);
  }
}

double dot(const Ref& a, const Ref& b) {
  const HostArray &x = node(a).array(), &y = node(b).array();
  double sum = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) sum += x.element(i) * y.element(i);
  return sum;
}
double dot(std::span<const Ref> a, std::span<const Ref> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += dot(a[k], b[k]);
  return sum;
}
Ref from_doubles(const Ref& like, const std::function<double(std::int64_t)>& element) {
  HostArray y = HostArray::uninitialized(dtype(like), node(like).array().extents());
  dispatch(y.dtype(), [&]<class T>(TypeTag<T>) {
    T* p = static_cast<T*>(y.mutable_data());
    for (std::int64_t i = 0; i < y.size(); ++i) p[i] = ops::convert_element<T>(element(i));
  });
  return make_concrete(std::move(y), node(like).labels);
}

/// x…, dx… of the moving x -> dy… of the differentiable y.
struct TangentOf {
  const Function& f;
  Mask mask;

  Function function() { return {&TangentOf::run, this, f.type, f.name}; }
  static void run(void* self, const Leaves& in, Leaves& out) {
    const auto& t = *static_cast<TangentOf*>(self);
    const auto& values = in.data().values;
    std::vector<Ref> tangents(t.mask.size());
    std::size_t next = t.mask.size();
    for (std::size_t k = 0; k < t.mask.size(); ++k) {
      if (t.mask[k]) tangents[k] = values[next++];
    }
    const Leaves both = jvp(t.f, flat(std::span(values).first(t.mask.size())), flat(tangents), {});
    for (int k = both.size() / 2; k < both.size(); ++k) {
      if (carries_tangents(node(both[k]).type)) out.add(both[k]);
    }
  }
};

/// x…, ct… of the differentiable y -> ct… of the moving x.
struct CotangentOf {
  const Function& f;
  Mask mask;

  Function function() { return {&CotangentOf::run, this, f.type, f.name}; }
  static void run(void* self, const Leaves& in, Leaves& out) {
    const auto& t = *static_cast<CotangentOf*>(self);
    const auto& values = in.data().values;
    std::vector<int> wanted;
    for (std::size_t k = 0; k < t.mask.size(); ++k) {
      if (t.mask[k]) wanted.push_back(static_cast<int>(k));
    }
    LinearMap pullback;
    const Leaves y = vjp(t.f, flat(std::span(values).first(t.mask.size())), wanted, pullback, {});
    Leaves cts;
    std::size_t next = t.mask.size();
    for (int k = 0; k < y.size(); ++k) {
      cts.add(carries_tangents(node(y[k]).type) ? values[next++] : Ref());
    }
    const Leaves back = pullback(cts, {});
    for (int k = 0; k < back.size(); ++k) out.add(back[k]);
  }
};

class Checker {
 public:
  Checker(const Leaves& args, const CheckGradsOptions& options, Where where)
      : args_(args), options_(options), where_(where), random_(options.seed) {}

  void check(const Function& f, const std::vector<Ref>& at, const Mask& mask, int order,
             const std::string& outer) {
    const std::vector<Ref> direction = random_like(at);
    const std::vector<Ref> y = call(f, at);
    check_values(f, at, direction, y, outer);
    const std::vector<Ref> weights = random_like(y);
    TangentOf tangent{f, mask};
    CotangentOf cotangent{f, mask};
    std::vector<Ref> forward_in = at, reverse_in = at;
    append(forward_in, direction, mask);
    append(reverse_in, weights, moving(y));

    std::vector<Ref> some_weights, some_direction;
    append(some_weights, weights, moving(y));
    append(some_direction, direction, mask);
    const double expected = difference(f, at, direction, mask, weights);
    compare(dot(call(tangent.function(), forward_in), some_weights), expected, at,
            outer + "forward");
    const std::vector<Ref> cts = call(cotangent.function(), reverse_in);
    try {
      compare(dot(cts, some_direction), expected, at, outer + "reverse");
    } catch (const UserError&) {
      name_leaf(f, at, direction, mask, weights, cts, outer + "reverse");
      throw;
    }
    if (order <= 1) return;
    Mask more = mask;
    more.resize(forward_in.size(), true);
    check(tangent.function(), forward_in, more, order - 1, outer + "forward over ");
    more.assign(mask.begin(), mask.end());
    more.resize(reverse_in.size(), true);
    check(cotangent.function(), reverse_in, more, order - 1, outer + "reverse over ");
  }

 private:
  /// The values that come with derivatives are f's: a custom rule computes its own.
  void check_values(const Function& f, const std::vector<Ref>& at,
                    const std::vector<Ref>& direction, const std::vector<Ref>& y,
                    const std::string& outer) const {
    const Mask mask = moving(at);
    std::vector<Ref> tangents(at.size());
    std::vector<int> wanted;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (!mask[k]) continue;
      tangents[k] = direction[k];
      wanted.push_back(static_cast<int>(k));
    }
    const Leaves forward = jvp(f, flat(at), flat(tangents), {});
    LinearMap pullback;
    const Leaves reverse = vjp(f, flat(at), wanted, pullback, {});
    for (std::size_t k = 0; k < y.size(); ++k) {
      compare_value(forward[static_cast<int>(k)], y[k], at, outer + "forward");
      compare_value(reverse[static_cast<int>(k)], y[k], at, outer + "reverse");
    }
  }
  void compare_value(const Ref& got, const Ref& expected, const std::vector<Ref>& at,
                     const std::string& mode) const {
    const HostArray &a = node(got).array(), &b = node(expected).array();
    for (std::int64_t i = 0; i < b.size(); ++i) {
      const double x = a.element(i), y = b.element(i);
      if (x == y || agree(x, y, at)) continue;  // equal infinities have no difference
      throw UserError({"TL-GRAD-007", "check_grads",
                       "with the " + mode + " derivative the function gives " + std::to_string(x) +
                           ", without one " + std::to_string(y),
                       "a custom rule must compute the value of its function", user_place(where_)});
    }
  }
  std::vector<Ref> random_like(const std::vector<Ref>& xs) {
    std::normal_distribution<double> normal;
    std::vector<Ref> out;
    for (const Ref& x : xs) {
      const bool some = carries_tangents(node(x).type);
      out.push_back(some ? from_doubles(x, [&](std::int64_t) { return normal(random_); }) : x);
    }
    return out;
  }
  static bool all_f64(const std::vector<Ref>& xs) {
    for (const Ref& x : xs) {
      if (carries_tangents(node(x).type) && dtype(x) != DType::f64) return false;
    }
    return true;
  }

  /// <weights, D(h)>, where D(h) = (f(x + h v) - f(x - h v)) / 2h, v moving where `mask` says, by
  /// (4 D(h) - D(2 h)) / 3, which is free of the error that grows as h² (Richardson, 1911).
  static double difference(const Function& f, const std::vector<Ref>& at, const std::vector<Ref>& v,
                           const Mask& mask, const std::vector<Ref>& weights) {
    // A larger step would round less, but find more kinks and jumps.
    const double h = std::cbrt(all_f64(at) ? 0x1p-52 : 0x1p-23);
    const Mask counted = moving(weights);
    double sum = 0;
    for (const auto& [steps, weight] : {std::pair{1, 4.0}, {-1, -4.0}, {2, -0.5}, {-2, 0.5}}) {
      std::vector<Ref> x = at;
      for (std::size_t k = 0; k < at.size(); ++k) {
        if (!mask[k]) continue;
        const HostArray &a = node(at[k]).array(), &d = node(v[k]).array();
        x[k] = from_doubles(
            at[k], [&](std::int64_t i) { return a.element(i) + steps * h * d.element(i); });
      }
      const std::vector<Ref> y = call(f, x);
      for (std::size_t k = 0; k < y.size(); ++k) {
        if (counted[k]) sum += weight * dot(y[k], weights[k]);
      }
    }
    return sum / (6 * h);
  }

  bool agree(double got, double expected, const std::vector<Ref>& at) const {
    const double tolerance = options_.tolerance > 0 ? options_.tolerance
                             : all_f64(at)          ? 1e-6
                                                    : 2e-2;
    // Written so that a NaN on one side only fails.
    return std::abs(got - expected) <= tolerance * (1 + std::abs(expected)) ||
           (std::isnan(got) && std::isnan(expected));
  }
  [[noreturn]] void fail(double got, double expected, const std::string& mode,
                         const std::string& along) const {
    throw UserError({"TL-GRAD-007", "check_grads",
                     "the " + mode + " derivative along a random direction of " + along + " is " +
                         std::to_string(got) + ", central differences give " +
                         std::to_string(expected),
                     "check the rules that the function brings; where it has a kink or a jump "
                     "near the point, move the point",
                     user_place(where_)});
  }
  void compare(double got, double expected, const std::vector<Ref>& at,
               const std::string& mode) const {
    if (!agree(got, expected, at)) fail(got, expected, mode, "all arguments");
  }
  /// Throws for the first leaf of the arguments whose own derivative is wrong.
  void name_leaf(const Function& f, const std::vector<Ref>& at, const std::vector<Ref>& direction,
                 const Mask& mask, const std::vector<Ref>& weights, const std::vector<Ref>& cts,
                 const std::string& mode) const {
    std::size_t next = 0;
    for (std::size_t k = 0; k < mask.size() && k < args_.data().values.size(); ++k) {
      if (!mask[k]) continue;
      Mask one(mask.size(), false);
      one[k] = true;
      const double got = dot(cts[next++], direction[k]);
      const double expected = difference(f, at, direction, one, weights);
      if (!agree(got, expected, at)) fail(got, expected, mode, args_.data().path(k));
    }
  }

  const Leaves& args_;
  const CheckGradsOptions& options_;
  Where where_;
  std::mt19937_64 random_;
};

}  // namespace

void check_grads(const Function& f, const Leaves& args, std::span<const int> argnums,
                 const CheckGradsOptions& options, Where where) {
  with_place(where, [&] {
    require_values(args, "check_grads");
    if (options.order < 1) {
      throw UserError({"TL-ATTR-001", "check_grads",
                       "order " + std::to_string(options.order) + " checks nothing",
                       "1 for derivatives, 2 for theirs too", user_place(where)});
    }
    for (int i = 0; i < args.size(); ++i) {
      if (is_traced(args[i])) {
        throw UserError({"TL-TRACE-001", "check_grads", "an argument is traced",
                         "check at concrete values", user_place(where)});
      }
    }
    const auto& at = args.data().values;
    Checker(args, options, where)
        .check(f, at, moving(at, leaves_of(args, argnums)), options.order, "");
  });
}

}  // namespace tlaloc::core
