#include "tests/cxx/convert_graph.h"

#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/reduce_general.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/sort.h"

namespace tlaloc::testing {
namespace {

ir::Type converted(ir::Type t, DType dtype) {
  return t.dtype() == DType::f64 ? t.with_dtype(dtype) : t;
}

ir::AttrRef converted(const ir::Node& n, DType dtype) {
  if (&n.op() == &ops::rows::Constant) {
    return ir::make_attr(
        ops::ConstantAttrs{{with_floats(n.as<ops::ConstantAttrs>().value.value, dtype)}});
  }
  if (&n.op() == &ops::rows::Convert) {
    const DType to = n.as<ops::ConvertAttrs>().dtype;
    return ir::make_attr(ops::ConvertAttrs{to == DType::f64 ? dtype : to});
  }
  if (&n.op() == &ops::rows::Iota) {
    const auto& a = n.as<ops::IotaAttrs>();
    return ir::make_attr(ops::IotaAttrs{converted(a.type, dtype), a.axis});
  }
  if (&n.op() == &ops::rows::Reduce) {
    const auto& a = n.as<ops::FoldAttrs>();
    return ir::make_attr(ops::FoldAttrs{a.axes, {with_floats(a.reducer.graph, dtype)}});
  }
  if (&n.op() == &ops::rows::Sort) {
    ops::SortAttrs a = n.as<ops::SortAttrs>();
    if (a.comparator) a.comparator->graph = with_floats(a.comparator->graph, dtype);
    return ir::make_attr(std::move(a));
  }
  return n.attr();
}

}  // namespace

HostArray with_floats(const HostArray& a, DType dtype) {
  if (!is_float(a.dtype()) || a.dtype() == dtype) return a;
  HostArray r(dtype, a.extents());
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(r.mutable_data());
    for (std::int64_t i = 0; i < a.size(); ++i) out[i] = ops::convert_element<T>(a.element(i));
  });
  return r;
}

ir::GraphRef with_floats(const ir::GraphRef& g, DType dtype) {
  ir::Builder b(g->name());
  ir::Copier c(*g);
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    c.env[k] = b.param(converted(g->type(static_cast<ir::ValueId>(k)), dtype), g->param_label(k));
  }
  for (std::uint32_t i = 0; i < g->node_count(); ++i) {
    const ir::Node n = g->node(i);
    ir::AttrRef attr = converted(n, dtype);
    if (attr && attr->has_dims()) attr = attr->substitute(c.dims);
    const ir::Vals in = c.operands(n);
    std::vector<ir::Region> regions;
    for (const ir::Region& r : n.regions()) {
      ir::Region copy{with_floats(r.graph, dtype), {}};
      // The copy numbers its sizes as they first appear, which types and attributes decide alike.
      for (const auto& d : r.dims)
        copy.dims.push_back(d ? std::optional(d->substitute(c.dims)) : std::nullopt);
      regions.push_back(std::move(copy));
    }
    std::vector<ir::Symbol> bound;
    for (ir::Symbol s : n.bound()) {
      bound.push_back(ir::Symbol::like(s));
      c.dims.set(s, bound.back());
    }
    std::vector<ir::Type> types;
    for (ir::Type t : n.result_types()) types.push_back(converted(t, dtype).substitute(c.dims));
    if (regions.empty() && bound.empty()) {
      ir::Vals out(types.size());
      b.emit_typed(n.op(), attr, in, types, out);
      c.set(n, out);
    } else {
      const auto r = b.emit_region(n.op(), std::move(attr), in, types, std::move(regions), bound);
      for (std::size_t k = 0; k < r.bound.size(); ++k) c.dims.set(n.bound()[k], r.bound[k]);
      c.set(n, r.out);
    }
  }
  c.copy_constraints();
  ir::Builder::Close close;
  close.result_dims = c.result_dims();
  for (std::size_t k = 0; k < g->results().size(); ++k)
    close.result_labels.push_back(g->result_label(k));
  return b.build(c.results(), std::move(close));
}

}  // namespace tlaloc::testing
