#include "tlaloc/base/array_text.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace tlaloc {
namespace {

/// numpy shows the first and last three of an axis when an array has more elements than this.
constexpr std::int64_t kSummarizeAbove = 1000;
constexpr std::int64_t kEdge = 3;

template <class T>
std::string number(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    // Enough digits to tell neighbours apart: 11 and 8 bits of mantissa.
    char buffer[32];
    const int digits = std::is_same_v<T, Half> ? 5 : 4;
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(x),
                                   std::chars_format::general, digits);
    return {buffer, end.ptr};
  } else {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, x);
    return {buffer, end.ptr};
  }
}

/// Texts of the elements that are shown; in lines all of one width.
class Formatter {
 public:
  Formatter(const HostArray& a, ArrayLayout layout)
      : a_(a), lines_(layout == ArrayLayout::lines), summarize_(a.size() > kSummarizeAbove) {
    if (!lines_) return;
    visit(0, 0, [&](std::int64_t i) { width_ = std::max(width_, element(i).size()); });
  }

  std::string text() const {
    if (a_.rank() == 0) return element(0);
    return axis(0, 0, " ");
  }

 private:
  std::string element(std::int64_t i) const {
    return dispatch(a_.dtype(), [&]<class T>(TypeTag<T>) {
      std::string s = number(static_cast<const T*>(a_.data())[i]);
      if (s.starts_with("-nan")) return std::string("nan");  // as numpy has it
      // A whole number of a floating type ends in a point, as numpy has it.
      const bool whole = s.find_first_of(".en") == s.npos && s.find("inf") == s.npos;
      if (lines_ && is_float(a_.dtype()) && whole) s += '.';
      return s;
    });
  }
  std::int64_t stride(std::size_t k) const {
    std::int64_t n = 1;
    for (std::size_t i = k + 1; i < a_.extents().size(); ++i) n *= a_.extents()[i];
    return n;
  }
  bool skips(std::int64_t extent) const { return summarize_ && extent > 2 * kEdge; }

  void visit(std::size_t k, std::int64_t offset, const std::function<void(std::int64_t)>& f) const {
    if (k == a_.extents().size()) {
      f(offset);
      return;
    }
    const std::int64_t n = a_.extents()[k];
    for (std::int64_t i = 0; i < n; ++i) {
      if (skips(n) && i == kEdge) i = n - kEdge;
      visit(k + 1, offset + i * stride(k), f);
    }
  }
  std::string axis(std::size_t k, std::int64_t offset, const std::string& indent) const {
    const std::int64_t n = a_.extents()[k];
    const bool last = k + 1 == a_.extents().size();
    const std::string between =
        last || !lines_ ? ", " : "," + std::string(a_.extents().size() - k - 1, '\n') + indent;
    std::string s = "[";
    for (std::int64_t i = 0; i < n; ++i) {
      if (i > 0) s += between;
      if (skips(n) && i == kEdge) {
        s += "..." + between;
        i = n - kEdge;
      }
      if (last) {
        const std::string e = element(offset + i);
        s += std::string(width_ - std::min(width_, e.size()), ' ') + e;
      } else {
        s += axis(k + 1, offset + i * stride(k), indent + " ");
      }
    }
    return s + "]";
  }

  const HostArray& a_;
  bool lines_, summarize_;
  std::size_t width_ = 0;
};

}  // namespace

std::string array_text(const HostArray& array, ArrayLayout layout) {
  // Not by walking the axes: a huge one may stand before the one that has no elements.
  if (array.size() == 0) {
    return array.rank() == 1 ? "[]" : "[] of shape " + to_string(std::span(array.extents()));
  }
  return Formatter(array, layout).text();
}

}  // namespace tlaloc
