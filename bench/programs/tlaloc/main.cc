// Serves one of the programs: bench_programs NAME SIZE [loaded]. With `loaded`, the library that
// compiles is loaded and warm before the program's own first step.
#include "bench/programs/tlaloc/programs.h"

namespace {

constexpr bench::Program kPrograms[] = {
    {"mlp", bench::mlp},
    {"mlp_fixed", bench::mlp_fixed},
    {"mlp_sizes", bench::mlp_sizes},
    {"cnn", bench::cnn},
    {"transformer", bench::transformer},
    {"per_example", bench::per_example},
    {"hessian", bench::hessian},
    {"ode", bench::ode},
    {"logistic", bench::logistic},
    {"chain", bench::chain},
    {"exp_chain", bench::exp_chain},
    {"sum", bench::sum},
    {"softmax", bench::softmax},
    {"softmax_gradient", bench::softmax_gradient},
    {"layer_norm", bench::layer_norm},
    {"layer_norm_gradient", bench::layer_norm_gradient},
    {"pendulum", bench::pendulum},
    {"newton", bench::newton},
    {"rk4", bench::rk4},
    {"nbody", bench::nbody},
    {"determinant", bench::determinant},
    {"lstm", bench::lstm},
    {"log_sum_exp", bench::log_sum_exp},
    {"mixture", bench::mixture},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) tl::jit([](tl::Scalar<float> x) { return x + 1; })(1.0f);
  return bench::serve_one(kPrograms, argc, argv);
}
