#include "tlaloc/cpu/direct_conv.h"

#include <algorithm>
#include <numeric>

#include "tlaloc/cpu/conv_shape.h"
#include "tlaloc/cpu/direct_conv_kernels.h"
#include "tlaloc/cpu/gang.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;

// Features and results of a group up to which a product of matrices is too small to be fast.
constexpr std::int64_t kFew = 8;
// Taps along the last axis up to which what they meet is worked out for each pair of them.
constexpr std::int64_t kMostTaps = 64;
constexpr double kNanoseconds = 0.1;  // a multiply-add, with what is between

struct Direct : Convolution {
  bool channels;  ///< vectors are of groups, each of one feature and one result; else of positions
  /// The kernel is large and the results are few, as in the gradient by the kernel: sums run along
  /// the last axis, else they are side by side there.
  bool sums;
};

/// Positions along the last axis, `step` apart, that have the same taps.
struct Span {
  std::int64_t first = 0, count = 0, step = 1, x_step = 0;
  std::vector<ConvTerm> taps;
  std::int64_t tap = 0;  ///< of sums: the first result; the others are its neighbours
};

/// The positions along an axis of `taps` taps that meet elements.
struct Axis {
  SpatialInts s;
  std::int64_t stride, lhs_dilation, rhs_dilation;
  /// Results and positions of the kernel with their roles exchanged.
  Axis exchanged() const {
    Axis r = *this;
    std::swap(r.s.out, r.s.kernel);
    std::swap(r.stride, r.rhs_dilation);
    return r;
  }
  Meeting meets(std::int64_t tap) const { return meet(s, stride, lhs_dilation, rhs_dilation, tap); }
};

/// All positions of an axis by spans, those without taps too. `w_step`: from tap to tap.
std::vector<Span> spans_of(const Axis& axis, std::int64_t w_first, std::int64_t w_step) {
  const std::int64_t period =
      std::min(axis.lhs_dilation / std::gcd(axis.stride, axis.lhs_dilation), axis.s.out);
  std::vector<Meeting> meetings;
  for (std::int64_t k = 0; k < axis.s.kernel; ++k) meetings.push_back(axis.meets(k));
  std::vector<Span> spans;
  for (std::int64_t residue = 0; residue < period; ++residue) {
    const std::int64_t end = (axis.s.out - 1 - residue) / period + 1;
    std::vector<std::int64_t> borders{0, end};
    const auto mine = [&](const Meeting& m) { return m.count > 0 && m.out % period == residue; };
    for (const Meeting& m : meetings) {
      if (mine(m)) borders.insert(borders.end(), {m.out / period, m.out / period + m.count});
    }
    std::ranges::sort(borders);
    for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
      const std::int64_t from = borders[b], to = borders[b + 1];
      if (from == to) continue;
      Span s{.first = residue + from * period, .count = to - from, .step = period};
      for (std::size_t k = 0; k < meetings.size(); ++k) {
        const Meeting& m = meetings[k];
        const std::int64_t begin = m.out / period;
        if (!mine(m) || begin > from || begin + m.count < to) continue;
        const std::int64_t in = m.in + (from - begin) * m.in_step;
        if (s.taps.empty()) s.tap = static_cast<std::int64_t>(k);
        s.taps.push_back({in * axis.s.a, w_first + static_cast<std::int64_t>(k) * w_step});
        if (s.count > 1) s.x_step = m.in_step * axis.s.a;
      }
      spans.push_back(std::move(s));
    }
  }
  return spans;
}

/// A convolution on its way through the axes.
class Plan {
 public:
  Plan(const ConvolutionCall& call, bool sums) : call_(call) {
    const auto& [conv, n, spatial, rank] = call;
    for (std::size_t i = 0; i < rank; ++i) {
      axes_.push_back({spatial[i], conv.strides[i], conv.lhs_dilation[i], conv.rhs_dilation[i]});
      if (!call.has_sums()) axes_.back().s.in = 0;
    }
    const std::size_t last = rank - 1;
    const SpatialInts& s = spatial[last];
    const auto [first, step] = kernel(last);
    spans = sums ? spans_of(axes_[last].exchanged(), 0, 0) : spans_of(axes_[last], first, step);
    w_along = step;
    if (sums) w_first = first;
    y_along = s.c;
    std::vector<std::int64_t> out(last, 0);
    begins_.push_back(0);
    do {
      std::int64_t y = 0;
      for (std::size_t i = 0; i < last; ++i) y += out[i] * spatial[i].c;
      add_rows(out);
      begins_.push_back(rows_.size());
      y_.push_back(y);
    } while (advance(out, [&](std::size_t i) { return spatial[i].out; }));
  }

