// As in FlashAttention (Dao et al., 2022, 2023): blocks of queries meet blocks of keys, the scores
// of one such pair are all that is there at a time. Forward keeps the max and the sum by row and
// brings what it has to a new max; backward makes the weights again from the logarithm of the sum.
#include "tlaloc/cpu/attention_passes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/attention_kernels.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {
namespace {

using Role = AttentionArray;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr std::int64_t kRows = 96, kColumns = 96;
// Rows a power of two apart would fall into the same few lines of the caches.
constexpr std::int64_t kStride = kColumns + kScoreVector;
/// Queries of one head that a thread takes at least.
constexpr std::int64_t kChunk = 256;
/// Farther than any key; sums of a few of these are numbers.
constexpr std::int64_t kFar = std::int64_t{1} << 60;

/// What a thread computes in, with what gemm wants behind it.
struct Buffers {
  alignas(64) float scores[kRows * kStride], gradients[kRows * kStride], tanh[kRows * kStride];
  float max[kRows], sums[kRows], factors[kRows], delta[kRows];
};

/// One head of an array.
struct Head {
  float* data = nullptr;
  std::int64_t row = 0, column = 0;
  float* at(std::int64_t r) const { return data + r * row; }
  Matrix matrix(std::int64_t first) const { return {at(first), row, column}; }
};

/// A step's data and integers.
class Problem {
 public:
  explicit Problem(const KernelCall& call)
      : a(*static_cast<const Attention*>(call.data)),
        queries(call.ints[0]),
        keys(call.ints[1]),
        width(call.ints[2]),
        value_width(call.ints[3]),
        storages_(call.storages),
        shared_heads_(call.ints[4]),
        batch_(call.ints + 5, a.batch) {}

  const Attention& a;
  const std::int64_t queries, keys, width, value_width;

  bool has(Role r) const { return a.array[static_cast<std::size_t>(r)] >= 0; }
  /// Of q, over all axes in front, and of k.
  std::int64_t heads() const { return batch_.empty() ? 1 : product(batch_.back()); }
  std::int64_t shared_heads() const { return product(shared_heads_); }
  /// Heads of q that share one of k.
  std::int64_t group() const {
    return batch_.empty() || shared_heads_ == 0 ? 1 : batch_.back() / shared_heads_;
  }
  /// `index`: of a head of q, or of k for what has its heads.
  Head head(Role role, std::int64_t index) const {
    if (!has(role)) return {};
    const auto k = static_cast<std::size_t>(a.array[static_cast<std::size_t>(role)]);
    const std::int64_t* at = batch_.data() + a.batch + k * (a.batch + 3);
    const bool shared = role == Role::k || role == Role::v || role == Role::dk || role == Role::dv;
    std::int64_t offset = at[0];
    for (std::size_t i = a.batch; i-- > 0;) {
      const std::int64_t size = shared && i + 1 == a.batch ? shared_heads_ : batch_[i];
      offset += index % size * at[1 + i];
      index /= size;
    }
    const bool bytes = role == Role::mask && a.boolean_mask;
    std::byte* data = storages_[k] + offset * (bytes ? 1 : std::int64_t{sizeof(float)});
    return {reinterpret_cast<float*>(data), at[1 + a.batch], at[2 + a.batch]};
  }

  // Query r sees keys in [low() + r, high() + r).
  std::int64_t low() const { return a.window > 0 ? keys - queries - reach() + 1 : -kFar; }
  std::int64_t high() const {
    if (a.causal) return keys - queries + 1;
    return a.window > 0 ? keys - queries + reach() : kFar;
  }
  bool hides() const { return a.causal || a.window > 0; }

 private:
  std::int64_t reach() const { return std::min(a.window, kFar); }
  std::int64_t product(std::int64_t heads) const {
    const auto outer = batch_.first(batch_.empty() ? 0 : batch_.size() - 1);
    // Another size may be too large for 64 bits where one is 0.
    if (std::ranges::find(outer, 0) != outer.end()) return 0;
    for (std::int64_t n : outer) heads = heads == 0 ? 0 : heads * n;
    return heads;
  }

  std::byte* const* storages_;
  std::int64_t shared_heads_;
  std::span<const std::int64_t> batch_;
};

/// What one thread works on at a time.
class Pass {
 public:
  /// `memory` has attention_scratch_bytes.
  Pass(const Problem& p, std::byte* memory)
      : p_(p), s_(*reinterpret_cast<Buffers*>(memory)), gemm_scratch_(memory + sizeof(Buffers)) {
    const double scale = p.a.scale;
    masking_.scale =
        scale != 0 ? static_cast<float>(scale) : 1 / std::sqrt(static_cast<float>(p.width));
    masking_.soft_cap = static_cast<float>(p.a.soft_cap);
  }

