// Constants: dense<…>, as numbers, as bits, as bytes.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "tlaloc/ops/convert_element.h"
#include "tlaloc/stablehlo/importer.h"

namespace tlaloc::stablehlo {
namespace {

struct HexTable {
  std::uint8_t value[256];
  constexpr HexTable() : value() {
    for (int c = 0; c < 256; ++c) {
      value[c] = c >= '0' && c <= '9'   ? static_cast<std::uint8_t>(c - '0')
                 : c >= 'a' && c <= 'f' ? static_cast<std::uint8_t>(c - 'a' + 10)
                 : c >= 'A' && c <= 'F' ? static_cast<std::uint8_t>(c - 'A' + 10)
                                        : 0x80;
    }
  }
};
constexpr HexTable kHex;

/// Reads elements of one dense attribute.
class DenseReader {
 public:
  DenseReader(const Source& source, const Attribute& a)
      : source_(source), p_(a.text.data()), end_(p_ + a.text.size()) {}

  [[noreturn]] void fail(const char* message) const {
    source_.fail(static_cast<Offset>(p_ - source_.text.data()), message);
  }
  void skip() {
    while (p_ < end_) {
      if (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r') {
        ++p_;
      } else if (std::string_view(p_, end_).starts_with("//")) {
        p_ = std::find(p_, end_, '\n');
      } else {
        return;
      }
    }
  }
  char peek() {
    skip();
    return p_ < end_ ? *p_ : '\0';
  }
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  bool accept(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }

