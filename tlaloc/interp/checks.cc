// What the interpreter checks while it runs, and how it says so.
#include <bit>
#include <cmath>

#include "tlaloc/interp/machine.h"
#include "tlaloc/runtime/arguments.h"

namespace tlaloc::interp {

void bind_arguments(Frame& f, const Arrays& args, const DimValues& dims) {
  const ir::Graph& g = *f.plan().graph;
  const auto sizes = runtime::bind_arguments(g, args, dims);
  for (std::size_t i = 0; i < sizes.size(); ++i) f.bind(g.dims()[i], sizes[i]);
}

DimValues check_entry(const Program& program, const Arrays& args, const DimValues& dims) {
  Frame f(program.entry());
  bind_arguments(f, args, dims);
  std::size_t next = 0;
  check_constraints(f, Plan::kEntry, next);
  DimValues sizes;
  for (ir::Symbol s : f.plan().graph->dims()) sizes.emplace(s.id(), f.size(s));
  return sizes;
}

void check_constraints(const Frame& f, std::uint32_t node, std::size_t& next) {
  const auto& checks = f.plan().checks;
  for (; next < checks.size() && checks[next].node == node; ++next) {
    const ir::Constraint& c = f.plan().graph->constraints()[checks[next].constraint];
    const std::int64_t a = f.size(c.a), b = f.size(c.b);
    if (c.kind == ir::Constraint::Kind::equal ? a != b : a > b) {
      runtime::throw_constraint(*f.plan().graph, c, [&](ir::Dim d) { return f.size(d); });
    }
  }
}

std::uint8_t find_nonfinite(const HostArray& a) {
  if (!is_float(a.dtype())) return 0;
  return dispatch(a.dtype(), [&]<class T>(TypeTag<T>) -> std::uint8_t {
    std::uint8_t found = 0;
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      for (T x : a.as<T>()) {
        const auto v = static_cast<ComputeType<T>>(x);
        if (std::isnan(v))
          found |= 1;
        else if (std::isinf(v))
          found |= 2;
      }
    }
    return found;
  });
}

void throw_nonfinite(const ir::Node& n, const HostArray& value, std::uint8_t found) {
  std::int64_t at = 0;
  for (; at < value.size(); ++at) {
    const double x = value.element(at);
    if (found & 1 ? std::isnan(x) : std::isinf(x)) break;
  }
  Extents place(value.extents().size());
  std::int64_t rest = at;
  for (std::size_t i = place.size(); i-- > 0; rest /= value.extents()[i]) {
    place[i] = rest % value.extents()[i];
  }
  const std::string& of = n.origin().name;
  throw UserError({"TL-NAN-001", n.op().name,
                   std::string("gave ") + (found & 1 ? "a NaN" : "an infinity") + " at " +
                       to_string(place) + " of " + std::string(name(value.dtype())) +
                       to_string(value.extents()) + (of.empty() ? "" : ", for '" + of + "'") +
                       "; no operand held one",
                   "", n.origin().place});
}

}  // namespace tlaloc::interp