  /// Of one head of q, so many queries from the first on.
  void forward(std::int64_t head, std::int64_t first, std::int64_t count) {
    use(head);
    const Head out = p_.head(Role::out, head), lse = p_.head(Role::lse, head);
    skips_ = p_.hides() && bias_allows() && is_bounded(v_, p_.keys, p_.value_width, kLowest);
    for (std::int64_t i = first; i < first + count; i += kRows) {
      const std::int64_t rows = std::min(kRows, first + count - i);
      forward_rows(i, rows, out);
      if (lse.data == nullptr) continue;
      for (std::int64_t r = 0; r < rows; ++r) {
        const float max = s_.max[r] == -kInfinity ? 0 : s_.max[r];
        *lse.at(i + r) = std::log(s_.sums[r]) + max;
      }
    }
  }

  /// Of one head of k, with all heads of q that share it, what queries [first, last) give. `dk` and
  /// `dv` are those queries' shares of these gradients.
  void backward(std::int64_t shared, std::int64_t first, std::int64_t last, const Head& dk,
                const Head& dv) {
    clear(dk, 0, p_.keys);
    clear(dv, 0, p_.keys);
    for (std::int64_t head = shared * p_.group(); head < (shared + 1) * p_.group(); ++head) {
      use(head);
      Gradients g(p_, head, shared);
      g.dk = dk;
      g.dv = dv;
      clear(g.dq, first, last);
      clear(g.d_mask, first, last);
      skips_ = p_.hides() && bias_allows() && is_finite(g);
      if (p_.a.soft_cap > 0 && g.wants_scores) masking_.tanh = s_.tanh;
      for (std::int64_t j = 0; j < p_.keys; j += kColumns) {
        backward_columns(j, std::min(kColumns, p_.keys - j), first, last, g);
      }
    }
  }

 private:
  struct Gradients {
    Gradients(const Problem& p, std::int64_t head, std::int64_t shared)
        : out(p.head(Role::out, head)),
          lse(p.head(Role::lse, head)),
          d_out(p.head(Role::d_out, head)),
          dq(p.head(Role::dq, head)),
          dk(p.head(Role::dk, shared)),
          dv(p.head(Role::dv, shared)),
          d_mask(p.head(Role::d_mask, head)),
          wants_scores(dq.data || dk.data || d_mask.data) {}
    Head out, lse, d_out, dq, dk, dv, d_mask;
    bool wants_scores;  ///< else the gradient of v alone
  };

  void use(std::int64_t head) {
    q_ = p_.head(Role::q, head);
    k_ = p_.head(Role::k, head / p_.group());
    v_ = p_.head(Role::v, head / p_.group());
    mask_ = p_.head(Role::mask, head);
    masking_.mask_row = mask_.row;
    masking_.mask_column = mask_.column;
  }
  static void clear(const Head& h, std::int64_t first, std::int64_t last) {
    if (h.data != nullptr) std::fill(h.at(first), h.at(last), 0.0f);
  }

  // Hidden blocks are left out where that makes no difference. It does where a zero meets what is
  // not finite, or -infinity another one.

  bool is_bounded(const Head& h, std::int64_t rows, std::int64_t columns, float low) const {
    // Those in the same place are one.
    if (h.row == 0) rows = std::min<std::int64_t>(rows, 1);
    if (h.column == 0) columns = std::min<std::int64_t>(columns, 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      if (!kernels_.is_bounded(h.at(r), h.column, columns, low)) return false;
    }
    return true;
  }
  bool bias_allows() const {
    return mask_.data == nullptr || p_.a.boolean_mask ||
           is_bounded(mask_, p_.queries, p_.keys, -kInfinity);
  }
  bool is_finite(const Gradients& g) const {
    if (!is_bounded(q_, p_.queries, p_.width, kLowest) ||
        !is_bounded(k_, p_.keys, p_.width, kLowest) ||
        !is_bounded(g.d_out, p_.queries, p_.value_width, kLowest) ||
        !is_bounded(g.lse, p_.queries, 1, -kInfinity)) {
      return false;
    }
    return !g.wants_scores || (is_bounded(v_, p_.keys, p_.value_width, kLowest) &&
                               is_bounded(g.out, p_.queries, p_.value_width, kLowest));
  }

  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                float* c, std::int64_t row, bool add) const {
    gemm({DType::f32, m, n, k, a, b, {c, row, 1}, add}, gemm_scratch_);
  }
  /// Masked scores of queries from i on and keys from j on.
  ScoreBlock scores(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns) {
    multiply(rows, columns, p_.width, q_.matrix(i), k_.matrix(j).transposed(), s_.scores, kStride,
             false);
    masking_.low = p_.low() + i - j;
    masking_.high = p_.high() + i - j;
    if (mask_.data != nullptr) {
      const std::int64_t first = i * mask_.row + j * mask_.column;
      if (p_.a.boolean_mask) {
        masking_.keep = reinterpret_cast<const bool*>(mask_.data) + first;
      } else {
        masking_.bias = mask_.data + first;
      }
    }
    const ScoreBlock block{s_.scores, rows, columns, kStride};
    kernels_.mask(block, masking_);
    return block;
  }