  template <class T>
  T element() {
    skip();
    if constexpr (std::is_same_v<T, bool>) {
      const std::string_view rest(p_, end_);
      if (rest.starts_with("true")) return p_ += 4, true;
      if (rest.starts_with("false")) return p_ += 5, false;
      return integer<std::int64_t>() != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return integer<T>();
    } else {
      return real<T>();
    }
  }
  /// Lists nested as deep as there are axes.
  template <class T>
  void nested(std::span<const std::int64_t> extents, T*& out) {
    if (extents.empty()) {
      *out++ = element<T>();
      return;
    }
    if (!accept('[')) fail("expected '[': a list per axis");
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      if (i && !accept(',')) fail("a list has fewer elements than the type says");
      nested(extents.subspan(1), out);
    }
    if (!accept(']')) fail("a list has more elements than the type says");
  }
  /// The bytes of "0x…", which begins here.
  std::vector<std::uint8_t> bytes() {
    const std::string_view rest(p_, end_);
    if (!rest.starts_with("\"0x") || !rest.ends_with('"') || rest.size() % 2) {
      fail("expected bytes, \"0x…\"");
    }
    const std::string_view digits = rest.substr(3, rest.size() - 4);
    std::vector<std::uint8_t> out(digits.size() / 2);
    std::uint8_t wrong = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint8_t high = kHex.value[static_cast<unsigned char>(digits[2 * i])];
      const std::uint8_t low = kHex.value[static_cast<unsigned char>(digits[2 * i + 1])];
      wrong |= high | low;
      out[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    if (wrong & 0x80) fail("a byte is no hexadecimal number");
    p_ = end_;
    return out;
  }

 private:
  bool hexadecimal() const { return std::string_view(p_, end_).starts_with("0x"); }
  template <class T>
  T parse(int base) {
    T x{};
    const auto [after, error] = std::from_chars(p_, end_, x, base);
    if (error == std::errc::result_out_of_range) fail("the integer does not fit its type");
    if (error != std::errc()) fail("expected an integer");
    p_ = after;
    return x;
  }
  template <class T>
  T integer() {
    if (!hexadecimal()) {
      // MLIR takes any integer of the width: -1 is a ui8, 255 an i8.
      if (p_ < end_ && *p_ == '-') return static_cast<T>(parse<std::make_signed_t<T>>(10));
      return static_cast<T>(parse<std::make_unsigned_t<T>>(10));
    }
    p_ += 2;
    return static_cast<T>(parse<std::make_unsigned_t<T>>(16));
  }
  template <class T>
  T real() {
    if (hexadecimal()) {
      p_ += 2;
      using Bits =
          std::conditional_t<sizeof(T) == 8, std::uint64_t,
                             std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
      return std::bit_cast<T>(parse<Bits>(16));
    }
    // As MLIR: the number as a double, and that rounded.
    double x = 0;
    const auto [after, error] = std::from_chars(p_, end_, x);
    if (error == std::errc::invalid_argument || (after > p_ && !is_number(*p_))) {
      fail("expected a number");
    }
    if (error == std::errc::result_out_of_range) {
      x = std::strtod(std::string(p_, after).c_str(), nullptr);
    }
    p_ = after;
    return ops::convert_element<T>(x);
  }
  bool is_number(char c) const {
    const char digit = c == '-' && p_ + 1 < end_ ? p_[1] : c;
    return digit >= '0' && digit <= '9';
  }

  const Source& source_;
  const char* p_;
  const char* end_;
};

template <class T>
DenseValue read(DenseReader& r, const TensorSpec& type) {
  const std::int64_t count = element_count(type.extents);
  if (r.peek() == '\0') {
    if (count != 0) r.fail("there are no elements");
    return {HostArray(type.dtype, type.extents), false};
  }
  if (r.peek() == '"') {
    const std::vector<std::uint8_t> bytes = r.bytes();
    const auto n = static_cast<std::size_t>(count);
    if constexpr (std::is_same_v<T, bool>) {
      // One byte for each, or one bit.
      if (bytes.size() != n && bytes.size() != (n + 7) / 8)
        r.fail("the bytes are not as many as the type takes");
      HostArray a = HostArray::uninitialized(type.dtype, type.extents);
      bool* out = static_cast<bool*>(a.mutable_data());
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = bytes.size() == n ? bytes[i] != 0 : bytes[i / 8] >> (i % 8) & 1;
      }
      return {a, false};
    } else {
      // One element's bytes are those of all.
      if (bytes.size() == sizeof(T) && n != 1) {
        T x;
        std::memcpy(&x, bytes.data(), sizeof(T));
        return {HostArray::scalar<T>(x), true};
      }
      if (bytes.size() != n * sizeof(T)) r.fail("the bytes are not as many as the type takes");
      HostArray a = HostArray::uninitialized(type.dtype, type.extents);
      if (n > 0) std::memcpy(a.mutable_data(), bytes.data(), bytes.size());
      return {a, false};
    }
  }
  if (!type.extents.empty() && r.peek() != '[') {
    return {HostArray::scalar<T>(r.element<T>()), true};
  }
  // Each element takes some text: so much, and no more, is allocated.
  if (usize(count) > r.left()) r.fail("the type says more elements than there are");
  HostArray a = HostArray::uninitialized(type.dtype, type.extents);
  T* out = static_cast<T*>(a.mutable_data());
  r.nested(type.extents, out);
  return {a, false};
}

}  // namespace

DenseValue dense_value(const Source& source, const Attribute& a) {
  if (a.kind != Attribute::Kind::dense || !a.type) source.fail(a.at, "expected dense<…>");
  if (!a.type->is_static()) source.fail(a.at, "a constant has a size of '?'");
  DenseReader r(source, a);
  return dispatch(a.type->dtype, [&]<class T>(TypeTag<T>) {
    DenseValue v = read<T>(r, *a.type);
    if (r.peek() != '\0') r.fail("nothing may follow the elements");
    return v;
  });
}

std::vector<std::int64_t> dense_integers(const Source& source, const Attribute& a) {
  const DenseValue v = dense_value(source, a);
  const DType t = v.value.dtype();
  if (!is_integer(t) && t != DType::boolean) source.fail(a.at, "expected integers");
  const std::int64_t count = element_count(a.type->extents);
  if (count > 4096) source.fail(a.at, "so many integers say nothing here");
  std::vector<std::int64_t> r;
  for (std::int64_t i = 0; i < count; ++i) r.push_back(v.value.element_int(v.splat ? 0 : i));
  return r;
}

}  // namespace tlaloc::stablehlo
