#include "tlaloc/cpu/tile_kernels.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_math.h"
#include "tlaloc/ops/elementwise_special.h"
#include "tlaloc/ops/elementwise_trig.h"

namespace tlaloc::cpu {

const TileRow* unary_tiles(const ir::OpDef& op) {
  switch (static_cast<ops::OpId>(op.id)) {
#define TLALOC_TILES(Name) \
  case ops::OpId::Name:    \
    return &kUnaryTiles<ops::Name>;
    TLALOC_TILES(Neg)
    TLALOC_TILES(Abs)
    TLALOC_TILES(Sign)
    TLALOC_TILES(Cbrt)
    TLALOC_TILES(Asinh)
    TLALOC_TILES(Acosh)
    TLALOC_TILES(Atanh)
    TLALOC_TILES(ErfInv)
    TLALOC_TILES(Popcnt)
    TLALOC_TILES(Clz)
    TLALOC_TILES(Not)
#undef TLALOC_TILES
    default:
      return nullptr;
  }
}

}  // namespace tlaloc::cpu
