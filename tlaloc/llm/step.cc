#include "tlaloc/llm/step.h"

#include <iterator>
#include <utility>

#include "tlaloc/ir/builder.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/llm/leaves.h"
#include "tlaloc/ops/paged.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::llm {

using ir::Dim;
using ir::Symbol;
using ir::Type;
using ir::Val;

std::vector<PoolType> pool_types(const DecoderSpec& spec, std::int64_t page) {
  std::vector<PoolType> pools;
  for (int both = 0; both < 2; ++both) {
    for (const LayerSpec& layer : spec.layers) {
      pools.push_back({DType::f32, page, layer.attention.kv_heads, layer.attention.width});
    }
  }
  return pools;
}

StepProgram step_program(const DecoderSpec& spec, const Weights& weights, std::int64_t page,
                         ops::Activation activation) {
  StepProgram program;
  ir::Builder b("step");
  const Dim tokens = Symbol::fresh("tokens"), sequences = Symbol::fresh("sequences"),
            width = Symbol::fresh("width"), rows = Symbol::fresh("rows"),
            pages = Symbol::fresh("pages");
  auto integers = [&](std::initializer_list<Dim> shape, const char* name) {
    return b.param(Type::get(DType::i32, shape), {name, {}});
  };
  const Val ids = integers({tokens}, "ids"), positions = integers({tokens}, "positions"),
            owners = integers({tokens}, "sequences"), slots = integers({tokens}, "slots"),
            tables = integers({sequences, width}, "tables"), wanted = integers({rows}, "rows");
  program.pools = pool_types(spec, page);
  const std::size_t layers = spec.layers.size();
  std::vector<Val> pools;
  std::size_t next = 6;
  for (const PoolType& p : program.pools) {
    program.aliases.push_back({next++, pools.size() + 1, true});
    pools.push_back(b.param(Type::get(p.dtype, {pages, p.page, p.heads, p.width})));
  }
  program.first_weight = next;
  const WeightVals w =
      map_leaves<Val>(weights, [&](const Array& x) { return b.param(core::node(x.ref()).type); });

  const Attend attend = [&](std::size_t layer, Val q, Val k, Val v) {
    const AttentionSpec& a = spec.layers[layer].attention;
    Val& keys = pools[layer];
    Val& values = pools[layers + layer];
    keys = ops::paged_store(keys, k, slots);
    values = ops::paged_store(values, v, slots);
    return ops::paged_attention(q, keys, values, positions, owners, tables,
                                {.scale = a.scale, .window = a.window, .soft_cap = a.soft_cap});
  };
  const Val x = hidden(spec, w, ids, positions, attend, activation);
  std::vector<Val> results{logits_of(spec, w, ops::take(x, wanted, 0), activation)};
  results.insert(results.end(), pools.begin(), pools.end());
  program.graph = b.build(results);
  return program;
}

HostArray run_step(const runtime::Bound& step, const StepInputs& in, std::int64_t width,
                   std::vector<runtime::Buffer>& pools) {
  auto list = [](const std::vector<std::int32_t>& x, Extents extents) {
    return runtime::Buffer(HostArray::from<std::int32_t>(x, std::move(extents)));
  };
  const auto tokens = static_cast<std::int64_t>(in.tokens.size());
  const auto cells = static_cast<std::int64_t>(in.tables.size());
  std::vector<runtime::Buffer> inputs{list(in.tokens, {tokens}),
                                      list(in.positions, {tokens}),
                                      list(in.sequences, {tokens}),
                                      list(in.slots, {tokens}),
                                      list(in.tables, {cells / width, width}),
                                      list(in.rows, {static_cast<std::int64_t>(in.rows.size())})};
  runtime::RunOptions options;
  options.donate.assign(inputs.size(), false);
  options.donate.resize(inputs.size() + pools.size(), true);
  std::move(pools.begin(), pools.end(), std::back_inserter(inputs));
  runtime::RunResult result = step.run(std::move(inputs), options);
  std::move(result.outputs.begin() + 1, result.outputs.end(), pools.begin());
  return result.outputs[0].to_host();
}

}  // namespace tlaloc::llm
