// How long compiling takes by the size of the graph, and on what it runs then.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"

namespace {

using namespace tlaloc;
using ir::Dim;
using ir::GraphRef;
using ir::Type;
using ir::Val;

/// Layers of one shape: products and what is fused behind them.
GraphRef repeated(int operations) {
  ir::Builder b("repeated");
  const Type square = Type::get(DType::f32, {64, 64});
  Val h = b.param(square);
  const Val w = b.param(square);
  for (int i = 0; i < operations; i += 2) h = ops::tanh(ops::matmul(h, w));
  return b.build(ir::Vals{h});
}
/// Every fourth operation is on an array of its own size.
GraphRef distinct(int operations) {
  ir::Builder b("distinct");
  const Val x = b.param(Type::get(DType::f32, {100 + operations}));
  Val sum = b.param(Type::get(DType::f32, {}));
  for (int i = 0; i < operations; i += 4) {
    const Dim begin[] = {0}, end[] = {100 + i / 4};
    sum = ops::add(sum, ops::reduce_sum(ops::tanh(ops::slice(x, begin, end)), ops::AxisList{0}));
  }
  return b.build(ir::Vals{sum});
}
/// Operations on numbers, as derivatives of unrolled loops are.
GraphRef scalars(int operations) {
  ir::Builder b("scalars");
  Val x = b.param(Type::get(DType::f64, {}));
  const Val y = b.param(Type::get(DType::f64, {}));
  for (int i = 0; i < operations; i += 2) x = ops::add(ops::mul(x, y), x);
  return b.build(ir::Vals{x});
}

void row(const char* name, GraphRef (*make)(int), int operations) {
  std::vector<double> times;
  std::shared_ptr<const runtime::Bound> bound;
  for (int i = 0; i < 3; ++i) {
    // A few more each time: what was compiled before stays in memory.
    const GraphRef g = make(operations + 4 * i);
    times.push_back(bench::time_of([&] { bound = cpu::cpu_backend().compile(g)->bind({}); }));
  }
  const double s = bench::median(times);
  const runtime::Report r = bound->explain({});
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {} |\n", name, operations, 1e3 * s,
             1e6 * s / static_cast<double>(operations),
             r.code + (r.reason.empty() ? "" : ": " + r.reason));
}

}  // namespace

int main() {
  setenv("TLALOC_CACHE", "off", 1);
  setenv("TLALOC_NUM_THREADS", "1", 1);
  cpu::cpu_backend().compile(scalars(2))->bind({});  // loads LLVM
  fmt::print("| graph | operations | ms | us an operation | runs on |\n|---|---:|---:|---:|---|\n");
  for (const int n : {100, 1000, 10'000, 100'000}) {
    row("layers of one shape", repeated, n);
    row("arrays of sizes of their own", distinct, n);
    row("numbers", scalars, n);
  }
}
