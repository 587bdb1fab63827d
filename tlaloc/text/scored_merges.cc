#include "tlaloc/text/scored_merges.h"

#include <algorithm>
#include <cmath>

#include "tlaloc/text/fields.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

/// The rank of each score: 0 for the highest, and the same for equal ones.
std::vector<std::uint32_t> ranks_of(std::span<const float> scores, const std::string& place) {
  std::vector<float> sorted(scores.begin(), scores.end());
  if (std::any_of(sorted.begin(), sorted.end(), [](float s) { return std::isnan(s); })) {
    throw_malformed(place, "a token's score is no number");
  }
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::uint32_t> ranks;
  ranks.reserve(scores.size());
  for (const float score : scores) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), score, std::greater<>());
    ranks.push_back(static_cast<std::uint32_t>(at - sorted.begin()));
  }
  return ranks;
}

}  // namespace

std::vector<Merge> merges_of_scores(const Vocabulary& v, std::span<const float> scores,
                                    const std::vector<bool>& takes_part, const std::string& place) {
  const std::vector<std::uint32_t> ranks = ranks_of(scores, place);
  std::vector<Merge> merges;
  for (TokenId id = 0; id < v.bound(); ++id) {
    if (!takes_part[static_cast<std::size_t>(id)]) continue;
    const std::string_view token = v.token(id);
    check_length(token, place);  // each of its parts is looked for
    auto part = [&](std::string_view text) {
      const TokenId found = v.find(text);
      return found >= 0 && takes_part[static_cast<std::size_t>(found)] ? found : -1;
    };
    for (std::size_t i = 1; i < token.size(); ++i) {
      if (is_continuation(token[i])) continue;
      const TokenId left = part(token.substr(0, i));
      const TokenId right = left < 0 ? -1 : part(token.substr(i));
      if (right < 0) continue;
      if (merges.size() == static_cast<std::size_t>(kMostIds)) {
        throw_unsupported(place, "more than 16 million pairs of tokens are tokens too",
                          "leave tokens out");
      }
      merges.push_back({left, right, id, ranks[static_cast<std::size_t>(id)]});
    }
  }
  return merges;
}

}  // namespace tlaloc::text
