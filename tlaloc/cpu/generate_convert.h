// Elements between types, and between memory and registers.
#pragma once

#include "tlaloc/cpu/ir_writer.h"

namespace tlaloc::cpu {

/// The type that elements are computed in.
DType computed_as(DType t);
inline bool is_short_float(DType t) { return t == DType::f16 || t == DType::bf16; }

IrValue from_memory(IrWriter& w, DType t, const IrValue& v, int lanes);
IrValue to_memory(IrWriter& w, DType t, const IrValue& v, int lanes);
/// An f16 or bf16 as a float, and back to the nearest one; anything else is left as it is. `exact`:
/// the float is one of those that the type has.
IrValue widened(IrWriter& w, DType t, const IrValue& v, int lanes);
IrValue narrowed(IrWriter& w, DType t, const IrValue& v, int lanes, bool exact = false);

/// As ops::convert_element.
IrValue write_convert(IrWriter& w, DType from, DType to, const IrValue& v, int lanes);
IrValue write_bitcast(IrWriter& w, DType from, DType to, const IrValue& v, int lanes);

}  // namespace tlaloc::cpu
