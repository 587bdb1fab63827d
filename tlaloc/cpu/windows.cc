#include "tlaloc/cpu/windows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/window_kernels.h"

namespace tlaloc::cpu {
namespace {

struct Windows {
  enum class Kind : std::uint8_t { reduce, gather, scatter } kind;
  DType dtype;
  std::size_t which;  ///< of the kernels of that kind
  std::vector<std::int64_t> strides, base_dilation, window_dilation;
};
/// The step's integers, per axis.
struct Sizes {
  std::int64_t in, windows, size, low;
};

/// The elements of windows along an axis.
class Axis {
 public:
  Axis(const Sizes& s, std::int64_t stride, std::int64_t base, std::int64_t dilation,
       std::int64_t in_step, std::int64_t out_step)
      : windows(s.windows),
        out_step(out_step),
        s_(s),
        stride_(stride),
        base_(base),
        dilation_(dilation),
        in_step_(in_step) {
    // Which positions are elements repeats after so many.
    const std::int64_t common = std::gcd(base, dilation);
    period_ = base / common;
    hop_ = dilation / common;
    // More than all elements is stepped over by none.
    if (hop_ < s.in) step = hop_ * in_step;
  }
  /// TL-SIZE-001 where 64 bits don't hold the positions of all windows.
  void check() const {
    const std::int64_t last = checked_sub(checked_mul(windows - 1, stride_), s_.low);
    checked_add(last, checked_mul(std::max<std::int64_t>(s_.size - 1, 0), dilation_));
    checked_sub(0, s_.low);
  }
  /// Window w has `count` elements from `offset` on, `step` apart.
  void set(std::int64_t w) {
    count = 0;
    const std::int64_t start = w * stride_ - s_.low;  // of the window, among dilated elements
    std::int64_t k = start < 0 ? (-start - 1) / dilation_ + 1 : 0;
    const std::int64_t end = period_ < s_.size - k ? k + period_ : s_.size;
    while (k < end && (start + k * dilation_) % base_ != 0) ++k;
    if (k >= end) return;
    const std::int64_t first = (start + k * dilation_) / base_;
    if (first >= s_.in) return;
    offset = first * in_step_;
    count = std::min((s_.size - 1 - k) / period_, (s_.in - 1 - first) / hop_) + 1;
  }
  /// Whether window w is element w.
  bool is_plain() const {
    return s_.size == 1 && stride_ == 1 && base_ == 1 && s_.low == 0 && s_.in == s_.windows;
  }

  std::int64_t windows, out_step, step = 0;
  std::int64_t window = 0, offset = 0, count = 0;

 private:
  Sizes s_;
  std::int64_t stride_, base_, dilation_, in_step_, period_ = 1, hop_ = 1;
};

/// The window that the axes stand at. A run is along the last axis.
void elements(const std::vector<Axis>& axes, std::vector<WindowElements::Run>& runs) {
  runs.clear();
  if (std::ranges::any_of(axes, [](const Axis& a) { return a.count == 0; })) return;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> at(axes.size(), 0);
  while (true) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) offset += axes[i].offset + at[i] * axes[i].step;
    const Axis& last = axes.back();
    for (std::int64_t k = 0; k < last.count; k += kMost) {
      runs.push_back(
          {offset + k * last.step, static_cast<std::int32_t>(std::min(kMost, last.count - k))});
    }
    std::size_t i = axes.size() - 1;
    for (; i > 0 && ++at[i - 1] == axes[i - 1].count; --i) at[i - 1] = 0;
    if (i == 0) return;
  }
}

