#include "tlaloc/cxx/rules.h"

#include <vector>

namespace tlaloc::cxx {

const Rule* find_rule(const ir::OpDef& op) {
  static const std::vector<const Rule*> by_id = [] {
    std::vector<const Rule*> r(ops::table().size());
    for (auto family :
         {arithmetic_rules(), math_rules(), bit_rules(), constant_rules(), shape_rules(),
          index_rules(), joining_rules(), gather_rules(), reduce_rules(), product_rules(),
          fold_rules(), window_rules(), order_rules(), linalg_rules(), refused_rules()}) {
      for (const Rule& rule : family) r[rule.op->id] = &rule;
    }
    return r;
  }();
  return op.id < by_id.size() ? by_id[op.id] : nullptr;
}

}  // namespace tlaloc::cxx
