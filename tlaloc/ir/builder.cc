#include "tlaloc/ir/builder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_set>

#include "tlaloc/ir/interner.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::ir {
namespace {

/// The open builders of this thread, and the origin of what it emits. Both live in memory of the
/// thread that nothing destroys: a program may still trace in the destructor of a static object.
constexpr std::size_t kMaxNesting = 256;
struct OpenBuilders {
  Builder* list[kMaxNesting];
  std::size_t size;
  bool empty() const { return size == 0; }
  Builder* back() const { return list[size - 1]; }
};
constinit thread_local OpenBuilders stack{};
std::atomic<std::uint32_t> next_trace{1};

const OriginRef& no_origin() {
  static const auto& origin = *new OriginRef(std::make_shared<const Origin>());
  return origin;
}
union CurrentOrigin {
  constexpr CurrentOrigin() : ref() {}
  ~CurrentOrigin() {}  // NOLINT: empty by then, as every scope has ended
  OriginRef ref;
};
constinit thread_local CurrentOrigin current_origin_slot;

}  // namespace

// ---- the stack of traces ----

Builder::Builder(std::string name)
    : name_(std::move(name)),
      trace_(next_trace.fetch_add(1, std::memory_order_relaxed)),
      depth_(stack.size),
      interner_(std::make_unique<Interner>()) {
  if (stack.size == kMaxNesting) {
    throw UserError({"TL-TRACE-006",
                     "trace",
                     "traces nest deeper than " + std::to_string(kMaxNesting),
                     "a function that calls itself through cond, jit or a loop needs a native end; "
                     "write it as a loop",
                     {}});
  }
  stack.list[stack.size++] = this;
}
Builder::~Builder() {
  // An exception may unwind builders in order only; anything above us is gone already.
  stack.size = depth_;
}
Builder& Builder::current() {
  if (stack.empty()) {
    throw UserError({"TL-TRACE-004",
                     "trace",
                     "an operation on graph values outside of a trace",
                     "open a Builder first",
                     {}});
  }
  return *stack.back();
}
bool Builder::active() { return !stack.empty(); }
Builder& Builder::of(Val v) {
  for (std::size_t i = stack.size; i-- > 0;) {
    if (stack.list[i]->trace_ == v.trace) return *stack.list[i];
  }
  throw UserError({"TL-TRACE-003",
                   "trace",
                   "a value is used after the trace it belongs to ended, or in another thread",
                   "return it from the traced function instead of storing it outside",
                   {}});
}
Type Val::type() const { return Builder::of(*this).type(*this); }

OriginScope::OriginScope(OriginRef origin) : previous_(std::move(current_origin_slot.ref)) {
  current_origin_slot.ref = std::move(origin);
}
OriginScope::OriginScope(Origin origin)
    : OriginScope(std::make_shared<const Origin>(std::move(origin))) {}
OriginScope::~OriginScope() { current_origin_slot.ref = std::move(previous_); }
const OriginRef& OriginScope::current() {
  return current_origin_slot.ref ? current_origin_slot.ref : no_origin();
}

std::uint32_t Builder::current_origin() {
  const OriginRef& origin = OriginScope::current();
  if (origins_.empty() || origins_.back() != origin) origins_.push_back(origin);
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

// ---- values and nodes ----

std::uint32_t Builder::new_value(Type type, std::uint32_t node) {
  types_.push_back(type);
  producers_.push_back(node);
  return static_cast<std::uint32_t>(types_.size() - 1);
}

Val Builder::param(Type type, Label label) {
  const std::uint32_t id = new_value(type, kNoNode);
  declared_.push_back(id);
  declared_labels_.push_back(std::move(label));
  return value(id);
}

Val Builder::lift(Val v) {
  internal_check(static_cast<bool>(v), "an absent value was used as an operand");
  if (v.trace == trace_) return v;
  Builder& home = of(v);
  if (home.depth_ > depth_) {
    throw UserError({"TL-TRACE-003",
                     "trace",
                     "a value of an inner trace is used outside of it",
                     "return it from the traced function",
                     {}});
  }
  for (std::size_t i = 0; i < lifted_.size(); ++i) {
    if (lifted_[i] == v) return value(lifted_ids_[i]);
  }
  const std::uint32_t id = new_value(home.type(v), kNoNode);
  lifted_.push_back(v);
  lifted_ids_.push_back(id);
  return value(id);
}

std::span<const Val> Builder::lift_all(std::span<const Val> in) {
  internal_check(!built_, "the trace has ended");
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i].trace == trace_ && in[i]) continue;
    lift_buffer_.assign(in.begin(), in.end());
    for (Val& v : lift_buffer_) v = lift(v);
    return lift_buffer_;
  }
  return in;
}

