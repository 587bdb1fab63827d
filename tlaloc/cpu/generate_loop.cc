#include "tlaloc/cpu/generate_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/generate_convert.h"
#include "tlaloc/cpu/generate_math.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;
using Kind = Loop::Op::Kind;

/// Elements computed at once where the innermost axis allows it: two registers of AVX floats.
constexpr int kLanes = 16;
/// Of a fold's own work, so much that several vectors of sums fit into AVX's registers beside it.
constexpr std::size_t kFewOps = 6;
constexpr int kVectorsAtOnce = 4;
/// Copies of a body that short loops are written as: arrays of a few elements become registers. Of
/// a body of vectors fewer, which are long.
constexpr std::int64_t kMaxCopies = 16, kMaxVectorCopies = 4;
/// Rows shorter than kLanes, and what is left of longer ones whose length is known, are computed by
/// as many of these at once as they have; too few are better computed one by one.
constexpr std::int64_t kShortest = 4;
/// Bytes of accumulators that AVX's registers hold beside what is added to them.
constexpr std::int64_t kAccumulatorBytes = 12 * 32;

/// The op that folds two elements.
const ir::OpDef* fold_op(const Fold& f, DType element) {
  for (const auto& [reduction, op] : {std::pair{&ops::rows::ReduceSum, &ops::rows::Add},
                                      {&ops::rows::ReduceProd, &ops::rows::Mul},
                                      {&ops::rows::ReduceMax, &ops::rows::Max},
                                      {&ops::rows::ReduceMin, &ops::rows::Min},
                                      {&ops::rows::ReduceOr, &ops::rows::Or},
                                      {&ops::rows::ReduceAnd, &ops::rows::And}}) {
    if (find_fold(*reduction, element) == &f) return op;
  }
  return nullptr;
}

class LoopWriter {
 public:
  LoopWriter(IrWriter& w, LoopSource& source, const Loop& loop,
             const std::optional<AxisRange>& range)
      : w_(w), source_(source), loop_(loop), range_(range), regs_(loop.ops.size()) {
    for (const Loop::Op& op : loop.ops) {
      if (op.kind == Kind::load || op.kind == Kind::position) streams_.push_back(op.ints);
    }
    first_output_ = streams_.size();
    for (const Loop::Output& o : loop.outputs) streams_.push_back(o.ints);
    for (std::size_t k = 0; k < loop.rank; ++k) {
      if (source.integer(k) == "1") continue;
      axes_.push_back({k, static_cast<bool>((loop.folded >> k) & 1)});
    }
    for (std::uint16_t s : streams_) at_.push_back(source_.integer(s));
  }

  void run() {
    find_lanes();
    if (loop_.fold) {
      fold_ = fold_op(*loop_.fold, element());
      run_fold();
    } else {
      nest(0, at_, [&](const std::vector<IrValue>& at, int lanes) { store(at, lanes); });
    }
  }

  std::optional<SharedAxis> shared_axis() {
    // What is scattered goes where others may go, in order.
    if (loop_.result_index_count || loop_.combine) return std::nullopt;
    find_lanes();
    const auto shared = [&](const Axis& axis, std::int64_t kept) {
      const bool unit = lanes_along_ && lanes_along_->number == axis.number;
      return SharedAxis{axis.number, unit ? kLanes : 1, kept, picoseconds()};
    };
    // The first axis that is long enough for many parts, else the longest one.
    constexpr std::int64_t kLong = 32;
    const Axis* best = nullptr;
    std::int64_t longest = 1;
    for (const Axis& axis : axes_) {
      if (axis.folded || !writes_apart(axis)) continue;
      const std::int64_t n =
          is_number(extent(axis)) ? std::stoll(extent(axis)) : std::numeric_limits<int>::max();
      if (n <= longest) continue;
      best = &axis;
      longest = n;
      if (n >= kLong) break;
    }
    if (best && longest >= kLong) return shared(*best, 0);
    if (const auto kept = few_results()) {
      const auto folded = std::ranges::find(axes_, true, &Axis::folded);
      if (folded != axes_.end()) return shared(*folded, *kept);
    }
    if (best) return shared(*best, 0);
    return std::nullopt;
  }

