#include "tlaloc/interp/interp.h"

#include <algorithm>
#include <new>

#include "tlaloc/interp/machine.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/runtime/arguments.h"

namespace tlaloc::interp {

// ---- frame ----

Frame::Frame(const Plan& plan)
    : slots(plan.slot_count),
      plan_(plan),
      sizes_(plan.sizes.size(), kUnbound),
      lookup_([this](ir::Symbol s) {
        auto it = plan_.sizes.find(s.id());
        if (it == plan_.sizes.end() || sizes_[it->second] == kUnbound) {
          throw InternalError("the size '" + s.name() + "' is not known where it is used");
        }
        return sizes_[it->second];
      }) {
  context.size_of = [this](ir::Dim d) { return size(d); };
}
void Frame::bind(ir::Symbol s, std::int64_t size) {
  auto it = plan_.sizes.find(s.id());
  if (it != plan_.sizes.end()) sizes_[it->second] = size;
}
void Frame::extents(const TypeInfo& type, const char* op, Extents& out) const {
  out.clear();
  for (int axis = 0; axis < type.type.rank(); ++axis) {
    const std::int64_t n = size(type.type.dim(axis));
    if (n < 0) runtime::throw_negative_size(type.type, axis, n, op);
    out.push_back(n);
  }
}

// ---- nodes ----

namespace {
std::int64_t since(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}
}  // namespace

Machine::Machine(const Options& options) : options_(options), stats_(options.stats) {}

void Machine::poll() const {
  if (options_.cancelled && options_.cancelled()) {
    throw UserError({"TL-CANCEL-001", "", "the run was cancelled", "", {}});
  }
}

Arrays Machine::run(Frame& f, Arrays& args) {
  const Plan& p = f.plan();
  const ir::Graph& g = *p.graph;
  const bool profiled = options_.profile && depth_ == 0;
  ++depth_;
  internal_check(args.size() == g.param_count(), "a region got a wrong number of arguments");
  if (options_.check_nan) f.nonfinite.assign(p.slot_count, 0);
  std::size_t next_check = 0;
  check_constraints(f, Plan::kEntry, next_check);
  for (std::size_t k = 0; k < args.size(); ++k) {
    const auto v = static_cast<ir::ValueId>(k);
    check_value(f, p.type(v), args[k], "an argument");
    const std::uint32_t slot = p.slots[v];
    if (slot == Plan::kDiscard) continue;
    if (options_.check_nan) f.nonfinite[slot] = find_nonfinite(args[k]);
    f.slots[slot] = std::move(args[k]);
  }
  args.clear();

  std::uint32_t i = 0;
  try {
    std::size_t operand = 0;
    std::size_t region = 0;
    for (const auto count = static_cast<std::uint32_t>(g.node_count()); i < count; ++i) {
      poll();
      const ir::Node n = g.node(i);
      if (p.counts[i]) {  // its slot stays empty
        const std::uint32_t slot = p.slots[n.result()];
        if (options_.check_nan && slot != Plan::kDiscard) f.nonfinite[slot] = 0;
        continue;
      }
      const auto start = profiled ? Clock::now() : Clock::time_point{};
      f.in.clear();
      std::uint8_t operand_nonfinite = 0;
      for (std::size_t k = n.operands().size(); k > 0; --k) {
        const Use u = p.operands[operand++];
        if (options_.check_nan) operand_nonfinite |= f.nonfinite[u.slot()];
        if (u.last()) {
          f.in.push_back(std::move(f.slots[u.slot()]));
        } else {
          f.in.push_back(f.slots[u.slot()]);
        }
      }
      if (stats_) ++stats_->nodes;
      Arrays& out = f.context.out;
      out.clear();
      bool reports_nonfinite = &n.op() != &ops::rows::Constant;
      if (n.regions().empty()) {
        eval_primitive(f, n);
      } else {
        // A region's own nodes report, except under lanes, where only what was selected counts.
        reports_nonfinite = n.region_kind() == ir::RegionKind::branch && f.in[0].rank() > 0;
        out = eval_region({f, n, p.regions.data() + region});
        region += n.regions().size();
      }
      f.in.clear();
      store(f, n, operand_nonfinite, reports_nonfinite);
      check_constraints(f, i, next_check);
      if (profiled) options_.profile(n.op().name, since(start_, start), since(start, Clock::now()));
    }
  } catch (Error& e) {
    if (i < g.node_count()) e.add_place(g.node(i).origin().place);
    throw;
  }
  --depth_;
  Arrays results;
  results.reserve(p.results.size());
  for (Use u : p.results) {
    if (u.last()) {
      results.push_back(std::move(f.slots[u.slot()]));
    } else {
      results.push_back(f.slots[u.slot()]);
    }
  }
  return results;
}

void Machine::eval_primitive(Frame& f, const ir::Node& n) {
  const Plan& p = f.plan();
  ir::EvalContext& c = f.context;
  c.op = &n.op();
  c.attr = n.attr().get();
  const std::size_t count = n.result_count();
  if (count == 1 && !p.type(n.result()).type.has_symbols()) {
    c.out_dtypes = {&p.type(n.result()).dtype, 1};
    c.out_extents = {&p.type(n.result()).extents, 1};
  } else {
    if (f.shapes.size() < count) f.shapes.resize(count);
    f.dtypes.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      const TypeInfo& type = p.type(n.result(k));
      f.extents(type, n.op().name, f.shapes[k]);
      f.dtypes[k] = type.dtype;
    }
    c.out_dtypes = f.dtypes;
    c.out_extents = {f.shapes.data(), count};
  }
  c.in = f.in;
  if (!stats_) {
    n.op().eval(c);
    return;
  }
  std::vector<const void*> operands;
  std::int64_t updated = 0;
  for (std::size_t k = 0; k < f.in.size(); ++k) {
    operands.push_back(f.in[k].data());
    if (k > 0) updated = std::max(updated, f.in[k].size());
  }
  n.op().eval(c);
  const ir::Traits& traits = n.op().traits;
  for (const HostArray& a : c.out) {
    const bool shares = std::ranges::find(operands, a.data()) != operands.end();
    if (traits.updates) {
      stats_->copies += !shares;
      stats_->work += updated + (shares ? 0 : a.size());
    } else if (&n.op() != &ops::rows::Constant && (!shares || traits.elementwise)) {
      stats_->work += a.size();
    }
  }
}