class Builder::Inference final : public InferContext {
 public:
  explicit Inference(Builder& b) : builder_(b) {}
  void require_equal(Dim a, Dim b, const std::string& what) override {
    if (a == b) return;
    builder_.require({Constraint::Kind::equal, a, b, std::string(op->name) + ": " + what, {}});
  }
  void require_less_equal(Dim a, Dim b, const std::string& what) override {
    builder_.require({Constraint::Kind::less_equal, a, b, std::string(op->name) + ": " + what, {}});
  }

 private:
  Builder& builder_;
};

Vals Builder::results_of(std::uint32_t node) const {
  const NodeData& n = nodes_[node];
  Vals out(n.result_count);
  for (std::uint32_t k = 0; k < n.result_count; ++k) out[k] = value(n.result_begin + k);
  return out;
}

namespace {
/// A backward rule need not be linear (it may clip), so what it makes of two cotangents is not what
/// it makes of their sum: equal calls stay apart.
bool has_backward_rule(const OpDef& op, const Attr* attr) {
  if (op.region_kind != RegionKind::call) return false;
  const CallKind kind = attr_as<CallAttrs>(attr).kind;
  return kind == CallKind::custom_vjp || kind == CallKind::linear;
}
}  // namespace

std::uint32_t Builder::intern(const OpDef& op, const AttrRef& attr, std::span<const Val> in,
                              std::span<const Type> types, std::vector<Region> regions,
                              std::vector<Symbol> bound) {
  bool interned = !op.traits.unique && !op.traits.ordered;
  for (const Region& r : regions) interned = interned && !r.graph->has_effects();
  interned = interned && !has_backward_rule(op, attr.get());
  Interner::Key key{};
  if (interned) {
    key.hash = static_cast<std::uint32_t>(hash_node(op, attr.get(), in, regions) >> 16);
    key.last_operand = in.empty() ? key.hash : 0;
    for (Val v : in) key.last_operand = std::max(key.last_operand, v.id);
    auto equal = [&](std::uint32_t i) {
      const NodeData& n = nodes_[i];
      if (n.op != &op || n.operand_count != in.size() || n.region_count != regions.size()) {
        return false;
      }
      if (n.bound_count != bound.size() || n.result_count != types.size()) return false;
      const std::uint32_t* args = operands_.data() + n.operand_begin;
      auto same_operands = [&](std::size_t a, std::size_t b) {
        for (std::size_t k = 0; k < in.size(); ++k) {
          const std::size_t from = k == 0 ? a : k == 1 ? b : k;
          if (args[k] != in[from].id) return false;
        }
        return true;
      };
      if (!same_operands(0, 1) && !(op.traits.commutative && in.size() >= 2 && same_operands(1, 0)))
        return false;
      if (!n.attr != !attr || (attr && n.attr != attr && !n.attr->equals(*attr))) return false;
      for (std::uint32_t k = 0; k < n.region_count; ++k) {
        const Region& r = regions_[n.region_begin + k];
        if (r.dims != regions[k].dims || !same_graph(*r.graph, *regions[k].graph)) return false;
      }
      // Types follow from the rest except where a constraint let them be written differently.
      if (bound.empty()) {
        for (std::uint32_t k = 0; k < n.result_count; ++k) {
          if (types_[n.result_begin + k] != types[k]) return false;
        }
      }
      return true;
    };
    if (auto found = interner_->find(key, equal)) return *found;
  }
  const std::uint32_t index = add_node(op, attr, in, types, std::move(regions), std::move(bound));
  if (interned) {
    interner_->insert(key, index, [this](std::uint32_t i) { return last_operand(i); });
  }
  return index;
}

