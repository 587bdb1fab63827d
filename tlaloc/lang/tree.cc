#include "tlaloc/base/error.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/tree_std.h"

namespace tlaloc::detail {

void refuse_structure(const char* what) {
  throw UserError(
      {"TL-TREE-006", "tree", what, "give trees of one structure", core::find_user_place()});
}

}  // namespace tlaloc::detail
