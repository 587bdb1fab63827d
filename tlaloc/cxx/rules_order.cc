// sort, top_k.
#include <algorithm>

#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/passes.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/sort.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;

/// The comparator as a function of its own; returns its name.
std::string print_comparator(Lowering& l, const ir::Graph& g) {
  Function f;
  const std::string stem = l.function_name() == "comes_before" ? "is_before" : "comes_before";
  f.name = stem;
  int number = 1;
  auto taken = [&](const Function& other) { return other.name == f.name; };
  while (std::ranges::any_of(l.module().functions, taken)) {
    f.name = stem + "_" + std::to_string(++number);
  }
  Signature s{.params = {}, .results = {"before"}};
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    s.params.push_back((k % 2 ? "b" : "a") +
                       (g.param_count() > 2 ? std::to_string(k / 2) : std::string()));
  }
  Lowering(l.module(), f).function(g, s);
  make_readable(f);
  l.module().functions.push_back(std::move(f));
  return l.module().functions.back().name;
}

/// Sorts lines along an axis: where the elements of each line come from.
class Order {
 public:
  Order(Lowering& l, std::span<const Value> operands, std::int64_t axis, std::int64_t keys,
        bool descending, const ir::Graph* comparator)
      : axis_(static_cast<std::ptrdiff_t>(axis)), keys_(operands.begin(), operands.end()) {
    if (comparator) {
      before_ = literal(print_comparator(l, *comparator));
      l.needs().helper(Helper::positions_sorted_by);
    } else {
      keys_.resize(static_cast<std::size_t>(keys));
      before_ = literal(descending ? "true" : "false");
      l.needs().helper(Helper::sorted_positions);
    }
    helper_ = name_of(comparator ? Helper::positions_sorted_by : Helper::sorted_positions);
  }

  /// Visits each line, with its outer indices and the vector of positions.
  void each_line(Lowering& l, const std::function<void(const Indices& outer, VarId order)>& visit) {
    const Type type = keys_[0].type;
    const Dim n = type.dim(static_cast<int>(axis_));
    auto sort = [&](const std::vector<VarId>& lines, const Indices& outer) {
      const VarId order = l.declare(Type::get(DType::i64, {n}), "order", NameRank::derived);
      Exprs args{before_};
      for (VarId line : lines) args.push_back(variable(line));
      l.assign(order, call(helper_, std::move(args)));
      visit(outer, order);
    };
    if (type.rank() == 1) {
      std::vector<VarId> whole;
      for (const Value& key : keys_) whole.push_back(l.materialize(key));
      return sort(whole, {});
    }
    std::vector<Dim> others(type.shape().begin(), type.shape().end());
    others.erase(others.begin() + axis_);
    l.for_each(Type::get(type.dtype(), others), [&](const Indices& outer) {
      std::vector<VarId> lines;
      for (const Value& key : keys_) {
        const Type line = Type::get(key.type.dtype(), {n});
        lines.push_back(l.declare(line, "line", NameRank::derived));
        l.assign(lines.back(), call(l.var(lines.back()).type, {l.size(n)}));
        l.for_each(line, [&](const Indices& i) {
          l.store(lines.back(), i[0].expr, l.element(key, along(outer, i[0])));
        });
      }
      sort(lines, outer);
    });
  }
  Indices along(Indices outer, Index i) const {
    outer.insert(outer.begin() + axis_, std::move(i));
    return outer;
  }

 private:
  std::ptrdiff_t axis_;
  Values keys_;
  ExprRef before_;
  std::string helper_;
};

void lower_sort(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::SortAttrs>();
  const Values in(c.in.begin(), c.in.end());
  const Type type = c.types[0];
  const Dim n = type.dim(static_cast<int>(a.axis));
  std::vector<VarId> sorted;
  for (std::size_t k = 0; k < in.size(); ++k) {
    sorted.push_back(l.new_vector(c.types[k], c.node.origin()));
  }
  Order order(l, in, a.axis, a.num_keys, a.descending,
              a.comparator ? a.comparator->graph.get() : nullptr);
  order.each_line(l, [&](const Indices& outer, VarId positions) {
    l.for_each(Type::get(DType::i64, {n}), [&](const Indices& i) {
      const Index from{index(variable(positions), i[0].expr), Range::below(n)};
      const ExprRef to = l.position(type, order.along(outer, i[0])).expr;
      for (std::size_t k = 0; k < in.size(); ++k) {
        l.store(sorted[k], to, l.element(in[k], order.along(outer, from)));
      }
    });
  });
  for (std::size_t k = 0; k < in.size(); ++k) {
    c.out.push_back(l.in_vector(c.types[k], sorted[k]));
  }
}

void lower_top_k(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::TopKAttrs>();
  const Value& x = c.in[0];
  const Type type = c.types[0];
  const std::int64_t axis = type.rank() - 1;
  const Dim n = x.type.dim(static_cast<int>(axis));
  const VarId values = l.new_vector(type, c.node.origin());
  const VarId positions = l.new_vector(c.types[1], {});
  Order order(l, c.in, axis, 1, true, nullptr);
  order.each_line(l, [&](const Indices& outer, VarId sorted) {
    l.for_each(Type::get(DType::i64, {type.dim(static_cast<int>(axis))}), [&](const Indices& i) {
      const Index from{index(variable(sorted), i[0].expr), Range::below(n)};
      const ExprRef to = l.position(type, order.along(outer, i[0])).expr;
      l.store(values, to, l.element(x, order.along(outer, from)));
      l.store(positions, to,
              a.dtype == DType::i64 ? from.expr
                                    : call("static_cast<" + type_name(a.dtype) + ">", {from.expr}));
    });
  });
  c.out.push_back(l.in_vector(type, values));
  c.out.push_back(l.in_vector(c.types[1], positions));
}

const Rule kRules[] = {
    {.op = &ops::rows::Sort, .node = lower_sort, .reads = Reads::often},
    {.op = &ops::rows::TopK, .node = lower_top_k, .reads = Reads::often},
};

}  // namespace

std::span<const Rule> order_rules() { return kRules; }

}  // namespace tlaloc::cxx
