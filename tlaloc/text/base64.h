// Base64, as JSON carries bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tlaloc::text {

/// The bytes that `text` stands for; none where it is not base64 with its padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace tlaloc::text
