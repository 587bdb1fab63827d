#include "tools/tlaloc/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"

namespace tlaloc::command {
namespace {

constexpr int kMaxRank = 64;

class Literal {
 public:
  Literal(std::string_view text, DType dtype) : text_(text), dtype_(dtype) {}

  HostArray parse() {
    return dispatch(dtype_, [&]<class T>(TypeTag<T>) {
      // Of bool a vector has no array.
      std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>> elements;
      Extents extents;
      value<T>(0, extents, elements);
      skip_blanks();
      if (at_ != text_.size()) fail("more follows");
      HostArray a = HostArray::uninitialized(dtype_, std::move(extents));
      std::copy(elements.begin(), elements.end(), a.as_mutable<T>().begin());
      return a;
    });
  }

 private:
  template <class T, class V>
  void value(std::size_t depth, Extents& extents, V& elements) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != '[') {
      if (depth < extents.size()) fail("a number stands beside lists");
      elements.push_back(element<T>());
      return;
    }
    if (depth == kMaxRank) fail("lists nest too deep");
    ++at_;
    const bool first = depth == extents.size();
    if (first) {
      if (!elements.empty()) fail("a list stands beside numbers");
      extents.push_back(0);
    }
    std::int64_t count = 0;
    while (!take(']')) {
      if (count > 0 && !take(',')) fail("',' or ']' is missing");
      value<T>(depth + 1, extents, elements);
      ++count;
    }
    if (first) {
      extents[depth] = count;
    } else if (extents[depth] != count) {
      fail("rows have " + std::to_string(extents[depth]) + " and " + std::to_string(count) +
           " elements");
    }
  }

  std::string_view word() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_of(",[] \t\n\r", at_), text_.size());
    const std::string_view w = text_.substr(at_, end - at_);
    at_ = end;
    return w;
  }
  template <class T>
  auto element() {
    const std::string_view w = word();
    const char* end = w.data() + w.size();
    if constexpr (std::is_same_v<T, bool>) {
      if (w == "true" || w == "1") return std::uint8_t{1};
      if (w == "false" || w == "0") return std::uint8_t{0};
    } else {
      using Read = std::conditional_t<std::is_integral_v<T>, T, ComputeType<T>>;
      Read x{};
      const auto r = std::from_chars(w.data(), end, x);
      if (r.ec == std::errc::result_out_of_range) {
        too_large(w);
      }
      if (r.ec == std::errc() && r.ptr == end) {
        const T element = T(x);
        if constexpr (!std::is_integral_v<T>) {
          if (std::isinf(ComputeType<T>(element)) && !std::isinf(x)) too_large(w);
        }
        return element;
      }
    }
    fail(w.empty() ? "a number is missing"
                   : "'" + std::string(w) + "' is no " + std::string(name(dtype_)));
  }

  [[noreturn]] void too_large(std::string_view w) const {
    fail("'" + std::string(w) + "' is too large or too small for " + std::string(name(dtype_)));
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw UserError({"TL-INPUT-001",
                     "tlaloc",
                     message + " at character " + std::to_string(at_) + " of '" +
                         std::string(text_.substr(0, 60)) + (text_.size() > 60 ? "…'" : "'"),
                     "give a file that ends in .npy, a literal such as [[1, 2.5], [nan, -inf]], "
                     "random, or random:LOW:HIGH",
                     {}});
  }

  std::string_view text_;
  DType dtype_;
  std::size_t at_ = 0;
};

}  // namespace

HostArray parse_literal(std::string_view text, DType dtype) { return Literal(text, dtype).parse(); }

}  // namespace tlaloc::command
