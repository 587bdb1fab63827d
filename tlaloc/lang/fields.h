// Reflection over aggregates: the number of fields, references to them, their names.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "tlaloc/lang/tie_fields.h"

#ifdef __clang__
#pragma clang diagnostic push
// What is declared here and never defined is used at compile time only.
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

namespace tlaloc::detail {

/// Converts to the type of any field. Not to Self: a struct of one field would count by its copy
/// constructor.
template <class Self>
struct Anything {
  template <class U>
    requires(!std::is_same_v<std::remove_cvref_t<U>, Self>)
  operator U() const;  // NOLINT(google-explicit-constructor)
};

template <class T, std::size_t... I>
consteval bool takes_initializers(std::index_sequence<I...>) {
  return requires { T{(void(I), Anything<T>{})...}; };
}
/// How many initializers T takes; kMaxFields + 1 stands for more than kMaxFields. A C array counts
/// by its elements, because of brace elision: see kHasCArray.
template <class T, std::size_t N = 0>
consteval std::size_t count_fields() {
  if constexpr (N <= kMaxFields && takes_initializers<T>(std::make_index_sequence<N + 1>{})) {
    return count_fields<T, N + 1>();
  } else {
    return N;
  }
}
template <class T>
inline constexpr std::size_t kFieldCount = count_fields<T>();

// Structured bindings can't take a base class and fields together, nor a C array by its count.

/// Converts to bases of Self only.
template <class Self>
struct OnlyBase {
  template <class U>
    requires(std::derived_from<Self, U> && !std::is_same_v<U, Self>)
  operator U() const;  // NOLINT(google-explicit-constructor)
};
template <class T>
inline constexpr bool kHasBase = requires { T{OnlyBase<T>{}}; };

template <class T, std::size_t... I, std::size_t... J>
consteval bool takes_nested(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires {
    T{(void(I), Anything<T>{})..., {Anything<T>{}, Anything<T>{}}, (void(J), Anything<T>{})...};
  };
}
/// Where {x, y} initializes field I alone, but not with all the initializers after it, the field
/// had taken several of them: an array.
template <class T, std::size_t... I>
consteval bool has_c_array(std::index_sequence<I...>) {
  constexpr std::size_t kCount = sizeof...(I);
  return ((takes_nested<T>(std::make_index_sequence<I>{}, std::index_sequence<>{}) &&
           !takes_nested<T>(std::make_index_sequence<I>{},
                            std::make_index_sequence<kCount - I - 1>{})) ||
          ...);
}
template <class T>
inline constexpr bool kHasCArray = has_c_array<T>(std::make_index_sequence<kFieldCount<T>>{});

/// References to the fields of an aggregate, in order.
template <class T>
constexpr auto fields(T& x) {
  return tie_fields<kFieldCount<std::remove_const_t<T>>>(x);
}
template <class T, std::size_t I>
using FieldOf = std::remove_cvref_t<std::tuple_element_t<I, decltype(fields(std::declval<T&>()))>>;

// ---- names ----

template <class T>
struct Wrapped {
  T value;
};
/// Never defined: only addresses of its fields are used, at compile time.
template <class T>
extern const Wrapped<T> wrapped;
// Both must be consteval, and the text a const char*: a constexpr function leaves a link-time use
// of `wrapped` in g++, and with a string_view g++ appends text of its own.
template <auto* P>
consteval const char* member_text() {
  return __PRETTY_FUNCTION__;
}

template <class T, std::size_t I>
consteval auto field_text() {
  // g++ ends in "...::name)]" or "...::name]", clang in "....name]"
  constexpr const char* kText = member_text<&std::get<I>(fields(wrapped<T>.value))>();
  constexpr auto kRange = [] {
    struct Range {
      int begin = 0, end = 0;
    } range;
    while (kText[range.end] != '\0') ++range.end;
    auto closes = [](char c) { return c == ')' || c == ']' || c == ';' || c == '>' || c == ' '; };
    while (closes(kText[range.end - 1])) --range.end;
    range.begin = range.end;
    while (kText[range.begin - 1] != '.' && kText[range.begin - 1] != ':') --range.begin;
    return range;
  }();
  struct Name {
    char text[kRange.end - kRange.begin + 1]{};
  } name;
  for (int i = kRange.begin; i < kRange.end; ++i) name.text[i - kRange.begin] = kText[i];
  return name;
}

template <class T, std::size_t I>
inline constexpr auto kFieldName = field_text<T, I>();
/// The name of field I, in static storage.
template <class T, std::size_t I>
constexpr const char* field_name() {
  return kFieldName<T, I>.text;
}

}  // namespace tlaloc::detail

#ifdef __clang__
#pragma clang diagnostic pop
#endif
