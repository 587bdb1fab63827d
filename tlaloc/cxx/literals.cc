#include <charconv>
#include <cmath>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/expr.h"
#include "tlaloc/cxx/types.h"

namespace tlaloc::cxx {
namespace {

/// The shortest text that reads back to x, without an exponent where that is easy to read.
template <class T>
std::string shortest(T x) {
  char buffer[64];
  const T size = std::abs(x);
  const bool plain = size == 0 || (size >= T(1e-4) && size < T(1e7));
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, x, format).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
ExprRef float_literal(T x) {
  const std::string limits = "std::numeric_limits<" + type_name(dtype_of<T>) + ">::";
  if (std::isnan(x)) return literal(limits + "quiet_NaN()");
  if (std::isinf(x)) {
    const ExprRef inf = literal(limits + "infinity()");
    return x > 0 ? inf : prefix("-", inf);
  }
  return literal(shortest(x) + (std::is_same_v<T, float> ? "f" : ""));
}

}  // namespace

ExprRef element_literal(const HostArray& array, std::int64_t i) {
  return dispatch(array.dtype(), [&]<class T>(TypeTag<T>) -> ExprRef {
    if constexpr (std::is_same_v<T, bool>) {
      return literal(array.as<T>()[static_cast<std::size_t>(i)] ? "true" : "false");
    } else if constexpr (std::is_floating_point_v<T>) {
      return float_literal(array.as<T>()[static_cast<std::size_t>(i)]);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return integer(array.as<T>()[static_cast<std::size_t>(i)]);
    } else if constexpr (std::is_integral_v<T>) {
      return literal(std::to_string(array.as<T>()[static_cast<std::size_t>(i)]) + "u");
    } else {
      refuse_dtype(array.dtype());
    }
  });
}

std::string string_literal(const std::string& text) {
  std::string r = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      r += std::string("\\") + c;
    } else if (byte >= ' ' && byte < 0x7f) {
      r += c;
    } else {
      // Three digits: what follows can't be read as one more.
      r += '\\';
      for (const int shift : {6, 3, 0}) r += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  return r + "\"";
}

}  // namespace tlaloc::cxx
