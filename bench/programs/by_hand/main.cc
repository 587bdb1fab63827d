#include "bench/programs/by_hand/programs.h"

int main(int argc, char** argv) {
  constexpr bench::Program kPrograms[] = {
      {"chain", bench::chain},
      {"sum", bench::sum},
      {"pendulum", bench::pendulum},
      {"newton", bench::newton},
      {"rk4", bench::rk4},
      {"nbody", bench::nbody},
      {"determinant", bench::determinant},
      {"lstm", bench::lstm},
      {"log_sum_exp", bench::log_sum_exp},
      {"mixture", bench::mixture},
  };
  return bench::serve_one(kPrograms, argc, argv);
}
