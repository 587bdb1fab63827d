#include "tlaloc/stablehlo/emit.h"

#include <unordered_set>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/runtime/arguments.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo {
namespace {

class Check {
 public:
  explicit Check(const EmitOptions& options) : emitter_(options) {}

  void graph(const ir::Graph& g) {
    if (!seen_.insert(&g).second) return;
    for (std::uint32_t i = 0; i < g.node_count(); ++i) node(g.node(i));
  }

 private:
  void node(const ir::Node& n) {
    if (&n.op() == &ops::rows::DebugPrint) refuse(n, "nothing prints on a device");
    if (&n.op() == &ops::rows::CustomCall && !emitter_.options().host_calls) {
      refuse(n, "its code is on the host");
    }
    switch (n.region_kind()) {
      case ir::RegionKind::loop: {
        const auto& a = n.as<ir::WhileAttrs>();
        check_append(n, a.append);
        if (!a.append.empty() && emitter_.trips_limit(n) == 0) {
          refuse(n, "it records values in each trip, and its trips have no bound",
                 "give the loop max_trips");
        }
        if (emitter_.may_exceed(*n.region(0).graph)) {
          refuse(n, "its condition holds a loop with a limit");
        }
        break;
      }
      case ir::RegionKind::scan: {
        const auto& a = n.as<ir::ScanAttrs>();
        check_append(n, a.append);
        if (!a.ragged.empty()) {
          refuse(n, "its pieces have different lengths in each iteration");
        }
        break;
      }
      case ir::RegionKind::call:
        graph(*n.region(0).graph);
        return;
      default:
        break;
    }
    for (const ir::Region& r : n.regions()) graph(*r.graph);
  }
  static void check_append(const ir::Node& n, const std::vector<ir::Append>& append) {
    for (const ir::Append& a : append) {
      if (a.flat) refuse(n, "it appends pieces of different lengths");
    }
  }

  Emitter emitter_;
  std::unordered_set<const ir::Graph*> seen_;
};

}  // namespace

void check_emittable(const ir::Graph& g, const EmitOptions& options) { Check(options).graph(g); }

Emitted emit(const ir::Graph& g, std::span<const std::int64_t> sizes, const EmitOptions& options) {
  check_emittable(g, options);
  runtime::check_sizes(g, sizes);
  return Emitter(options).module(g, sizes);
}

}  // namespace tlaloc::stablehlo
