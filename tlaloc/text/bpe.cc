#include "tlaloc/text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

#include "tlaloc/text/normalizers.h"
#include "tlaloc/text/word_cache.h"

namespace tlaloc::text {
namespace {

constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();
// Up to here, looking at all pairs for the next merge is faster than a heap of them.
constexpr std::size_t kShortWord = 48;

/// Which pairs of tokens merge, when, and to what.
class MergeTable {
 public:
  struct Found {
    std::uint32_t rank = kNoRank;
    TokenId result = -1;
  };

  explicit MergeTable(const std::vector<Merge>& merges)
      : slots_(std::bit_ceil(merges.size() * 2 + 2)), mask_(slots_.size() - 1) {
    for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
      const Merge& m = merges[rank];
      std::size_t i = place(m.left, m.right);
      while (slots_[i].found.rank != kNoRank && !is(slots_[i], m.left, m.right)) {
        i = (i + 1) & mask_;
      }
      // Of a pair that stands twice the last counts.
      slots_[i] = {m.left, m.right, {rank, m.result}};
    }
  }

  Found find(TokenId left, TokenId right) const {
    for (std::size_t i = place(left, right);; i = (i + 1) & mask_) {
      if (is(slots_[i], left, right)) return slots_[i].found;
      if (slots_[i].found.rank == kNoRank) return {};
    }
  }

 private:
  struct Slot {
    TokenId left = -1, right = -1;
    Found found;
  };
  static bool is(const Slot& s, TokenId left, TokenId right) {
    return s.left == left && s.right == right;
  }
  std::size_t place(TokenId left, TokenId right) const {
    return hash_integer(static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right),
                        seed_) &
           mask_;
  }
  std::uint64_t seed_ = hash_seed();
  std::vector<Slot> slots_;
  std::size_t mask_;
};

struct Symbol {
  TokenId id;
  std::uint32_t length;    // bytes; 0 where it was merged into the one before
  MergeTable::Found pair;  // with the next one
  std::uint32_t previous, next;
};

struct BpeState : ModelState {
  WordCache cache;
  WordTokens tokens;
  std::vector<Symbol> symbols;
  std::vector<std::uint64_t> heap;
};