  std::vector<Span> spans;
  std::int64_t w_along, y_along;  ///< steps along the last axis, of w from w_first on
  std::int64_t w_first = 0;
  /// Positions along all axes but the last.
  std::int64_t count() const { return static_cast<std::int64_t>(y_.size()); }
  std::int64_t y(std::int64_t k) const { return y_[usize(k)]; }
  std::span<const ConvTerm> rows(std::int64_t k) const {
    return std::span(rows_).subspan(begins_[usize(k)], begins_[usize(k) + 1] - begins_[usize(k)]);
  }

 private:
  /// Where w begins along an axis, and its step.
  std::pair<std::int64_t, std::int64_t> kernel(std::size_t i) const {
    const SpatialInts& s = call_.spatial[i];
    if (!call_.has_sums()) return {0, 0};
    if (call_.conv.reversed[i]) return {(s.kernel - 1) * s.b, -s.b};
    return {0, s.b};
  }
  template <class Size>
  static bool advance(std::vector<std::int64_t>& at, const Size& size) {
    std::size_t i = at.size();
    for (; i > 0 && ++at[i - 1] == size(i - 1); --i) at[i - 1] = 0;
    return i > 0;
  }
  void add_rows(const std::vector<std::int64_t>& out) {
    if (!call_.has_sums()) return;
    // Which positions of the kernel meet an element for this result.
    std::vector<Meeting> meetings;
    for (std::size_t i = 0; i < out.size(); ++i) {
      meetings.push_back(axes_[i].exchanged().meets(out[i]));
      if (meetings.back().count == 0) return;
    }
    for (std::int64_t f = 0; f < call_.n.features; ++f) {
      std::vector<std::int64_t> at(out.size(), 0);
      do {
        ConvTerm row{f * call_.n.a_feature, f * call_.n.b_in};
        for (std::size_t i = 0; i < out.size(); ++i) {
          const Meeting& m = meetings[i];
          const auto [first, step] = kernel(i);
          row.x += (m.in + at[i] * m.in_step) * call_.spatial[i].a;
          row.w += first + (m.out + at[i] * m.out_step) * step;
        }
        rows_.push_back(row);
      } while (advance(at, [&](std::size_t i) { return meetings[i].count; }));
    }
  }

  const ConvolutionCall& call_;
  std::vector<Axis> axes_;
  std::vector<ConvTerm> rows_;
  std::vector<std::size_t> begins_;
  std::vector<std::int64_t> y_;
};

/// Where a group's operands and result begin.
template <class T>
struct Place {
  const T *x, *w;
  T* y;
};

/// Results at positions [begin, end) of the outer axes.
template <class T>
void compute(const Plan& plan, bool channels, const Place<T>& at, std::int64_t lanes,
             std::int64_t begin, std::int64_t end) {
  const DirectConvKernels<T>& kernels = direct_conv_kernels<T>();
  for (std::int64_t k = begin; k < end; ++k) {
    T* y = at.y + plan.y(k);
    for (const Span& s : plan.spans) {
      const ConvTerms terms{plan.rows(k), s.taps};
      const ConvPositions positions{s.count, s.x_step, 0, s.step * plan.y_along};
      T* to = y + s.first * plan.y_along;
      channels ? kernels.channels(at.x, at.w, terms, positions, lanes, to)
               : kernels.pixels(at.x, at.w, terms, positions, to);
    }
  }
}

/// All results, each a sum along the last axis.
template <class T>
void add_up(const Plan& plan, bool channels, const Place<T>& at, std::int64_t lanes,
            std::int64_t out) {
  const DirectConvKernels<T>& kernels = direct_conv_kernels<T>();
  std::vector<T> sums(usize(out * lanes));
  for (std::int64_t k = 0; k < plan.count(); ++k) {
    std::ranges::fill(sums, T(0));
    for (const Span& s : plan.spans) {
      if (s.taps.empty()) continue;
      const ConvTerms terms{plan.rows(k), s.taps};
      const ConvPositions positions{s.count, s.x_step, s.step * plan.w_along, lanes};
      const T* w = at.w + plan.w_first + s.first * plan.w_along;
      T* to = sums.data() + s.tap * lanes;
      channels ? kernels.channel_sums(at.x, w, terms, positions, lanes, to)
               : kernels.pixel_sums(at.x, w, terms, positions, to);
    }
    T* y = at.y + plan.y(k);
    for (std::int64_t o = 0; o < out; ++o) {
      std::copy_n(sums.data() + o * lanes, lanes, y + o * plan.y_along);
    }
  }
}

