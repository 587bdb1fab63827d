#include "tlaloc/text/encoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

template <class F>
void for_each_list(Encoding& a, const Encoding& b, F f) {
  f(a.ids, b.ids);
  f(a.offsets, b.offsets);
  f(a.type_ids, b.type_ids);
  f(a.attention_mask, b.attention_mask);
  f(a.special_tokens_mask, b.special_tokens_mask);
  f(a.spaces, b.spaces);
}

[[noreturn]] void throw_truncation(std::string message, std::string hint) {
  throw UserError({"TL-TOKENIZER-006", "tokenizer", std::move(message), std::move(hint), {}});
}

/// Keeps `length` tokens; the rest comes in parts of the same length that overlap by `stride`.
void cut(Encoding& e, std::size_t length, const Truncation& t) {
  const std::size_t size = e.size();
  if (length >= size) return;
  if (length == 0) {
    Encoding whole = std::move(e);
    e = {};
    e.overflowing.push_back(std::move(whole));
    return;
  }
  if (t.stride >= length) {
    throw_truncation(fmt::format("a stride of {} leaves nothing of {} tokens", t.stride, length),
                     "use a stride below the length without special tokens");
  }
  const std::size_t step = length - t.stride;
  std::vector<Encoding> parts;
  if (t.direction == Side::kRight) {
    for (std::size_t begin = 0;; begin += step) {
      const std::size_t end = std::min(begin + length, size);
      parts.push_back(e.part(begin, end));
      if (end == size) break;
    }
  } else {
    for (std::size_t end = size;; end -= step) {
      const std::size_t begin = end > length ? end - length : 0;
      parts.push_back(e.part(begin, end));
      if (begin == 0) break;
    }
  }
  e = std::move(parts.front());
  e.overflowing.assign(std::make_move_iterator(parts.begin() + 1),
                       std::make_move_iterator(parts.end()));
}

void pad_one(Encoding& e, std::size_t length, const Padding& p, bool has_offsets) {
  for (Encoding& o : e.overflowing) pad_one(o, length, p, has_offsets);
  if (e.size() >= length) return;
  const std::size_t n = length - e.size();
  auto fill = [&](auto& list, auto value) {
    list.insert(p.direction == Side::kLeft ? list.begin() : list.end(), n, value);
  };
  fill(e.ids, p.id);
  if (has_offsets) fill(e.offsets, Range{});
  fill(e.type_ids, p.type_id);
  fill(e.attention_mask, std::uint8_t{0});
  fill(e.special_tokens_mask, std::uint8_t{1});
}

}  // namespace

void Encoding::append(const Encoding& other) {
  std::vector<Encoding> combined;
  for (const Encoding& mine : overflowing) {
    combined.push_back(mine);
    combined.back().append(other);
    for (const Encoding& its : other.overflowing) {
      combined.push_back(mine);
      combined.back().append(its);
    }
  }
  for (const Encoding& its : other.overflowing) {
    combined.push_back(*this);
    combined.back().append(its);
  }
  overflowing = std::move(combined);
  for_each_list(*this, other,
                [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); });
}

Encoding Encoding::part(std::size_t begin, std::size_t end) const {
  Encoding result;
  for_each_list(result, *this, [&](auto& to, const auto& from) {
    if (from.empty()) return;
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  });
  return result;
}

void truncate(Encoding& first, Encoding* second, const Truncation& t, std::size_t max_length) {
  if (max_length == 0) {
    cut(first, 0, t);
    if (second != nullptr) cut(*second, 0, t);
    return;
  }
  const std::size_t total = first.size() + (second == nullptr ? 0 : second->size());
  if (total <= max_length) return;
  const std::size_t excess = total - max_length;
  if (t.strategy == Truncation::Strategy::kLongestFirst) {
    if (second == nullptr) return cut(first, max_length, t);
    // The shorter one stays whole if it fits with at least as much of the longer one.
    std::size_t shorter = std::min(first.size(), second->size()), longer;
    longer = shorter > max_length ? shorter : std::max(shorter, max_length - shorter);
    if (shorter + longer > max_length) {
      shorter = max_length / 2;
      longer = shorter + max_length % 2;
    }
    const bool swapped = first.size() > second->size();
    cut(first, swapped ? longer : shorter, t);
    cut(*second, swapped ? shorter : longer, t);
    return;
  }
  const bool only_first = t.strategy == Truncation::Strategy::kOnlyFirst;
  if (!only_first && second == nullptr) {
    throw_truncation("only_second truncates the second text, and there is none",
                     "give a pair, or truncate longest_first");
  }
  Encoding& target = only_first ? first : *second;
  if (target.size() <= excess) {
    throw_truncation(
        fmt::format("{} tokens must go, and the text to truncate has {}", excess, target.size()),
        "truncate longest_first, or raise max_length");
  }
  cut(target, target.size() - excess, t);
}

void pad(std::vector<Encoding>& encodings, const Padding& p, bool has_offsets) {
  std::size_t length = p.fixed_length;
  if (length == 0) {
    for (const Encoding& e : encodings) length = std::max(length, e.size());
  }
  if (p.multiple_of > 0 && length % p.multiple_of > 0) {
    length += p.multiple_of - length % p.multiple_of;
  }
  for (Encoding& e : encodings) pad_one(e, length, p, has_offsets);
}

}  // namespace tlaloc::text
