// Floating-point numbers as text, exact to the bit; internal to ir.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "tlaloc/ir/text_io.h"

namespace tlaloc::ir {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

/// The shortest decimal that reads back to x; `nan(0x7fc00000)` has a NaN's bits. f16 and bf16 are
/// written as the float they equal.
template <class T>
void print_real(Printer& p, T x) {
  const auto value = static_cast<ComputeType<T>>(x);
  char buffer[40];
  char* end = buffer;
  if (std::isnan(value)) {
    p.put("nan(0x");
    end = std::to_chars(buffer, buffer + sizeof buffer, std::bit_cast<BitsOf<T>>(x), 16).ptr;
    p.text.append(buffer, end);
    p.put(")");
    return;
  }
  end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  p.text.append(buffer, end);
}

/// Reads what print_real writes; `nan` alone is the quiet NaN.
template <class T>
T parse_real(Parser& p) {
  using Compute = ComputeType<T>;
  if (p.accept("nan")) {
    if (!p.accept("(")) return T(std::numeric_limits<Compute>::quiet_NaN());
    const std::size_t at = p.position();
    if (!p.rest().starts_with("0x")) p.fail("expected the bits of a NaN, 0x...");
    p.advance(2);
    const std::string_view digits = p.rest();
    BitsOf<T> bits = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    const T x = std::bit_cast<T>(bits);
    if (error != std::errc() || !std::isnan(static_cast<Compute>(x))) {
      p.fail_at(at, "these are not the bits of a NaN");
    }
    p.advance(static_cast<std::size_t>(end - digits.data()));
    p.expect(")");
    return x;
  }
  const std::string_view r = p.rest();
  const std::size_t sign = r.starts_with('-');
  const bool number = r.size() > sign && r[sign] >= '0' && r[sign] <= '9';
  if (!number && !r.substr(sign).starts_with("inf")) p.fail("expected a number");
  Compute x = 0;
  const auto [end, error] = std::from_chars(r.data(), r.data() + r.size(), x);
  if (error != std::errc()) p.fail("the number is out of range");
  p.advance(static_cast<std::size_t>(end - r.data()));
  return T(x);
}

}  // namespace tlaloc::ir
