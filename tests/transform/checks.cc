#include "tests/transform/checks.h"

#include <cmath>
#include <exception>

#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

constexpr std::int64_t kLanes = 3;

HostArray scalar(double x) { return HostArray::scalar(x); }

class Checker {
 public:
  Checker(const GraphRef& g, const Arrays& args, const CheckOptions& o)
      : g_(g), x_(args), o_(o), noise_(o.seed + 1) {
    for (const HostArray& a : reals_of(args)) {
      u_.push_back(noise_.like(a, 0.3));
      v_.push_back(noise_.like(a, 0.3));
      zero_.emplace_back(DType::f64, a.extents());
    }
  }

  CheckResult run() {
    const transform::VerifiedScope verified;
    try {
      first_order();
      if (!r_.ill_conditioned && o_.second) second_order();
      if (!r_.ill_conditioned && o_.lanes) {
        lanes();
        shared_lanes();
        if (o_.second) second_order_lanes();
      }
    } catch (const std::exception& e) {
      r_.disagreements.push_back(stage_ + ": " + e.what());
    }
    return r_;
  }

 private:
  Arrays eval(const GraphRef& g, const Arrays& args) {
    return o_.evaluate ? o_.evaluate(g, args) : interp::run(*g, args);
  }
  void want(const std::string& what, const HostArray& got, const HostArray& ref, double tolerance) {
    double worst = 0;
    const auto a = got.as<double>(), b = ref.as<double>();
    bool same = got.extents() == ref.extents();
    for (std::size_t i = 0; same && i < a.size(); ++i) {
      const double e = std::abs(a[i] - b[i]) / (1 + std::abs(b[i]));
      worst = e < tolerance ? worst : std::isnan(e) ? INFINITY : std::max(worst, e);
    }
    if (same && worst == 0) return;
    r_.disagreements.push_back(what + ": " + to_string(got) + " wanted " + to_string(ref));
  }
  void want(const std::string& what, double got, double ref, double tolerance) {
    want(what, scalar(got), scalar(ref), tolerance);
  }
  /// A graph that will be mapped over: Nested::automatic keeps no flat histories then.
  template <class F>
  static GraphRef to_map(const F& f) {
    const transform::MappedScope scope;
    return f();
  }
  void stage(const char* name) { stage_ = name; }

  void first_order() {
    stage("complex step");
    slope_ = imaginary(run_complex(*g_, step_along(x_, u_)).at(0)).as<double>()[0] / kStep;
    if (!std::isfinite(slope_)) {
      r_.ill_conditioned = true;
      return;
    }
    stage("jvp");
    directional_ = directional(g_);
    const double forward = eval(directional_, x_ + u_)[0].as<double>()[0];
    want("jvp", forward, slope_, o_.tolerance);
    stage("grad");
    grad_ = grad_of(g_, o_.policy);
    gradient_ = eval(grad_, x_);
    want("grad", inner(gradient_, u_), slope_, o_.tolerance);
    want("grad = jvp", inner(gradient_, u_), forward, 1e-9);
  }

  void second_order() {
    stage("complex step of grad");
    double ref = 0;
    const ComplexArrays moved = run_complex(*grad_, step_along(x_, v_));
    for (std::size_t k = 0; k < moved.size(); ++k) {
      ref += inner({imaginary(moved[k])}, {u_[k]}) / kStep;
    }
    if (!(std::abs(ref) < 1e4 && std::abs(slope_) < 1e3)) {
      r_.ill_conditioned = true;
      return;
    }
    stage("fwd/fwd");
    const double ff = eval(directional(directional_), x_ + u_ + v_ + zero_)[0].as<double>()[0];
    want("fwd/fwd", ff, ref, o_.tolerance);
    stage("fwd/rev");
    const Arrays fr = eval(jvp_of(grad_), x_ + v_);
    want("fwd/rev", inner({fr.begin() + static_cast<std::ptrdiff_t>(u_.size()), fr.end()}, u_), ref,
         o_.tolerance);
    stage("rev/fwd");
    want("rev/fwd", inner(firsts(eval(grad_of(directional_, o_.policy), x_ + u_)), v_), ref,
         o_.tolerance);
    stage("rev/rev");
    rev_rev_ = grad_of(grad_dot(g_, o_.policy), o_.policy);
    const double rr = inner(firsts(eval(rev_rev_, x_ + u_)), v_);
    want("rev/rev", rr, ref, o_.tolerance);
    want("rev/rev = fwd/fwd", rr, ff, 1e-8);
  }

  /// Gradients by the program's own params, without those by u.
  Arrays firsts(Arrays g) const {
    g.resize(u_.size());
    return g;
  }
  Arrays lane_of(const Arrays& batch, std::int64_t l) const {
    Arrays r;
    for (const HostArray& a : batch) r.push_back(lane(a, l));
    return r;
  }
  /// What each lane gives alone, stacked; a list per result.
  Arrays by_lane(const GraphRef& g, const Arrays& batch) {
    std::vector<Arrays> columns;
    for (std::int64_t l = 0; l < kLanes; ++l) {
      const Arrays r = eval(g, lane_of(batch, l));
      columns.resize(r.size());
      for (std::size_t k = 0; k < r.size(); ++k) columns[k].push_back(r[k]);
    }
    Arrays out;
    for (const Arrays& c : columns) out.push_back(stacked(c));
    return out;
  }

