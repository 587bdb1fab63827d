// Which known values the unknown part gets to read: a minimum cut of bytes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tlaloc/ops/rows.h"
#include "tlaloc/transform/max_flow.h"
#include "tlaloc/transform/split.h"

namespace tlaloc::transform {
namespace {

constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 4;
/// A connected piece of cheap work larger than this keeps its frontier: the cut is superlinear.
constexpr std::size_t kLargestCut = 20000;

class Chooser {
 public:
  explicit Chooser(const ResidualQuery& q) : q_(q), g_(q.g) {
    // Constants and sizes depend on no param: they are computed again, never kept.
    rooted_.assign(g_.value_count(), false);
    std::fill_n(rooted_.begin(), g_.param_count(), true);
    for (std::uint32_t i = 0; i < g_.node_count(); ++i) {
      const Node n = g_.node(i);
      bool r = !n.regions().empty();
      for (ValueId v : n.operands()) r = r || rooted_[v];
      for (std::size_t k = 0; k < n.result_count(); ++k) rooted_[n.result(k)] = r;
    }
  }

  std::vector<bool> run() {
    kept_.assign(g_.value_count(), false);
    if (q_.policy.residuals == Policy::Residuals::save && q_.place.remat.empty()) {
      // The frontier itself; what may not be kept falls through to the cut.
      bool all = true;
      for (ValueId v : q_.needed) all = all && (!rooted_[v] || saveable(v));
      if (all) {
        for (ValueId v : q_.needed) kept_[v] = rooted_[v];
        return kept_;
      }
    }
    needed_.assign(g_.value_count(), false);
    for (ValueId v : q_.needed) needed_[v] = true;
    reach();
    gather_pieces();
    for (std::size_t p = 0; p + 1 < piece_begin_.size(); ++p) {
      cut(std::span(pieces_).subspan(piece_begin_[p], piece_begin_[p + 1] - piece_begin_[p]));
    }
    return kept_;
  }

 private:
  bool local(Dim d) const {
    return d.mentions([&](Symbol s) { return std::ranges::binary_search(q_.local_dims, s.id()); });
  }
  bool rebound(ValueId v) const {
    if (q_.rebound.empty()) return false;
    return std::ranges::any_of(g_.type(v).shape(), [&](Dim d) {
      return d.mentions([&](Symbol s) { return std::ranges::binary_search(q_.rebound, s.id()); });
    });
  }
  bool saveable(ValueId v) const {
    if (rebound(v)) return false;
    if (!q_.place.remat.empty() && !g_.is_param(v) && !named_by_policy(v)) return false;
    if (q_.local_dims.empty()) return true;
    const Type t = g_.type(v);
    for (int i = 1; i < t.rank(); ++i) {
      if (local(t.dim(i))) return false;
    }
    if (t.rank() == 0 || !local(t.dim(0))) return true;
    if (!t.dim(0).as_symbol()) return false;
    switch (q_.policy.nested) {
      case Policy::Nested::recompute:
        return false;
      case Policy::Nested::append:
        return true;
      case Policy::Nested::automatic:
        return t.rank() == 1;  // scalar code: one number per trip
    }
    return false;
  }
  bool named_by_policy(ValueId v) const {
    const std::string& p = q_.place.remat;
    const Node n = g_.node(g_.producer(v));
    if (p == "dots") {
      return &n.op() == ops::find("dot_general") || &n.op() == ops::find("convolution");
    }
    if (!p.starts_with("names:")) return false;
    const std::string& name = n.origin().name;
    return !name.empty() && ("," + p.substr(6) + ",").find("," + name + ",") != std::string::npos;
  }
  std::int64_t cost(ValueId v) const {
    if (!saveable(v)) return kInfinite;
    if (g_.is_param(v) && (v < q_.place.invariants || !q_.place.remat.empty())) return 1;
    const double bytes = ir::typical(g_.type(v).elements()) * byte_size(g_.type(v).dtype());
    return std::min(static_cast<std::int64_t>(std::ceil(std::max(bytes, 0.0) * 16)) + 2,
                    kInfinite / 1024);
  }
  /// May the unknown part compute v again from its operands?
  bool recomputable(ValueId v) const {
    if (g_.is_param(v)) return false;
    const Node n = g_.node(g_.producer(v));
    if (n.op().traits.ordered || n.operands().empty()) return false;
    if (!saveable(v)) return true;
    if (!q_.place.remat.empty()) return false;  // the policy names it: kept although params suffice
    if (n.region_kind() != RegionKind::none) {
      for (std::size_t k = 0; k < n.result_count(); ++k) {
        if (!saveable(n.result(k))) return true;
      }
      return false;
    }
    return q_.policy.residuals == Policy::Residuals::min_cut && n.op().traits.cheap;
  }

