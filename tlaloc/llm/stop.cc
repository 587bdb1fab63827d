#include "tlaloc/llm/stop.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/base/utf8.h"

namespace tlaloc::llm {

StopStrings::Matcher::Matcher(std::string s) : string(std::move(s)), borders(string.size() + 1) {
  std::size_t border = 0;
  for (std::size_t i = 1; i < string.size(); ++i) {
    while (border > 0 && string[border] != string[i]) border = borders[border];
    if (string[border] == string[i]) ++border;
    borders[i + 1] = border;
  }
}

bool StopStrings::Matcher::push(char c) {
  while (matched > 0 && string[matched] != c) matched = borders[matched];
  if (string[matched] == c) ++matched;
  return matched == string.size();
}

StopStrings::StopStrings(const std::vector<std::string>& strings) {
  for (const std::string& s : strings) {
    if (s.empty() || !is_utf8(s)) {
      throw UserError({"TL-GENERATE-001",
                       "generate",
                       s.empty() ? "a stop string is empty" : "a stop string is no UTF-8",
                       "give text that ends an answer where it occurs",
                       {}});
    }
    matchers_.emplace_back(s);
  }
}

std::string StopStrings::push(std::string_view text) {
  if (stopped_) return {};
  for (const char c : text) {
    held_ += c;
    const Matcher* longest = nullptr;
    for (Matcher& m : matchers_) {
      if (m.push(c) && (longest == nullptr || m.string.size() > longest->string.size())) {
        longest = &m;
      }
    }
    if (longest != nullptr) {
      stopped_ = true;
      stopped_by_ = longest->string;
      held_.resize(held_.size() - stopped_by_.size());
      return finish();
    }
  }
  std::size_t open = 0;
  for (const Matcher& m : matchers_) open = std::max(open, m.matched);
  std::string certain = held_.substr(0, held_.size() - open);
  held_.erase(0, held_.size() - open);
  return certain;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace tlaloc::llm
