// The tokens of words that came before: most words of a text did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "tlaloc/text/hash.h"
#include "tlaloc/text/model.h"

namespace tlaloc::text {

/// A table with a fixed number of places, a cache line each; a new word takes one of the two places
/// that it may have. Words of more than 24 bytes or 7 tokens are not kept.
class WordCache {
 public:
  static constexpr std::size_t kMostBytes = 24, kMostTokens = 7;

  struct Key {
    std::uint64_t word[3] = {0, 0, 0};
    std::uint32_t bytes = 0;
    std::uint32_t place = 0;  // of the first of its two entries
  };
  struct alignas(64) Entry {
    std::uint64_t word[3] = {0, 0, 0};
    TokenId ids[kMostTokens] = {};
    std::uint8_t lengths[kMostTokens] = {};  // of the tokens, in bytes
    std::uint8_t bytes = 0;                  // of the word; 0 where there is none
    std::uint8_t count = 0;
  };

  WordCache() : entries_(kPlaces) {}

  /// The key of a word of up to kMostBytes, whose entries are on their way from memory then.
  /// `text` is what the word lies in.
  Key key(std::string_view text, Range r) const {
    Key k;
    const std::uint32_t n = k.bytes = r.end - r.begin;
    if (text.size() - r.begin >= kMostBytes) {
      std::memcpy(k.word, text.data() + r.begin, kMostBytes);
      k.word[0] &= mask(n);
      k.word[1] &= n > 8 ? mask(n - 8) : 0;
      k.word[2] &= n > 16 ? mask(n - 16) : 0;
    } else {
      std::memcpy(k.word, text.data() + r.begin, n);
    }
    // Which place it takes decides nothing but speed.
    const std::uint64_t h =
        mix(k.word[0] ^ 0x9E3779B97F4A7C15u,
            (k.word[1] * 3 + n) ^ (k.word[2] * 0xD6E8FEB86659FD93u) ^ 0xA0761D6478BD642Fu);
    k.place = static_cast<std::uint32_t>(h) & (kPlaces - 2);
    __builtin_prefetch(&entries_[k.place]);
    return k;
  }
  const Entry* find(const Key& k) const {
    const Entry* const e = &entries_[k.place];
    return is(e[0], k) ? e : is(e[1], k) ? e + 1 : nullptr;
  }
  /// Where the tokens of a word that is not there go: what came before the last one makes room.
  Entry& make(const Key& k) {
    Entry* const e = &entries_[k.place];
    if (e[0].bytes != 0) e[1] = e[0];
    std::memcpy(e[0].word, k.word, sizeof k.word);
    e[0].bytes = static_cast<std::uint8_t>(k.bytes);
    return e[0];
  }

 private:
  // 2 MiB: the words of an English text fit, and its frequent words stay in the second-level cache.
  static constexpr std::size_t kPlaces = 1 << 15;
  static bool is(const Entry& e, const Key& k) {
    return e.bytes == k.bytes &&
           ((e.word[0] ^ k.word[0]) | (e.word[1] ^ k.word[1]) | (e.word[2] ^ k.word[2])) == 0;
  }
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
  std::size_t bytes() const { return bytes_of(ids) + bytes_of(lengths); }
};

/// Appends what the cache has of a word at `at`.
inline void push_known(const WordCache::Entry& e, std::uint32_t at, TokenSink& out) {
  out.reserve(WordCache::kMostTokens);
  if (!out.wants_ranges()) return out.push_ids(e.ids, e.count, WordCache::kMostTokens);
  for (std::size_t i = 0; i < e.count; ++i) {
    out.push(e.ids[i], {at, at + e.lengths[i]});
    at += e.lengths[i];
  }
}

/// Appends the tokens of a word that the cache has not, and keeps them there if they fit in and
/// `key` is one.
inline void push_new(const WordTokens& tokens, std::uint32_t at, WordCache* cache,
                     const WordCache::Key& key, TokenSink& out) {
  const std::size_t n = tokens.ids.size();
  out.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    out.push(tokens.ids[i], {at, at + tokens.lengths[i]});
    at += tokens.lengths[i];
  }
  if (key.bytes == 0 || n > WordCache::kMostTokens) return;
  WordCache::Entry& e = cache->make(key);
  e.count = static_cast<std::uint8_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    e.ids[i] = tokens.ids[i];
    e.lengths[i] = static_cast<std::uint8_t>(tokens.lengths[i]);
  }
}

/// Tokenizes pieces with the help of a cache, if there is one: `tokenize(word, tokens)` is asked
/// for new ones.
template <class Tokenize>
void tokenize_words(std::string_view text, std::span<const Range> pieces, WordCache* cache,
                    WordTokens& tokens, TokenSink& out, Tokenize tokenize) {
  // So many words are looked for at once, as memory answers each after a while.
  constexpr std::size_t kAhead = 16;
  WordCache::Key keys[kAhead];
  while (!pieces.empty()) {
    const auto some = pieces.first(std::min(kAhead, pieces.size()));
    pieces = pieces.subspan(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const bool fits = cache != nullptr && some[i].end - some[i].begin <= WordCache::kMostBytes;
      keys[i] = fits ? cache->key(text, some[i]) : WordCache::Key();
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      const Range r = some[i];
      if (keys[i].bytes != 0) {
        if (const WordCache::Entry* e = cache->find(keys[i])) {
          push_known(*e, r.begin, out);
          continue;
        }
      }
      tokens.clear();
      tokenize(text.substr(r.begin, r.end - r.begin), tokens);
      push_new(tokens, r.begin, cache, keys[i], out);
    }
  }
}

}  // namespace tlaloc::text
