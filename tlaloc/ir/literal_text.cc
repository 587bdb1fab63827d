// Constant arrays as text: `f32[2, 3]{1, 2, 3, 4, 5, 6}`, or `f32[1000]{0 ...}` for equal elements.
#include <cstring>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/attr.h"
#include "tlaloc/ir/real_text.h"

namespace tlaloc::ir {
namespace {

template <class T>
void print_element(Printer& p, T x) {
  if constexpr (std::is_same_v<T, bool>) {
    print_value(p, x);
  } else if constexpr (std::is_integral_v<T>) {
    p.text += std::to_string(x);
  } else {
    print_real(p, x);
  }
}

template <class T>
T parse_element(Parser& p) {
  if constexpr (std::is_same_v<T, bool>) {
    bool x = false;
    parse_value(p, x);
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    const std::string_view r = p.rest();
    T x = 0;
    const auto [end, error] = std::from_chars(r.data(), r.data() + r.size(), x);
    if (error == std::errc::result_out_of_range) {
      p.fail("the integer does not fit " + std::string(name(dtype_of<T>)));
    }
    if (error != std::errc()) p.fail("expected an integer");
    p.advance(static_cast<std::size_t>(end - r.data()));
    return x;
  } else {
    return parse_real<T>(p);
  }
}

/// True if every element has the bytes of the first.
bool uniform(const HostArray& a) {
  // Then the array equals itself shifted by one element.
  const auto* bytes = static_cast<const unsigned char*>(a.data());
  const auto width = static_cast<std::size_t>(byte_size(a.dtype()));
  return std::memcmp(bytes, bytes + width, a.bytes() - width) == 0;
}

template <class T>
HostArray parse_elements(Parser& p, std::size_t start, Extents extents) {
  std::int64_t count = 0;
  try {
    checked_bytes(dtype_of<T>, extents);
    count = element_count(extents);
  } catch (const UserError& e) {
    p.fail_at(start, e.info().message);
  }
  // Grows with the text, not with the declared shape. Not std::vector<bool>: elements are copied.
  std::vector<std::byte> elements;
  std::int64_t written = 0;
  auto append = [&](T x) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&x);
    elements.insert(elements.end(), bytes, bytes + sizeof(T));
  };
  p.expect("{");
  while (!p.accept("}")) {
    if (written) p.expect(",");
    const T x = parse_element<T>(p);
    ++written;
    if (written == 1 && p.accept("...")) {
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
      if (bytes > kSplatBytes - p.splat_bytes) {
        p.fail_at(start, "the arrays of equal elements are too large for a text");
      }
      p.splat_bytes += bytes;
      p.expect("}");
      HostArray a = HostArray::uninitialized(dtype_of<T>, std::move(extents));
      std::ranges::fill(a.as_mutable<T>(), x);
      return a;
    }
    append(x);
  }
  if (written != count) {
    p.fail_at(start, "the array has " + std::to_string(written) + " elements, its shape " +
                         std::to_string(count));
  }
  HostArray a = HostArray::uninitialized(dtype_of<T>, std::move(extents));
  if (count) std::memcpy(a.mutable_data(), elements.data(), elements.size());
  return a;
}

}  // namespace

void print_value(Printer& p, const Literal& x) {
  const HostArray& a = x.value;
  p.put(name(a.dtype()));
  p.text += to_string(std::span(a.extents()));
  p.put("{");
  const bool splat =
      a.size() > kSplatElements && a.bytes() <= kSplatBytes - p.splat_bytes && uniform(a);
  if (splat) p.splat_bytes += a.bytes();
  dispatch(a.dtype(), [&]<class T>(TypeTag<T>) {
    const auto elements = a.as<T>();
    for (std::size_t i = 0; i < (splat ? 1 : elements.size()); ++i) {
      if (i) p.put(", ");
      print_element(p, elements[i]);
    }
  });
  p.put(splat ? " ...}" : "}");
}

void parse_value(Parser& p, Literal& x) {
  const std::size_t at = p.position();
  DType dtype{};
  parse_value(p, dtype);
  Extents extents;
  parse_field(p, extents);
  if (is_complex(dtype)) p.fail_at(at, "complex element types are not supported");
  x.value = dispatch(
      dtype, [&]<class T>(TypeTag<T>) { return parse_elements<T>(p, at, std::move(extents)); });
}

}  // namespace tlaloc::ir
