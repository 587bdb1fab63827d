// A dense row-major array in host memory: the currency of the interpreter, constants and goldens.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/dtype.h"

namespace tlaloc {

using Extents = std::vector<std::int64_t>;

/// Product of extents in checked arithmetic. Throws UserError TL-SIZE-001 on overflow or a
/// negative extent.
std::int64_t element_count(std::span<const std::int64_t> extents);
/// element_count times the element size, checked; TL-SIZE-001.
std::size_t checked_bytes(DType type, std::span<const std::int64_t> extents);
std::string to_string(std::span<const std::int64_t> extents);

/// Shared, reference-counted storage with value semantics for readers. `mutable_data` copies
/// first unless this handle is the only owner, so aliasing is never observable.
class HostArray {
 public:
  HostArray() = default;
  HostArray(const HostArray&) = default;
  HostArray& operator=(const HostArray&) = default;
  /// Leaves an empty handle behind.
  HostArray(HostArray&& other) noexcept { swap(other); }
  HostArray& operator=(HostArray&& other) noexcept {
    HostArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  /// Zero-filled. Errors: TL-SIZE-001 (overflow), TL-MEM-001 (allocation failed).
  HostArray(DType type, Extents extents);
  /// Not filled: every element must be written before it is read.
  static HostArray uninitialized(DType type, Extents extents);
  /// Wraps foreign memory; `keep_alive` owns it. Not writable in place.
  static HostArray external(DType type, Extents extents, const void* data,
                            std::shared_ptr<const void> keep_alive);
  template <Element T>
  static HostArray scalar(T value) {
    HostArray a = uninitialized(dtype_of<T>, {});
    *static_cast<T*>(a.mutable_data()) = value;
    return a;
  }
  template <Element T>
  static HostArray from(std::span<const T> values, Extents extents) {
    return copy_of(dtype_of<T>, std::move(extents), values.data(), values.size());
  }

  /// Default-constructed or moved from: there is no array. An array without elements is not empty.
  bool empty_handle() const { return !data_; }
  DType dtype() const { return dtype_; }
  const Extents& extents() const { return extents_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * byte_size(dtype_); }

  const void* data() const { return data_; }
  void* mutable_data();
  /// True when writing through mutable_data() will not copy.
  bool unique() const {
    if (!writable_ || owner_.use_count() != 1) return false;
    // The count is read relaxed. What a thread read through the handle that it then dropped, which
    // released the count, must come before what the caller will write.
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  template <Element T>
  std::span<const T> as() const {
    check_dtype(dtype_of<T>);
    return {static_cast<const T*>(data_), static_cast<std::size_t>(size_)};
  }
  template <Element T>
  std::span<T> as_mutable() {
    check_dtype(dtype_of<T>);
    return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(size_)};
  }
  /// Same elements under other extents of equal count.
  HostArray reshaped(Extents extents) const;
  /// Element `index` (row-major) as double; integers beyond 2^53 round.
  double element(std::int64_t index) const;
  /// Element `index` as a 64-bit integer. A floating element truncates and saturates; NaN is 0.
  std::int64_t element_int(std::int64_t index) const;

  /// Equal dtype, extents and bytes: NaNs with equal payloads are equal, -0 and +0 are not.
  friend bool identical(const HostArray& a, const HostArray& b);

 private:
  static HostArray copy_of(DType type, Extents extents, const void* data, std::size_t count);
  void check_dtype(DType wanted) const;
  void swap(HostArray& other) noexcept;

  DType dtype_ = DType::f32;
  bool writable_ = false;
  Extents extents_;
  std::int64_t size_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// A full-precision text form for tests and messages: "f32[2, 3] {1, 2, 3, 4, 5, 6}".
std::string to_string(const HostArray& array);

}  // namespace tlaloc
