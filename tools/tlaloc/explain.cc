#include <iostream>
#include <random>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

/// Some array for a parameter: floats from [0, 1), everything else zeros.
HostArray made_up(ir::Type type, const runtime::DimValues& sizes, std::mt19937& random) {
  const ir::Type t = ops::storage_type(type);
  Extents extents;
  for (ir::Dim d : t.shape()) {
    extents.push_back(d.evaluate([&](ir::Symbol s) {
      const auto it = sizes.find(s.id());
      if (it != sizes.end()) return it->second;
      throw UserError({"TL-SHAPE-004",
                       "tlaloc",
                       "nothing gives the size " + s.name(),
                       "pass --dim " + s.name() + "=128",
                       {}});
    }));
  }
  HostArray a(t.dtype(), std::move(extents));
  auto fill = [&]<class T>(T) {
    std::uniform_real_distribution<T> uniform;
    for (T& x : a.as_mutable<T>()) x = uniform(random);
  };
  if (t.dtype() == DType::f32) fill(float{});
  if (t.dtype() == DType::f64) fill(double{});
  return a;
}

}  // namespace

void explain(const ExplainArguments& arguments) {
  const ir::GraphRef g = read_module(arguments.module);
  runtime::ExplainOptions options;
  options.dims = read_dims(*g, arguments.dims);
  std::vector<HostArray> arrays;
  std::vector<const HostArray*> inputs;
  if (arguments.run) {
    std::mt19937 random;
    for (ir::Type t : g->param_types()) arrays.push_back(made_up(t, options.dims, random));
    for (const HostArray& a : arrays) inputs.push_back(&a);
    options.inputs = inputs;
  }
  const runtime::Report r = cpu::cpu_backend().compile(g)->bind({})->explain(options);
  std::cout << (arguments.json ? r.json() : r.text());
}

}  // namespace tlaloc::command
