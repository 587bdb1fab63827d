// The programs written by hand, compiled by g++ -O3 -march=native.
#pragma once

#include "bench/programs/serve.h"

namespace bench {

void chain(std::int64_t count);
void sum(std::int64_t count);
void pendulum(std::int64_t steps);
void newton(std::int64_t roots);
void rk4(std::int64_t steps);
void nbody(std::int64_t steps);
void determinant(std::int64_t);
void lstm(std::int64_t steps);
void log_sum_exp(std::int64_t count);
void mixture(std::int64_t points);

}  // namespace bench
