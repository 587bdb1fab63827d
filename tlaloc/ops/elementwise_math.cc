#include "tlaloc/ops/elementwise_math.h"

namespace tlaloc::ops {

TLALOC_ROW(Exp);
TLALOC_ROW(Expm1);
TLALOC_ROW(Log);
TLALOC_ROW(Log1p);
TLALOC_ROW(Sqrt);
TLALOC_ROW(Rsqrt);
TLALOC_ROW(Cbrt);
TLALOC_ROW(Logistic);
TLALOC_ROW(Tanh);
TLALOC_ROW(Sin);
TLALOC_ROW(Cos);
TLALOC_ROW(Ceil);
TLALOC_ROW(Floor);
TLALOC_ROW(Round);
TLALOC_ROW(RoundEven);

TLALOC_UNARY(exp, Exp)
TLALOC_UNARY(expm1, Expm1)
TLALOC_UNARY(log, Log)
TLALOC_UNARY(log1p, Log1p)
TLALOC_UNARY(sqrt, Sqrt)
TLALOC_UNARY(rsqrt, Rsqrt)
TLALOC_UNARY(cbrt, Cbrt)
TLALOC_UNARY(logistic, Logistic)
TLALOC_UNARY(tanh, Tanh)
TLALOC_UNARY(sin, Sin)
TLALOC_UNARY(cos, Cos)
TLALOC_UNARY(ceil, Ceil)
TLALOC_UNARY(floor, Floor)
TLALOC_UNARY(round, Round)
TLALOC_UNARY(round_even, RoundEven)

}  // namespace tlaloc::ops
