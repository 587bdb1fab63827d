#include "tlaloc/text/cuts.h"

namespace tlaloc::text {

void Cuts::add(Range r, bool is_match) {
  switch (behavior_) {
    case Behavior::kRemoved:
      if (!is_match) emit(r);
      break;
    case Behavior::kIsolated:
      emit(r);
      break;
    case Behavior::kContiguous:
      if (is_match && previous_ && out_.size() > start_) {
        out_.back().end = r.end;
      } else {
        emit(r);
      }
      break;
    case Behavior::kMergedWithPrevious:
      if (is_match && !previous_ && out_.size() > start_) {
        out_.back().end = r.end;
      } else {
        emit(r);
      }
      break;
    case Behavior::kMergedWithNext:
      if (pending_) {
        pending_ = false;
        if (!is_match) {
          emit({held_.begin, r.end});
          break;
        }
        emit(held_);
      }
      if (is_match) {
        held_ = r;
        pending_ = true;
      } else {
        emit(r);
      }
      break;
  }
  previous_ = is_match;
}

void Cuts::finish() {
  if (pending_) emit(held_);
}

}  // namespace tlaloc::text