  void forward_rows(std::int64_t i, std::int64_t rows, const Head& out) {
    std::fill_n(s_.max, rows, -kInfinity);
    std::fill_n(s_.sums, rows, 0.0f);
    std::int64_t begin = 0, end = p_.keys;
    if (skips_) {
      begin = std::clamp<std::int64_t>(p_.low() + i, 0, end) / kColumns * kColumns;
      end = std::clamp<std::int64_t>(p_.high() + i + rows - 1, 0, end);
    }
    float* const to = out.at(i);
    if (begin >= end) std::fill_n(to, rows * out.row, 0.0f);
    for (std::int64_t j = begin; j < end; j += kColumns) {
      const std::int64_t columns = std::min(kColumns, p_.keys - j);
      kernels_.softmax(scores(i, rows, j, columns), s_.max, s_.sums, s_.factors);
      if (j > begin) kernels_.multiply(to, rows, p_.value_width, out.row, s_.factors);
      multiply(rows, p_.value_width, columns, {s_.scores, kStride, 1}, v_.matrix(j), to, out.row,
               j > begin);
    }
    for (std::int64_t r = 0; r < rows; ++r) s_.factors[r] = s_.sums[r] == 0 ? 1 : s_.sums[r];
    kernels_.divide(to, rows, p_.value_width, out.row, s_.factors);
  }

  void backward_columns(std::int64_t j, std::int64_t columns, std::int64_t first, std::int64_t last,
                        const Gradients& g) {
    std::int64_t begin = first, end = last;
    if (skips_) {
      begin = std::clamp<std::int64_t>(j - p_.high() + 1, first, last) / kRows * kRows;
      end = std::clamp<std::int64_t>(j + columns - p_.low(), first, last);
    }
    const Matrix weights{s_.scores, kStride, 1}, draw{s_.gradients, kStride, 1};
    for (std::int64_t i = begin; i < end; i += kRows) {
      const std::int64_t rows = std::min(kRows, last - i);
      const ScoreBlock block = scores(i, rows, j, columns);
      for (std::int64_t r = 0; r < rows; ++r) {
        const float lse = *g.lse.at(i + r);
        s_.max[r] = lse == -kInfinity ? 0 : lse;
      }
      kernels_.exp(block, s_.max);
      if (g.dv.data != nullptr) {
        multiply(columns, p_.value_width, rows, weights.transposed(), g.d_out.matrix(i), g.dv.at(j),
                 g.dv.row, true);
      }
      if (!g.wants_scores) continue;
      multiply(rows, columns, p_.value_width, g.d_out.matrix(i), v_.matrix(j).transposed(),
               s_.gradients, kStride, false);
      for (std::int64_t r = 0; r < rows; ++r) {
        s_.delta[r] = kernels_.dot(g.out.at(i + r), g.out.column, g.d_out.at(i + r), g.d_out.column,
                                   p_.value_width);
      }
      kernels_.gradient({s_.gradients, rows, columns, kStride}, s_.scores, s_.delta, masking_,
                        g.d_mask.data ? g.d_mask.at(i) + j : nullptr, g.d_mask.row);
      if (g.dq.data != nullptr) {
        multiply(rows, p_.width, columns, draw, k_.matrix(j), g.dq.at(i), g.dq.row, true);
      }
      if (g.dk.data != nullptr) {
        multiply(columns, p_.width, rows, draw.transposed(), q_.matrix(i), g.dk.at(j), g.dk.row,
                 true);
      }
    }
  }