  /// The argument of lane l: near a, so that lanes take different branches and trip counts.
  HostArray lane_noise(const HostArray& a, std::int64_t l) {
    if (l == 0) return a;
    if (a.dtype() == DType::f64) return axpy(a, 0.15, noise_.like(a, 1));
    HostArray r(a.dtype(), a.extents());
    const auto to = r.as_mutable<std::int64_t>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = (a.as<std::int64_t>()[i] + l) % 4;
    return r;
  }

  void lanes() {
    for (const HostArray& a : x_) {
      Arrays rows;
      for (std::int64_t l = 0; l < kLanes; ++l) rows.push_back(lane_noise(a, l));
      batch_.push_back(stacked(rows));
    }
    stage("vmap");
    mapped_ = vmap_of(g_);
    const HostArray values = by_lane(g_, batch_)[0];
    want("vmap", eval(mapped_, batch_)[0], values, 1e-10);
    stage("vmap(grad)");
    const Arrays gradients = by_lane(grad_, batch_);
    const Arrays vg = eval(vmap_of(to_map([&] { return grad_of(g_, o_.policy); })), batch_);
    for (std::size_t k = 0; k < vg.size(); ++k) want("vmap(grad)", vg[k], gradients[k], 1e-9);

    stage("grad(vmap)");
    const Arrays gv = eval(grad_of(sum_of_squares(mapped_), o_.policy), batch_);
    for (std::size_t k = 0; k < gv.size(); ++k) {
      HostArray ref = gradients[k];
      const auto to = ref.as_mutable<double>();
      const std::size_t per_lane = to.size() / kLanes;
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] *= 2 * values.as<double>()[i / per_lane];
      }
      want("grad(vmap)", gv[k], ref, 1e-9);
    }
    stage("vmap(grad(vmap))");
    Arrays two, reversed;
    auto backwards = [](const HostArray& a) {
      Arrays rows;
      for (std::int64_t l = kLanes; l-- > 0;) rows.push_back(lane(a, l));
      return stacked(rows);
    };
    for (const HostArray& a : batch_) two.push_back(stacked({a, backwards(a)}));
    const GraphRef inside = to_map([&] { return grad_of(sum_of(mapped_), o_.policy); });
    const Arrays w = eval(vmap_of(inside), two);
    for (std::size_t k = 0; k < w.size(); ++k) {
      want("vmap(grad(vmap))", w[k], stacked({gradients[k], backwards(gradients[k])}), 1e-9);
    }
  }

  /// The first f64 argument is not mapped: its gradient is a sum over lanes.
  void shared_lanes() {
    std::size_t shared = 0;
    while (x_[shared].dtype() != DType::f64) ++shared;
    if (u_.size() < 2) return;
    stage("grad(vmap shared)");
    std::vector<bool> mapped(x_.size(), true);
    mapped[shared] = false;
    Arrays args = batch_;
    args[shared] = x_[shared];
    const Arrays got = eval(grad_of(sum_of(vmap_of(g_, mapped)), o_.policy), args);
    HostArray ref(DType::f64, x_[shared].extents());
    for (std::int64_t l = 0; l < kLanes; ++l) {
      Arrays one = lane_of(batch_, l);
      one[shared] = x_[shared];
      ref = axpy(ref, 1, eval(grad_, one)[0]);
    }
    want("grad(vmap shared)", got[0], ref, 1e-9);
  }

  void second_order_lanes() {
    Arrays u;
    for (const HostArray& a : u_) u.push_back(stacked(Arrays(kLanes, a)));
    stage("vmap(rev/rev)");
    const Arrays ref = by_lane(rev_rev_, batch_ + u);
    const GraphRef inside = to_map([&] { return grad_of(grad_dot(g_, o_.policy), o_.policy); });
    const Arrays vr = eval(vmap_of(inside), batch_ + u);
    for (std::size_t k = 0; k < u_.size(); ++k) want("vmap(rev/rev)", vr[k], ref[k], 1e-8);
    stage("rev/rev(vmap)");
    const GraphRef dotted = grad_dot(sum_of(mapped_), o_.policy);
    const Arrays rv = eval(grad_of(dotted, o_.policy), batch_ + u);
    for (std::size_t k = 0; k < u_.size(); ++k) want("rev/rev(vmap)", rv[k], ref[k], 1e-8);
  }

  const GraphRef g_;
  const Arrays x_;
  const CheckOptions o_;
  Noise noise_;
  Arrays u_, v_, zero_, gradient_, batch_;
  GraphRef directional_, grad_, rev_rev_, mapped_;
  double slope_ = 0;
  std::string stage_ = "start";
  CheckResult r_;
};

}  // namespace

CheckResult check(const GraphRef& g, const Arrays& args, const CheckOptions& options) {
  return Checker(g, args, options).run();
}

std::string describe(const Policy& policy) {
  using R = Policy::Residuals;
  using N = Policy::Nested;
  return std::string(policy.residuals == R::min_cut ? "min_cut" : "save") + "_" +
         (policy.nested == N::recompute ? "recompute"
          : policy.nested == N::append  ? "append"
                                        : "automatic");
}

}  // namespace tlaloc::testing
