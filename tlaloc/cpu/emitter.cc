#include "tlaloc/cpu/emitter.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {

using ir::Dim;
using ir::Type;

Emitter::Emitter(ir::GraphRef g) { program.graph = std::move(g); }

std::uint32_t Emitter::emit(Instruction i) {
  if (i.code != Code::step) open_.clear();
  program.code.push_back(i);
  return here() - 1;
}

void Emitter::emit_step(Step s) {
  s.origin = origin;
  program.scratch = std::max(program.scratch, s.scratch);
  emit({.code = Code::step, .index = static_cast<std::uint32_t>(program.steps.size())});
  touched_.resize(program.storages.size());
  for (StorageId id : s.storages) touched_[id].any = here();
  for (StorageId id : s.written()) touched_[id].written = here();
  program.steps.push_back(std::move(s));
}

Step* Emitter::last_step() {
  if (program.code.empty() || program.code.back().code != Code::step) return nullptr;
  return &program.steps[program.code.back().index];
}

void Emitter::add_to_last_step(StorageId read, StorageId written) {
  Step& s = *last_step();
  s.storages.insert(s.storages.begin() + s.reads++, read);
  s.storages.push_back(written);
  touched_.resize(program.storages.size());
  touched_[read].any = touched_[written].any = touched_[written].written = here();
}

// ---- storages ----

StorageId Emitter::constant(const HostArray& value) {
  const auto [it, added] = constants_.try_emplace(value.data(), StorageId{0});
  if (!added) return it->second;
  Storage s;
  s.kind = Storage::Kind::constant;
  s.dtype = value.dtype();
  s.index = static_cast<std::uint32_t>(program.constants.size());
  s.elements = sizes.constant(value.size());
  program.constants.push_back(value);
  program.storages.push_back(s);
  return it->second = static_cast<StorageId>(program.storages.size() - 1);
}

StorageId Emitter::unmade(DType dtype) {
  program.storages.push_back({.kind = Storage::Kind::dynamic, .dtype = dtype});
  return static_cast<StorageId>(program.storages.size() - 1);
}
StorageId Emitter::storage(Type type) {
  const Dim elements = type.elements();
  const StorageId s = unmade(type.dtype());
  if (sizes.point_of(elements) == 0) {
    program.storages[s].kind = Storage::Kind::planned;
    program.storages[s].elements = sizes.of(elements);
  } else {
    make(s, elements);
  }
  return s;
}
void Emitter::make(StorageId s, Dim elements) {
  emit({.code = Code::make, .index = s, .a = sizes.of(elements)});
}
void Emitter::grow(StorageId s, Dim elements) {
  emit({.code = Code::grow, .index = s, .a = sizes.of(elements)});
}

void Emitter::check_type(Type type, Type stated, const char* op) {
  if (!type.has_symbols()) return;
  if (std::ranges::find(checked_, type) != checked_.end()) return;
  // All axes that are a symbol alone were checked where the symbol was bound.
  const bool plain =
      std::ranges::all_of(type.shape(), [](Dim d) { return d.is_constant() || d.as_symbol(); });
  if (plain) return;
  checked_.push_back(type);
  Check c{.kind = Check::Kind::type};
  for (Dim d : type.shape()) c.slots.push_back(sizes.of(d));
  c.type = stated;
  c.op = op;
  c.origin = origin;
  emit({.code = Code::check, .index = static_cast<std::uint32_t>(program.checks.size())});
  program.checks.push_back(std::move(c));
}

// ---- loops ----