std::optional<std::uint32_t> Builder::last_operand(std::uint32_t node) const {
  const NodeData& n = nodes_[node];
  if (n.operand_count == 0) return std::nullopt;
  const auto first = operands_.begin() + n.operand_begin;
  return *std::max_element(first, first + n.operand_count);
}

std::uint32_t Builder::add_node(const OpDef& op, const AttrRef& attr, std::span<const Val> in,
                                std::span<const Type> types, std::vector<Region> regions,
                                std::vector<Symbol> bound) {
  NodeData n{};
  n.op = &op;
  n.attr = attr;
  n.operand_begin = static_cast<std::uint32_t>(operands_.size());
  n.operand_count = static_cast<std::uint32_t>(in.size());
  for (Val v : in) operands_.push_back(v.id);
  n.region_begin = static_cast<std::uint32_t>(regions_.size());
  n.region_count = static_cast<std::uint32_t>(regions.size());
  for (Region& r : regions) regions_.push_back(std::move(r));
  n.bound_begin = static_cast<std::uint32_t>(bound_.size());
  n.bound_count = static_cast<std::uint32_t>(bound.size());
  bound_.insert(bound_.end(), bound.begin(), bound.end());
  n.origin = current_origin();
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  n.result_begin = static_cast<std::uint32_t>(types_.size());
  n.result_count = static_cast<std::uint32_t>(types.size());
  for (Type t : types) new_value(t, index);
  nodes_.push_back(std::move(n));
  return index;
}

Vals Builder::append(const OpDef& op, AttrRef attr, std::span<const Val> operands,
                     std::span<const Type> types, std::vector<Region> regions,
                     std::vector<Symbol> bound) {
  const std::span<const Val> in = lift_all(operands);
  return results_of(add_node(op, attr, in, types, std::move(regions), std::move(bound)));
}

void Builder::append(const OpDef& op, const AttrRef& attr, std::span<const Val> operands,
                     std::span<const Type> types, std::span<Val> out) {
  const std::span<const Val> in = lift_all(operands);
  const NodeData& n = nodes_[add_node(op, attr, in, types, {}, {})];
  for (std::uint32_t k = 0; k < n.result_count; ++k) out[k] = value(n.result_begin + k);
}

void Builder::expect(const Graph& g, std::size_t times) {
  // Never less than doubling, so that many small expectations stay linear.
  auto grow = [](auto& list, std::size_t more) {
    const std::size_t wanted = list.size() + more;
    if (wanted > list.capacity()) list.reserve(std::max(wanted, 2 * list.capacity()));
  };
  grow(nodes_, times * g.node_count());
  grow(operands_, times * g.operands_.size());
  grow(types_, times * g.value_count());
  grow(producers_, times * g.value_count());
  interner_->expect(times * g.node_count(), [this](std::uint32_t i) { return last_operand(i); });
}

Val Builder::emit(const OpDef& op, AttrRef attr, std::span<const Val> operands) {
  std::span<const Val> in = lift_all(operands);
  // A rewrite may emit and so need the buffers: take them along, and give them back.
  std::vector<Type> in_types = std::move(infer_in_), out_types = std::move(infer_out_);
  in_types.clear();
  out_types.clear();
  for (Val v : in) in_types.push_back(types_[v.id]);
  Inference context(*this);
  context.op = &op;
  context.attr = attr.get();
  context.in = in_types;
  context.out = std::move(out_types);
  try {
    op.infer(context);
  } catch (Error& e) {
    e.add_place(OriginScope::current()->place);
    throw;
  }
  out_types = std::move(context.out);
  Vals copy;
  Val result;
  if (op.simplify) {
    if (in.data() != operands.data()) {
      copy.assign(in.begin(), in.end());
      in = copy;
    }
    result = op.simplify({&op, attr.get(), in, {}, in_types, out_types});
  }
  if (!result) result = value(nodes_[intern(op, attr, in, out_types, {}, {})].result_begin);
  infer_in_ = std::move(in_types);
  infer_out_ = std::move(out_types);
  return result;
}