 private:
  struct Axis {
    std::size_t number;
    bool folded;
  };
  using At = std::vector<IrValue>;
  using Body = std::function<void(const At&, int lanes)>;

  IrValue extent(const Axis& a) { return source_.integer(a.number); }
  /// How many indices of it are run through.
  IrValue trips(const Axis& a) {
    return range_ && range_->axis == a.number ? range_->count : extent(a);
  }
  IrValue stride(std::size_t stream, const Axis& a) {
    return source_.integer(streams_[stream] + 1U + a.number);
  }
  DType element(std::size_t output = 0) const { return loop_.ops[loop_.outputs[output].reg].dtype; }

  /// Whether elements along this axis can be computed by vectors: all is loaded from neighbours, or
  /// the same for all, or counted, and every operation exists on vectors. A loop that folds nothing
  /// must store neighbours too.
  bool has_lanes(const Axis& inner) {
    if (loop_.result_index_count || loop_.combine) return false;
    if (loop_.fused && inner.folded) return false;
    if (is_short_row(inner)) {
      // The order in which elements are added up depends on kLanes alone.
      if (inner.folded || std::stoll(extent(inner)) < kShortest) return false;
      if (has_small_elements()) return false;
    }
    std::size_t stream = 0;
    for (const Loop::Op& op : loop_.ops) {
      if (op.kind == Kind::op) {
        DType in[3];
        const std::size_t n = operands(op, in);
        if (!can_write(*op.def, {in, n}, op.dtype, kLanes)) return false;
        continue;
      }
      if (op.kind == Kind::literal) continue;
      if (op.index_count) return false;
      const IrValue step = stride(stream++, inner);
      const bool fits = op.kind == Kind::position ? is_short(step) : step == "0" || step == "1";
      if (!fits) return false;
    }
    for (std::size_t k = first_output_; k < streams_.size() && !loop_.fold; ++k) {
      if (stride(k, inner) != "1") return false;
    }
    return true;
  }
  /// Of which processors have no vectors of a few.
  bool has_small_elements() const {
    for (std::size_t k = 0; k < loop_.outputs.size(); ++k) {
      if (byte_size(element(k)) < 4) return true;
    }
    return std::ranges::any_of(loop_.ops, [](const Loop::Op& op) {
      return byte_size(op.dtype) < 4 && (op.kind == Kind::load || op.dtype != DType::boolean);
    });
  }
  bool is_short_row(const Axis& a) {
    return is_number(extent(a)) && std::stoll(extent(a)) < kLanes;
  }
  /// The innermost axis; but a fold may have any of its kept axes there, so that one visit to what
  /// is far apart along the folded ones serves all lanes: a long one if it can.
  void find_lanes() {
    if (axes_.empty()) return;
    if (has_lanes(axes_.back())) lanes_along_ = axes_.back();
    if (!loop_.fold || (lanes_along_ && !is_short_row(*lanes_along_))) return;
    for (const bool with_short : {false, true}) {
      const auto kept = std::find_if(axes_.rbegin(), axes_.rend(), [&](const Axis& a) {
        return !a.folded && (with_short || !is_short_row(a)) && has_lanes(a);
      });
      if (kept == axes_.rend()) continue;
      lanes_along_ = *kept;
      return;
    }
  }
  /// A number of which a few multiples are numbers.
  static bool is_short(const IrValue& v) {
    return is_number(v) && std::abs(std::stoll(v)) <= std::numeric_limits<std::int32_t>::max();
  }
  std::size_t operands(const Loop::Op& op, DType (&in)[3]) const {
    for (std::size_t k = 0; k < 3; ++k) in[k] = loop_.ops[op.args[k]].dtype;
    return op.arg_count;
  }

