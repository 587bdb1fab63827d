#include "tlaloc/text/base64.h"

#include <array>
#include <cstdint>

namespace tlaloc::text {
namespace {

constexpr std::array<std::int8_t, 256> kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - padding - 1] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int value = k < digits ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value < 0) return std::nullopt;
      word = word << 6 | static_cast<std::uint32_t>(value);
    }
    // Bits behind the last byte are zero, or two texts would stand for the same bytes.
    if (digits < 4 && (word & (digits == 2 ? 0xFFFFu : 0xFFu)) != 0) return std::nullopt;
    for (std::size_t k = 0; k + 1 < digits; ++k) bytes += static_cast<char>(word >> (16 - 8 * k));
  }
  return bytes;
}

}  // namespace tlaloc::text