  const Problem& p_;
  Buffers& s_;
  std::byte* gemm_scratch_;
  const AttentionKernels& kernels_ = attention_kernels();
  Masking masking_;
  Head q_, k_, v_, mask_;
  bool skips_ = false;  ///< hidden blocks
};

/// f(pass, part) for each part, by several threads where that is worth it.
template <class F>
void each_part(const Problem& p, std::byte* scratch, std::int64_t parts, const F& f) {
  constexpr double kNanoseconds = 0.05;  // of a multiply-add
  const double work = static_cast<double>(p.heads()) * static_cast<double>(p.queries) *
                      static_cast<double>(p.keys) * static_cast<double>(p.width + p.value_width);
  if (work * kNanoseconds >= alone_nanoseconds()) {
    return parallel(parts, [&](std::int64_t i) {
      const Scratch own(attention_scratch_bytes());
      Pass pass(p, own.get());
      f(pass, i);
    });
  }
  for (std::int64_t i = 0; i < parts; ++i) {
    Pass pass(p, scratch);
    f(pass, i);
  }
}

}  // namespace

std::size_t attention_scratch_bytes() { return sizeof(Buffers) + gemm_scratch_bytes(DType::f32); }

void run_attention(const KernelCall& call) {
  const Problem p(call);
  if (p.queries == 0 || (p.value_width == 0 && !p.has(Role::lse))) return;
  const std::int64_t chunks = (p.queries + kChunk - 1) / kChunk;
  each_part(p, call.scratch, p.heads() * chunks, [&](Pass& pass, std::int64_t part) {
    const std::int64_t first = part % chunks * kChunk;
    pass.forward(part / chunks, first, std::min(kChunk, p.queries - first));
  });
}

void run_attention_backward(const KernelCall& call) {
  const Problem p(call);
  if (p.queries == 0 && p.keys == 0) return;
  const std::int64_t shared = p.shared_heads();
  if (shared == 0) return;
  // Few heads are cut into chunks of queries, by sizes alone. Chunks have gradients of k and v of
  // their own, which are added up in order: so many parts bound what these take.
  constexpr std::int64_t kParts = 16;
  const std::int64_t blocks = (p.queries + kRows - 1) / kRows;
  const std::int64_t wanted =
      std::clamp<std::int64_t>(kParts / shared, 1, std::max<std::int64_t>(blocks, 1));
  const std::int64_t chunk = (blocks + wanted - 1) / wanted * kRows;
  const std::int64_t chunks = chunk == 0 ? 1 : (p.queries + chunk - 1) / chunk;
  if (chunks == 1) {
    return each_part(p, call.scratch, shared, [&](Pass& pass, std::int64_t part) {
      pass.backward(part, 0, p.queries, p.head(Role::dk, part), p.head(Role::dv, part));
    });
  }
  const std::int64_t keys = p.has(Role::dk) ? p.keys * p.width : 0;
  const std::int64_t values = p.has(Role::dv) ? p.keys * p.value_width : 0;
  const Scratch memory(sizeof(float) * usize(shared * chunks * (keys + values)));
  auto* const shares = reinterpret_cast<float*>(memory.get());
  each_part(p, call.scratch, shared * chunks, [&](Pass& pass, std::int64_t part) {
    float* const own = shares + part * (keys + values);
    const std::int64_t first = part % chunks * chunk;
    pass.backward(part / chunks, first, std::min(first + chunk, p.queries),
                  keys == 0 ? Head{} : Head{own, p.width, 1},
                  values == 0 ? Head{} : Head{own + keys, p.value_width, 1});
  });
  // Elements of all heads, one head's behind the other's.
  const auto add_up = [&](Role role, const float* from, std::int64_t n) {
    if (n == 0) return;
    const Ranges ranges = share(shared * n, 0.2 * static_cast<double>(chunks), 1024);
    parallel(ranges, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end;) {
        const std::int64_t head = i / n, at = i % n, count = std::min(n - at, end - i);
        const float* x = from + head * chunks * (keys + values) + at;
        float* const to = p.head(role, head).data + at;
        std::copy_n(x, count, to);
        for (std::int64_t c = 1; c < chunks; ++c) {
          x += keys + values;
          for (std::int64_t k = 0; k < count; ++k) to[k] += x[k];
        }
        i += count;
      }
    });
  };
  add_up(Role::dk, shares, keys);
  add_up(Role::dv, shares + keys, values);
}

}  // namespace tlaloc::cpu
