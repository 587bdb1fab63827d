// What an operation on small concrete values costs: all but the arithmetic.
#include <benchmark/benchmark.h>

#include "tlaloc/lang/composites.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/special.h"

namespace tlaloc {
namespace {

Tensor<float, 4> vector() { return Tensor<float, 4>::from({1, 2, 3, 4}); }
Tensor<float, 2, 2> matrix() { return Tensor<float, 2, 2>::from({1, 2, 3, 4}); }

template <class F>
void repeat_op(benchmark::State& state, const F& f) {
  for (auto _ : state) benchmark::DoNotOptimize(f());
}
void BM_Add(benchmark::State& state) {
  repeat_op(state, [a = vector(), b = vector()] { return a + b; });
}
void BM_AddNumber(benchmark::State& state) {
  repeat_op(state, [a = vector()] { return a + 1.0f; });
}
void BM_Sin(benchmark::State& state) {
  repeat_op(state, [a = vector()] { return sin(a); });
}
void BM_Sum(benchmark::State& state) {
  repeat_op(state, [a = vector()] { return sum(a); });
}
void BM_Reshape(benchmark::State& state) {
  repeat_op(state, [a = vector()] { return reshape<2, 2>(a); });
}
void BM_Matmul(benchmark::State& state) {
  repeat_op(state, [a = matrix()] { return matmul(a, a); });
}
void BM_Softmax(benchmark::State& state) {
  repeat_op(state, [a = vector()] { return softmax(a); });
}
BENCHMARK(BM_Add);
BENCHMARK(BM_AddNumber);
BENCHMARK(BM_Sin);
BENCHMARK(BM_Sum);
BENCHMARK(BM_Reshape);
BENCHMARK(BM_Matmul);
BENCHMARK(BM_Softmax);

}  // namespace
}  // namespace tlaloc
