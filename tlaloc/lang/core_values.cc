// Values in and out of the untyped core, and run-time checks against types.
#include <cstring>
#include <string>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/core.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::core {
namespace {

[[noreturn]] void fail(const char* code, const char* op, std::string message, std::string hint,
                       Where where) {
  throw UserError({code, op, std::move(message), std::move(hint), user_place(where)});
}

const Node& concrete(const Ref& x, const char* op, Where where) {
  return with_place(where, [&]() -> const Node& {
    const Node& n = node(x);
    if (n.traced()) {
      fail("TL-TRACE-001", op, "the value of " + describe(x) + " is not known while tracing",
           "use cond, select or while_loop for what depends on it, or read it outside the "
           "traced function",
           where);
    }
    return n;
  });
}

const Node& one_element(const Ref& x, const char* op, Where where) {
  const Node& n = concrete(x, op, where);
  if (n.array.size() != 1) {
    fail("TL-RANK-001", op, describe(x) + " does not hold exactly one element",
         "reduce or index it first", where);
  }
  return n;
}

template <class T>
bool holds(std::int64_t value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value == 0 || value == 1;
  } else if constexpr (std::is_integral_v<T>) {
    return std::in_range<T>(value);
  } else {
    return true;
  }
}

}  // namespace

Ref scalar(DType dtype, double value) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    return make_concrete(HostArray::scalar<T>(ops::convert_element<T>(value)));
  });
}

Ref scalar_int(DType dtype, std::int64_t value) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    if (!holds<T>(value)) {
      fail("TL-DTYPE-003", "number",
           std::to_string(value) + " does not fit " + std::string(tlaloc::name(dtype)),
           "convert the tensor to a wider element type", {});
    }
    return make_concrete(HostArray::scalar<T>(ops::convert_element<T>(value)));
  });
}

Ref from_memory(DType dtype, std::span<const std::int64_t> extents, const void* data,
                std::int64_t count, Where where) {
  return with_place(where, [&] {
    const std::int64_t wanted = element_count(extents);
    if (count != wanted) {
      fail("TL-SHAPE-002", "tensor",
           std::to_string(count) + " elements given, " + tlaloc::to_string(extents) + " holds " +
               std::to_string(wanted),
           "give one element per position, in row-major order", where);
    }
    if (!data && wanted > 0) fail("TL-VALUE-002", "tensor", "the data pointer is null", "", where);
    HostArray a = HostArray::uninitialized(dtype, Extents(extents.begin(), extents.end()));
    if (a.bytes() > 0) std::memcpy(a.mutable_data(), data, a.bytes());
    return make_concrete(std::move(a));
  });
}

DType dtype(const Ref& x) { return node(x).type.dtype(); }
int rank(const Ref& x) { return node(x).type.rank(); }
bool is_traced(const Ref& x) { return node(x).traced(); }

std::int64_t extent(const Ref& x, int axis, Where where) {
  return with_place(where, [&] {
    const Node& n = node(x);
    if (axis < 0 || axis >= n.type.rank()) {
      fail("TL-AXIS-001", "extent",
           "axis " + std::to_string(axis) + " is out of range for " + describe(x), "", where);
    }
    const ir::Dim d = n.type.dim(axis);
    if (!d.is_constant()) {
      fail("TL-TRACE-001", "extent",
           "the size of axis " + std::to_string(axis) + " of " + describe(x) +
               " is not known while tracing: one trace serves every size",
           "use axis_size for a traced number, or give the axis a size in the type", where);
    }
    return d.constant();
  });
}

AxisSpec axis(const Ref& x, int axis) {
  const Node& n = node(x);
  const AxisLabel label = n.label(axis);
  const ir::Dim d = n.type.dim(axis);
  AxisSpec spec;
  spec.name = label.name;
  spec.tag = label.tag;
  spec.size = d.is_constant() ? d.constant() : -1;
  return spec;
}

const void* data(const Ref& x, Where where) { return concrete(x, "data", where).array.data(); }
std::int64_t size(const Ref& x, Where where) {
  const Node& n = with_place(where, [&]() -> const Node& { return node(x); });
  const ir::Dim d = n.type.elements();
  if (!d.is_constant()) {
    fail("TL-TRACE-001", "size",
         "the number of elements of " + describe(x) + " is not known while tracing", "", where);
  }
  return d.constant();
}
double item(const Ref& x, Where where) { return one_element(x, "item", where).array.element(0); }
std::int64_t item_int(const Ref& x, Where where) {
  return one_element(x, "item", where).array.element_int(0);
}

Ref check(const Ref& x, DType dtype, AxesSpec axes, Where where) {
  return with_place(where, [&] {
    const Node& n = node(x);
    const auto expected = [&] { return describe(x) + " is not " + describe(dtype, axes); };
    if (n.type.dtype() != dtype) {
      fail("TL-DTYPE-001", "check", expected(), "convert it explicitly", where);
    }
    if (n.type.rank() != static_cast<int>(axes.size())) {
      fail("TL-RANK-001", "check", expected(), "reshape it, or change the declared type", where);
    }
    for (int i = 0; i < n.type.rank(); ++i) {
      const AxisSpec& a = axes[static_cast<std::size_t>(i)];
      const ir::Dim d = n.type.dim(i);
      const auto axis_text = [&] {
        return expected() + ": axis " + std::to_string(i) + " is " + describe_axis(n.label(i), d);
      };
      const auto require = [&](ir::Constraint::Kind kind, std::int64_t bound) {
        if (d.is_constant()) {
          return kind == ir::Constraint::Kind::equal ? d.constant() == bound
                                                     : d.constant() <= bound;
        }
        ir::Builder& b = ir::Builder::current();
        const ir::Truth t =
            kind == ir::Constraint::Kind::equal ? b.equal_here(d, bound) : ir::less_equal(d, bound);
        if (t == ir::Truth::unknown) {
          b.require({kind, d, bound, "check: " + axis_text(), user_place(where)});
        }
        return t != ir::Truth::no;
      };
      if (a.size >= 0 && !require(ir::Constraint::Kind::equal, a.size)) {
        fail("TL-SHAPE-002", "check", axis_text(), "reshape it, or change the declared type",
             where);
      }
      if (a.bound >= 0 && !require(ir::Constraint::Kind::less_equal, a.bound)) {
        fail("TL-BOUND-001", "check", axis_text(), "raise the bound, or pass fewer", where);
      }
    }
    std::vector<AxisLabel> labels = labels_of(axes);
    if (labels.empty()) return x;
    return relabeled(x, std::move(labels));
  });
}

}  // namespace tlaloc::core
