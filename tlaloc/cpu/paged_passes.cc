// As in paged_kernels.h, blocks of keys lie at multiples of kPagedBlock in a sequence; spans of
// them too. A span begins with nothing, and spans are merged in order, whether one part did all of
// them or each of them was a part of its own: so a token's bits are those of its sequence alone.
#include "tlaloc/cpu/paged_passes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/paged_kernels.h"
#include "tlaloc/cpu/scratch.h"
#include "tlaloc/ops/index_value.h"

namespace tlaloc::cpu {
namespace {

/// A token with its head's queries is some rows; a tile has up to so many, of one sequence.
constexpr std::int64_t kRows = 96;
/// Keys of a span. 512 of two heads of 64 halves are 256 KiB: a part that takes 15 µs to read.
constexpr std::int64_t kSpan = 8 * kPagedBlock;
/// Below so many parts, spans are parts, if what they find is no more than so many elements.
constexpr std::int64_t kFewParts = 64, kFound = 1 << 22;

constexpr std::int64_t up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

struct Token {
  std::int64_t index = 0, sequence = 0, position = 0;
  std::int64_t low = 0, high = 0;  ///< it sees places [low, high)
};
/// Rows r to r + count - 1 of some tokens of one sequence, which lie in order of their positions.
/// Row i is query i % group of a head of token i / group.
struct Tile {
  const Token* tokens;
  std::int64_t first, count;
  std::int64_t low, high;  ///< what any of them sees

  std::int64_t spans() const { return (high + kSpan - 1) / kSpan - low / kSpan; }
};
/// What a part does: some heads of a tile, over all of its spans or one.
struct Part {
  const Tile* tile;
  std::int64_t head, heads;  ///< of the pools
  std::int64_t span = -1;    ///< -1: all
};

/// A step's data and integers.
struct Problem {
  explicit Problem(const KernelCall& call)
      : a(*static_cast<const Paged*>(call.data)),
        q(reinterpret_cast<const float*>(call.storages[0])),
        keys(call.storages[1]),
        values(call.storages[2]),
        positions(reinterpret_cast<const std::int32_t*>(call.storages[3])),
        sequences(reinterpret_cast<const std::int32_t*>(call.storages[4])),
        tables(reinterpret_cast<const std::int32_t*>(call.storages[5])),
        out(reinterpret_cast<float*>(call.storages[6])) {
    static_assert(sizeof(s) == kPagedSizes * sizeof(std::int64_t));
    std::memcpy(&s, call.ints, sizeof s);
    group = s.kv_heads == 0 ? 0 : s.heads / s.kv_heads;
    columns = up(s.value_width, kPagedVector);
  }

  const Paged& a;
  PagedSizes s;
  const float* q;
  const std::byte *keys, *values;
  const std::int32_t *positions, *sequences, *tables;
  float* out;
  std::int64_t group;    ///< heads of q that share one of the pools
  std::int64_t columns;  ///< of values, by whole vectors

