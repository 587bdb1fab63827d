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
    if (n.type.encoding()) {
      fail("TL-QUANT-001", op, describe(x) + " is quantized", "dequantize it first", where);
    }
    return n;
  });
}

const Node& one_element(const Ref& x, const char* op, Where where) {
  const Node& n = concrete(x, op, where);
  if (n.array().size() != 1) {
    fail("TL-RANK-001", op, describe(x) + " does not hold exactly one element",
         "reduce or index it first", where);
  }
  return n;
}

/// The number as an element of type `dtype`, if that type holds it exactly; floating types round.
template <class N>
Ref checked_scalar(DType dtype, N value) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    bool fits = true;
    if constexpr (std::is_same_v<T, bool>) {
      fits = value == 0 || value == 1;
    } else if constexpr (std::is_integral_v<T>) {
      fits = std::in_range<T>(value);
    }
    if (!fits) {
      fail("TL-DTYPE-004", "number",
           std::to_string(value) + " does not fit " + std::string(tlaloc::name(dtype)),
           "convert the tensor to a wider element type", {});
    }
    return make_concrete(HostArray::scalar<T>(ops::convert_element<T>(value)));
  });
}

}  // namespace

Extents extents_of(AxesSpec axes, std::span<const std::int64_t> sizes, std::int64_t count,
                   DType dtype, Where where) {
  const auto type = [&] { return describe(dtype, axes); };
  if (!sizes.empty() && sizes.size() != axes.size()) {
    fail("TL-SHAPE-002", "tensor",
         std::to_string(sizes.size()) + " sizes given for the axes of " + type(),
         "give one size per axis", where);
  }
  Extents extents;
  std::int64_t known = 1;
  std::size_t inferred = axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t given = sizes.empty() ? axes[i].size : sizes[i];
    if (!sizes.empty() && axes[i].size >= 0 && axes[i].size != given) {
      fail("TL-SHAPE-002", "tensor",
           "size " + std::to_string(given) + " given for axis " + std::to_string(i) + " of " +
               type(),
           "give the size that the type says", where);
    }
    extents.push_back(given);
    if (sizes.empty() && given < 0) {
      if (inferred < axes.size()) {
        fail("TL-SHAPE-005", "tensor", "more than one size of " + type() + " is not known",
             "give the sizes", where);
      }
      inferred = i;
    } else if (given < 0 || __builtin_mul_overflow(known, given, &known)) {
      element_count(extents);  // refuses a negative size
      fail("TL-SIZE-001", "tensor",
           "the number of elements of " + tlaloc::to_string(extents) + " overflows 64 bits",
           "use smaller sizes", where);
    }
  }
  if (inferred < axes.size()) {
    if (known == 0 || count % known != 0) {
      fail("TL-SHAPE-002", "tensor", std::to_string(count) + " elements do not fill " + type(),
           "give a multiple of " + std::to_string(known) + " elements", where);
    }
    extents[inferred] = count / known;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].bound < 0 || extents[i] <= axes[i].bound) continue;
    fail("TL-BOUND-001", "tensor",
         "axis " + std::to_string(i) + " of " + type() + " has " + std::to_string(extents[i]) +
             " elements",
         "raise the bound, or give fewer", where);
  }
  return extents;
}

Ref scalar(DType dtype, double value) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    return make_concrete(HostArray::scalar<T>(ops::convert_element<T>(value)));
  });
}

Ref scalar_int(DType dtype, std::int64_t value) { return checked_scalar(dtype, value); }
Ref scalar_unsigned(DType dtype, std::uint64_t value) { return checked_scalar(dtype, value); }
Ref scalar_like(const Ref& like, double value) {
  const DType type = dtype(like);
  if (is_float(type)) return scalar(type, value);
  fail("TL-DTYPE-002", "number",
       "the floating number " + std::to_string(value) + " meets " + describe(like),
       "convert the tensor to a floating type", {});
}
Ref scalar_like_int(const Ref& like, std::int64_t value) {
  const DType type = dtype(like);
  return is_float(type) ? scalar(type, static_cast<double>(value)) : scalar_int(type, value);
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

Ref from_memory(DType dtype, AxesSpec axes, std::span<const std::int64_t> sizes, const void* data,
                std::int64_t count, Where where) {
  return with_place(where, [&] {
    const Extents extents = extents_of(axes, sizes, count, dtype, where);
    return relabeled(from_memory(dtype, extents, data, count, where), labels_of(axes));
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

const void* data(const Ref& x, Where where) { return concrete(x, "data", where).array().data(); }
std::int64_t size(const Ref& x, Where where) {
  const Node& n = with_place(where, [&]() -> const Node& { return node(x); });
  const ir::Dim d = n.type.elements();
  if (!d.is_constant()) {
    fail("TL-TRACE-001", "size",
         "the number of elements of " + describe(x) + " is not known while tracing", "", where);
  }
  return d.constant();
}
double item(const Ref& x, Where where) { return one_element(x, "item", where).array().element(0); }
std::int64_t item_int(const Ref& x, Where where) {
  return one_element(x, "item", where).array().element_int(0);
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
