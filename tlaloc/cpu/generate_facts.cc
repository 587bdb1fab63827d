#include "tlaloc/cpu/generate_facts.h"

#include "tlaloc/cpu/generate_loop.h"

namespace tlaloc::cpu {
namespace {

/// Bytes up to which an array is a variable of the function.
constexpr std::int64_t kLocalBytes = 256;
/// Elements up to which a loop is written where it runs; a larger one is a function of its own.
constexpr std::int64_t kInlineElements = 64;

}  // namespace

const Loop* loop_of(const Step& s) {
  return s.run == run_loop ? static_cast<const Loop*>(s.data.get()) : nullptr;
}

ProgramFacts::ProgramFacts(const Program& p) : p_(p) {
  for (const Step& s : p_.steps) {
    const Loop* loop = loop_of(s);
    written.push_back(loop != nullptr && can_write(*loop));
  }
  find_slots();
  find_checked();
  find_local();
}

void ProgramFacts::find_slots() {
  slots.assign(p_.slots.size(), SlotKind::constant);
  for (Slot s : p_.entry) slots[s] = SlotKind::early;
  for (const SizeOp& op : p_.points[0]) slots[op.result] = SlotKind::early;
  for (std::size_t k = 1; k < p_.points.size(); ++k) {
    for (const SizeOp& op : p_.points[k]) slots[op.result] = SlotKind::variable;
  }
  for (const Instruction& in : p_.code) {
    if (in.code == Code::set || in.code == Code::add || in.code == Code::subtract ||
        in.code == Code::load) {
      slots[in.a] = SlotKind::variable;
    }
  }
}

void ProgramFacts::find_checked() {
  std::vector<const SizeOp*> made_by(p_.slots.size());
  for (std::size_t k = 1; k < p_.points.size(); ++k) {
    for (const SizeOp& op : p_.points[k]) made_by[op.result] = &op;
  }
  checked.resize(p_.slots.size());
  std::vector<Slot> pending;
  for (const Instruction& in : p_.code) {
    if (in.code == Code::make || in.code == Code::grow) pending.push_back(in.a);
  }
  for (const Check& c : p_.checks) {
    if (c.kind == Check::Kind::type || c.kind == Check::Kind::constraint) {
      pending.insert(pending.end(), c.slots.begin(), c.slots.end());
    }
  }
  while (!pending.empty()) {
    const Slot s = pending.back();
    pending.pop_back();
    if (checked[s]) continue;
    checked[s] = true;
    if (const SizeOp* op = made_by[s]) pending.insert(pending.end(), {op->a, op->b});
  }
}

void ProgramFacts::find_local() {
  local.assign(p_.storages.size(), false);
  for (StorageId s = 0; s < p_.storages.size(); ++s) {
    const Storage& storage = p_.storages[s];
    const bool here =
        storage.kind == Storage::Kind::planned || storage.kind == Storage::Kind::result;
    if (!here || !ir_computes(storage.dtype)) continue;
    if (slots[storage.elements] != SlotKind::constant) continue;
    const std::int64_t n = p_.slots[storage.elements];
    local[s] = n >= 0 && n * byte_size(storage.dtype) <= kLocalBytes;
  }
  for (std::size_t k = 0; k < p_.steps.size(); ++k) {
    const Step& s = p_.steps[k];
    if (written[k] && is_small(s)) continue;
    for (StorageId id : s.storages) local[id] = false;
  }
}

bool ProgramFacts::is_small(const Step& s) const {
  const Loop* loop = loop_of(s);
  std::int64_t n = 1;
  for (std::size_t k = 0; k < loop->rank; ++k) {
    if (slots[s.ints[k]] != SlotKind::constant) return false;
    n *= p_.slots[s.ints[k]];
    if (n > kInlineElements) return false;
  }
  return true;
}

}  // namespace tlaloc::cpu