  /// Heads whose keys and values of a block lie in the second-level cache with those of the next
  /// block: measured, twice and half as many bytes are 5 to 30 % slower.
  std::int64_t heads_side_by_side() const {
    constexpr std::int64_t kBytes = 128 << 10;
    const std::int64_t one = kPagedBlock * (s.width + s.value_width) * byte_size(a.pool);
    return std::clamp<std::int64_t>(kBytes / std::max<std::int64_t>(one, 1), 1, s.kv_heads);
  }
  /// The tokens that see something, by sequences and positions.
  std::vector<Token> tokens() const {
    std::vector<Token> r;
    for (std::int64_t i = 0; i < s.tokens; ++i) {
      Token t{.index = i,
              .sequence = ops::clamped_index(sequences[i], s.sequences - 1),
              .position = positions[i]};
      t.low = a.window > 0 ? std::max<std::int64_t>(t.position + 1 - a.window, 0) : 0;
      if (t.position >= 0 && s.page > 0 && s.pages > 0 && s.sequences > 0) {
        const bool inside = t.position / s.page < s.columns;
        t.high = inside ? t.position + 1 : s.columns * s.page;
      }
      if (t.low < t.high) {
        r.push_back(t);
      } else {
        std::fill_n(out + i * s.heads * s.value_width, s.heads * s.value_width, 0.0f);
      }
    }
    std::ranges::sort(r, {},
                      [](const Token& t) { return std::tuple(t.sequence, t.position, t.index); });
    return r;
  }
  std::vector<Tile> tiles(const std::vector<Token>& all) const {
    std::vector<Tile> r;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && all[end].sequence == all[begin].sequence) ++end;
      const std::int64_t rows = static_cast<std::int64_t>(end - begin) * group;
      for (std::int64_t i = 0; i < rows; i += kRows) {
        Tile t{&all[begin], i, std::min(kRows, rows - i), 0, 0};
        t.low = t.tokens[i / group].low;
        t.high = t.tokens[(i + t.count - 1) / group].high;
        r.push_back(t);
      }
    }
    return r;
  }
};

/// Rows with what they have found: `max` and `sum` by row, then rows of values.
class Found {
 public:
  static std::int64_t elements(const Problem& p, std::int64_t rows) {
    return 2 * up(rows, kPagedVector) + rows * p.columns;
  }
  Found(const Problem& p, std::int64_t rows, float* memory)
      : rows_(rows), columns_(p.columns), max_(memory) {}

  float* max(std::int64_t r) const { return max_ + r; }
  float* sum(std::int64_t r) const { return max_ + up(rows_, kPagedVector) + r; }
  float* values(std::int64_t r) const { return max_ + 2 * up(rows_, kPagedVector) + r * columns_; }
  void clear() const {
    std::fill_n(max(0), rows_, -std::numeric_limits<float>::infinity());
    std::fill(sum(0), values(rows_), 0.0f);
  }
  PagedRows rows(std::int64_t first, std::int64_t count) const {
    PagedRows r;
    r.count = count;
    r.max = max(first);
    r.sum = sum(first);
    r.values = values(first);
    r.stride = columns_;
    return r;
  }

 private:
  std::int64_t rows_, columns_;
  float* max_;
};

/// What one thread works on at a time.
class Pass {
 public:
  explicit Pass(const Problem& p)
      : p_(p),
        in_place_(p.a.pool == DType::f32 && p.columns == p.s.value_width),
        row_(p.columns + kPagedVector),
        memory_(sizeof(float) * usize(elements())) {
    auto* next = reinterpret_cast<float*>(memory_.get());
    const auto take = [&](std::int64_t n) {
      return std::exchange(next, next + up(n, kPagedVector));
    };
    keys_ = take(kPagedBlock * p.s.width);
    values_ = take(in_place_ ? 0 : kPagedBlock * row_);
    scores_ = take(kPagedBlock * kRows);
    factors_ = take(kRows);
  }

  /// All of a part; `found` has room for each of its heads.
  void run(const Part& part, float* found) {
    const Tile& t = *part.tile;
    const std::int64_t each = Found::elements(p_, t.count);
    const auto of = [&](float* memory, std::int64_t h) {
      return Found(p_, t.count, memory + h * each);
    };
    if (part.span >= 0) {
      for (std::int64_t h = 0; h < part.heads; ++h) of(found, h).clear();
      return see(part, t.low / kSpan + part.span, [&](std::int64_t h) { return of(found, h); });
    }
    const Scratch span(sizeof(float) * usize(each * part.heads));
    auto* const more = reinterpret_cast<float*>(span.get());
    for (std::int64_t h = 0; h < part.heads; ++h) of(found, h).clear();
    for (std::int64_t s = t.low / kSpan; s * kSpan < t.high; ++s) {
      for (std::int64_t h = 0; h < part.heads; ++h) of(more, h).clear();
      see(part, s, [&](std::int64_t h) { return of(more, h); });
      for (std::int64_t h = 0; h < part.heads; ++h) merge(t, s, of(found, h), of(more, h));
    }
    for (std::int64_t h = 0; h < part.heads; ++h) finish(t, part.head + h, of(found, h));
  }

