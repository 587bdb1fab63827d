#include "tlaloc/ops/elementwise_trig.h"

namespace tlaloc::ops {

TLALOC_ROW(Tan);
TLALOC_ROW(Asin);
TLALOC_ROW(Acos);
TLALOC_ROW(Atan);
TLALOC_ROW(Sinh);
TLALOC_ROW(Cosh);
TLALOC_ROW(Asinh);
TLALOC_ROW(Acosh);
TLALOC_ROW(Atanh);

TLALOC_UNARY(tan, Tan)
TLALOC_UNARY(asin, Asin)
TLALOC_UNARY(acos, Acos)
TLALOC_UNARY(atan, Atan)
TLALOC_UNARY(sinh, Sinh)
TLALOC_UNARY(cosh, Cosh)
TLALOC_UNARY(asinh, Asinh)
TLALOC_UNARY(acosh, Acosh)
TLALOC_UNARY(atanh, Atanh)

}  // namespace tlaloc::ops
