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

constinit thread_local Builder* Builder::innermost_ = nullptr;

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
  innermost_ = this;
}
Builder::~Builder() {
  // An exception may unwind builders in order only; anything above us is gone already.
  stack.size = depth_;
  innermost_ = stack.empty() ? nullptr : stack.back();
}
Builder& Builder::current() {
  if (!innermost_) {
    throw UserError({"TL-TRACE-004",
                     "trace",
                     "an operation on graph values outside of a trace",
                     "open a Builder first",
                     {}});
  }
  return *innermost_;
}
bool Builder::active() { return innermost_ != nullptr; }
Builder& Builder::of_outer(Val v) {
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
  // Kept in origins_, so the address stays unique.
  const Origin* now = current_origin_slot.ref.get();
  if (origins_.empty() || now != last_origin_) {
    origins_.push_back(OriginScope::current());
    last_origin_ = now;
  }
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

// ---- values and nodes ----

Val Builder::param(Type type, Label label) {
  const auto id = static_cast<std::uint32_t>(types_.size());
  new_value(type, kNoNode);
  declared_.push_back(id);
  if (!label.empty()) {
    declared_labels_.resize(declared_.size());
    declared_labels_.back() = std::move(label);
  }
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
  const auto id = static_cast<std::uint32_t>(types_.size());
  const auto [known, added] = lifted_index_.emplace(std::uint64_t{v.trace} << 32 | v.id, id);
  if (!added) return value(known->second);
  new_value(home.type(v), kNoNode);
  lifted_.push_back(v);
  lifted_ids_.push_back(id);
  return value(id);
}

std::span<const Val> Builder::lift_each(std::span<const Val> in) {
  internal_check(!built_, "the trace has ended");
  lift_buffer_.assign(in.begin(), in.end());
  for (Val& v : lift_buffer_) v = lift(v);
  return lift_buffer_;
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
  Vals out(nodes_[node].result_count);
  write_results(node, out);
  return out;
}
void Builder::write_results(std::uint32_t node, std::span<Val> out) const {
  const NodeData& n = nodes_[node];
  for (std::uint32_t k = 0; k < n.result_count; ++k) out[k] = value(n.result_begin + k);
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

bool Builder::is_same(const NodeData& n, const Draft& d) const {
  if (n.op != &d.op || n.operand_count != d.in.size() || n.result_count != d.types.size() ||
      (n.parts == kNoNode) != (d.parts == nullptr)) {
    return false;
  }
  const std::uint32_t* args = operands_.data() + n.operand_begin;
  auto same_from = [&](std::size_t first) {
    for (std::size_t k = first; k < d.in.size(); ++k) {
      if (args[k] != d.in[k].id) return false;
    }
    return true;
  };
  if (!same_from(0)) {
    const bool exchanged = d.op.traits.commutative && d.in.size() >= 2 && args[0] == d.in[1].id &&
                           args[1] == d.in[0].id && same_from(2);
    if (!exchanged) return false;
  }
  if (n.attr != d.attr && (!n.attr || !d.attr || !n.attr->equals(*d.attr))) return false;
  if (d.parts) {
    const NodeParts& p = parts_[n.parts];
    if (p.regions.size() != d.parts->regions.size() || p.bound.size() != d.parts->bound.size()) {
      return false;
    }
    for (std::size_t k = 0; k < p.regions.size(); ++k) {
      const Region &a = p.regions[k], &b = d.parts->regions[k];
      if (a.dims != b.dims || !same_graph(*a.graph, *b.graph)) return false;
    }
    if (!p.bound.empty()) return true;
  }
  // Types follow from the rest except where a constraint let them be written differently.
  return std::equal(d.types.begin(), d.types.end(), types_.begin() + n.result_begin);
}

std::uint32_t Builder::intern(const Draft& d) {
  const std::span<const Region> regions =
      d.parts ? std::span<const Region>(d.parts->regions) : std::span<const Region>();
  if (d.op.traits.unique || d.op.traits.ordered ||
      std::ranges::any_of(regions, [](const Region& r) { return r.graph->has_effects(); }) ||
      has_backward_rule(d.op, d.attr.get())) {
    return add_node(d);
  }
  std::uint32_t last = d.in.empty() ? kNoNode : 0;
  for (Val v : d.in) last = std::max(last, v.id);
  Interner::Place place;
  const std::uint32_t found = interner_->find(
      last, [&](std::uint32_t i) { return is_same(nodes_[i], d); },
      [&] { return hash_node(d.op, d.attr.get(), d.in, regions); }, place);
  if (found != kNoNode) return found;
  const std::uint32_t node = add_node(d);
  interner_->insert(place, node);
  return node;
}

std::uint32_t Builder::add_node(const Draft& d) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  NodeData& n = nodes_.emplace_back();
  n.op = &d.op;
  n.attr = d.attr;
  n.operand_begin = static_cast<std::uint32_t>(operands_.size());
  n.operand_count = static_cast<std::uint32_t>(d.in.size());
  for (Val v : d.in) {
    operands_.push_back(v.id);
    ahead_ = ahead_ || v.id >= types_.size();
  }
  n.result_begin = static_cast<std::uint32_t>(types_.size());
  n.result_count = static_cast<std::uint32_t>(d.types.size());
  for (Type t : d.types) new_value(t, index);
  n.origin = current_origin();
  has_effects_ = has_effects_ || d.op.traits.ordered;
  symbolic_ = symbolic_ || (d.attr && d.attr->has_dims());
  if (d.parts) {
    n.parts = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back(std::move(*d.parts));
    const NodeParts& p = parts_.back();
    symbolic_ = symbolic_ || !p.bound.empty();
    for (const Region& r : p.regions) {
      symbolic_ = symbolic_ || !r.dims.empty();
      has_effects_ = has_effects_ || r.graph->has_effects();
    }
  }
  return index;
}

Vals Builder::append(const OpDef& op, AttrRef attr, std::span<const Val> operands,
                     std::span<const Type> types, std::vector<Region> regions,
                     std::vector<Symbol> bound) {
  NodeParts parts{std::move(regions), std::move(bound)};
  return results_of(add_node({op, attr, lift_all(operands), types, parts.used()}));
}

void Builder::append(const OpDef& op, const AttrRef& attr, std::span<const Val> operands,
                     std::span<const Type> types, std::span<Val> out) {
  write_results(add_node({op, attr, lift_all(operands), types}), out);
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
  interner_->reserve(types_.capacity(), nodes_.capacity());
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
  if (!result) result = value(nodes_[intern({op, attr, in, out_types})].result_begin);
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
  write_results(intern({op, attr, in, types}), out);
}

Builder::NodeResult Builder::emit_region(const OpDef& op, AttrRef attr,
                                         std::span<const Val> operands, std::span<const Type> types,
                                         std::vector<Region> regions, std::vector<Symbol> bound) {
  const std::span<const Val> lifted = lift_all(operands);
  const Vals in(lifted.begin(), lifted.end());
  NodeParts parts{std::move(regions), std::move(bound)};
  const std::uint32_t node = intern({op, attr, in, types, parts.used()});
  const std::uint32_t at = nodes_[node].parts;
  return {results_of(node), at == kNoNode ? std::vector<Symbol>() : parts_[at].bound};
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

std::size_t Builder::operand_count(Val v) const {
  return producers_[v.id] == kNoNode ? 0 : nodes_[producers_[v.id]].operand_count;
}
const Origin& Builder::origin_of(Val v) const {
  const std::uint32_t node = producers_[v.id];
  return node == kNoNode ? *no_origin() : *origins_[nodes_[node].origin];
}

}  // namespace tlaloc::ir
