// The untyped core, continued: normalization by the statistics of a batch.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// The statistics of batch_norm: over every axis but the last.
struct BatchStatistics {
  Ref mean, variance;
};
BatchStatistics batch_statistics(const Ref& x, AxesSpec axes, Where where);
/// (x - mean) / sqrt(variance + epsilon) · scale + bias, all vectors of the last axis; scale and
/// bias may be empty.
Ref batch_norm(const Ref& x, const BatchStatistics& statistics, const Ref& scale, const Ref& bias,
               double epsilon, AxesSpec axes, Where where);

}  // namespace tlaloc::core