  /// Whether each index has results of its own.
  bool writes_apart(const Axis& axis) {
    for (std::size_t k = first_output_; k < streams_.size(); ++k) {
      if (stride(k, axis) == "0") return false;
    }
    return true;
  }
  /// The number of a fold's results, if they are few and lie side by side from the start of their
  /// array. Those of 16 bits round what they are folded in.
  std::optional<std::int64_t> few_results() {
    if (!loop_.fold || at_.back() != "0" || loop_.fold->accumulator != element())
      return std::nullopt;
    std::int64_t n = 1;
    for (std::size_t k = axes_.size(); k-- > 0;) {
      if (axes_[k].folded) continue;
      if (stride(first_output_, axes_[k]) != std::to_string(n) || !is_number(extent(axes_[k])))
        return std::nullopt;
      n *= std::stoll(extent(axes_[k]));
      if (n > kMaxKept) return std::nullopt;
    }
    return n > 0 ? std::optional(n) : std::nullopt;
  }
  /// What an element takes: rough numbers, of which only the ratio to what it costs to wake a
  /// thread matters.
  std::int64_t picoseconds() {
    const std::int64_t simple = lanes_along_ ? 20 : 300, function = lanes_along_ ? 400 : 6000;
    std::int64_t sum = 0;
    for (const Loop::Op& op : loop_.ops) {
      if (op.kind == Kind::load) sum += op.index_count ? 1000 : lanes_along_ ? 100 : 300;
      if (op.kind != Kind::op) continue;
      DType in[3];
      const std::size_t n = operands(op, in);
      const bool calls = has_math(*op.def, in[0]) || !can_write(*op.def, {in, n}, op.dtype, kLanes);
      sum += calls ? function : simple;
    }
    return sum + (lanes_along_ ? 100 : 300) * static_cast<std::int64_t>(loop_.outputs.size());
  }

  /// for (i = from; i < to; i += step) body(i)
  void count(const IrValue& from, const IrValue& to, int step,
             const std::function<void(const IrValue&)>& body) {
    if (is_number(from) && is_number(to)) {
      const std::int64_t first = std::stoll(from), n = (std::stoll(to) - first) / step;
      if (n <= 0) return;
      if (copies_ * n <= (step == 1 ? kMaxCopies : kMaxVectorCopies)) {
        copies_ *= n;
        for (std::int64_t k = 0; k < n; ++k) body(std::to_string(first + k * step));
        copies_ /= n;
        return;
      }
    }
    const IrValue i = w_.variable("i64");
    w_.line("store i64 " + from + ", ptr " + i);
    const std::string head = w_.label("head"), inside = w_.label("body"), done = w_.label("done");
    w_.fall_into(head);
    const IrValue now = w_.let("load i64, ptr " + i);
    w_.branch(w_.let("icmp slt i64 " + now + ", " + to), inside, done);
    w_.begin(inside);
    body(now);
    w_.line("store i64 " + w_.let(format("add nsw i64 {}, {}", now, step)) + ", ptr " + i);
    w_.jump(head);
    w_.begin(done);
  }

