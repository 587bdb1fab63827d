#include "tlaloc/text/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "tlaloc/text/unicode_class.h"

namespace tlaloc::text {
namespace {

bool in_class(char32_t c, CharClass member) { return (CharClasses::get()[c] & member) != 0; }

/// The place of the character that ends at `end` > 0.
std::size_t before(std::string_view text, std::size_t end) {
  do --end;
  while (end > 0 && is_continuation(text[end]));
  return end;
}

char32_t char_at(std::string_view text, std::size_t i) {
  const char* p = text.data() + i;
  return next_char(p);
}

}  // namespace

TokenFinder::TokenFinder(const std::vector<const AddedToken*>& tokens,
                         std::vector<std::string> contents)
    : tokens_(tokens) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < contents.size(); ++i) {
    if (!contents[i].empty()) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return contents[a] < contents[b]; });
  // Level by level, so that the edges of a node lie side by side: a node is a range of the sorted
  // contents with an equal start.
  struct Part {
    std::size_t first, last, depth;
  };
  std::vector<Part> parts{{0, order.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < parts.size(); ++node) {
    auto [first, last, depth] = parts[node];
    if (first < last && contents[order[first]].size() == depth) {
      nodes_[node].token = static_cast<std::int32_t>(order[first++]);
    }
    nodes_[node].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (first < last) {
      const char byte = contents[order[first]][depth];
      std::size_t end = first + 1;
      while (end < last && contents[order[end]][depth] == byte) ++end;
      edges_.push_back(
          {static_cast<unsigned char>(byte), static_cast<std::uint32_t>(nodes_.size())});
      nodes_.emplace_back();
      parts.push_back({first, end, depth + 1});
      ++nodes_[node].edges;
      first = end;
    }
  }
  for (std::uint16_t i = 0; i < nodes_[0].edges; ++i) starts_[edges_[i].byte] = true;
  if (nodes_[0].edges == 1) only_start_ = edges_[0].byte;
}

std::int32_t TokenFinder::longest(std::string_view text, std::size_t at, std::size_t& end) const {
  std::int32_t best = -1;
  const Node* node = nodes_.data();
  for (std::size_t i = at; i < text.size(); ++i) {
    const Edge* const first = edges_.data() + node->first_edge;
    const Edge* const last = first + node->edges;
    const auto byte = static_cast<unsigned char>(text[i]);
    const Edge* e = std::lower_bound(first, last, byte,
                                     [](const Edge& a, unsigned char b) { return a.byte < b; });
    if (e == last || e->byte != byte) break;
    node = &nodes_[e->node];
    if (node->token >= 0) {
      best = node->token;
      end = i + 1;
    }
  }
  return best;
}

std::size_t TokenFinder::next_start(std::string_view text, std::size_t from) const {
  if (only_start_ >= 0) {
    const void* p = std::memchr(text.data() + from, only_start_, text.size() - from);
    return p == nullptr ? text.size()
                        : static_cast<std::size_t>(static_cast<const char*>(p) - text.data());
  }
  while (from < text.size() && !starts_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

void TokenFinder::find(std::string_view text, bool no_special, std::vector<Found>& out) const {
  std::size_t done = 0;
  auto add = [&](std::size_t begin, std::size_t end, const AddedToken* token) {
    if (begin != end) {
      out.push_back({{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, token});
    }
  };
  std::size_t at = edges_.empty() ? text.size() : next_start(text, 0);
  while (at < text.size()) {
    std::size_t end = at;
    const std::int32_t index = longest(text, at, end);
    if (index < 0) {
      at = next_start(text, at + 1);
      continue;
    }
    const AddedToken& token = *tokens_[static_cast<std::size_t>(index)];
    std::size_t begin = at;
    // A match that does not count still takes its text, as it does in the package.
    at = next_start(text, end);
    if (no_special && token.special) continue;
    if (token.single_word && ((begin > 0 && in_class(char_at(text, before(text, begin)), kWord)) ||
                              (end < text.size() && in_class(char_at(text, end), kWord)))) {
      continue;
    }
    if (token.lstrip) {
      while (begin > done && in_class(char_at(text, before(text, begin)), kSpace)) {
        begin = before(text, begin);
      }
      // What a token to the left took to its right is not taken again.
      begin = std::max(begin, done);
    }
    if (token.rstrip) {
      while (end < text.size() && in_class(char_at(text, end), kSpace)) {
        end += length_of(text[end]);
      }
    }
    if (done < begin) add(done, begin, nullptr);
    if (begin < end) add(begin, end, &token);
    done = end;
  }
  add(done, text.size(), nullptr);
}

}  // namespace tlaloc::text
