// What makes lowered code readable, in the order in which it runs. None changes what is computed.
#pragma once

#include "tlaloc/cxx/code.h"

namespace tlaloc::cxx {

/// All of them, in order.
void make_readable(Function& f);

/// Puts branches on one condition together, where nothing between them stands in the way.
void merge_branches(Function& f);
/// Writes expressions where they are read, up to a length that reads well; drops what nobody reads.
void fold(Function& f);
/// Turns `parallel` into assignments, in an order that needs the fewest copies.
void order_moves(Function& f);
/// Drops assignments whose value is never needed.
void drop_dead_stores(Function& f);
/// Lets variables that are copies of each other be one, where their values never differ while both
/// are needed: carries and their next values, arrays updated in place.
void join_variables(Function& f);
/// Histories of inner loops go into those of outer loops without a vector between.
void flatten_histories(Function& f);
/// Counting loops as for, two small branches as ?:, no empty branches.
void tidy(Function& f);
/// One loop instead of several over the same indices.
void fuse_loops(Function& f);
/// Histories of loops that count are made with their length.
void index_histories(Function& f);
/// std::move where a vector is copied for the last time.
void mark_moves(Function& f);
/// Declares every variable where it is first needed, in the innermost block.
void place_declarations(Function& f);

}  // namespace tlaloc::cxx
