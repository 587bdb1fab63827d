// Serves one of the programs: programs_bench NAME SIZE [loaded|explain]. With `loaded`, the library
// that compiles is loaded and warm before the program's own first step. With `explain`, what its
// compiled function is and takes comes behind the answers, for people and as JSON.
#include <iostream>
#include <string_view>

#include "bench/programs/tlaloc/programs.h"
#include "tlaloc/lang/explain.h"

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
  bench::release = [] { tl::release_memory(); };
  const std::string_view how = argc > 3 ? argv[3] : "";
  if (how == "loaded") tl::jit([](tl::Scalar<float> x) { return x + 1; })(1.0f);
  if (how != "explain") return bench::serve_one(kPrograms, argc, argv);
  tl::core::ExplainScope scope;
  const int status = bench::serve_one(kPrograms, argc, argv);
  if (status == 0) {
    const tl::Explanation e = scope.take();
    std::cout << e << '\n' << e.json() << std::endl;
  }
  return status;
}