  /// Of what a part found in a span, for the rows that see something of it.
  void merge(const Tile& t, std::int64_t span, const Found& to, const Found& from) const {
    const auto [first, count] = seeing(t, span * kSpan, (span + 1) * kSpan);
    kernels_.merge(to.rows(first, count), from.rows(first, count), p_.columns);
  }
  void finish(const Tile& t, std::int64_t head, const Found& found) const {
    for (std::int64_t r = 0; r < t.count; ++r) {
      const std::int64_t row = t.first + r;
      const std::int64_t query =
          t.tokens[row / p_.group].index * p_.s.heads + head * p_.group + row % p_.group;
      kernels_.finish(found.values(r), *found.sum(r), p_.s.value_width,
                      p_.out + query * p_.s.value_width);
    }
  }

 private:
  std::int64_t elements() const {
    return kPagedBlock * (p_.s.width + (in_place_ ? 0 : row_) + kRows) + kRows + 4 * kPagedVector;
  }
  struct Range {
    std::int64_t first, count;
  };
  const Token& token(const Tile& t, std::int64_t r) const {
    return t.tokens[(t.first + r) / p_.group];
  }
  /// The rows that see something of the places [begin, end): neither end of what one sees falls
  /// from row to row.
  Range seeing(const Tile& t, std::int64_t begin, std::int64_t end) const {
    std::int64_t first = 0, last = t.count;
    while (first < last && token(t, first).high <= begin) ++first;
    while (first < last && token(t, last - 1).low >= end) --last;
    return {first, last - first};
  }

  /// Shows one span to the rows of each head.
  template <class F>
  void see(const Part& part, std::int64_t span, const F& found) {
    const Tile& t = *part.tile;
    const std::int64_t begin = std::max(span * kSpan, t.low / kPagedBlock * kPagedBlock);
    const std::int64_t end = std::min((span + 1) * kSpan, t.high);
    for (std::int64_t at = begin; at < end; at += kPagedBlock) {
      const auto [first, count] = seeing(t, at, at + kPagedBlock);
      if (count == 0) continue;
      const std::int64_t low = std::max<std::int64_t>(token(t, first).low - at, 0);
      const std::int64_t high = std::min(token(t, first + count - 1).high - at, kPagedBlock);
      find(part, at);
      for (std::int64_t r = 0; r < count; ++r) {
        low_[r] = std::max<std::int64_t>(token(t, first + r).low - at, 0);
        high_[r] = std::min(token(t, first + r).high - at, kPagedBlock);
      }
      for (std::int64_t h = 0; h < part.heads; ++h) {
        if (next_.at >= 0) {
          fetch(part, next_, h * kPagedBlock / part.heads, (h + 1) * kPagedBlock / part.heads);
        }
        show(t, part.head + h, low, high, found(h).rows(first, count), first);
      }
    }
  }