  /// Values that a cut can involve: from what is needed, back through what may be recomputed.
  void reach() {
    index_.assign(g_.value_count(), kNoIndex);
    std::vector<ValueId> todo = q_.needed;
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (!rooted_[v] || index_[v] != kNoIndex) continue;
      index_[v] = static_cast<std::uint32_t>(values_.size());
      values_.push_back(v);
      again_.push_back(recomputable(v));
      if (!again_.back()) continue;
      for (ValueId a : g_.node(g_.producer(v)).operands()) todo.push_back(a);
    }
  }

  bool again(ValueId v) const { return again_[index_[v]]; }

  /// Connected pieces, so that the flow runs on small graphs: sorted, one after the other.
  void gather_pieces() {
    std::vector<std::uint32_t> parent(values_.size());
    std::iota(parent.begin(), parent.end(), std::uint32_t{0});
    auto find = [&](std::uint32_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      if (!again_[i]) continue;
      for (ValueId a : g_.node(g_.producer(values_[i])).operands()) {
        if (rooted_[a]) parent[find(index_[a])] = find(i);
      }
    }
    std::vector<std::uint32_t> end(values_.size());  // by root: its size, then its end in pieces_
    for (std::uint32_t i = 0; i < values_.size(); ++i) ++end[find(i)];
    piece_begin_ = {0};
    for (std::uint32_t& e : end) {
      if (e == 0) continue;
      const std::uint32_t begin = piece_begin_.back();
      piece_begin_.push_back(begin + e);
      e = begin;
    }
    pieces_.resize(values_.size());
    for (std::uint32_t i = 0; i < values_.size(); ++i) pieces_[end[find(i)]++] = values_[i];
  }

  void cut(std::span<ValueId> piece) {
    auto needed = [&](ValueId v) { return needed_[v]; };
    if (piece.size() == 1 || piece.size() > kLargestCut) {
      bool possible = true;
      for (ValueId v : piece) possible = possible && (!needed(v) || saveable(v));
      if (possible) {
        for (ValueId v : piece) kept_[v] = needed(v);
        return;
      }
    }
    std::ranges::sort(piece);
    auto at = [&](ValueId v) {
      return static_cast<std::size_t>(std::ranges::lower_bound(piece, v) - piece.begin());
    };
    const std::size_t source = 2 * piece.size(), sink = source + 1;
    flow_.reset(sink + 1);
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const ValueId v = piece[i];
      const std::size_t in = 2 * i, out = in + 1;
      flow_.add_edge(in, out, cost(v));
      if (needed(v)) flow_.add_edge(out, sink, kInfinite);
      if (!again(v)) {
        flow_.add_edge(source, in, kInfinite);
        continue;
      }
      for (ValueId a : g_.node(g_.producer(v)).operands()) {
        if (rooted_[a]) flow_.add_edge(2 * at(a) + 1, in, kInfinite);
      }
    }
    if (flow_.run(source, sink) >= kInfinite) {
      throw UserError({"TL-GRAD-004",
                       g_.name(),
                       "a value of the forward pass can neither be kept nor computed again",
                       "choose another policy for nested loops",
                       {}});
    }
    // The cut nearest the sink recomputes least.
    const std::vector<std::uint8_t>& late = flow_.reaches_sink(sink);
    for (std::size_t i = 0; i < piece.size(); ++i) {
      kept_[piece[i]] = !late[2 * i] && late[2 * i + 1];
    }
  }

  const ResidualQuery& q_;
  const Graph& g_;
  std::vector<std::uint8_t> rooted_, needed_;
  std::vector<bool> kept_;
  static constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};
  std::vector<std::uint32_t> index_;  ///< by ValueId, into values_
  std::vector<ValueId> values_;
  std::vector<bool> again_;  ///< of values_: recomputable
  std::vector<ValueId> pieces_;
  std::vector<std::uint32_t> piece_begin_;
  MaxFlow flow_;
};

}  // namespace

std::vector<bool> choose_residuals(const ResidualQuery& query) { return Chooser(query).run(); }

}  // namespace tlaloc::transform
