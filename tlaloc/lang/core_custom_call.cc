#include "tlaloc/lang/core_custom_call.h"

#include <memory>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/ops/effects.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::core {

void register_custom_call(std::string name, Leaves params,
                          std::function<void(const Leaves& in, Leaves& out)> f) {
  ops::CustomEval eval = [name, params = std::move(params), f = std::move(f)](
                             std::span<const HostArray> in, const std::string&) {
    const Leaves::Data& due = params.data();
    if (in.size() != due.info.size()) {
      throw UserError({"TL-CUSTOM-002",
                       "custom_call",
                       "'" + name + "' takes " + std::to_string(due.info.size()) +
                           " arguments, not " + std::to_string(in.size()),
                       "call it with what was registered",
                       {}});
    }
    std::vector<Ref> values;
    for (std::size_t k = 0; k < in.size(); ++k) {
      Ref x = make_concrete(in[k]);
      const LeafInfo& info = due.info[k];
      values.push_back(info.typed ? check(x, info.dtype, info.axes, Where{}) : std::move(x));
    }
    Leaves out;
    f(with_values(params, std::move(values)), out);
    require_values(out, name.c_str());
    std::vector<HostArray> results;
    for (const Ref& r : out.data().values) results.push_back(node(r).array());
    return results;
  };
  ops::register_custom_call(std::move(name), std::move(eval));
}

Leaves custom_call(const char* name, const Leaves& args, const Leaves& results, Where where) {
  const OpCall call{"custom_call", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    const std::vector<Ref>& operands = args.data().values;
    std::vector<ir::Type> types;
    std::vector<std::vector<AxisLabel>> labels;
    for (const LeafInfo& info : results.data().info) {
      std::vector<ir::Dim> shape;
      for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
        shape.push_back(size_of_axis(call, info.axes, i, operands));
      }
      types.push_back(ir::Type::get(info.dtype, shape));
      labels.push_back(labels_of(info.axes));
    }
    return with_values(
        results, apply_all(call, operands, std::move(labels), [&](std::span<const ir::Val> in) {
          return ops::custom_call(name, "", in, types);
        }));
  });
}

}  // namespace tlaloc::core
