#include "tlaloc/cxx/passes.h"

namespace tlaloc::cxx {

void make_readable(Function& f, Needs& needs) {
  merge_branches(f);
  flatten_histories(f);
  fold(f);
  order_moves(f);
  drop_dead_stores(f);
  join_variables(f);
  tidy(f);
  if (index_histories(f)) needs.header("algorithm");
  fuse_loops(f);
  fold(f);
  if (mark_moves(f)) needs.header("utility");
  place_declarations(f);
}

}  // namespace tlaloc::cxx
