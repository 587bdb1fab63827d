#include "tlaloc/lang/node.h"

#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/axis.h"

namespace tlaloc::core {

Ref::Ref(const Ref& other) noexcept : node_(other.node_) {
  if (node_) node_->refs.fetch_add(1, std::memory_order_relaxed);
}
Ref::~Ref() {
  if (node_ && node_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
}

const Node& node(const Ref& x) {
  if (!x) {
    throw UserError({"TL-VALUE-001",
                     "",
                     "a tensor without a value is used",
                     "give it a value first; a default-constructed tensor has none",
                     {}});
  }
  return *x.get();
}

std::vector<AxisLabel> labels_of(AxesSpec axes) {
  bool named = false;
  for (const AxisSpec& a : axes) named |= a.name != nullptr;
  std::vector<AxisLabel> labels;
  if (!named) return labels;
  for (const AxisSpec& a : axes) labels.push_back({a.name, a.tag});
  return labels;
}

const HostArray& DeviceValue::host() const {
  std::call_once(once_, [&] { host_ = buffer_.to_host(); });
  return host_;
}

ir::Type type_of(DType dtype, const Extents& extents, const ir::Encoding* encoding) {
  if (extents.empty()) return ir::Type::scalar(dtype);
  thread_local std::vector<ir::Dim> shape;  // keeps its memory: this is part of every result
  shape.assign(extents.begin(), extents.end());
  if (!encoding) return ir::Type::get(dtype, shape);
  shape.back() = ir::Dim(extents.back() / encoding->block_bytes * encoding->block_elements);
  return ir::Type::get(DType::f32, shape, encoding);
}

namespace {
/// Labels that do not fit the rank belong to a result that is about to be refused.
void set_labels(Node& n, std::vector<AxisLabel> labels) {
  if (static_cast<int>(labels.size()) == n.type.rank()) n.labels = std::move(labels);
}
}  // namespace

Ref make_concrete(HostArray array, std::vector<AxisLabel> labels, const ir::Encoding* encoding) {
  if (array.extents().size() > std::size_t{kMaxRank}) {
    throw UserError({"TL-RANK-002",
                     "tensor",
                     "a shape of " + std::to_string(array.extents().size()) + " axes",
                     "a tensor has at most " + std::to_string(kMaxRank),
                     {}});
  }
  auto* n = new Node;
  Ref r(n);
  n->type = type_of(array.dtype(), array.extents(), encoding);
  n->set(std::move(array));
  set_labels(*n, std::move(labels));
  return r;
}

Ref make_on_device(runtime::Buffer buffer, const runtime::Backend& backend,
                   std::vector<AxisLabel> labels, const ir::Encoding* encoding) {
  if (buffer.device().is_host())
    return make_concrete(buffer.to_host(), std::move(labels), encoding);
  auto* n = new Node;
  Ref r(n);
  n->type = type_of(buffer.dtype(), buffer.extents(), encoding);
  n->set(std::make_shared<const DeviceValue>(std::move(buffer), backend));
  set_labels(*n, std::move(labels));
  return r;
}

Ref make_traced(ir::Val val, std::vector<AxisLabel> labels) {
  auto* n = new Node;
  Ref r(n);
  n->val = val;
  n->type = val.type();
  set_labels(*n, std::move(labels));
  return r;
}

Ref relabeled(const Ref& x, std::vector<AxisLabel> labels) {
  const Node& from = node(x);
  auto* n = new Node;
  Ref r(n);
  n->share(from);
  n->val = from.val;
  n->type = from.type;
  n->baked = from.baked;
  set_labels(*n, std::move(labels));
  return r;
}

std::string describe_axis(AxisLabel label, ir::Dim size) {
  if (!label.name) return size.to_string();
  const std::string name = label.name;
  // A symbol that stands for exactly this axis bears its name.
  const auto symbol = size.as_symbol();
  if (symbol && symbol->name() == name) return name;
  return name + "=" + size.to_string();
}

std::string describe(DType dtype, std::span<const AxisLabel> labels,
                     std::span<const ir::Dim> shape) {
  std::string s(tlaloc::name(dtype));
  s += "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) s += ", ";
    s += describe_axis(i < labels.size() ? labels[i] : AxisLabel{}, shape[i]);
  }
  return s + "]";
}

std::string describe(const Ref& x) {
  const Node& n = node(x);
  return describe(n.type.dtype(), n.labels, n.type.shape());
}

std::string describe(DType dtype, AxesSpec axes) {
  std::string s(tlaloc::name(dtype));
  s += "[";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i) s += ", ";
    const AxisSpec& a = axes[i];
    if (a.name) s += a.name;
    if (a.name && a.size >= 0) s += "=";
    if (a.size >= 0) s += std::to_string(a.size);
    if (!a.name && a.size < 0) s += "any";
    if (a.bound >= 0) s += "<=" + std::to_string(a.bound);
  }
  return s + "]";
}

}  // namespace tlaloc::core
