// Softmax, norms and cross entropy of the CPU back end on one thread, forward and with gradients:
// processor time against a copy of the array.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/cpu/program.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/transform/api.h"

namespace {

using namespace tlaloc;
using bench::median;
using bench::seconds;
using bench::time_of;
using ir::Val;
using ir::Vals;

HostArray drawn(DType t, Extents extents, std::int64_t below) {
  HostArray a = HostArray::uninitialized(t, std::move(extents));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (t == DType::i32) {
      static_cast<std::int32_t*>(a.mutable_data())[i] =
          static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(below));
    } else {
      static_cast<float*>(a.mutable_data())[i] = normal(random);
    }
  }
  return a;
}

struct Composite {
  const char* name;
  std::function<Val(const Vals&)> f;  ///< of x, scale, bias, ids
};

void measure(const Composite& c, std::int64_t rows, std::int64_t columns, bool gradient) {
  ir::Builder b("f");
  const Vals p{b.param(ir::Type::get(DType::f32, {rows, columns})),
               b.param(ir::Type::get(DType::f32, {columns})),
               b.param(ir::Type::get(DType::f32, {columns})),
               b.param(ir::Type::get(DType::i32, {rows})),
               b.param(ir::Type::get(DType::f32, {rows, columns}))};
  Val y = c.f(p);
  if (gradient) {
    const std::int64_t all[] = {0, 1};
    if (y.rank() == 2) y = ops::mul(y, p[4]);
    y = ops::reduce_sum(y, {all, static_cast<std::size_t>(y.rank())});
  }
  ir::GraphRef g = b.build(Vals{y});
  if (gradient) g = transform::value_and_grad(g, {true, false, false, false, false});
  const HostArray arrays[] = {drawn(DType::f32, {rows, columns}, 0),
                              drawn(DType::f32, {columns}, 0), drawn(DType::f32, {columns}, 0),
                              drawn(DType::i32, {rows}, columns),
                              drawn(DType::f32, {rows, columns}, 0)};
  const std::vector<runtime::Buffer> inputs(std::begin(arrays), std::end(arrays));
  const auto e = cpu::cpu_backend().compile(g);
  std::vector<float> from(static_cast<std::size_t>(rows * columns), 1), to = from;
  e->run(inputs);
  std::vector<double> times, copies;
  for (int round = 0; round < 11; ++round) {
    times.push_back(time_of([&] { e->run(inputs); }));
    copies.push_back(time_of([&] { std::memcpy(to.data(), from.data(), 4 * from.size()); }));
  }
  const double t = median(times);
  std::printf("| %s%s | %ld x %ld | %.2f | %.2f | %.1f | %zu |\n", c.name,
              gradient ? " and gradient" : "", static_cast<long>(rows), static_cast<long>(columns),
              1e3 * t, 1e9 * t / static_cast<double>(rows * columns), t / median(copies),
              cpu::plan(g)->steps.size());
  std::fflush(stdout);
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  const Composite composites[] = {
      {"softmax", [](const Vals& p) { return ops::softmax(p[0], 1); }},
      {"log_softmax", [](const Vals& p) { return ops::log_softmax(p[0], 1); }},
      {"layer_norm", [](const Vals& p) { return ops::layer_norm(p[0], p[1], p[2], 1e-5); }},
      {"rms_norm", [](const Vals& p) { return ops::rms_norm(p[0], p[1], 1e-5); }},
      {"cross_entropy", [](const Vals& p) { return ops::cross_entropy(p[0], p[3]); }},
  };
  std::printf(
      "| composite | rows x columns | ms | ns an element | copies | loops |\n"
      "|---|---|---:|---:|---:|---:|\n");
  for (const Composite& c : composites) {
    for (const bool gradient : {false, true}) {
      measure(c, 4096, 1024, gradient);
      measure(c, 256, 50257, gradient);
    }
  }
}
