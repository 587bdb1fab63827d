#include "tlaloc/cpu/sizes.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::cpu {
namespace {

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

std::int64_t apply(SizeOp::Kind kind, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (kind) {
    case SizeOp::Kind::add:
      return __builtin_add_overflow(a, b, &r) ? kPoison : r;
    case SizeOp::Kind::mul:
      return __builtin_mul_overflow(a, b, &r) ? kPoison : r;
    case SizeOp::Kind::floordiv:
      return b == 0 ? kPoison : floor_quotient(a, b);
    case SizeOp::Kind::mod:
      return b == 0 ? kPoison : a - b * floor_quotient(a, b);
    case SizeOp::Kind::min:
      return std::min(a, b);
    case SizeOp::Kind::max:
      return std::max(a, b);
  }
  return kPoison;
}

SizeOp::Kind kind_of(ir::DimAtomKind kind) {
  switch (kind) {
    case ir::DimAtomKind::floordiv:
      return SizeOp::Kind::floordiv;
    case ir::DimAtomKind::mod:
      return SizeOp::Kind::mod;
    case ir::DimAtomKind::min:
      return SizeOp::Kind::min;
    case ir::DimAtomKind::max:
      return SizeOp::Kind::max;
    case ir::DimAtomKind::symbol:
      break;
  }
  throw InternalError("a symbol is no operation on sizes");
}

}  // namespace

void evaluate(const std::vector<SizeOp>& ops, std::int64_t* slots) {
  for (const SizeOp& op : ops) {
    const std::int64_t a = slots[op.a], b = slots[op.b];
    slots[op.result] = a == kPoison || b == kPoison ? kPoison : apply(op.kind, a, b);
  }
}

SizeTable::SizeTable() : code_(1) {}

std::uint32_t SizeTable::new_point() {
  code_.emplace_back();
  return static_cast<std::uint32_t>(code_.size() - 1);
}
Slot SizeTable::new_slot(std::int64_t value) {
  slots_.push_back(value);
  return static_cast<Slot>(slots_.size() - 1);
}
Slot SizeTable::define(ir::Symbol s, std::uint32_t point) {
  const auto [it, added] = symbols_.try_emplace(s.id(), Known{0, point});
  internal_check(added, "a size is bound twice in one program");
  return it->second.slot = new_slot(0);
}
Slot SizeTable::constant(std::int64_t value) { return of(ir::Dim(value)); }
Slot SizeTable::of(ir::Dim d) { return compute(d).slot; }

std::uint32_t SizeTable::point_of(ir::Dim d) const {
  std::uint32_t point = 0;
  if (d.is_constant()) return point;
  d.each_symbol([&](ir::Symbol s) {
    const auto it = symbols_.find(s.id());
    internal_check(it != symbols_.end(), "a size is not known where it is used");
    point = std::max(point, it->second.point);
  });
  return point;
}

Slot SizeTable::op(SizeOp::Kind kind, Slot a, Slot b, std::uint32_t point) {
  const Slot r = new_slot(0);
  code_[point].push_back({kind, a, b, r});
  return r;
}

SizeTable::Known SizeTable::compute(ir::Dim d) {
  if (const auto it = dims_.find(d.word()); it != dims_.end()) return it->second;
  Known known{0, 0};
  if (d.is_constant()) {
    known.slot = new_slot(d.constant());
  } else if (const auto s = d.as_symbol()) {
    const auto it = symbols_.find(s->id());
    internal_check(it != symbols_.end(), "a size is not known where it is used");
    known = it->second;
  } else {
    known.point = point_of(d);
    bool first = true;
    for (const ir::DimTerm& t : ir::terms_of(d)) {
      Slot product = 0;
      bool empty = true;
      auto factor = [&](Slot f) {
        product = empty ? f : op(SizeOp::Kind::mul, product, f, known.point);
        empty = false;
      };
      if (t.coefficient != 1 || t.atoms.empty()) factor(constant(t.coefficient));
      for (const ir::DimAtom& a : t.atoms) {
        if (a.kind == ir::DimAtomKind::symbol) {
          factor(of(ir::Symbol::from_id(a.symbol)));
        } else {
          const Slot x = of(a.a), y = of(a.b);
          factor(op(kind_of(a.kind), x, y, known.point));
        }
      }
      known.slot = first ? product : op(SizeOp::Kind::add, known.slot, product, known.point);
      first = false;
    }
  }
  dims_.emplace(d.word(), known);
  return known;
}

}  // namespace tlaloc::cpu
