#include "tlaloc/cpu/tile_kernels.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"

namespace tlaloc::cpu {

const TileRow* binary_tiles(const ir::OpDef& op) {
  switch (static_cast<ops::OpId>(op.id)) {
#define TLALOC_TILES(Name) \
  case ops::OpId::Name:    \
    return &kBinaryTiles<ops::Name>;
    TLALOC_TILES(Add)
    TLALOC_TILES(Sub)
    TLALOC_TILES(Mul)
    TLALOC_TILES(Div)
    TLALOC_TILES(Rem)
    TLALOC_TILES(Max)
    TLALOC_TILES(Min)
    TLALOC_TILES(And)
    TLALOC_TILES(Or)
    TLALOC_TILES(Xor)
    TLALOC_TILES(ShiftLeft)
    TLALOC_TILES(ShiftRightArithmetic)
    TLALOC_TILES(ShiftRightLogical)
#undef TLALOC_TILES
    case ops::OpId::Pow:
      return &kIntegerTiles<ops::Pow>;
    default:
      return nullptr;
  }
}

}  // namespace tlaloc::cpu