void Machine::store(Frame& f, const ir::Node& n, std::uint8_t excused, bool reports_nonfinite) {
  const Plan& p = f.plan();
  Arrays& out = f.context.out;
  if (out.size() != n.result_count()) {
    throw InternalError(std::string(n.op().name) + " gave " + std::to_string(out.size()) +
                        " results, not " + std::to_string(n.result_count()));
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const ir::ValueId v = n.result(k);
    check_value(f, p.type(v), out[k], n.op().name);
    const std::uint32_t slot = p.slots[v];
    if (options_.check_nan) {
      const std::uint8_t found = find_nonfinite(out[k]);
      const auto fresh = static_cast<std::uint8_t>(found & ~(excused | muted_constants_));
      if (nan_muted_ > 0 && &n.op() == &ops::rows::Constant) muted_constants_ |= found;
      if (reports_nonfinite && fresh && nan_muted_ == 0) throw_nonfinite(n, out[k], fresh);
      if (slot != Plan::kDiscard) f.nonfinite[slot] = found;
    }
    if (slot != Plan::kDiscard) f.slots[slot] = std::move(out[k]);
  }
  out.clear();
  if (nan_muted_ == 0) muted_constants_ = 0;
}

void Machine::check_value(const Frame& f, const TypeInfo& type, const HostArray& value,
                          const char* what) {
  const bool fixed = !type.type.has_symbols();
  if (!fixed) f.extents(type, what, scratch_extents_);
  const Extents& wanted = fixed ? type.extents : scratch_extents_;
  if (value.dtype() == type.dtype && value.extents() == wanted) return;
  throw InternalError(std::string(what) + " is " + std::string(name(value.dtype())) +
                      to_string(value.extents()) + " where " + type.type.to_string() + " = " +
                      to_string(wanted) + " is expected");
}

// ---- whole programs ----

namespace {

Outcome run_entry(const Program& program, std::vector<HostArray> args, const Options& options) {
  Frame frame(program.entry());
  Machine machine(options);
  bind_arguments(frame, args, options.dims);
  Outcome r;
  try {
    r.results = machine.run(frame, args);
  } catch (const std::bad_alloc&) {
    throw EnvironmentError({"TL-MEM-001", "evaluate", "could not allocate memory", "", {}});
  }
  for (ir::Dim d : program.entry().graph->result_dims()) r.result_dims.push_back(frame.size(d));
  return r;
}

}  // namespace

Outcome evaluate(const Program& program, std::vector<HostArray> args, const Options& options) {
  return run_entry(program, std::move(args), options);
}
Outcome evaluate(const ir::Graph& g, std::vector<HostArray> args, const Options& options) {
  return run_entry(Program(g), std::move(args), options);
}
std::vector<HostArray> run(const ir::Graph& g, std::vector<HostArray> args,
                           const Options& options) {
  return evaluate(g, std::move(args), options).results;
}

}  // namespace tlaloc::interp