  /// Where the keys behind a place lie; those that no row of a tile sees, where the nearest do that
  /// one sees.
  struct Places {
    std::int64_t at = -1;
    const std::byte *key[kPagedBlock], *value[kPagedBlock];  ///< of the first head
  };
  void find(const Tile& t, std::int64_t at, Places& to) const {
    to.at = at;
    const std::int32_t* table = p_.tables + t.tokens->sequence * p_.s.columns;
    const std::int64_t first = std::clamp(at, t.low, t.high - 1);
    std::int64_t column = first / p_.s.page, within = first % p_.s.page;
    const std::byte *key, *value;
    const auto turn_page = [&] {
      const std::int64_t page = ops::clamped_index(table[column], p_.s.pages - 1);
      const auto row = [&](const std::byte* pool, const PagedPool& lies) {
        return pool + (lies.offset + page * lies.page + within * lies.place) * bytes();
      };
      key = row(p_.keys, p_.s.keys);
      value = row(p_.values, p_.s.values);
    };
    turn_page();
    for (std::int64_t k = 0; k < kPagedBlock; ++k) {
      to.key[k] = key;
      to.value[k] = value;
      const std::int64_t next = at + k + 1;
      if (next <= t.low || next >= t.high) continue;
      key += p_.s.keys.place * bytes();
      value += p_.s.values.place * bytes();
      if (++within < p_.s.page) continue;
      ++column;
      within = 0;
      turn_page();
    }
  }
  void find(const Part& part, std::int64_t at) {
    const Tile& t = *part.tile;
    if (next_.at == at) {
      std::swap(now_, next_);
    } else {
      find(t, at, now_);
      fetch(part, now_, 0, kPagedBlock);
    }
    next_.at = -1;
    if (at + kPagedBlock < t.high) find(t, at + kPagedBlock, next_);
  }
  /// Some rows of a block, in the order in which they lie: those of one head are too far apart for
  /// the CPU to see them coming.
  void fetch(const Part& part, const Places& from, std::int64_t begin, std::int64_t end) const {
    begin = std::max(begin, part.tile->low - from.at);
    end = std::min(end, part.tile->high - from.at);
    const auto all = [&](const std::byte* const* rows, const PagedPool& lies, std::int64_t n) {
      const bool side_by_side = lies.head == n;
      const std::int64_t runs = side_by_side ? 1 : part.heads;
      const std::int64_t length = (side_by_side ? part.heads * n : n) * bytes();
      for (std::int64_t k = begin; k < end; ++k) {
        for (std::int64_t i = 0; i < runs; ++i) {
          kernels_.fetch(rows[k] + (part.head + i) * lies.head * bytes(), length);
        }
      }
    };
    all(from.key, p_.s.keys, p_.s.width);
    all(from.value, p_.s.values, p_.s.value_width);
  }
  std::int64_t bytes() const { return byte_size(p_.a.pool); }
  /// Shows a block to one head's rows.
  void show(const Tile& t, std::int64_t head, std::int64_t low, std::int64_t high, PagedRows rows,
            std::int64_t first) {
    const std::byte* from[kPagedBlock];
    for (std::int64_t k = 0; k < kPagedBlock; ++k) {
      from[k] = now_.key[k] + head * p_.s.keys.head * bytes();
    }
    kernels_.transpose(p_.a.pool, from, low, high, p_.s.width, keys_);
    const float* values[kPagedBlock];
    for (std::int64_t k = 0; k < kPagedBlock; ++k) {
      from[k] = now_.value[k] + head * p_.s.values.head * bytes();
      values[k] = in_place_ ? reinterpret_cast<const float*>(from[k]) : values_ + k * row_;
    }
    if (!in_place_) {
      kernels_.widen(p_.a.pool, from, low, high, p_.s.value_width, values_, row_, p_.columns);
    }
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const std::int64_t row = t.first + first + r;
      q_[r] =
          p_.q + (t.tokens[row / p_.group].index * p_.s.heads + head * p_.group + row % p_.group) *
                     p_.s.width;
    }
    rows.q = q_;
    rows.low = low_;
    rows.high = high_;
    PagedBlock b;
    b.width = p_.s.width;
    b.keys = keys_;
    b.columns = p_.columns;
    b.values = values;
    b.scale = p_.a.scale != 0 ? static_cast<float>(p_.a.scale)
                              : 1 / std::sqrt(static_cast<float>(p_.s.width));
    b.soft_cap = static_cast<float>(p_.a.soft_cap);
    b.scores = scores_;
    b.factors = factors_;
    kernels_.add(b, rows);
  }
  const Problem& p_;
  const PagedKernels& kernels_ = paged_kernels();
  bool in_place_;     ///< values are read where they lie
  std::int64_t row_;  ///< of values that are not
  Scratch memory_;
  float *keys_, *values_, *scores_, *factors_;
  Places now_, next_;
  const float* q_[kRows];
  std::int64_t low_[kRows], high_[kRows];
};

