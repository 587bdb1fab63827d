#include "tlaloc/interp/recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::interp {
namespace {

Extents with_rows(std::int64_t rows, const Extents& rest) {
  Extents e{rows};
  e.insert(e.end(), rest.begin(), rest.end());
  return e;
}
std::byte* bytes(HostArray& a) { return static_cast<std::byte*>(a.mutable_data()); }
void copy(std::byte* to, const void* from, std::size_t size) {
  if (size) std::memcpy(to, from, size);
}

}  // namespace

Recorder::Recorder(Layout layout)
    : layout_(std::move(layout)), row_bytes_(checked_bytes(layout_.dtype, layout_.rest)) {
  reserve(layout_.rows);
}

void Recorder::reserve(std::int64_t rows) {
  HostArray larger = HostArray::uninitialized(layout_.dtype, with_rows(rows, layout_.rest));
  if (rows_) copy(bytes(larger), buffer_.data(), static_cast<std::size_t>(rows_) * row_bytes_);
  buffer_ = std::move(larger);
  capacity_ = rows;
}

void Recorder::add(const HostArray& value) {
  const Extents& e = value.extents();
  const bool fits = value.dtype() == layout_.dtype &&
                    e.size() == layout_.rest.size() + layout_.flat &&
                    std::equal(e.begin() + layout_.flat, e.end(), layout_.rest.begin());
  if (!fits) {
    throw InternalError("a loop output is " + std::string(name(value.dtype())) + to_string(e) +
                        " where " + (layout_.flat ? "rows of " : "") +
                        std::string(name(layout_.dtype)) + to_string(layout_.rest) +
                        " are recorded");
  }
  const std::int64_t more = layout_.flat ? e[0] : 1;
  if (rows_ + more > capacity_) reserve(std::max(rows_ + more, 2 * capacity_));
  copy(bytes(buffer_) + static_cast<std::size_t>(rows_) * row_bytes_, value.data(), value.bytes());
  rows_ += more;
  if (layout_.reverse) pieces_.push_back(more);
}

HostArray Recorder::finish() {
  if (rows_ == capacity_ && pieces_.size() <= 1) return std::move(buffer_);
  HostArray out = HostArray::uninitialized(layout_.dtype, with_rows(rows_, layout_.rest));
  const auto* from = static_cast<const std::byte*>(buffer_.data());
  if (pieces_.empty()) {
    copy(bytes(out), from, out.bytes());
    return out;
  }
  std::byte* to = bytes(out) + out.bytes();
  for (std::int64_t rows : pieces_) {
    const std::size_t size = static_cast<std::size_t>(rows) * row_bytes_;
    to -= size;
    copy(to, from, size);
    from += size;
  }
  return out;
}

}  // namespace tlaloc::interp