namespace {

/// Results of one loop: each is one more stream of memory.
constexpr std::size_t kMaxOutputs = 6;

/// The parts of an expression, operands before what reads them.
void collect(const ExprRef& e, std::vector<ExprRef>& order,
             std::unordered_map<const Expr*, std::uint16_t>& number) {
  if (number.contains(e.get())) return;
  for (const ExprRef& arg : e->args) collect(arg, order, number);
  for (const Indirect& i : e->indirect) collect(i.index, order, number);
  number.emplace(e.get(), static_cast<std::uint16_t>(order.size()));
  order.push_back(e);
}

std::size_t count_parts(const ExprRef& e, std::unordered_set<const Expr*>& seen) {
  if (!seen.insert(e.get()).second) return 0;
  std::size_t n = 1;
  for (const ExprRef& arg : e->args) n += count_parts(arg, seen);
  for (const Indirect& i : e->indirect) n += count_parts(i.index, seen);
  return n;
}
/// The expression with some of its parts replaced.
ExprRef with_parts(const ExprRef& e, std::unordered_map<const Expr*, ExprRef>& by) {
  if (const auto it = by.find(e.get()); it != by.end()) return it->second;
  if (e->args.empty()) return e;
  auto copy = std::make_shared<Expr>(*e);
  bool changed = false;
  for (ExprRef& arg : copy->args) {
    const ExprRef made = with_parts(arg, by);
    changed = changed || made != arg;
    arg = made;
  }
  return by[e.get()] = changed ? ExprRef(copy) : e;
}
std::size_t count_parts(const ExprRef& e) {
  std::unordered_set<const Expr*> seen;
  return count_parts(e, seen);
}

/// Registers of operations share places once nobody reads them any more. What is loaded keeps its
/// own: it may stay there from tile to tile.
void assign_places(Loop& loop) {
  const std::size_t n = loop.ops.size();
  std::vector<std::size_t> last(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Loop::Op& op = loop.ops[i];
    if (op.kind == Loop::Op::Kind::op) {
      for (std::uint16_t a : op.args) last[a] = i;
    }
    for (std::size_t k = 0; k < op.index_count; ++k) last[loop.indices[op.first_index + k].reg] = n;
  }
  for (std::size_t k = 0; k < loop.result_index_count; ++k) {
    last[loop.indices[loop.result_first_index + k].reg] = n;
  }
  for (const Loop::Output& o : loop.outputs) last[o.reg] = n;
  std::vector<std::uint16_t> free;
  loop.places.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool shared = loop.ops[i].kind == Loop::Op::Kind::op;
    if (shared && !free.empty()) {
      loop.places[i] = free.back();
      free.pop_back();
    } else {
      loop.places[i] = loop.place_count++;
    }
    if (!shared) continue;
    std::vector<std::uint16_t> ended(std::begin(loop.ops[i].args), std::end(loop.ops[i].args));
    std::ranges::sort(ended);
    ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
    for (std::uint16_t a : ended) {
      if (last[a] == i && loop.ops[a].kind == Loop::Op::Kind::op) free.push_back(loop.places[a]);
    }
  }
}

}  // namespace

Value Emitter::split(const Value& v) {
  auto top = std::make_shared<Expr>(*v.expr);
  auto settle = [&](ExprRef& part) {
    if (part->kind == Expr::Kind::op || !part->indirect.empty()) {
      part = dense_value(v.type.with_dtype(part->dtype),
                         copy({v.type.with_dtype(part->dtype), part}, "copy"))
                 .expr;
    }
  };
  for (ExprRef& arg : top->args) settle(arg);
  for (Indirect& i : top->indirect) settle(i.index);
  return {v.type, top};
}

