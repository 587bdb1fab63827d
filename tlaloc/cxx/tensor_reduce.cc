// Reductions, running reductions and orders in tensor mode.
#include "tlaloc/cxx/tensor_lowering.h"
#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/sort.h"

namespace tlaloc::cxx {
namespace {

namespace rows = ops::rows;

struct Name {
  const ir::OpDef* op;
  const char* function;
};
constexpr Name kReductions[] = {
    {&rows::ReduceSum, "tl::sum"},    {&rows::ReduceProd, "tl::prod"},
    {&rows::ReduceMax, "tl::max"},    {&rows::ReduceMin, "tl::min"},
    {&rows::ReduceAnd, "tl::all_of"}, {&rows::ReduceOr, "tl::any_of"},
};
constexpr Name kRunning[] = {
    {&rows::CumSum, "tl::cumsum"},
    {&rows::CumProd, "tl::cumprod"},
    {&rows::CumMax, "tl::cummax"},
    {&rows::CumMin, "tl::cummin"},
    {&rows::CumLogSumExp, "tl::cumlogsumexp"},
};
template <std::size_t N>
std::string name_of(const Name (&names)[N], const ir::OpDef& op) {
  for (const Name& n : names) {
    if (n.op == &op) return n.function;
  }
  return "";
}
std::string along(std::int64_t axis) { return "<" + std::to_string(axis) + ">"; }
void put(TensorLowering& l, TensorCall& c, ExprRef e) {
  c.out.push_back(l.named(c.types[0], std::move(e), c.node.origin()));
}

void print_reduction(TensorLowering& l, TensorCall& c) {
  const auto& axes = c.node.as<ops::ReduceAttrs>().axes;
  const std::string name = name_of(kReductions, c.node.op());
  if (axes.empty()) {
    c.out.push_back(c.in[0]);
    return;
  }
  if (is_integer(c.types[0].dtype()) && (name == "tl::all_of" || name == "tl::any_of")) {
    TensorLowering::refuse(c.node, "the public API reduces bits of bools only");
  }
  std::string text;
  for (std::int64_t axis : axes) text += (text.empty() ? "" : ", ") + std::to_string(axis);
  const bool all = static_cast<int>(axes.size()) == c.in[0].type.rank();
  put(l, c, call(name + (all ? "" : "<" + text + ">"), {l.full(c.in[0], c.node)}));
}
void print_running(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::CumulativeAttrs>();
  if (a.exclusive) TensorLowering::refuse(c.node, "it leaves out the element itself");
  Exprs args{l.full(c.in[0], c.node)};
  if (a.reverse) args.insert(args.end(), {literal("{}"), literal("true")});
  put(l, c, call(name_of(kRunning, c.node.op()) + along(a.axis), std::move(args)));
}
void print_position(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::ArgReduceAttrs>();
  const bool largest = &c.node.op() == &rows::ArgMax;
  ExprRef e =
      call((largest ? "tl::argmax" : "tl::argmin") + along(a.axis), {l.full(c.in[0], c.node)});
  if (a.dtype != DType::i32) {
    const std::string t = TensorLowering::tensor_type(ir::Type::scalar(a.dtype));
    e = call("tl::cast<" + t.substr(11, t.size() - 12) + ">", {e});
  }
  put(l, c, e);
}
void print_sort(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::SortAttrs>();
  if (a.comparator || c.in.size() != 1) {
    TensorLowering::refuse(c.node, "it sorts several tensors together, or by a comparator");
  }
  Exprs args{l.full(c.in[0], c.node)};
  if (a.descending) args.insert(args.end(), {literal("{}"), literal("true")});
  put(l, c, call("tl::sort" + along(a.axis), std::move(args)));
}

std::vector<TensorRow> make_rows() {
  std::vector<TensorRow> r;
  for (const Name& n : kReductions) r.push_back({n.op, print_reduction});
  for (const Name& n : kRunning) r.push_back({n.op, print_running});
  r.push_back({&rows::ArgMax, print_position});
  r.push_back({&rows::ArgMin, print_position});
  r.push_back({&rows::Sort, print_sort});
  return r;
}

}  // namespace

std::span<const TensorRow> tensor_reduce_rules() {
  static const std::vector<TensorRow> rules = make_rows();
  return rules;
}

}  // namespace tlaloc::cxx
