#include "tlaloc/lang/bounded.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/bounded/export.h"
#include "tlaloc/bounded/program.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/closure_constants.h"
#include "tlaloc/lang/leaves.h"
#include "tlaloc/lang/param_names.h"
#include "tlaloc/runtime/arguments.h"

namespace tlaloc {

struct BoundedProgram::Data {
  std::unique_ptr<const bounded::Program> program;
};
struct BoundedExport::Data {
  bounded::Exported exported;
};

namespace {

BoundedProgram made(std::unique_ptr<const bounded::Program> program) {
  return BoundedProgram(std::make_shared<BoundedProgram::Data>(std::move(program)));
}

/// By argument of callers.
std::vector<bool> donatable(const bounded::Manifest& m) {
  std::vector<bool> r;
  for (const bounded::Input& i : m.inputs) {
    if (i.role == bounded::Role::data) r.push_back(i.result.has_value());
  }
  return r;
}

}  // namespace

BoundedProgram BoundedProgram::open(const std::string& folder, Target target) {
  return made(bounded::Program::open(folder, target.backend()));
}
BoundedProgram BoundedProgram::open(const std::string& folder) {
  return open(folder, Target(core::default_backend()));
}

std::vector<Array> BoundedProgram::operator()(std::vector<Array> arguments, Where where) const {
  return core::with_place(where, [&] {
    std::vector<core::Ref> refs;
    for (Array& a : arguments) {
      if (!a.ref()) {
        throw UserError({"TL-VALUE-001", "bounded", "an argument is an empty array",
                         "give it a value first", core::user_place(where)});
      }
      refs.push_back(std::exchange(a, Array()).ref());
    }
    if (core::any_traced(refs)) {
      throw UserError({"TL-TRACE-001", "bounded", "a bounded program is called in a trace",
                       "call it with arrays, outside of transforms", core::user_place(where)});
    }
    const bounded::Program& program = *data_->program;
    const std::vector<bool> may_go = donatable(program.manifest());
    std::vector<runtime::Buffer> buffers;
    std::vector<bool> donate(refs.size());
    for (std::size_t k = 0; k < refs.size(); ++k) {
      core::Node& n = *refs[k].get();
      const bool held_elsewhere = n.refs.load(std::memory_order_acquire) > 1;
      const auto& there = n.device();
      const bool at_home = there && &there->backend() == &program.backend();
      const bool goes = k < may_go.size() && may_go[k] && !held_elsewhere;
      // Other nodes may have the same value under other names.
      donate[k] = goes && (!there || (at_home && there.use_count() == 1));
      buffers.push_back(at_home     ? there->buffer()
                        : donate[k] ? runtime::Buffer(std::move(*n.owned()))
                                    : runtime::Buffer(n.array()));
    }
    std::vector<Array> results;
    for (runtime::Buffer& b : program.run(std::move(buffers), donate)) {
      results.emplace_back(core::make_on_device(std::move(b), program.backend()));
    }
    return results;
  });
}

std::size_t BoundedProgram::compiled() const { return data_->program->compiled(); }

void BoundedExport::write(const std::string& folder) const { data_->exported.write(folder); }
std::string BoundedExport::manifest() const { return data_->exported.manifest.json(); }
BoundedProgram BoundedExport::program(Target target) const {
  return made(std::unique_ptr<const bounded::Program>(
      new bounded::Program(data_->exported.program(target.backend()))));  // which can't be moved
}
BoundedProgram BoundedExport::program() const { return program(Target(core::default_backend())); }

namespace core {
namespace {

/// The entry dim of the Bounded axis of that name.
ir::Symbol axis_named(const OpCall& call, const std::vector<bounded::BoundRequest>& bounds,
                      const std::string& name) {
  const auto found = std::ranges::find_if(
      bounds, [&](const bounded::BoundRequest& b) { return b.symbol.name() == name; });
  if (found != bounds.end()) return found->symbol;
  throw UserError({"TL-BOUNDED-001", call.name, "no argument has a Bounded axis " + name,
                   "name an axis by its tag: Length of tl::Bounded<struct Length, 128>",
                   user_place(call.where)});
}

}  // namespace

BoundedExport export_bounded(const Function& f, const Leaves& args, const BoundedOptions& options,
                             Where where) {
  const OpCall call{"export_bounded", where};
  return with_place(where, [&] {
    const ir::GraphRef g = whole_graph(call, f, args);
    bounded::ExportOptions o;
    o.names = param_names(args, options.arguments);
    o.recorded_trips = options.recorded_trips;
    o.tolerance = options.tolerance;
    for (const Ref& x : args.data().values) o.samples.push_back(node(x).array());
    const std::vector<std::int64_t> sizes = runtime::bind_arguments(*g, o.samples, {});
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const ir::Symbol s = g->dims()[k];
      if (s.facts().upper == std::numeric_limits<std::int64_t>::max()) {
        o.dims.emplace(s.id(), sizes[k]);
      } else {
        o.bounds.push_back({.symbol = s, .most = s.facts().upper});
      }
    }
    if (o.bounds.empty()) {
      throw UserError({"TL-BOUNDED-001", call.name, "no argument has a Bounded axis",
                       "declare one: inline constexpr tl::Bounded<struct Length, 128> length;",
                       user_place(where)});
    }
    for (const BoundedOptions::Sizes& s : options.sizes) {
      const ir::Symbol symbol = axis_named(call, o.bounds, s.axis);
      auto& b = *std::ranges::find(o.bounds, symbol, &bounded::BoundRequest::symbol);
      b.least = s.least;
      b.buckets.assign(s.buckets.begin(), s.buckets.end());
    }
    for (const BoundedOptions::Valid& v : options.valid) {
      const bool there = v.argument >= 0 && usize(v.argument) < args.data().argument_begin.size() &&
                         args.argument_end(v.argument) - args.argument_begin(v.argument) == 1;
      if (!there) {
        throw UserError({"TL-BOUNDED-001", call.name,
                         "argument " + std::to_string(v.argument) + " is no single tensor",
                         "give the position of the mask or the length", user_place(where)});
      }
      o.valid.push_back({.param = usize(args.argument_begin(v.argument)),
                         .role = v.length ? bounded::Role::valid_length : bounded::Role::valid_mask,
                         .symbol = axis_named(call, o.bounds, v.axis)});
    }
    for (const int argument : options.donate) {
      if (argument < 0 || usize(argument) >= args.data().argument_begin.size()) {
        throw UserError({"TL-BOUNDED-001", call.name,
                         "argument " + std::to_string(argument) + " is donated, and is not there",
                         "give positions, from 0", user_place(where)});
      }
      for (int i = args.argument_begin(argument); i < args.argument_end(argument); ++i) {
        o.donated.push_back(usize(i));
      }
    }
    return BoundedExport(std::make_shared<BoundedExport::Data>(bounded::export_program(g, o)));
  });
}

}  // namespace core
}  // namespace tlaloc