  At moved(const At& at, const Axis& axis, const IrValue& i) {
    At r;
    for (std::size_t s = 0; s < at.size(); ++s) {
      r.push_back(w_.add(at[s], w_.mul(stride(s, axis), i)));
    }
    return r;
  }
  /// Runs through all axes from `k` on; the last one by kLanes elements, where that can be, and
  /// then what is left one by one.
  void nest(std::size_t k, const At& at, const Body& body) {
    if (k == axes_.size()) return body(at, 1);
    const Axis axis = axes_[k];
    if (lanes_along_ && k + 1 == axes_.size()) {
      return by_lanes(axis, kLanes,
                      [&](const IrValue& i, int lanes) { body(moved(at, axis, i), lanes); });
    }
    count("0", trips(axis), 1, [&](const IrValue& i) { nest(k + 1, moved(at, axis, i), body); });
  }
  /// By `most` elements at once, then by kLanes, and what is left by halves of that where the
  /// number of elements is known; the last ones one by one.
  void by_lanes(const Axis& axis, int most, const std::function<void(const IrValue&, int)>& body) {
    const IrValue n = trips(axis), all = extent(axis);
    const std::int64_t known = is_number(all) ? std::stoll(all) : 1;
    IrValue from = "0";
    const auto by = [&](int lanes) {
      // A part of an axis of whole vectors has whole vectors too.
      const IrValue to = lanes == kLanes && known % kLanes == 0 ? n
                         : is_number(n) ? std::to_string(known / lanes * lanes)
                                        : w_.let(format("and i64 {}, {}", n, -lanes));
      if (to != from) count(from, to, lanes, [&](const IrValue& i) { body(i, lanes); });
      from = to;
    };
    if (most > kLanes) by(most);
    by(kLanes);
    if (is_number(n) && !along()) {
      for (int lanes = kLanes / 2; lanes >= kShortest; lanes /= 2) by(lanes);
    }
    if (from != n) count(from, n, 1, [&](const IrValue& i) { body(i, 1); });
  }