class Bpe : public Model {
 public:
  Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, BpeOptions options, bool byte_level)
      : Model(std::move(vocabulary)), merges_(merges), options_(std::move(options)) {
    const Vocabulary& v = this->vocabulary();
    if (options_.unk_token) unk_ = v.find(*options_.unk_token);
    for (unsigned b = 0; b < 256; ++b) {
      fallback_[b] = options_.byte_fallback ? v.find(fmt::format("<0x{:02X}>", b)) : -1;
    }
    if (byte_level && options_.continuing_subword_prefix.empty() &&
        options_.end_of_word_suffix.empty()) {
      prepare_raw();
    }
  }

  std::unique_ptr<ModelState> make_state() const override { return std::make_unique<BpeState>(); }

  void tokenize(std::string_view text, std::span<const Range> pieces, bool raw, ModelState& state,
                TokenSink& out) const override {
    auto& s = static_cast<BpeState&>(state);
    auto word = [&](std::string_view w, WordTokens& tokens) { encode(w, raw, s, tokens); };
    // The cache is of one of the two kinds of text.
    WordCache* const cache = raw == !bytes_.empty() ? &s.cache : nullptr;
    tokenize_words(text, pieces, cache, s.tokens, out, word);
  }

  bool takes_raw(std::string_view text) const override {
    if (bytes_.empty() || lacks_.empty()) return !bytes_.empty();
    return std::none_of(text.begin(), text.end(),
                        [&](char c) { return lacks_[static_cast<unsigned char>(c)]; });
  }

 private:
  void prepare_raw() {
    bytes_.resize(256);
    bool lacks = false;
    for (unsigned b = 0; b < 256; ++b) {
      std::string character;
      append_char(character, byte_to_char(static_cast<unsigned char>(b)));
      bytes_[b] = vocabulary().find(character);
      lacks |= bytes_[b] < 0;
    }
    if (lacks) {
      lacks_.resize(256);
      for (unsigned b = 0; b < 256; ++b) lacks_[b] = bytes_[b] < 0;
    }
    if (options_.ignore_merges) index_raw_tokens();
  }

  /// The tokens as raw bytes, for looking up whole words.
  void index_raw_tokens() {
    const Vocabulary& v = vocabulary();
    std::string bytes;
    for (TokenId id = 0; id < v.bound(); ++id) {
      const std::string_view token = v.token(id);
      bytes.clear();
      bool all = !token.empty();
      for (const char *p = token.data(), *end = p + token.size(); p != end && all;) {
        const int b = char_to_byte(next_char(p));
        all = b >= 0;
        bytes += static_cast<char>(b);
      }
      if (all) raw_tokens_.add(bytes, id);
    }
    raw_tokens_.index();
  }

  void encode(std::string_view word, bool raw, BpeState& s, WordTokens& out) const {
    if (options_.ignore_merges) {
      const TokenId id = (raw ? raw_tokens_ : vocabulary()).find(word);
      if (id >= 0) return out.push(id, static_cast<std::uint32_t>(word.size()));
    }
    s.symbols.clear();
    if (raw) {
      for (char c : word) add(s, bytes_[static_cast<unsigned char>(c)], 1);
    } else {
      add_chars(word, s);
    }
    s.symbols.size() <= kShortWord ? merge_short(s.symbols) : merge_long(s);
    for (const Symbol& symbol : s.symbols) {
      if (symbol.length > 0) out.push(symbol.id, symbol.length);
    }
  }

  static void add(BpeState& s, TokenId id, std::uint32_t length) {
    s.symbols.push_back({id, length, {}, 0, 0});
  }

  void add_chars(std::string_view word, BpeState& s) const {
    std::uint32_t unknown = 0;  // bytes of unknown characters that are not added yet
    auto flush = [&] {
      if (unknown > 0) add(s, unk_, unknown);
      unknown = 0;
    };
    std::string buffer;
    for (std::size_t i = 0; i < word.size();) {
      const std::size_t n = length_of(word[i]);
      std::string_view key = word.substr(i, n);
      const bool prefixed = i > 0 && !options_.continuing_subword_prefix.empty();
      const bool suffixed = i + n == word.size() && !options_.end_of_word_suffix.empty();
      if (prefixed || suffixed) {
        buffer.clear();
        if (prefixed) buffer += options_.continuing_subword_prefix;
        buffer += key;
        if (suffixed) buffer += options_.end_of_word_suffix;
        key = buffer;
      }
      i += n;
      const auto length = static_cast<std::uint32_t>(n);
      if (const TokenId id = vocabulary().find(key); id >= 0) {
        flush();
        add(s, id, length);
      } else if (options_.byte_fallback && std::all_of(key.begin(), key.end(), [&](char c) {
                   return fallback_[static_cast<unsigned char>(c)] >= 0;
                 })) {
        for (char c : key) add(s, fallback_[static_cast<unsigned char>(c)], 1);
      } else if (unk_ >= 0) {
        // A character without a token, and without one for what is unknown, is left out.
        if (!options_.fuse_unk) flush();
        unknown += length;
      }
    }
    flush();
  }

  /// Looks for the merge that goes first among all pairs, again and again.
  void merge_short(std::vector<Symbol>& symbols) const {
    std::size_t n = symbols.size();
    auto set_pair = [&](std::size_t i) {
      symbols[i].pair = merges_.find(symbols[i].id, symbols[i + 1].id);
    };
    for (std::size_t i = 0; i + 1 < n; ++i) set_pair(i);
    while (n > 1) {
      std::size_t best = 0;
      for (std::size_t i = 1; i + 1 < n; ++i) {
        if (symbols[i].pair.rank < symbols[best].pair.rank) best = i;
      }
      if (symbols[best].pair.rank == kNoRank) break;
      symbols[best].id = symbols[best].pair.result;
      symbols[best].length += symbols[best + 1].length;
      symbols[best].pair = symbols[best + 1].pair;
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      --n;
      if (best + 1 < n) {
        set_pair(best);
      } else {
        symbols[best].pair = {};
      }
      if (best > 0) set_pair(best - 1);
    }
  }

  /// The same with a heap of pairs, in O(n log n).
  void merge_long(BpeState& s) const {
    std::vector<Symbol>& symbols = s.symbols;
    const auto n = static_cast<std::uint32_t>(symbols.size());
    s.heap.clear();
    auto later = [](std::uint64_t a, std::uint64_t b) { return a > b; };
    auto key = [&](std::uint32_t i) { return std::uint64_t{symbols[i].pair.rank} << 32 | i; };
    auto set_pair = [&](std::uint32_t i) {
      symbols[i].pair = {};
      if (symbols[i].next == n) return false;
      symbols[i].pair = merges_.find(symbols[i].id, symbols[symbols[i].next].id);
      return symbols[i].pair.rank != kNoRank;
    };
    for (std::uint32_t i = 0; i < n; ++i) {
      symbols[i].previous = i - 1;
      symbols[i].next = i + 1;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      if (set_pair(i)) s.heap.push_back(key(i));
    }
    std::make_heap(s.heap.begin(), s.heap.end(), later);
    auto push = [&](std::uint32_t i) {
      if (!set_pair(i)) return;
      s.heap.push_back(key(i));
      std::push_heap(s.heap.begin(), s.heap.end(), later);
    };
    while (!s.heap.empty()) {
      std::pop_heap(s.heap.begin(), s.heap.end(), later);
      const std::uint64_t top = s.heap.back();
      s.heap.pop_back();
      const auto i = static_cast<std::uint32_t>(top);
      // What has changed since it came in stands there again, with its new rank.
      if (symbols[i].length == 0 || symbols[i].pair.rank != top >> 32) continue;
      const std::uint32_t right = symbols[i].next;
      symbols[i].id = symbols[i].pair.result;
      symbols[i].length += symbols[right].length;
      symbols[i].next = symbols[right].next;
      symbols[right].length = 0;
      if (symbols[i].next != n) symbols[symbols[i].next].previous = i;
      push(i);
      if (i > 0) push(symbols[i].previous);
    }
  }

  MergeTable merges_;
  BpeOptions options_;
  TokenId unk_ = -1;
  std::array<TokenId, 256> fallback_;
  std::vector<TokenId> bytes_;  // of each byte of raw text; empty where that is never taken
  std::vector<bool> lacks_;     // the bytes without a token, if there are any
  Vocabulary raw_tokens_;
};

}  // namespace

ModelPtr make_bpe(Vocabulary vocabulary, std::vector<Merge> merges, BpeOptions options,
                  bool byte_level) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, std::move(options), byte_level);
}

}  // namespace tlaloc::text