Step Emitter::make_loop(Type space, const std::vector<Part>& parts, const Fold* fold,
                        std::uint32_t folded, const char* name, bool fused) {
  const auto rank = usize(space.rank());
  if (rank > Loop::kMaxRank) {
    throw UserError({"TL-BACKEND-001", name,
                     "arrays of more than " + std::to_string(Loop::kMaxRank) +
                         " axes are not supported by the back end 'cpu'",
                     "merge axes with reshape", origin ? origin->place : Place{}});
  }
  const Target& target = parts[0].target;
  std::vector<ExprRef> order;
  std::unordered_map<const Expr*, std::uint16_t> number;
  std::vector<std::uint16_t> results;
  // The value comes behind what says where it goes.
  for (const Indirect& i : target.indirect) collect(i.index, order, number);
  for (const Part& p : parts) {
    ExprRef e = p.expr;
    // What is a position or another result too gets a register of its own.
    if (number.contains(e.get())) e = apply(ops::rows::StopGradient, nullptr, e->dtype, {e});
    collect(e, order, number);
    results.push_back(number.at(e.get()));
  }
  internal_check(order.size() <= Loop::kMaxOps, "a loop has too many parts");

  auto loop = std::make_shared<Loop>();
  Step step;
  step.run = run_loop;
  step.cost = loop_cost;
  step.name = name;
  loop->rank = static_cast<std::uint16_t>(rank);
  loop->fused = fused;
  for (Dim d : space.shape()) step.ints.push_back(sizes.of(d));
  auto add_affine = [&](const Affine& at) {
    const auto first = static_cast<std::uint16_t>(step.ints.size());
    step.ints.push_back(sizes.of(at.offset));
    for (Dim d : at.strides) step.ints.push_back(sizes.of(d));
    return first;
  };
  auto add_indices = [&](const std::vector<Indirect>& indirect) {
    const auto first = static_cast<std::uint16_t>(loop->indices.size());
    for (const Indirect& i : indirect) {
      const auto ints = static_cast<std::uint16_t>(step.ints.size());
      step.ints.push_back(sizes.of(i.stride));
      step.ints.push_back(sizes.of(i.last));
      loop->indices.push_back(
          {number.at(i.index.get()), ints, static_cast<std::uint16_t>(ints + 1)});
    }
    return std::pair(first, static_cast<std::uint16_t>(indirect.size()));
  };
  // By storage read: every read is of the element that is written at the same time.
  std::vector<bool> same_place;
  auto is_same_place = [&](const Expr& e) {
    return e.indirect.empty() &&
           std::ranges::all_of(parts, [&](const Part& p) { return p.target.at == e.at; });
  };
  for (const ExprRef& e : order) {
    Loop::Op op;
    op.dtype = e->dtype;
    switch (e->kind) {
      case Expr::Kind::read: {
        op.kind = Loop::Op::Kind::load;
        const auto it = std::ranges::find(step.storages, e->storage);
        op.array = static_cast<std::uint16_t>(it - step.storages.begin());
        if (it == step.storages.end()) {
          step.storages.push_back(e->storage);
          same_place.push_back(true);
        }
        same_place[op.array] = same_place[op.array] && is_same_place(*e);
        op.ints = add_affine(e->at);
        std::tie(op.first_index, op.index_count) = add_indices(e->indirect);
        break;
      }
      case Expr::Kind::position:
        op.kind = Loop::Op::Kind::position;
        op.ints = add_affine(e->at);
        break;
      case Expr::Kind::literal:
        op.kind = Loop::Op::Kind::literal;
        std::memcpy(&op.bits, e->value.data(), e->value.bytes());
        break;
      case Expr::Kind::op: {
        op.kind = Loop::Op::Kind::op;
        DType in[3] = {};
        for (std::size_t k = 0; k < e->args.size(); ++k) {
          op.args[k] = number.at(e->args[k].get());
          in[k] = e->args[k]->dtype;
        }
        op.arg_count = static_cast<std::uint16_t>(e->args.size());
        // Unused operands name one that is there.
        for (std::size_t k = e->args.size(); k < 3; ++k) op.args[k] = op.args[0];
        const TileKernel kernel = find_tile(*e->op, e->attr.get(), {in, e->args.size()}, e->dtype);
        internal_check(kernel.run != nullptr, "an operation has no tile kernel");
        op.run = kernel.run;
        op.data = kernel.data;
        op.def = e->op;
        op.attr = e->attr.get();
        if (e->attr) loop->attrs.push_back(e->attr);
        break;
      }
    }
    loop->ops.push_back(op);
    loop->origins.push_back(e->origin);
  }
  loop->fold = fold;
  loop->folded = folded;
  std::tie(loop->result_first_index, loop->result_index_count) = add_indices(target.indirect);
  loop->drop = target.drop;
  if (target.combine) {
    const DType t = parts[0].expr->dtype;
    const DType in[] = {t, t};
    loop->combine = find_tile(*target.combine, nullptr, in, t).run;
    loop->combine_def = target.combine;
  }
  step.reads = static_cast<std::uint32_t>(step.storages.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    loop->outputs.push_back({results[k], static_cast<std::uint16_t>(step.storages.size()),
                             add_affine(parts[k].target.at)});
    step.storages.push_back(parts[k].target.storage);
  }
  for (std::size_t k = 0; k < same_place.size() && k < 64; ++k) {
    if (same_place[k] && !fold && target.indirect.empty()) step.in_place |= std::uint64_t{1} << k;
  }
  loop->moves = step.in_place != 0 && !target.combine &&
                std::ranges::all_of(same_place, std::identity()) &&
                std::ranges::all_of(
                    loop->ops, [](const Loop::Op& op) { return op.kind == Loop::Op::Kind::load; });
  assign_places(*loop);
  step.scratch = loop->scratch_bytes();
  step.data = std::move(loop);
  return step;
}

