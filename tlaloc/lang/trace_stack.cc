#include "tlaloc/lang/trace_stack.h"

#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {
thread_local Trace* innermost = nullptr;
}  // namespace

Trace::Trace(std::string name) : parent_(innermost), builder_(std::move(name)) { innermost = this; }
Trace::~Trace() { innermost = parent_; }
Trace* Trace::current() { return innermost; }

ir::Label label_of(std::string name, std::span<const AxisLabel> labels) {
  ir::Label label{std::move(name), {}};
  for (const AxisLabel& a : labels) label.axes.emplace_back(a.name ? a.name : "");
  return label;
}

Ref Trace::param(ir::Type type, std::vector<AxisLabel> labels, std::string name) {
  const ir::Val v = builder_.param(type, label_of(std::move(name), labels));
  declared_.push_back(v);
  return make_traced(v, std::move(labels));
}

ir::Val Trace::capture(const Ref& x) {
  const Node& n = node(x);
  // What a device has stays there.
  const bool there = n.device() && element_count(n.device()->buffer().extents()) > kMaxConstant;
  if (!there && (n.baked || n.array().size() <= kMaxConstant)) return ops::constant(n.array());
  const void* memory = there ? static_cast<const void*>(n.device().get()) : n.array().data();
  const auto [first, last] = by_memory_.equal_range(memory);
  for (auto it = first; it != last; ++it) {
    if (node(captured_[it->second]).type == n.type) return captured_vals_[it->second];
  }
  by_memory_.emplace(memory, captured_.size());
  captured_.push_back(x);
  captured_vals_.push_back(builder_.param(n.type, label_of("", n.labels)));
  return captured_vals_.back();
}

ir::Val Trace::val(const Ref& x) {
  const Node& n = node(x);
  return n.traced() ? builder_.lift(n.val) : capture(x);
}

Trace::Closed Trace::close(std::span<const Ref> results, std::vector<ir::Label> result_labels) {
  Closed closed;
  ir::Vals out;
  for (const Ref& r : results) out.push_back(val(r));
  closed.captures = {captured_, builder_.lifted()};
  ir::Builder::Close close;
  close.result_labels = std::move(result_labels);
  close.params = declared_;
  close.params.insert(close.params.end(), captured_vals_.begin(), captured_vals_.end());
  for (ir::Val v : closed.captures.lifted) close.params.push_back(builder_.lift(v));
  closed.graph = builder_.build(out, std::move(close));
  return closed;
}

ir::Val as_val(const Ref& x) {
  if (innermost) return innermost->val(x);
  const Node& n = node(x);
  if (n.traced()) {
    throw UserError({"TL-TRACE-003",
                     "",
                     "a traced value is used after its trace ended, or in another thread",
                     "return it from the traced function instead of storing it outside",
                     {}});
  }
  return ops::constant(n.array());
}

}  // namespace tlaloc::core
