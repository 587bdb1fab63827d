// What Leaves hold. Internal.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tlaloc/lang/node.h"
#include "tlaloc/lang/trace.h"

namespace tlaloc::core {

/// What is known of a leaf beside its value.
struct LeafInfo {
  bool typed = false;
  DType dtype = DType::f32;
  AxesSpec axes;  ///< typed leaves only
  int step = -1;  ///< the last step of its path
};

struct Leaves::Data {
  std::atomic<std::uint32_t> refs{1};
  std::vector<Ref> values;
  std::vector<LeafInfo> info;
  std::vector<int> argument_begin;
  std::vector<std::int64_t> notes;
  std::shared_ptr<void> payload;
  std::uint64_t used_up = 0;  ///< a bit per argument, as far as that goes

  /// Paths as a tree of steps, so that a path costs nothing until an error asks for its text.
  struct Step {
    int parent;
    const char* field;  ///< null: an element
    std::int64_t index;
  };
  std::vector<Step> steps;
  int at = -1;

  void clear();
  /// All but the values.
  void take_structure(const Data& other);

  /// "argument 0: blocks[1].w"; "result" for a result that is a single leaf.
  std::string path(std::size_t leaf) const;
  std::string path_text(std::size_t leaf) const;  ///< without the argument: "blocks[1].w"
};

/// The same structure with other values.
Leaves with_values(const Leaves& like, std::vector<Ref> values);
/// The leaves of several trees in one list, without their structure: what transforms return beside
/// the result of the function itself.
Leaves joined(const Leaves& first, std::span<const Ref> more);

/// Values of the leaves; UserError TL-VALUE-001 names the first that has none.
void require_values(const Leaves& leaves, const char* what);

}  // namespace tlaloc::core
