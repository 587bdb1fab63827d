#include "tlaloc/stablehlo/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tlaloc::stablehlo {
namespace {

constexpr char kDigits[] = "0123456789ABCDEF";

/// The bits of a float as MLIR reads them: most significant digit first.
template <class T>
std::string bits_text(T x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return fmt::format("0x{:0{}X}", bits, 2 * sizeof x);
}

template <class T>
std::string element_text(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(x);
  } else {
    const double value = static_cast<double>(static_cast<ComputeType<T>>(x));
    if (!std::isfinite(value)) return bits_text(x);
    const std::string text = fmt::format("{:.6e}", value);
    return std::strtod(text.c_str(), nullptr) == value ? text : bits_text(x);
  }
}

/// Nested lists: for bool, whose bytes MLIR packs.
void append_nested(std::string& out, const bool*& at, std::span<const std::int64_t> extents) {
  if (extents.empty()) {
    out += *at++ ? "true" : "false";
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < extents[0]; ++i) {
    if (i) out += ", ";
    append_nested(out, at, extents.subspan(1));
  }
  out += ']';
}

template <class T>
bool is_splat(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const T& x) { return std::memcmp(&x, &values[0], sizeof(T)) == 0; });
}

}  // namespace

bool TensorType::empty() const { return std::ranges::find(extents, 0) != extents.end(); }

std::string_view element_name(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "i1";
    case DType::u8:
      return "ui8";
    case DType::u16:
      return "ui16";
    case DType::u32:
      return "ui32";
    case DType::u64:
      return "ui64";
    default:
      return name(dtype);
  }
}

std::string type_text(const TensorType& t) {
  std::string s = "tensor<";
  for (std::int64_t e : t.extents) {
    s += std::to_string(e);
    s += 'x';
  }
  s += element_name(t.dtype);
  s += '>';
  return s;
}

std::string constant_text(const HostArray& value) {
  std::string s = "dense<";
  if (value.size() > 0) {
    dispatch(value.dtype(), [&]<class T>(TypeTag<T>) {
      const auto values = value.as<T>();
      if (is_splat(values)) {
        s += element_text(values[0]);
      } else if constexpr (std::is_same_v<T, bool>) {
        const bool* at = values.data();
        append_nested(s, at, value.extents());
      } else {
        s += "\"0x";
        const auto* bytes = static_cast<const unsigned char*>(value.data());
        const std::size_t start = s.size();
        s.resize(start + 2 * value.bytes());
        for (std::size_t i = 0; i < value.bytes(); ++i) {
          s[start + 2 * i] = kDigits[bytes[i] >> 4];
          s[start + 2 * i + 1] = kDigits[bytes[i] & 15];
        }
        s += '"';
      }
    });
  }
  return s + "> : " + type_text({value.dtype(), value.extents()});
}

std::string list_text(std::span<const std::int64_t> values) {
  std::string s = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) s += ", ";
    s += std::to_string(values[i]);
  }
  return s + "]";
}

std::string array_attr(std::span<const std::int64_t> values) {
  if (values.empty()) return "array<i64>";
  std::string s = "array<i64: ";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) s += ", ";
    s += std::to_string(values[i]);
  }
  return s + ">";
}

std::string quoted(std::string_view text) {
  std::string s = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 0x20 || byte > 0x7e) {
      s += '\\';
      s += kDigits[byte >> 4];
      s += kDigits[byte & 15];
    } else {
      s += c;
    }
  }
  return s + "\"";
}

}  // namespace tlaloc::stablehlo