  // ---- elements ----
  IrValue address(std::size_t stream, std::size_t array, DType t, const IrValue& at) {
    const IrValue base = range_ ? stream_parameter(stream) : source_.pointer(array);
    return w_.let(format("getelementptr {}, ptr {}, i64 {}", ir_memory_type(t), base, at));
  }
  IrValue output_address(std::size_t k, const IrValue& at) {
    return address(first_output_ + k, loop_.outputs[k].array, element(k), at);
  }
  IrValue load(DType t, const IrValue& from, int lanes) {
    const IrValue v = w_.let(format("load {}, ptr {}, align {}",
                                    ir_vector(ir_memory_type(t), lanes), from, byte_size(t)));
    return from_memory(w_, t, v, lanes);
  }
  void write(DType t, const IrValue& v, const IrValue& to, int lanes) {
    const IrValue stored = to_memory(w_, t, v, lanes);
    w_.line(format("store {} {}, ptr {}, align {}", ir_vector(ir_memory_type(t), lanes), stored, to,
                   byte_size(t)));
  }
  IrValue spread(DType t, const IrValue& v, int lanes) {
    if (lanes == 1) return v;
    const std::string type = ir_vector(ir_type(t), lanes);
    const IrValue one =
        w_.let(format("insertelement {} poison, {} {}, i64 0", type, ir_type(t), v));
    return w_.let(format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", type, one,
                         type, lanes));
  }

  /// A position with what is data added; `fits`: where to put whether nothing was moved.
  IrValue indirect(IrValue at, std::size_t first, std::size_t n, IrValue* fits) {
    for (std::size_t k = first; k < first + n; ++k) {
      const Loop::Index& index = loop_.indices[k];
      const IrValue value = regs_[index.reg], last = source_.integer(index.last);
      const IrValue top = is_number(last)
                              ? std::to_string(std::max<std::int64_t>(std::stoll(last), 0))
                              : w_.let(format("call i64 @llvm.smax.i64(i64 {}, i64 0)", last));
      IrValue inside = w_.let(format("call i64 @llvm.smin.i64(i64 {}, i64 {})", value, top));
      inside = w_.let(format("call i64 @llvm.smax.i64(i64 {}, i64 0)", inside));
      at = w_.add(at, w_.mul(source_.integer(index.stride), inside));
      if (!fits) continue;
      const IrValue same = w_.let(format("icmp eq i64 {}, {}", value, inside));
      *fits = fits->empty() ? same : w_.let(format("and i1 {}, {}", *fits, same));
    }
    return at;
  }
  /// A load from an array that may be empty: then there is nothing to read.
  IrValue guarded_load(const Loop::Op& op, std::size_t stream, const IrValue& at) {
    std::vector<IrValue> may_be_empty;
    for (std::size_t k = 0; k < op.index_count; ++k) {
      const IrValue last = source_.integer(loop_.indices[op.first_index + k].last);
      if (!is_number(last)) {
        may_be_empty.push_back(last);
      } else if (std::stoll(last) < 0) {
        return ir_constant(op.dtype, 0, 1);
      }
    }
    auto plain = [&] {
      return load(op.dtype,
                  address(stream, op.array, op.dtype,
                          indirect(at, op.first_index, op.index_count, nullptr)),
                  1);
    };
    if (may_be_empty.empty()) return plain();
    IrValue there;
    for (const IrValue& last : may_be_empty) {
      const IrValue p = w_.let(format("icmp sge i64 {}, 0", last));
      there = there.empty() ? p : w_.let(format("and i1 {}, {}", there, p));
    }
    const std::string type = ir_type(op.dtype);
    const IrValue v = w_.variable(type);
    w_.line(format("store {} {}, ptr {}", type, ir_constant(op.dtype, 0, 1), v));
    const std::string yes = w_.label("some"), no = w_.label("none");
    w_.branch(there, yes, no);
    w_.begin(yes);
    w_.line(format("store {} {}, ptr {}", type, plain(), v));
    w_.fall_into(no);
    return w_.let(format("load {}, ptr {}", type, v));
  }

  /// The value at a place, and the registers it is made of.
  IrValue value(const At& at, int lanes) {
    std::size_t stream = 0;
    for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
      const Loop::Op& op = loop_.ops[i];
      switch (op.kind) {
        case Kind::literal:
          regs_[i] = ir_constant(op.dtype, op.bits, lanes);
          break;
        case Kind::position:
          regs_[i] = position(op.dtype, counted(stream, at), lanes, stream);
          ++stream;
          break;
        case Kind::load:
          if (op.index_count) {
            regs_[i] = guarded_load(op, stream, at[stream]);
          } else {
            const bool all_same = lanes > 1 && stride(stream, *lanes_along_) == "0";
            const int wide = all_same ? 1 : lanes;
            regs_[i] = load(op.dtype, address(stream, op.array, op.dtype, at[stream]), wide);
            if (all_same) regs_[i] = spread(op.dtype, regs_[i], lanes);
          }
          ++stream;
          break;
        case Kind::op: {
          DType types[3];
          const std::size_t n = operands(op, types);
          IrValue in[3];
          for (std::size_t k = 0; k < n; ++k) in[k] = regs_[op.args[k]];
          regs_[i] = write_op(w_, source_, *op.def, op.attr, {in, n}, {types, n}, op.dtype, lanes);
          break;
        }
      }
    }
    return regs_[loop_.outputs[0].reg];
  }
  IrValue counted(std::size_t stream, const At& at) {
    return range_ ? w_.add(at[stream], stream_parameter(stream)) : at[stream];
  }
  IrValue position(DType t, const IrValue& at, int lanes, std::size_t stream) {
    const IrValue step = lanes == 1 ? "0" : stride(stream, *lanes_along_);
    if (step == "0") return spread(t, write_convert(w_, DType::i64, t, at, 1), lanes);
    std::string ramp;
    for (int k = 0; k < lanes; ++k) {
      ramp += format("{}i64 {}", k ? ", " : "", k * std::stoll(step));
    }
    const IrValue all = w_.let(
        format("add {} {}, <{}>", ir_vector("i64", lanes), spread(DType::i64, at, lanes), ramp));
    return write_convert(w_, DType::i64, t, all, lanes);
  }

  void store(const At& at, int lanes) {
    const IrValue v = value(at, lanes);
    // Everything is read by now: what is read may lie where something is written.
    for (std::size_t k = 1; k < loop_.outputs.size(); ++k) {
      const Loop::Output& o = loop_.outputs[k];
      write(element(k), regs_[o.reg], output_address(k, at[first_output_ + k]), lanes);
    }
    IrValue fits;
    const IrValue to = indirect(at[first_output_], loop_.result_first_index,
                                loop_.result_index_count, loop_.drop ? &fits : nullptr);
    std::string skip;
    if (!fits.empty()) {
      const std::string inside = w_.label("fits");
      skip = w_.label("skip");
      w_.branch(fits, inside, skip);
      w_.begin(inside);
    }
    const IrValue p = output_address(0, to);
    IrValue stored = v;
    if (loop_.combine) {
      const DType types[] = {element(), element()};
      const IrValue in[] = {load(element(), p, 1), v};
      stored = write_op(w_, source_, *loop_.combine_def, nullptr, in, types, element(), 1);
    }
    write(element(), stored, p, lanes);
    if (!skip.empty()) w_.fall_into(skip);
  }

  // ---- folds ----
  std::string accumulator(int lanes) const {
    return ir_vector(ir_type(loop_.fold->accumulator), lanes);
  }
  IrValue start_value(int lanes) const {
    std::uint64_t bits = 0;
    loop_.fold->start(&bits, 1);
    return ir_constant(loop_.fold->accumulator, bits, lanes);
  }
  IrValue folded(const IrValue& a, const IrValue& b, int lanes) {
    const DType t = loop_.fold->accumulator;
    const DType types[] = {t, t};
    const IrValue in[] = {a, b};
    return write_op(w_, source_, *fold_, nullptr, in, types, t, lanes);
  }
  void accumulate(const IrValue& acc, const IrValue& v, int lanes) {
    const std::string type = accumulator(lanes);
    const IrValue old = w_.let("load " + type + ", ptr " + acc);
    w_.line("store " + type + " " + folded(widened(w_, element(), v, lanes), old, lanes) +
            ", ptr " + acc);
  }

  void run_fold() {
    std::vector<Axis> kept, reduced;
    for (const Axis& a : axes_) {
      if (!(across() && a.number == lanes_along_->number)) (a.folded ? reduced : kept).push_back(a);
    }
    if (across()) kept.push_back(*lanes_along_);
    auto order = kept;
    order.insert(order.end(), reduced.begin(), reduced.end());
    if (const auto rows = few_rows(kept)) {
      copies_ = static_cast<std::int64_t>(rows->size());
      return across() ? fold_lanes(order, kept.size() - 1, *rows)
                      : fold_all(order, kept.size(), *rows, 1);
    }
    fold_nest(order, 0, kept.size(), at_);
  }
  /// All indices of the kept axes but the one by lanes, where their accumulators fit into
  /// registers together: then what is folded is visited once, and sums don't wait for themselves.
  std::optional<std::vector<At>> few_rows(const std::vector<Axis>& kept) {
    if (along()) return std::nullopt;
    std::int64_t bytes = byte_size(loop_.fold->accumulator);
    if (across() && is_short_row(*lanes_along_)) {
      bytes *= std::bit_ceil(static_cast<std::uint64_t>(std::stoll(extent(*lanes_along_))));
    } else if (across()) {
      return std::nullopt;
    }
    std::vector<At> rows{at_};
    for (const Axis& axis : std::span(kept).first(kept.size() - (across() ? 1 : 0))) {
      if (!is_number(trips(axis))) return std::nullopt;
      const std::int64_t n = std::stoll(trips(axis));
      bytes *= n;
      if (n == 0 || bytes > kAccumulatorBytes) return std::nullopt;
      std::vector<At> all;
      for (const At& row : rows) {
        for (std::int64_t i = 0; i < n; ++i) all.push_back(moved(row, axis, std::to_string(i)));
      }
      rows = std::move(all);
    }
    return rows;
  }
  bool across() const { return lanes_along_ && !lanes_along_->folded; }
  bool along() const { return lanes_along_ && lanes_along_->folded; }
  /// The kept axes of `order`, then one fold over the others.
  void fold_nest(const std::vector<Axis>& order, std::size_t k, std::size_t kept, const At& at) {
    if (k == kept) return fold_all(order, k, {at}, 1);
    if (across() && k + 1 == kept) return fold_lanes(order, k, {at});
    if (across() && k + 2 == kept && reuses(order[k])) return fold_rows(order, k, at);
    count("0", trips(order[k]), 1,
          [&](const IrValue& i) { fold_nest(order, k + 1, kept, moved(at, order[k], i)); });
  }
  /// Whether something that is read is the same all along an axis: as in a product of matrices.
  bool reuses(const Axis& axis) {
    std::size_t stream = 0;
    bool same = false;
    for (const Loop::Op& op : loop_.ops) {
      if (op.kind != Kind::load && op.kind != Kind::position) continue;
      same = same || (op.kind == Kind::load && stride(stream, axis) == "0");
      ++stream;
    }
    return same;
  }
  /// Several rows at once: what is read for one serves the others from registers, as many as AVX
  /// has room for beside it.
  void fold_rows(const std::vector<Axis>& order, std::size_t k, const At& at) {
    const int rows = byte_size(element()) > 4 ? 2 : 4;
    const Axis axis = order[k];
    const IrValue n = trips(axis);
    const IrValue whole = is_number(n) ? std::to_string(std::stoll(n) / rows * rows)
                                       : w_.let(format("and i64 {}, {}", n, -rows));
    count("0", whole, rows, [&](const IrValue& i) {
      std::vector<At> all{moved(at, axis, i)};
      for (int r = 1; r < rows; ++r) all.push_back(moved(all.back(), axis, "1"));
      fold_lanes(order, k + 1, all);
    });
    if (whole == n) return;
    count(whole, n, 1, [&](const IrValue& i) { fold_lanes(order, k + 1, {moved(at, axis, i)}); });
  }
  /// The last kept axis by lanes. Of one row whose elements take little work several vectors at
  /// once: along a folded axis the next elements are far away, and each visit should pay off.
  void fold_lanes(const std::vector<Axis>& order, std::size_t k, const std::vector<At>& rows) {
    const auto body = [&](const IrValue& i, int lanes) {
      fold_all(order, k + 1, moved(rows, order[k], i), lanes);
    };
    const bool several = rows.size() == 1 && loop_.ops.size() <= kFewOps;
    by_lanes(order[k], several ? kVectorsAtOnce * kLanes : kLanes, body);
  }
  std::vector<At> moved(const std::vector<At>& rows, const Axis& axis, const IrValue& i) {
    std::vector<At> r;
    for (const At& at : rows) r.push_back(moved(at, axis, i));
    return r;
  }
  /// One fold per row over the axes of `order` from `k` on.
  void fold_all(const std::vector<Axis>& order, std::size_t k, const std::vector<At>& rows,
                int lanes) {
    const std::string type = accumulator(lanes);
    std::vector<IrValue> accs;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      accs.push_back(w_.variable(type));
      w_.line("store " + type + " " + start_value(lanes) + ", ptr " + accs.back());
    }
    IrValue wide;
    if (along()) {
      const std::string many = accumulator(kLanes);
      wide = w_.variable(many);
      w_.line("store " + many + " " + start_value(kLanes) + ", ptr " + wide);
    }
    reduce(order, k, rows, lanes, accs, wide);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const IrValue r = with_wide(w_.let("load " + type + ", ptr " + accs[row]), wide);
      write_result(narrowed(w_, element(), r, lanes), rows[row].back(), lanes);
    }
  }
  /// Lanes that are no neighbours in the result are written one by one.
  void write_result(const IrValue& v, const IrValue& at, int lanes) {
    const IrValue step = lanes > 1 ? stride(first_output_, *lanes_along_) : "1";
    if (step == "1") return write(element(), v, output_address(0, at), lanes);
    for (int k = 0; k < lanes; ++k) {
      const IrValue one = w_.let(
          format("extractelement {} {}, i64 {}", ir_vector(ir_type(element()), lanes), v, k));
      write(element(), one, output_address(0, w_.add(at, w_.mul(step, std::to_string(k)))), 1);
    }
  }
  /// One element and kLanes of them in memory, if there are any, folded.
  IrValue with_wide(IrValue r, const IrValue& wide) {
    if (!wide.empty()) {
      IrValue all = w_.let(format("load {}, ptr {}", accumulator(kLanes), wide));
      for (int half = kLanes / 2; half > 0; half /= 2) {
        const std::string from = accumulator(2 * half);
        auto part = [&](int first) {
          std::string mask = "<";
          for (int i = 0; i < half; ++i) mask += format("{}i32 {}", i ? ", " : "", first + i);
          return w_.let(format("shufflevector {} {}, {} poison, <{} x i32> {}>", from, all, from,
                               half, mask));
        };
        if (half == 1) {
          const IrValue a = w_.let(format("extractelement {} {}, i64 0", from, all));
          const IrValue b = w_.let(format("extractelement {} {}, i64 1", from, all));
          all = folded(a, b, 1);
        } else {
          const IrValue a = part(0), b = part(half);
          all = folded(a, b, half);
        }
      }
      r = folded(all, r, 1);
    }
    return r;
  }
  void reduce(const std::vector<Axis>& order, std::size_t k, const std::vector<At>& rows, int lanes,
              const std::vector<IrValue>& accs, const IrValue& wide) {
    if (k == order.size()) {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        accumulate(accs[r], value(rows[r], lanes), lanes);
      }
      return;
    }
    const Axis axis = order[k];
    if (!wide.empty() && k + 1 == order.size()) {
      return by_lanes(axis, kLanes, [&](const IrValue& i, int n) {
        accumulate(n == 1 ? accs[0] : wide, value(moved(rows[0], axis, i), n), n);
      });
    }
    count("0", trips(axis), 1,
          [&](const IrValue& i) { reduce(order, k + 1, moved(rows, axis, i), lanes, accs, wide); });
  }

  IrWriter& w_;
  LoopSource& source_;
  const Loop& loop_;
  const std::optional<AxisRange>& range_;
  std::vector<IrValue> regs_;
  std::vector<std::uint16_t> streams_;
  std::size_t first_output_ = 0;
  std::vector<Axis> axes_;
  At at_;
  const ir::OpDef* fold_ = nullptr;
  std::int64_t copies_ = 1;
  std::optional<Axis> lanes_along_;  ///< what is computed by vectors, if anything is
};

}  // namespace

IrValue stream_parameter(std::size_t stream) { return format("%s{}", stream); }

std::size_t first_without_code(const Loop& loop) {
  for (std::size_t i = 0; i < loop.ops.size(); ++i) {
    const Loop::Op& op = loop.ops[i];
    if (!ir_computes(op.dtype)) return i;
    if (op.kind == Kind::position && op.dtype == DType::boolean) return i;
    if (op.kind != Kind::op) continue;
    DType in[3];
    for (std::size_t k = 0; k < 3; ++k) in[k] = loop.ops[op.args[k]].dtype;
    if (!can_write(*op.def, in, op.dtype, 1)) return i;
  }
  return loop.ops.size();
}

void write_loop(IrWriter& w, LoopSource& source, const Loop& loop,
                const std::optional<AxisRange>& range) {
  LoopWriter(w, source, loop, range).run();
}

std::optional<SharedAxis> find_shared_axis(LoopSource& source, const Loop& loop) {
  IrWriter none;
  return LoopWriter(none, source, loop, {}).shared_axis();
}

}  // namespace tlaloc::cpu
