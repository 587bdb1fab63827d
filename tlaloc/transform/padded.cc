#include "tlaloc/transform/padded.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/transform/batch.h"

namespace tlaloc::transform {
namespace {

[[noreturn]] void refuse_result(const Graph& g, Dim size) {
  throw UserError({"TL-BOUNDED-001",
                   g.name(),
                   "a result has the size " + size.to_string() +
                       ", which is computed: of sizes that are padded, or by a run",
                   "return arrays of the sizes themselves",
                   {}});
}

Val with_first_axis(Val x) { return ops::reshape(x, x.type().with_leading(Dim(1)).shape()); }
Val without_first_axis(Val x) { return ops::reshape(x, x.type().without_leading().shape()); }

}  // namespace

GraphRef padded(const GraphRef& g, std::span<const Symbol> axes) {
  // One lane whose sizes are its own: what vmap does with loops of different lengths.
  auto is_padded = [&](Dim d) {
    return d.mentions([&](Symbol s) { return std::ranges::find(axes, s) != axes.end(); });
  };
  BatchRequest q;
  q.lanes = Dim(1);
  q.ragged.assign(axes.begin(), axes.end());
  for (Type t : g->param_types()) q.in.push_back(std::ranges::any_of(t.shape(), is_padded));
  for (Type t : g->result_types()) {
    for (Dim d : t.shape()) {
      if (is_padded(d) && !d.as_symbol()) refuse_result(*g, d);
    }
  }
  if (!g->result_dims().empty()) refuse_result(*g, g->result_dims()[0]);
  Context ctx;
  const Batched& inner = batch_graph(ctx, g, q);

  Builder b(g->name());
  Vals params, lengths;
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    const Val x = b.param(g->type(static_cast<ValueId>(k)), g->param_label(k));
    params.push_back(q.in[k] ? with_first_axis(x) : x);
  }
  for (Symbol s : axes) {
    const Val n = b.param(Type::scalar(DType::i64), {s.name(), {}});
    lengths.push_back(with_first_axis(n));
  }
  const std::vector<Dim> own(inner.graph->dims().begin(), inner.graph->dims().end());
  Vals out = ir::inline_graph(*inner.graph, join(lengths, params), own).results;
  out.resize(g->results().size());
  std::vector<ir::Label> labels;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (inner.out[k]) out[k] = without_first_axis(out[k]);
    labels.push_back(g->result_label(k));
  }
  return dce(b.build(out, {.result_labels = std::move(labels)}));
}

}  // namespace tlaloc::transform