void run_windows(const KernelCall& call) {
  const Windows& w = *static_cast<const Windows*>(call.data);
  const auto* sizes = reinterpret_cast<const Sizes*>(call.ints);
  const std::size_t rank = w.strides.size();
  // Axes from the last on, until one whose windows are not its elements: those are the lanes.
  std::int64_t in_step = 1, out_step = 1, lanes = 1;
  // Another size may be too large for 64 bits where one is 0.
  const auto none = [&](auto size) {
    return std::any_of(sizes, sizes + rank, [&](const Sizes& s) { return s.*size == 0; });
  };
  const bool no_windows = none(&Sizes::windows), no_elements = none(&Sizes::in);
  std::vector<Axis> axes;
  for (std::size_t i = rank; i-- > 0;) {
    const Axis axis(sizes[i], w.strides[i], w.base_dilation[i], w.window_dilation[i], in_step,
                    out_step);
    in_step *= no_elements ? 0 : sizes[i].in;
    out_step *= no_windows ? 0 : sizes[i].windows;
    if (axes.empty() && axis.is_plain()) {
      lanes = out_step;
    } else {
      axes.insert(axes.begin(), axis);
    }
  }
  if (w.kind == Windows::Kind::scatter && in_step != 0) {
    std::memset(call.storages[2], 0, usize(in_step) * usize(byte_size(w.dtype)));
  }
  if (out_step == 0) return;
  if (axes.empty()) {  // every element is a window
    axes.push_back(Axis({.in = 1, .windows = 1, .size = 1, .low = 0}, 1, 1, 1, lanes, lanes));
  }
  for (Axis& a : axes) {
    a.check();
    a.set(0);
  }
  std::vector<WindowElements::Run> runs;
  const auto each = [&](const auto& run) {
    while (true) {
      elements(axes, runs);
      std::int64_t out = 0;
      for (const Axis& a : axes) out += a.window * a.out_step;
      run(WindowElements{runs, axes.back().step}, out);
      std::size_t i = axes.size();
      for (; i > 0; --i) {
        Axis& a = axes[i - 1];
        const bool wraps = ++a.window == a.windows;
        if (wraps) a.window = 0;
        a.set(a.window);
        if (!wraps) break;
      }
      if (i == 0) return;
    }
  };
  dispatch(w.dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      const WindowKernels<T>& kernels = window_kernels<T>();
      const auto* a = reinterpret_cast<const T*>(call.storages[0]);
      const auto* b = reinterpret_cast<const T*>(call.storages[1]);
      auto* last = reinterpret_cast<T*>(call.storages[w.kind == Windows::Kind::reduce ? 1 : 2]);
      each([&](const WindowElements& window, std::int64_t out) {
        switch (w.kind) {
          case Windows::Kind::reduce:
            return kernels.reduce[w.which](a, window, lanes, last + out);
          case Windows::Kind::gather:
            return kernels.gather[w.which](a, b, window, lanes, last + out);
          case Windows::Kind::scatter:
            return kernels.scatter[w.which](a + out, b, window, lanes, last);
        }
      });
    }
  });
}

Cost window_cost(const void* data, const std::int64_t* ints) {
  const auto* sizes = reinterpret_cast<const Sizes*>(ints);
  const std::size_t rank = static_cast<const Windows*>(data)->strides.size();
  Cost c;
  for (std::size_t i = 0; i < rank; ++i) {
    c.space += (i == 0 ? "" : "x") + std::to_string(sizes[i].windows);
  }
  c.space += " windows";
  return c;
}

/// The step over windows of x, whose results are of the type `windows`.
Step step_over(Emitter& e, ir::Type x, ir::Type windows, const ops::Window& window,
               Windows::Kind kind, std::size_t which, const char* name) {
  Step s;
  s.name = name;
  s.run = run_windows;
  s.cost = window_cost;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    for (const ir::Dim d : {x.dim(i), windows.dim(i), window.size[k], window.low[k]}) {
      s.ints.push_back(e.sizes.of(d));
    }
  }
  s.data = std::make_shared<const Windows>(Windows{kind, x.dtype(), which, window.strides,
                                                   window.base_dilation, window.window_dilation});
  return s;
}

}  // namespace

void emit_reduce_window(Emitter& e, const Value& x, ops::Monoid monoid, const ops::Window& window,
                        const Value& out) {
  const StorageId from = e.dense(x, "reduce_window");
  Step s = step_over(e, x.type, out.type, window, Windows::Kind::reduce,
                     static_cast<std::size_t>(monoid), "reduce_window");
  s.storages = {from, *whole_storage(out)};
  s.reads = 1;
  e.emit_step(std::move(s));
}

void emit_select_window(Emitter& e, const Value& values, const Value& x,
                        const ops::SelectWindowAttrs& attrs, bool scatter, const Value& out) {
  const char* name = scatter ? "select_and_scatter" : "select_and_gather";
  const StorageId from = e.dense(values, name), by = e.dense(x, name);
  Step s = step_over(e, x.type, scatter ? values.type : out.type, attrs.window,
                     scatter ? Windows::Kind::scatter : Windows::Kind::gather,
                     attrs.largest ? 1 : 0, name);
  s.storages = {from, by, *whole_storage(out)};
  s.reads = 2;
  e.emit_step(std::move(s));
}

}  // namespace tlaloc::cpu
