#include "tlaloc/cpu/explain.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/arena.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/generate_loop.h"
#include "tlaloc/cpu/kept_right.h"
#include "tlaloc/cpu/loop.h"

namespace tlaloc::cpu {
namespace {

using runtime::KernelReport;
using runtime::MemoryReport;
using runtime::OpReport;

class Explainer {
 public:
  Explainer(const Program& p, const Running& how, std::span<const std::int64_t> dims)
      : p_(p), how_(how), slots_(p.slots) {
    for (std::size_t i = 0; i < p.entry.size(); ++i) slots_[p.entry[i]] = dims[i];
    evaluate(p.points[0], slots_.data());
    find_known();
  }

  runtime::Report run() {
    r_.program = p_.graph->name().empty() ? "program" : p_.graph->name();
    r_.backend = "cpu";
    r_.threads = num_threads();
    r_.code = how_.compiled ? "compiled code" : "precompiled kernels";
    r_.reason = how_.compiled ? "" : how_.why_not;
    const auto symbols = p_.graph->dims();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      r_.sizes.push_back(symbols[i].name() + " = " + std::to_string(slots_[p_.entry[i]]));
    }
    for (const Step& s : p_.steps) r_.kernels.push_back(kernel(s));
    for (std::size_t k = 0; k < how_.timed.size(); ++k) {
      KernelReport& kernel = r_.kernels[k];
      if (how_.timed[k] || kernel.runs_on != "compiled code") continue;
      kernel.reason = "a part of the code around it, with no time of its own";
    }
    memory();
    return std::move(r_);
  }

 private:
  /// Which integers are known before a run.
  void find_known() {
    known_.assign(slots_.size(), true);
    for (std::size_t k = 1; k < p_.points.size(); ++k) {
      for (const SizeOp& op : p_.points[k]) known_[op.result] = false;
    }
    for (const Instruction& i : p_.code) {
      if (i.code == Code::set || i.code == Code::add || i.code == Code::subtract ||
          i.code == Code::load) {
        known_[i.a] = false;
      }
    }
  }
  std::optional<std::int64_t> elements(StorageId id) const {
    const Storage& s = p_.storages[id];
    if (s.kind == Storage::Kind::dynamic || !known_[s.elements]) return std::nullopt;
    if (slots_[s.elements] == kPoison) throw_size_overflow();
    return std::max<std::int64_t>(slots_[s.elements], 0);
  }
  std::optional<std::int64_t> bytes(StorageId id) const {
    const auto n = elements(id);
    if (!n) return std::nullopt;
    return checked_mul(*n, byte_size(p_.storages[id].dtype));
  }

  // ---- kernels ----

  static OpReport op_of(const char* name, const ir::OriginRef& origin) {
    if (!origin) return {name, "", {}};
    return {name, origin->name, origin->place};
  }
  void add_ops(KernelReport& k, const Step& s) const {
    const auto* loop = s.run == run_loop ? static_cast<const Loop*>(s.data.get()) : nullptr;
    if (loop) {
      for (std::size_t i = 0; i < loop->ops.size(); ++i) {
        const Loop::Op& op = loop->ops[i];
        if (op.kind == Loop::Op::Kind::op && loop->origins[i]) {
          k.ops.push_back(op_of(op.def->name, loop->origins[i]));
        }
      }
    }
    // What is no operation on elements is the loop's own: a fold, a copy, an update.
    const bool named =
        std::ranges::any_of(k.ops, [&](const OpReport& o) { return o.op == s.name; });
    if (!named) k.ops.push_back(op_of(s.name, s.origin));
  }

  void place(KernelReport& k, const Step& s) const {
    k.runs_on = s.runs_on;
    k.reason = s.why;
    if (s.run != run_loop) return;
    const Loop& loop = *static_cast<const Loop*>(s.data.get());
    if (!how_.compiled) return;  // the report says why, for all
    const std::size_t without = first_without_code(loop);
    if (without == loop.ops.size()) {
      k.runs_on = "compiled code";
      return;
    }
    const Loop::Op& op = loop.ops[without];
    k.reason = op.kind == Loop::Op::Kind::op
                   ? std::string(op.def->name) + " has no code for these elements"
                   : "there is no code for elements of " + std::string(name(op.dtype));
  }

