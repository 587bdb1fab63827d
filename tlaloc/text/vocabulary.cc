#include "tlaloc/text/vocabulary.h"

#include <array>
#include <bit>
#include <random>

#include "tlaloc/text/hash.h"

namespace tlaloc::text {

std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return seed;
}

void Vocabulary::reserve(std::size_t tokens, std::size_t bytes) {
  entries_.reserve(tokens);
  bytes_.reserve(bytes);
}

bool Vocabulary::add(std::string_view token, TokenId id) {
  if (at(id) >= entries_.size()) entries_.resize(at(id) + 1);
  Entry& e = entries_[at(id)];
  if (e.used) return false;
  e.first = static_cast<std::uint32_t>(bytes_.size());
  e.length = static_cast<std::uint32_t>(token.size()) & 0x7FFFFFFFu;
  e.used = 1;
  bytes_ += token;
  ++count_;
  return true;
}

TokenId Vocabulary::index() {
  slots_.assign(std::bit_ceil(count_ * 2 + 2), {});
  const std::size_t mask = slots_.size() - 1;
  // The table is larger than caches: places are asked for ahead.
  constexpr TokenId kAhead = 16;
  std::array<std::uint64_t, kAhead> hashes{};
  TokenId twice = -1;
  for (TokenId next = 0; next < bound() + kAhead; ++next) {
    if (const TokenId id = next - kAhead; contains(id)) {
      const std::uint64_t hash = hashes[at(next % kAhead)];
      const auto tag = static_cast<std::uint32_t>(hash >> 32);
      std::size_t i = hash & mask;
      while (slots_[i].id >= 0 && !(slots_[i].tag == tag && token(slots_[i].id) == token(id))) {
        i = (i + 1) & mask;
      }
      if (slots_[i].id >= 0 && twice < 0) twice = id;
      slots_[i] = {tag, id};
    }
    if (contains(next)) hashes[at(next % kAhead)] = prefetch(token(next));
  }
  return twice;
}

std::uint64_t Vocabulary::prefetch(std::string_view token) const {
  const std::uint64_t hash = hash_bytes(token, hash_seed());
  if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  return hash;
}

void Vocabulary::prefetch_text(std::uint64_t hash) const {
  if (slots_.empty()) return;
  const TokenId id = slots_[hash & (slots_.size() - 1)].id;
  if (id >= 0) __builtin_prefetch(bytes_.data() + entries_[at(id)].first);
}

TokenId Vocabulary::find(std::string_view token) const {
  return find(token, hash_bytes(token, hash_seed()));
}

TokenId Vocabulary::find(std::string_view token, std::uint64_t hash) const {
  if (slots_.empty()) return -1;
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t i = hash & mask; slots_[i].id >= 0; i = (i + 1) & mask) {
    if (slots_[i].tag == tag && this->token(slots_[i].id) == token) return slots_[i].id;
  }
  return -1;
}

}  // namespace tlaloc::text
