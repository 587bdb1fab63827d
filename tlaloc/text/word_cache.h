// The tokens of words that came before: most words of a text did.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "tlaloc/text/hash.h"
#include "tlaloc/text/model.h"

namespace tlaloc::text {

/// A table with a fixed number of places, a cache line each; a new word takes the place of the one
/// that was there. Words of more than 24 bytes or 7 tokens are not kept.
class WordCache {
 public:
  static constexpr std::size_t kMostBytes = 24, kMostTokens = 7;

  struct alignas(64) Entry {
    std::uint64_t key[3] = {0, 0, 0};
    TokenId ids[kMostTokens] = {};
    std::uint8_t lengths[kMostTokens] = {};  // of the tokens, in bytes
    std::uint8_t bytes = 0;                  // of the word; 0 where there is none
    std::uint8_t count = 0;
  };

  WordCache() : entries_(kPlaces) {}

  /// The place of a word, which is the word's if `found`. `text` is what the word lies in.
  Entry& place(std::string_view text, Range r, bool& found) {
    std::uint64_t key[3];
    const std::uint32_t n = r.end - r.begin;
    if (text.size() - r.begin >= kMostBytes) {
      std::memcpy(key, text.data() + r.begin, kMostBytes);
      key[0] &= mask(n);
      key[1] &= n > 8 ? mask(n - 8) : 0;
      key[2] &= n > 16 ? mask(n - 16) : 0;
    } else {
      key[0] = key[1] = key[2] = 0;
      std::memcpy(key, text.data() + r.begin, n);
    }
    // Which place it takes decides nothing but speed.
    const std::uint64_t h =
        mix(key[0] ^ 0x9E3779B97F4A7C15u,
            (key[1] * 3 + n) ^ (key[2] * 0xD6E8FEB86659FD93u) ^ 0xA0761D6478BD642Fu);
    Entry& e = entries_[h & (kPlaces - 1)];
    found = e.bytes == n && ((e.key[0] ^ key[0]) | (e.key[1] ^ key[1]) | (e.key[2] ^ key[2])) == 0;
    if (!found) std::memcpy(e.key, key, sizeof key);
    return e;
  }

 private:
  // 2 MiB: the words of an English text fit, and its frequent words stay in the second-level cache.
  static constexpr std::size_t kPlaces = 1 << 15;
  static std::uint64_t mask(std::uint32_t bytes) {
    return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes * 8) - 1;
  }
  std::vector<Entry> entries_;
};

/// Tokens of one word, in order; lengths are in bytes.
struct WordTokens {
  std::vector<TokenId> ids;
  std::vector<std::uint32_t> lengths;
  void clear() {
    ids.clear();
    lengths.clear();
  }
  void push(TokenId id, std::uint32_t length) {
    ids.push_back(id);
    lengths.push_back(length);
  }
};

/// Tokenizes pieces with the help of a cache, if there is one: `tokenize(word, tokens)` is asked
/// for new ones.
template <class Tokenize>
void tokenize_words(std::string_view text, std::span<const Range> pieces, WordCache* cache,
                    WordTokens& tokens, TokenSink& out, Tokenize tokenize) {
  out.reserve(pieces.size() + WordCache::kMostTokens);
  for (const Range r : pieces) {
    WordCache::Entry* entry = nullptr;
    if (cache != nullptr && r.end - r.begin <= WordCache::kMostBytes) {
      bool found;
      entry = &cache->place(text, r, found);
      if (found) {
        out.reserve(WordCache::kMostTokens);
        if (!out.wants_ranges()) {
          out.push_ids(entry->ids, entry->count, WordCache::kMostTokens);
          continue;
        }
        std::uint32_t at = r.begin;
        for (std::size_t i = 0; i < entry->count; ++i) {
          out.push(entry->ids[i], {at, at + entry->lengths[i]});
          at += entry->lengths[i];
        }
        continue;
      }
      // Until it is filled in again.
      entry->bytes = 0;
    }
    tokens.clear();
    tokenize(text.substr(r.begin, r.end - r.begin), tokens);
    const std::size_t n = tokens.ids.size();
    out.reserve(n);
    std::uint32_t at = r.begin;
    for (std::size_t i = 0; i < n; ++i) {
      out.push(tokens.ids[i], {at, at + tokens.lengths[i]});
      at += tokens.lengths[i];
    }
    if (entry == nullptr || n > WordCache::kMostTokens) continue;
    entry->bytes = static_cast<std::uint8_t>(r.end - r.begin);
    entry->count = static_cast<std::uint8_t>(n);
    for (std::size_t i = 0; i < n; ++i) {
      entry->ids[i] = tokens.ids[i];
      entry->lengths[i] = static_cast<std::uint8_t>(tokens.lengths[i]);
    }
  }
}

}  // namespace tlaloc::text