Vals Builder::emit_all(const OpDef& op, AttrRef attr, std::span<const Val> in) {
  const Val first = emit(op, std::move(attr), in);
  const std::uint32_t node = producers_[first.id];
  // A rewrite answers with one value that may be any result of an older node.
  if (node == kNoNode || nodes_[node].op != &op) return {first};
  return results_of(node);
}

void Builder::emit_typed(const OpDef& op, const AttrRef& attr, std::span<const Val> operands,
                         std::span<const Type> types, std::span<Val> out) {
  std::span<const Val> in = lift_all(operands);
  Vals copy;
  if (op.simplify) {
    // A rule may emit and so reuse the buffer of lifted operands.
    if (in.data() != operands.data()) {
      copy.assign(in.begin(), in.end());
      in = copy;
    }
    std::array<Type, 4> few;
    std::vector<Type> many;
    if (in.size() > few.size()) many.resize(in.size());
    const std::span<Type> in_types =
        many.empty() ? std::span(few).first(in.size()) : std::span(many);
    for (std::size_t k = 0; k < in.size(); ++k) in_types[k] = types_[in[k].id];
    if (Val v = op.simplify({&op, attr.get(), in, {}, in_types, types})) {
      out[0] = v;
      return;
    }
  }
  const NodeData& n = nodes_[intern(op, attr, in, types, {}, {})];
  for (std::uint32_t k = 0; k < n.result_count; ++k) out[k] = value(n.result_begin + k);
}

Builder::NodeResult Builder::emit_region(const OpDef& op, AttrRef attr,
                                         std::span<const Val> operands, std::span<const Type> types,
                                         std::vector<Region> regions, std::vector<Symbol> bound) {
  const std::span<const Val> lifted = lift_all(operands);
  const Vals in(lifted.begin(), lifted.end());
  const std::uint32_t index = intern(op, attr, in, types, std::move(regions), std::move(bound));
  const NodeData& n = nodes_[index];
  NodeResult r;
  r.out = results_of(index);
  r.bound.assign(bound_.begin() + n.bound_begin, bound_.begin() + n.bound_begin + n.bound_count);
  return r;
}

// ---- questions that rules ask ----

Truth Builder::equal_here(Dim a, Dim b) const {
  return equal(a.substitute(solved_), b.substitute(solved_));
}

void Builder::require(Constraint c) {
  const Dim a = c.a.substitute(solved_), b = c.b.substitute(solved_);
  const Truth t = c.kind == Constraint::Kind::equal ? equal(a, b) : less_equal(a, b);
  if (t == Truth::yes) return;
  if (!c.place.known()) c.place = OriginScope::current()->place;
  if (t == Truth::no) {
    const char* relation = c.kind == Constraint::Kind::equal ? " is not " : " is not at most ";
    throw UserError({"TL-SHAPE-001", "",
                     c.what + ": " + c.a.to_string() + relation + c.b.to_string(), "", c.place});
  }
  for (const Constraint& old : constraints_) {
    if (old.kind == c.kind && old.a == c.a && old.b == c.b) return;
  }
  if (c.kind == Constraint::Kind::equal) {
    // Oriented as a substitution, so that later proofs succeed.
    if (auto solved = solve_equal(a, b)) {
      DimMap one;
      one.set(solved->first, solved->second);
      solved_.compose(one);
      solved_.set(solved->first, solved->second);
    }
  }
  constraints_.push_back(std::move(c));
}

const OpDef* Builder::op_of(Val v) const {
  return v.trace == trace_ && producers_[v.id] != kNoNode ? nodes_[producers_[v.id]].op : nullptr;
}
const Attr* Builder::attr_of(Val v) const { return nodes_[producers_[v.id]].attr.get(); }
Val Builder::operand_of(Val v, std::size_t k) const {
  return value(operands_[nodes_[producers_[v.id]].operand_begin + k]);
}
std::size_t Builder::operand_count(Val v) const {
  return producers_[v.id] == kNoNode ? 0 : nodes_[producers_[v.id]].operand_count;
}
const Origin& Builder::origin_of(Val v) const {
  const std::uint32_t node = producers_[v.id];
  return node == kNoNode ? *no_origin() : *origins_[nodes_[node].origin];
}

}  // namespace tlaloc::ir