  KernelReport kernel(const Step& s) const {
    KernelReport k;
    k.name = s.name;
    add_ops(k, s);
    place(k, s);
    k.in_place = std::ranges::any_of(s.written(), [&](StorageId id) {
      return std::ranges::find(s.read(), id) != s.read().end();
    });
    Cost cost;
    const bool sized = std::ranges::all_of(s.ints, [&](Slot i) { return bool(known_[i]); });
    if (s.cost && sized) {
      std::vector<std::int64_t> ints;
      for (Slot i : s.ints) ints.push_back(slots_[i]);
      cost = s.cost(s.data.get(), ints.data());
      k.space = cost.space;
      if (cost.flops >= 0 && std::isfinite(cost.flops)) k.flops = cost.flops;
    }
    if (s.cost && !sized) return k;
    std::int64_t read = 0, written = 0;
    for (std::size_t i = 0; i < s.storages.size(); ++i) {
      const auto all = bytes(s.storages[i]);
      std::optional<std::int64_t> n = all;
      if (!cost.elements.empty()) {
        const double exact = (i < cost.elements.size() ? cost.elements[i] : 0) *
                             double(byte_size(p_.storages[s.storages[i]].dtype));
        // What is read by data may be any element, more than once; and of products of sizes that
        // are beyond all numbers, one may be 0.
        const double most = std::min(all ? double(*all) : 9e18, 9e18);
        n = static_cast<std::int64_t>(exact < most ? exact : most);
      }
      if (!n) return k;
      if (i < s.reads || cost.updates) read = checked_add(read, *n);
      if (i >= s.reads) written = checked_add(written, *n);
    }
    k.bytes_read = read;
    k.bytes_written = written;
    return k;
  }

  // ---- memory ----

  std::string storage_name(StorageId id) const {
    const Storage& s = p_.storages[id];
    switch (s.kind) {
      case Storage::Kind::argument:
        return "argument " + label(s.index, p_.graph->param_label(s.index));
      case Storage::Kind::constant:
        return "constant " + std::to_string(s.index);
      case Storage::Kind::result:
        return "result " + label(s.index, p_.graph->result_label(s.index));
      default:
        return "s" + std::to_string(id);
    }
  }
  static std::string label(std::size_t k, const ir::Label& l) {
    return std::to_string(k) + (l.name.empty() ? "" : " (" + l.name + ")");
  }
  static const char* kind_name(Storage::Kind k) {
    switch (k) {
      case Storage::Kind::argument:
        return "argument";
      case Storage::Kind::constant:
        return "constant";
      case Storage::Kind::result:
        return "result";
      case Storage::Kind::planned:
        return "arena";
      default:
        return "grows";
    }
  }

  void memory() {
    const ArenaPlan arena = plan_arena(p_, slots_);
    std::vector<std::int64_t> first(p_.storages.size(), -1), last(p_.storages.size(), -1);
    for (std::size_t k = 0; k < p_.steps.size(); ++k) {
      for (StorageId id : p_.steps[k].storages) {
        if (first[id] < 0) first[id] = static_cast<std::int64_t>(k);
        last[id] = static_cast<std::int64_t>(k);
      }
    }
    for (StorageId id = 0; id < p_.storages.size(); ++id) {
      const Storage& s = p_.storages[id];
      if (s.kind == Storage::Kind::none) continue;
      MemoryReport m{storage_name(id), kind_name(s.kind), std::string(name(s.dtype)), bytes(id)};
      m.first = first[id];
      m.last = last[id];
      if (s.kind == Storage::Kind::planned) {
        if (first[id] < 0) continue;  // nobody touches it
        m.offset = static_cast<std::int64_t>(arena.offsets[id]);
      } else if (s.kind == Storage::Kind::result) {
        r_.result_bytes = checked_add(r_.result_bytes, m.bytes.value_or(0));
        for (std::uint32_t d : p_.results[s.index].donors) {
          m.donors.push_back("argument " + label(d, p_.graph->param_label(d)));
        }
      }
      r_.grows = r_.grows || !m.bytes;
      r_.memory.push_back(std::move(m));
    }
    for (const Program::Kept& kept : p_.kept) {
      const auto bytes = static_cast<std::int64_t>(kept.right->bytes());
      MemoryReport m{std::string("right side as ") + packing_name(kept.right->matrix().packing),
                     "kept", "", bytes};
      m.first = m.last = kept.step;
      r_.kept_bytes = checked_add(r_.kept_bytes, bytes);
      r_.memory.push_back(std::move(m));
    }
    r_.arena_bytes = static_cast<std::int64_t>(arena.bytes);
    r_.scratch_bytes = static_cast<std::int64_t>(p_.scratch);
    r_.predicted_peak = checked_add(checked_add(r_.arena_bytes, r_.result_bytes), r_.scratch_bytes);
  }

  const Program& p_;
  const Running& how_;
  std::vector<std::int64_t> slots_;
  std::vector<bool> known_;
  runtime::Report r_;
};

}  // namespace

runtime::Report explain_program(const Program& p, const Running& how,
                                std::span<const std::int64_t> dims) {
  return Explainer(p, how, dims).run();
}

}  // namespace tlaloc::cpu
