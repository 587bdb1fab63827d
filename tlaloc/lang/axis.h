// Axes of a tensor type: literal sizes, named axes, bounded axes, `any`. They are values, so that a
// type reads like the maths: Tensor<float, batch, 784>.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tlaloc/lang/core.h"

namespace tlaloc {

/// The largest rank of a typed tensor.
inline constexpr int kMaxRank = 12;

namespace detail {

/// Copies the last component of a tag type's name: "Batch" of `(anonymous namespace)::Batch`.
template <class Tag>
consteval auto tag_name() {
  // "... [with Tag = ns::Batch]" (g++), "... [Tag = ns::Batch]" (clang)
  constexpr const char* kText = __PRETTY_FUNCTION__;
  constexpr auto kRange = [] {
    struct Range {
      int begin, end;
    } range{0, 0};
    int n = 0;
    while (kText[n] != '\0') ++n;
    int i = 0;
    while (!(kText[i] == 'T' && kText[i + 1] == 'a' && kText[i + 2] == 'g' && kText[i + 3] == ' ' &&
             kText[i + 4] == '=')) {
      ++i;
    }
    range.begin = i + 6;
    range.end = range.begin;
    // g++ may append "; ..." for aliases. A template argument list keeps its own colons.
    int depth = 0;
    for (int k = range.begin; k < n && !(depth == 0 && (kText[k] == ';' || kText[k] == ']')); ++k) {
      if (kText[k] == '<') ++depth;
      if (kText[k] == '>') --depth;
      if (depth == 0 && kText[k] == ':') range.begin = k + 1;
      range.end = k + 1;
    }
    return range;
  }();
  struct Name {
    char text[kRange.end - kRange.begin + 1]{};
  } name;
  for (int i = kRange.begin; i < kRange.end; ++i) name.text[i - kRange.begin] = kText[i];
  return name;
}

/// One object per tag type: its address is the axis's identity, its text is for print.
template <class Tag>
inline constexpr auto kTagName = tag_name<Tag>();

}  // namespace detail

/// A named axis. With a size, every tensor that carries it has that size; without, all tensors in
/// one call agree on a size. Two axes are the same when the tag type and the size are. Declare the
/// tag in place:
///   inline constexpr tl::Axis<struct Batch> batch;
///   inline constexpr tl::Axis<struct Hidden, 128> hidden;
template <class Tag, int Size = -1>
struct Axis {
  static_assert(Size >= -1, "TL-TYPE-001: an axis has a size of at least 0");
  static constexpr core::AxisSpec spec{
      .name = detail::kTagName<Tag>.text, .size = Size, .tag = &detail::kTagName<Tag>};
};

/// A named axis of any size up to Max, checked where a size becomes known.
template <class Tag, int Max>
struct Bounded {
  static_assert(Max >= 0, "TL-TYPE-001: a bound is at least 0");
  static constexpr core::AxisSpec spec{
      .name = detail::kTagName<Tag>.text, .bound = Max, .tag = &detail::kTagName<Tag>};
};

/// An axis that the type says nothing of. What meets it is checked when the sizes are known.
struct Any {
  static constexpr core::AxisSpec spec{.any = true};
};
inline constexpr Any any{};

/// A value that names an axis: Axis, Bounded or any.
template <class D>
concept AxisValue = requires {
  { D::spec } -> std::convertible_to<core::AxisSpec>;
};
/// A value that can stand in a Tensor's type: an int or an axis.
template <class D>
concept DimValue = std::same_as<D, int> || AxisValue<D>;

namespace detail {
/// DimValue as a plain bool: a failed concept would be explained at length.
template <class D>
inline constexpr bool kIsDim = DimValue<D>;
template <class D>
inline constexpr bool kIsDim<const D> = DimValue<D>;
}  // namespace detail

/// The size that marks what stands in an axis's place and is none; rules::choose refuses it.
inline constexpr std::int64_t kNoAxis = INT64_MIN;
template <class D>
constexpr core::AxisSpec spec_of(D) {
  return {.size = kNoAxis};
}
template <class D>
  requires AxisValue<D>
constexpr core::AxisSpec spec_of(D) {
  return D::spec;
}
constexpr core::AxisSpec spec_of(int size) { return {.size = size}; }

/// Axes as a type, for templates that take two lists.
template <auto... D>
struct Dims {};

namespace detail {
template <auto... D>
struct SpecsOf {
  static constexpr core::AxisSpec list[sizeof...(D)]{spec_of(D)...};
  static constexpr core::AxesSpec span{list};
};
template <>
struct SpecsOf<> {
  static constexpr core::AxesSpec span{};
};
}  // namespace detail

/// The axes as plain data, in static storage.
template <auto... D>
inline constexpr core::AxesSpec kSpecs = detail::SpecsOf<D...>::span;

}  // namespace tlaloc

namespace tl = tlaloc;  // NOLINT(misc-unused-alias-decls)
