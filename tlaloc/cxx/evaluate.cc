#include "tlaloc/cxx/evaluate.h"

#include "tlaloc/ir/op_def.h"

namespace tlaloc::cxx {

HostArray evaluate(const ir::Node& n, std::vector<HostArray> args, DType dtype) {
  const Extents extents;
  ir::EvalContext c;
  c.op = &n.op();
  c.attr = n.attr().get();
  c.in = args;
  c.out_dtypes = {&dtype, 1};
  c.out_extents = {&extents, 1};
  n.op().eval(c);
  return std::move(c.out.at(0));
}

}  // namespace tlaloc::cxx
