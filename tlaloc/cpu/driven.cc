#include "tlaloc/cpu/driven.h"

#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/native.h"

namespace tlaloc::cpu {
namespace {

using Kind = DrivenRow::Kind;
using Record = DrivenRow::Record;

class Writer {
 public:
  explicit Writer(DrivenRow& row) : row_(row) {}

  Record& begin(std::uint32_t index) {
    Record& r = row_.records.emplace_back();
    r.index = index;
    r.operands = static_cast<std::uint32_t>(row_.operands.size());
    return r;
  }
  void operand(std::size_t x) { row_.operands.push_back(static_cast<std::uint32_t>(x)); }
  template <class List>
  void operands(std::uint16_t& count, const List& list) {
    for (const auto x : list) {
      operand(x);
      internal_check(++count != 0, "a driven step has too many operands");
    }
  }

 private:
  DrivenRow& row_;
};

void write_kernel(Writer& w, std::uint32_t index, const Step& s) {
  Record& r = w.begin(index);
  r.run = reinterpret_cast<const void*>(s.run);
  r.data = s.data.get();
  w.operands(r.storages, s.storages);
  w.operands(r.slots, s.ints);
}

void write_loop(Writer& w, std::uint32_t index, const Step& s, const SharedLoop& shared) {
  const Loop& loop = *static_cast<const Loop*>(s.data.get());
  Record& r = w.begin(index);
  r.kind = shared.whole ? Kind::whole_loop : Kind::shared_loop;
  r.run = shared.code;
  r.data = &shared;
  r.few = shared.few;
  if (loop.moves) {
    for (const Loop::Output& o : loop.outputs) {
      ++r.pairs;
      w.operand(s.storages[loop.ops[o.reg].array]);
      w.operand(s.storages[o.array]);
    }
  }
  if (shared.whole) {
    w.operands(r.storages, s.storages);
  } else {
    std::vector<StorageId> streams;
    for (const Loop::Op& op : loop.ops) {
      if (op.kind == Loop::Op::Kind::load) streams.push_back(s.storages[op.array]);
      if (op.kind == Loop::Op::Kind::position) streams.push_back(DrivenRow::kNoStorage);
    }
    for (const Loop::Output& o : loop.outputs) streams.push_back(s.storages[o.array]);
    w.operands(r.storages, streams);
    r.axis = static_cast<std::uint8_t>(shared.axis.axis);
  }
  w.operands(r.slots, shared.ints);
  w.operands(r.functions, shared.functions);
  if (!shared.whole) w.operands(r.extents, std::span(s.ints).first(loop.rank));
}

void write_check(Writer& w, std::uint32_t index, const Check& c) {
  Record& r = w.begin(index);
  r.kind = Kind::check;
  if (c.kind == Check::Kind::type) r.kind = Kind::no_size_below;
  if (c.kind == Check::Kind::constraint &&
      c.graph->constraints()[c.constraint].kind == ir::Constraint::Kind::equal) {
    r.kind = Kind::equal_sizes;
  }
  w.operands(r.slots, c.slots);
}

}  // namespace

DrivenRow driven_row(const Program& p, std::uint32_t begin, std::uint32_t end,
                     std::span<const SharedLoop> loops, std::span<const std::int32_t> driven) {
  DrivenRow row;
  Writer w(row);
  for (std::uint32_t at = begin; at < end; ++at) {
    const Instruction& i = p.code[at];
    if (i.code == Code::check) write_check(w, i.index, p.checks[i.index]);
    if (i.code != Code::step) continue;
    const Step& s = p.steps[i.index];
    const std::int32_t number = driven[i.index];
    number < 0 ? write_kernel(w, i.index, s)
               : write_loop(w, i.index, s, loops[static_cast<std::size_t>(number)]);
  }
  return row;
}

}  // namespace tlaloc::cpu
