// All of Tlaloc's public C++ API, except what costs every translation unit to compile and only some
// need: tlaloc/lang/print.h (operator<<, <ostream>), source.h (to_source), graph_of.h, explain.h,
// ahead.h and stablehlo.h (<string>), target.h, dlpack.h, custom_call.h, quantized.h,
// collectives.h, and eigen.h, which needs Eigen.
#pragma once

// clang-format off
// Where most verdicts lie, each before the next, which includes it: so compile errors that point
// there need one line to say where it was included from.
#include "tlaloc/lang/tensor.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/with.h"
#include "tlaloc/lang/transform_types.h"
// clang-format on

#include "tlaloc/base/error.h"
#include "tlaloc/base/large_memory.h"
#include "tlaloc/lang/activations.h"
#include "tlaloc/lang/attention.h"
#include "tlaloc/lang/batch_norm.h"
#include "tlaloc/lang/bits.h"
#include "tlaloc/lang/composites.h"
#include "tlaloc/lang/containers.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/control.h"
#include "tlaloc/lang/conv_transposed.h"
#include "tlaloc/lang/create.h"
#include "tlaloc/lang/custom.h"
#include "tlaloc/lang/cut.h"
#include "tlaloc/lang/debug_print.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/einsum.h"
#include "tlaloc/lang/fold.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/grid.h"
#include "tlaloc/lang/hessian.h"
#include "tlaloc/lang/index.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/join.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/linalg.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/math2.h"
#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/lang/order.h"
#include "tlaloc/lang/random.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/scan.h"
#include "tlaloc/lang/scatter.h"
#include "tlaloc/lang/select.h"
#include "tlaloc/lang/sort_together.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/statistics.h"
#include "tlaloc/lang/tangents.h"
#include "tlaloc/lang/threads.h"
#include "tlaloc/lang/tree_map.h"
#include "tlaloc/lang/tree_std.h"
#include "tlaloc/lang/vmap.h"
#include "tlaloc/lang/window.h"