/// f(pass, i) for each part, by several threads where that is worth it.
template <class F>
void each(const Problem& p, std::int64_t parts, bool shared, const F& f) {
  if (shared) {
    return parallel(parts, [&](std::int64_t i) {
      Pass pass(p);
      f(pass, i);
    });
  }
  Pass pass(p);
  for (std::int64_t i = 0; i < parts; ++i) f(pass, i);
}

}  // namespace

void run_paged_attention(const KernelCall& call) {
  const Problem p(call);
  if (p.s.tokens == 0 || p.s.heads == 0 || p.s.value_width == 0) return;
  const std::vector<Token> tokens = p.tokens();
  const std::vector<Tile> tiles = p.tiles(tokens);
  std::vector<Part> parts;
  double work = 0;
  std::int64_t found = 0;  // elements, where spans are parts
  for (const Tile& t : tiles) {
    work += static_cast<double>(t.count * (t.high - t.low));
    found += Found::elements(p, t.count) * p.s.kv_heads * t.spans();
    // One token's keys are read in the order in which they lie; several tokens' stay in a cache.
    const std::int64_t heads = t.count <= p.group ? p.heads_side_by_side() : 1;
    for (std::int64_t h = 0; h < p.s.kv_heads; h += heads) {
      parts.push_back({&t, h, std::min(heads, p.s.kv_heads - h)});
    }
  }
  // Of a multiply-add; few queries wait for memory about as long.
  constexpr double kNanoseconds = 0.05;
  work *= static_cast<double>(p.s.kv_heads * (p.s.width + p.s.value_width));
  const bool shared = work * kNanoseconds >= alone_nanoseconds();
  const bool by_spans = std::ssize(parts) < kFewParts && found <= kFound &&
                        std::ranges::any_of(tiles, [](const Tile& t) { return t.spans() > 1; });
  if (!by_spans || !shared) {
    return each(p, std::ssize(parts), shared, [&](Pass& pass, std::int64_t i) {
      const Part& part = parts[usize(i)];
      const Scratch memory(sizeof(float) *
                           usize(Found::elements(p, part.tile->count) * part.heads));
      pass.run(part, reinterpret_cast<float*>(memory.get()));
    });
  }
  struct Piece {
    Part part;
    std::int64_t at;  ///< of what it finds
  };
  std::vector<Piece> pieces;
  std::vector<std::int64_t> begin;  // by part, of its pieces
  std::int64_t at = 0;
  for (const Part& part : parts) {
    begin.push_back(std::ssize(pieces));
    for (std::int64_t s = 0; s < part.tile->spans(); ++s) {
      pieces.push_back({part, at});
      pieces.back().part.span = s;
      at += Found::elements(p, part.tile->count) * part.heads;
    }
  }
  const Scratch memory(sizeof(float) * usize(at));
  auto* const all = reinterpret_cast<float*>(memory.get());
  each(p, std::ssize(pieces), true, [&](Pass& pass, std::int64_t i) {
    pass.run(pieces[usize(i)].part, all + pieces[usize(i)].at);
  });
  each(p, std::ssize(parts), false, [&](Pass& pass, std::int64_t i) {
    const Part& part = parts[usize(i)];
    const Tile& t = *part.tile;
    const std::int64_t size = Found::elements(p, t.count);
    const Scratch one(sizeof(float) * usize(size));
    const Found sum(p, t.count, reinterpret_cast<float*>(one.get()));
    for (std::int64_t h = 0; h < part.heads; ++h) {
      sum.clear();
      for (std::int64_t s = 0; s < t.spans(); ++s) {
        const Piece& piece = pieces[usize(begin[usize(i)] + s)];
        pass.merge(t, t.low / kSpan + s, sum, {p, t.count, all + piece.at + h * size});
      }
      pass.finish(t, part.head + h, sum);
    }
  });
}

}  // namespace tlaloc::cpu
