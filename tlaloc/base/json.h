// JSON of outside files: within bounds, and without the freedoms that readers resolve differently.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace tlaloc {

struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 32;
};
/// The value that `text` is, with object keys in the text's order. UserError TL-JSON-001 with the
/// line and column in `name`: no JSON (RFC 8259; invalid UTF-8 included), larger or nested deeper
/// than the limits, or a key that an object has twice. Memory stays within some ten times the
/// text's size.
boost::json::value parse_json(std::string_view text, const std::string& name,
                              const JsonLimits& limits = {});

/// A string as JSON writes it, quotes included. Only what must be escaped is.
std::string json_quoted(std::string_view text);

}  // namespace tlaloc
