#include <iostream>

#include "tlaloc/cpu/cpu_backend.h"
#include "tools/tlaloc/inputs.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {

void explain(const ExplainArguments& arguments) {
  const ir::GraphRef g = read_function(arguments).graph;
  runtime::ExplainOptions options;
  options.dims = read_dims(*g, arguments.dims);
  std::vector<HostArray> arrays;
  std::vector<const HostArray*> inputs;
  if (arguments.run) {
    // Integers are zeros: valid positions, and counts of little.
    arrays = make_inputs(*g, {.rest = "random:0:1"}, options.dims);
    for (const HostArray& a : arrays) inputs.push_back(&a);
    options.inputs = inputs;
  }
  const runtime::Report r = cpu::cpu_backend().compile(g)->bind({})->explain(options);
  std::cout << (arguments.json ? r.json() : r.text());
}

}  // namespace tlaloc::command