void run_direct(const KernelCall& call) {
  const ConvolutionCall whole(call.data, call.ints);
  const auto& direct = static_cast<const Direct&>(whole.conv);
  const auto& n = whole.n;
  if (!whole.has_results()) return;
  const Plan plan(whole, direct.sums);
  const std::int64_t columns = n.out_features / n.groups();
  const double products = std::max(convolution_cost(call.data, call.ints).flops, 0.0) / 2;
  const auto run = [&]<class T>(TypeTag<T>) {
    const Place<T> base{reinterpret_cast<const T*>(call.storages[0]) + n.a,
                        reinterpret_cast<const T*>(call.storages[1]) + n.b,
                        reinterpret_cast<T*>(call.storages[2]) + n.c};
    // Lanes are groups, or there is one product of each group, result and element of the batch.
    const std::int64_t lanes = direct.channels ? n.groups() : 1;
    const std::int64_t units = direct.channels ? n.batch : n.batch * n.out_features;
    const auto unit = [&](std::int64_t u) {
      const std::int64_t feature = direct.channels ? 0 : u % n.out_features;
      const std::int64_t element = direct.channels ? u : u / n.out_features;
      return Place<T>{base.x + element * n.a_batch + feature / columns * n.a_group(),
                      base.w + feature * n.b_out,
                      base.y + element * n.c_batch + feature * n.c_feature};
    };
    const std::int64_t out = whole.spatial[whole.rank - 1].out;
    if (!direct.sums) {
      const double each =
          kNanoseconds * products / static_cast<double>(units) / static_cast<double>(plan.count());
      parallel(share(units * plan.count(), each), [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
          const std::int64_t u = begin / plan.count(), k = begin % plan.count();
          const std::int64_t some = std::min(end - begin, plan.count() - k);
          compute(plan, direct.channels, unit(u), lanes, k, k + some);
          begin += some;
        }
      });
    } else {
      constexpr std::int64_t kLanes = 16;
      const std::int64_t parts = (lanes - 1) / kLanes + 1;
      const double each =
          kNanoseconds * products / static_cast<double>(units) / static_cast<double>(parts);
      parallel(share(units * parts, each), [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
          const std::int64_t first = begin % parts * kLanes;
          const std::int64_t some = std::min(end - begin, parts - begin % parts);
          Place<T> at = unit(begin / parts);
          at = {at.x + first, at.w + first, at.y + first};
          add_up(plan, direct.channels, at, std::min(some * kLanes, lanes - first), out);
          begin += some;
        }
      });
    }
  };
  whole.conv.dtype == DType::f32 ? run(TypeTag<float>{}) : run(TypeTag<double>{});
}

bool at_most(Dim d, std::int64_t most) { return ir::bounds(d).upper <= most; }

}  // namespace

bool emit_direct_convolution(Emitter& e, const Value& lhs, const Value& rhs,
                             const ops::ConvAttrs& attrs, const Target& target, ir::Type type) {
  const ops::ConvDims& d = attrs.dims;
  const bool sums = attrs.batch_groups != Dim(1);
  const Dim groups = sums ? attrs.batch_groups : attrs.feature_groups;
  if (groups == Dim(1) || attrs.strides.empty()) return false;
  auto size = [](ir::Type t, std::int64_t axis) { return t.dim(static_cast<int>(axis)); };
  const Dim columns = floordiv(size(type, d.out_feature), groups);
  const Dim features = size(rhs.type, d.rhs_in), batch = size(type, d.out_batch);
  if (!at_most(columns, kFew) || !at_most(sums ? batch : features, kFew)) return false;

  const std::size_t last = attrs.strides.size() - 1;
  const Dim taps = sums ? size(type, d.out_spatial[last]) : size(rhs.type, d.rhs_spatial[last]);
  if (!at_most(taps, kMostTaps)) return false;
  const Value a = e.lying(lhs, "convolution"), b = e.lying(rhs, "convolution");
  auto stride = [](const Affine& at, std::int64_t axis) { return at.strides[usize(axis)]; };
  const Affine &at_a = a.expr->at, &at_b = b.expr->at, &at_c = target.at;
  const bool single = columns == Dim(1) && (sums ? batch : features) == Dim(1);
  const bool channels = single && stride(at_a, sums ? d.lhs_batch : d.lhs_feature) == Dim(1) &&
                        stride(at_b, d.rhs_out) == Dim(1) && stride(at_c, d.out_feature) == Dim(1);
  const bool pixels = stride(at_a, d.lhs_spatial[last]) == Dim(1) &&
                      (!sums || (stride(at_b, d.rhs_spatial[last]) == Dim(1) &&
                                 !attrs.reversed[last] && attrs.lhs_dilation[last] == 1));
  if (!channels && !pixels) return false;
  Step s = convolution_step(e, a, b, attrs, target, type);
  auto direct = std::make_shared<Direct>();
  static_cast<Convolution&>(*direct) = *static_cast<const Convolution*>(s.data.get());
  direct->channels = channels;
  direct->sums = sums;
  s.data = std::shared_ptr<const Convolution>(std::move(direct));
  s.run = run_direct;
  s.cost = convolution_cost;
  e.emit_step(std::move(s));
  return true;
}

}  // namespace tlaloc::cpu
