#include "tlaloc/cpu/reference.h"

#include <cstring>

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {

void run_reference(const KernelCall& call) {
  const auto& r = *static_cast<const Reference*>(call.data);
  const std::int64_t* ints = call.ints;
  auto extents = [&](std::uint32_t rank) {
    Extents e(ints, ints + rank);
    ints += rank;
    return e;
  };
  // The storages are kept by the run; the arrays need an owner that says they are.
  static const std::shared_ptr<const void> kept(&r.op, [](const void*) {});
  std::vector<HostArray> in;
  std::size_t storage = 0;
  for (const Reference::Array& a : r.in) {
    in.push_back(HostArray::external(a.dtype, extents(a.rank), call.storages[storage++], kept));
  }
  std::vector<DType> dtypes;
  std::vector<Extents> shapes;
  for (const Reference::Array& a : r.out) {
    dtypes.push_back(a.dtype);
    shapes.push_back(extents(a.rank));
  }
  ir::EvalContext c;
  c.op = r.op;
  c.attr = r.attr.get();
  c.in = in;
  c.out_dtypes = dtypes;
  c.out_extents = shapes;
  c.size_of = [&](ir::Dim d) {
    if (d.is_constant()) return d.constant();
    const auto it = r.dims.find(d.word());
    if (it != r.dims.end()) return ints[it->second];
    // A part of an attribute's dim, or one made of several: none is known otherwise.
    throw InternalError(std::string(r.op->name) + " asks for a size that it does not state");
  };
  r.op->eval(c);
  internal_check(c.out.size() == r.out.size(), "an op gave a wrong number of results");
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    if (c.out[k].dtype() != dtypes[k] || c.out[k].extents() != shapes[k]) {
      throw InternalError(std::string(r.op->name) + " gave " + to_string(c.out[k].extents()) +
                          " where " + to_string(shapes[k]) + " is expected");
    }
    if (c.out[k].bytes()) {
      std::memcpy(call.storages[storage + k], c.out[k].data(), c.out[k].bytes());
    }
  }
}

}  // namespace tlaloc::cpu
