#include "tlaloc/text/model.h"

#include <algorithm>

namespace tlaloc::text {

void TokenSink::grow(std::size_t more) {
  const std::size_t capacity = std::max({capacity_ * 2, size_ + more, std::size_t{256}});
  auto ids = std::make_unique_for_overwrite<TokenId[]>(capacity);
  std::copy_n(ids_.get(), size_, ids.get());
  ids_ = std::move(ids);
  if (wants_ranges_) {
    auto ranges = std::make_unique_for_overwrite<Range[]>(capacity);
    if (ranges_) std::copy_n(ranges_.get(), size_, ranges.get());
    ranges_ = std::move(ranges);
  } else {
    ranges_.reset();
  }
  capacity_ = capacity;
}

}  // namespace tlaloc::text
