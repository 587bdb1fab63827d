#include "tlaloc/cxx/includes.h"

#include <algorithm>
#include <set>

#include "tlaloc/base/error.h"

namespace tlaloc::cxx {
namespace {

struct Header {
  std::string_view name;
  std::string_view provides;  ///< the names, with a blank around each
};
constexpr Header kHeaders[] = {
    {"algorithm", " clamp fill_n max merge min stable_sort "},
    {"array", " array "},
    {"bit", " bit_cast countl_zero popcount rotl "},
    {"cmath",
     " abs acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh erf erfc exp expm1 floor fmod "
     "isfinite isinf isnan log log1p nearbyint pow round signbit sin sinh sqrt tan tanh "},
    {"cstddef", " size_t "},
    {"cstdint", " int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "},
    {"limits", " numeric_limits "},
    {"numeric", " iota "},
    {"stdexcept", " invalid_argument runtime_error "},
    {"tuple", " apply get make_tuple tuple tuple_cat "},
    {"type_traits",
     " conditional_t is_floating_point_v is_signed_v make_signed_t make_unsigned_t "
     "type_identity_t "},
    {"utility", " move pair swap "},
    {"vector", " ssize vector "},  // the printed code takes std::ssize of vectors only
};

std::string_view header_of(std::string_view name) {
  const std::string word = " " + std::string(name) + " ";
  for (const Header& h : kHeaders) {
    if (h.provides.find(word) != std::string_view::npos) return h.name;
  }
  throw InternalError("no header is known for std::" + std::string(name));
}
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/// Where the comment or string literal at `at` ends; `at` itself if there is none.
std::size_t behind_text(std::string_view code, std::size_t at) {
  if (code.substr(at).starts_with("//")) return std::min(code.find('\n', at), code.size());
  if (code[at] != '"') return at;
  for (++at; at < code.size() && code[at] != '"'; ++at) at += code[at] == '\\';
  return std::min(at + 1, code.size());
}

}  // namespace

std::string includes_of(std::string_view code) {
  constexpr std::string_view kSpace = "std::";
  std::set<std::string_view> headers;
  for (std::size_t k = 0; k < code.size();) {
    const std::size_t behind = behind_text(code, k);
    if (behind != k) {
      k = behind;
      continue;
    }
    if (!code.substr(k).starts_with(kSpace) || (k > 0 && is_word(code[k - 1]))) {
      ++k;
      continue;
    }
    std::size_t end = k += kSpace.size();
    while (end < code.size() && is_word(code[end])) ++end;
    headers.insert(header_of(code.substr(k, end - k)));
    k = end;
  }
  std::string text;
  for (const std::string_view h : headers) text += "#include <" + std::string(h) + ">\n";
  return text;
}

}  // namespace tlaloc::cxx