bool Emitter::join(const Value& v, const Target& target) {
  const auto it = open_.find(v.type.with_dtype(DType::boolean));
  if (it == open_.end()) return false;
  OpenLoop& open = it->second;
  Step& step = program.steps[program.code[open.at].index];
  // Nobody has touched where it goes since then, nor does that loop.
  touched_.resize(program.storages.size());
  if (touched_[target.storage].any > open.at) return false;
  if (open.parts.size() == kMaxOutputs) return false;
  // What it reads was there before that loop, or is what that loop computes.
  std::unordered_map<const Expr*, ExprRef> computed;
  std::vector<ExprRef> order;
  std::unordered_map<const Expr*, std::uint16_t> number;
  collect(v.expr, order, number);
  for (const ExprRef& e : order) {
    if (e->kind != Expr::Kind::read) continue;
    if (!e->indirect.empty()) return false;
    if (touched_[e->storage].written <= open.at) continue;
    const auto part = std::ranges::find_if(open.parts, [&](const Part& p) {
      return p.target.storage == e->storage && p.target.at == e->at;
    });
    if (part == open.parts.end()) return false;
    computed.emplace(e.get(), part->expr);
  }
  std::vector<Part> parts = open.parts;
  parts.push_back({with_parts(v.expr, computed), target});
  std::unordered_set<const Expr*> seen;
  std::size_t size = 0;
  for (const Part& p : parts) size += count_parts(p.expr, seen);
  // One operation more for each result that another one reads.
  if (size + parts.size() > Loop::kMaxOps) return false;
  Step joined = make_loop(v.type, parts, nullptr, 0, step.name);
  joined.origin = step.origin;
  program.scratch = std::max(program.scratch, joined.scratch);
  for (StorageId id : joined.storages) touched_[id].any = std::max(touched_[id].any, open.at + 1);
  touched_[target.storage].written = open.at + 1;
  step = std::move(joined);
  open.parts = std::move(parts);
  return true;
}

/// The target with all its positions in memory.
Target Emitter::lying_indices(const Target& target, Type space) {
  Target t = target;
  const Type type = space.with_dtype(DType::i64);
  for (Indirect& i : t.indirect) {
    if (i.index->kind != Expr::Kind::op) continue;
    i.index = dense_value(type, copy({type, i.index}, "copy")).expr;
  }
  return t;
}

void Emitter::compute(const Value& v, const Target& target, const char* name) {
  std::unordered_set<const Expr*> seen;
  std::size_t size = count_parts(v.expr, seen);
  for (const Indirect& i : target.indirect) size += count_parts(i.index, seen);
  if (size > Loop::kMaxOps - 1) return compute(split(v), lying_indices(target, v.type), name);
  const bool plain = v.expr->kind == Expr::Kind::op && target.indirect.empty() && !target.combine;
  if (plain && join(v, target)) return;
  std::vector<Part> parts{{v.expr, target}};
  emit_step(make_loop(v.type, parts, nullptr, 0, name));
  if (plain) open_[v.type.with_dtype(DType::boolean)] = {here() - 1, std::move(parts)};
}

void Emitter::fold(const Value& v, const Fold& fold, std::span<const std::int64_t> axes,
                   const Target& target, const char* name, bool fused) {
  if (count_parts(v.expr) > Loop::kMaxOps - 1) {
    return this->fold(split(v), fold, axes, target, name, fused);
  }
  std::uint32_t folded = 0;
  for (std::int64_t axis : axes) folded |= std::uint32_t{1} << axis;
  Affine over{target.at.offset, {}};
  std::size_t kept = 0;
  for (int axis = 0; axis < v.type.rank(); ++axis) {
    over.strides.push_back((folded >> axis) & 1 ? Dim(0) : target.at.strides[kept++]);
  }
  emit_step(
      make_loop(v.type, {{v.expr, {target.storage, std::move(over)}}}, &fold, folded, name, fused));
}

Value Emitter::lying(const Value& v, const char* name) {
  if (v.expr->kind == Expr::Kind::read && v.expr->indirect.empty()) return v;
  return dense_value(v.type, copy(v, name));
}

StorageId Emitter::dense(const Value& v, const char* name) {
  if (const auto s = whole_storage(v)) return *s;
  return copy(v, name);
}

StorageId Emitter::copy(const Value& v, const char* name) {
  const StorageId to = storage(v.type);
  if (whole_storage(v)) copies.push_back(here());
  compute(v, {to, {0, dense_strides(v.type.shape())}}, name);
  return to;
}

}  // namespace tlaloc::cpu
