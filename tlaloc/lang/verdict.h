// How a mistake becomes one short compile error.
//
// Every public operation is a pair of overloads with one template head. The head ends in a
// defaulted parameter `Why`, the verdict on the operands: Fine, or a Verdict with a stable code and
// a reason. The second overload asks for IsMistake<Why> and is deleted. It is the more constrained
// one, so it wins where the verdict is bad, and the compiler prints one error, on the user's line,
// with the operands' whole types and the verdict:
//   use of deleted function 'tlaloc::Refused tlaloc::matmul(const A&, const B&, Where) [with
//   A = Tensor<float, Axis<Batch>(), 784>; B = Tensor<float, Axis<Hidden, 128>(), 10>;
//   auto Why = Verdict<13, 20>{"TL-SHAPE-003", "784 meets Hidden=128"}; ...]'
// Its result is `Refused`, which every operation takes in silence, so nothing cascades.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tlaloc/lang/core.h"

namespace tlaloc {

/// The verdict on operands that fit.
struct Fine {
  bool operator==(const Fine&) const = default;
};

/// The verdict on a mistake. Both texts have exact length: clang shows an array with inner NULs as
/// numbers, and cuts each text after 34 characters.
template <std::size_t N, std::size_t M>
struct Verdict {
  char code[N];
  char reason[M];
};

/// A verdict other than Fine.
template <auto Why>
concept IsMistake = !std::is_same_v<std::remove_const_t<decltype(Why)>, Fine>;

namespace operators {
/// The base that lets argument-dependent lookup find the operators, which lie in this namespace: in
/// tlaloc they would be tried on every type of Tlaloc.
struct Found {};
}  // namespace operators

/// What a refused operation returns. It converts to anything and every operation accepts it, since
/// the error has been reported where it arose.
struct Refused : operators::Found {
  Refused() = default;
  explicit Refused(const core::Ref&) {}
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
  core::Ref ref() const { return {}; }
  static core::AxesSpec axes() { return {}; }
  template <class... A>
  Refused item(A&&...) const;
  template <class I>
  Refused operator[](I&&) const;
  template <class... A>
  Refused operator()(A&&...) const;
};

namespace rules {

/// Why a rule refuses: a stable code, a reason, and up to two axes that do not go together. `code`
/// null: the rule holds. The axes are those of the caller's spans.
struct Fault {
  const char* code = nullptr;
  const char* reason = "";
  const core::AxisSpec* left = nullptr;
  const core::AxisSpec* right = nullptr;

  explicit constexpr operator bool() const { return code != nullptr; }
};

/// A short text under construction; what does not fit is dropped.
struct Text {
  char chars[128]{};
  int size = 0;

  constexpr Text& operator<<(const char* text) {
    for (; *text != '\0' && size < 127; ++text) chars[size++] = *text;
    return *this;
  }
  constexpr Text& operator<<(std::int64_t number) {
    if (number < 0) return *this << "-" << -number;
    if (number > 9) *this << number / 10;
    if (size < 127) chars[size++] = static_cast<char>('0' + number % 10);
    return *this;
  }
  /// "Hidden=128", "Batch", "Len<=512", "784", "any"
  constexpr Text& operator<<(const core::AxisSpec& axis) {
    if (axis.any) return *this << "any";
    if (axis.name != nullptr) *this << axis.name;
    // Without a name, a negative number is an index that counts from the end.
    const bool index = axis.name == nullptr && axis.bound < 0;
    if (axis.size >= 0 || index) *this << (axis.name != nullptr ? "=" : "") << axis.size;
    if (axis.bound >= 0) *this << "<=" << axis.bound;
    return *this;
  }
};

/// "784 meets Hidden=128", "no such axis: Embed", "shapes do not align"
constexpr Text describe(const Fault& fault) {
  Text text;
  if (fault.left != nullptr && fault.right != nullptr) {
    return text << *fault.left << " meets " << *fault.right;
  }
  text << fault.reason;
  if (fault.left != nullptr) text << (*fault.reason != '\0' ? ": " : "") << *fault.left;
  return text;
}

}  // namespace rules

namespace detail {

constexpr std::size_t length(const char* text) {
  std::size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

template <std::size_t N, std::size_t M>
consteval Verdict<N, M> copy_verdict(const char* code, const char* reason) {
  Verdict<N, M> verdict{};
  // The last NUL too: clang prints an array as text only where it was written explicitly.
  for (std::size_t i = 0; i < N; ++i) verdict.code[i] = code[i];
  for (std::size_t i = 0; i < M; ++i) verdict.reason[i] = reason[i];
  return verdict;
}

/// The verdict of a class with a static member `plan`.
template <class Rule>
consteval auto verdict_of() {
  if constexpr (Rule::plan.fault.code == nullptr) {
    return Fine{};
  } else {
    constexpr rules::Fault kFault = Rule::plan.fault;
    constexpr rules::Text kReason = rules::describe(kFault);
    return copy_verdict<length(kFault.code) + 1, kReason.size + 1>(kFault.code, kReason.chars);
  }
}

/// A verdict from two literals.
template <std::size_t N, std::size_t M>
consteval Verdict<N, M> mistake(const char (&code)[N], const char (&reason)[M]) {
  return copy_verdict<N, M>(code, reason);
}

}  // namespace detail
}  // namespace tlaloc
