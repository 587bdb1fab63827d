#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {

void make_readable(Function& f) {
  merge_branches(f);
  flatten_histories(f);
  fold(f);
  order_moves(f);
  drop_dead_stores(f);
  join_variables(f);
  tidy(f);
  index_histories(f);
  fuse_loops(f);
  fold(f);
  mark_moves(f);
  place_declarations(f);
}

}  // namespace tlaloc::cxx
