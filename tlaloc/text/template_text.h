// Python's functions of texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/text/template_value.h"

namespace tlaloc::text {

std::string upper_text(const std::string& s);
std::string lower_text(const std::string& s);
/// str.title, and str.capitalize.
std::string title_text(const std::string& s);
std::string capitalized_text(const std::string& s);
bool is_digit(char32_t c);
/// At most `limit` cuts, if that is not negative.
std::vector<std::string> split_at(Heap& heap, std::string_view s, std::string_view separator,
                                  std::int64_t limit, bool from_right);
std::vector<std::string> split_at_space(Heap& heap, std::string_view s, std::int64_t limit,
                                        bool from_right);
std::vector<std::string> split_lines(Heap& heap, std::string_view s, bool keep_ends);
Value replaced_text(Heap& heap, std::string_view s, std::string_view from, std::string_view to,
                    std::int64_t most);

}  // namespace tlaloc::text
