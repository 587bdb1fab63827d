#include "tlaloc/base/host_array.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/base/large_memory.h"

namespace tlaloc {

std::string to_string(std::span<const std::int64_t> extents) {
  std::string s = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i) s += ", ";
    s += std::to_string(extents[i]);
  }
  return s + "]";
}

std::int64_t element_count(std::span<const std::int64_t> extents) {
  // A zero anywhere makes the product zero, whatever the other extents multiply to.
  bool zero = false;
  for (std::int64_t e : extents) {
    if (e < 0) {
      throw UserError({"TL-SIZE-001", "shape", "negative extent in " + to_string(extents), "", {}});
    }
    zero |= e == 0;
  }
  if (zero) return 0;
  std::int64_t n = 1;
  for (std::int64_t e : extents) {
    if (__builtin_mul_overflow(n, e, &n)) {
      throw UserError({"TL-SIZE-001",
                       "shape",
                       "the number of elements of " + to_string(extents) + " overflows 64 bits",
                       "use smaller extents",
                       {}});
    }
  }
  return n;
}

namespace {
std::size_t bytes_of(DType type, std::int64_t elements, std::span<const std::int64_t> extents) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, std::int64_t{byte_size(type)}, &bytes)) {
    throw UserError({"TL-SIZE-001",
                     "shape",
                     "the size in bytes of " + to_string(extents) + " overflows 64 bits",
                     "use smaller extents",
                     {}});
  }
  return static_cast<std::size_t>(bytes);
}
}  // namespace

std::size_t checked_bytes(DType type, std::span<const std::int64_t> extents) {
  return bytes_of(type, element_count(extents), extents);
}

namespace {

/// A cache line, and the widest vector register.
constexpr std::size_t kAlignment = 64;

/// Makes room for elements behind a reference count, so that an array is one allocation. Aligned by
/// hand: an aligned allocation costs several plain ones, and small arrays come and go.
template <class T>
struct WithRoom {
  using value_type = T;
  std::size_t bytes;
  void** room;  ///< where to tell the caller; of no use afterwards

  WithRoom(std::size_t n, void** where) : bytes(n), room(where) {}
  template <class U>
  WithRoom(const WithRoom<U>& o) : bytes(o.bytes), room(o.room) {}  // NOLINT: allocators convert
  template <class U>
  bool operator==(const WithRoom<U>&) const {
    return true;
  }

  T* allocate(std::size_t) {
    void* p = take_memory(size<T>());
    const auto after = reinterpret_cast<std::uintptr_t>(p) + sizeof(T);
    *room = static_cast<std::byte*>(p) + sizeof(T) + (kAlignment - after % kAlignment) % kAlignment;
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { give_memory(p, size<T>()); }

 private:
  template <class U>
  std::size_t size() const {
    return sizeof(U) + kAlignment - 1 + bytes;
  }
};
struct Nothing {};

}  // namespace

HostArray HostArray::uninitialized(DType type, Extents extents) {
  HostArray a;
  a.size_ = element_count(extents);
  const std::size_t bytes = bytes_of(type, a.size_, extents);
  a.dtype_ = type;
  a.extents_ = std::move(extents);
  a.writable_ = true;
  try {
    void* room = nullptr;
    // At least one byte, so that an empty array still has an identity.
    const WithRoom<Nothing> allocator(std::max<std::size_t>(bytes, 1), &room);
    a.owner_ = std::allocate_shared<const Nothing>(allocator);
    a.data_ = room;
  } catch (const std::bad_alloc&) {
    throw EnvironmentError({"TL-MEM-001",
                            "allocate",
                            "could not allocate " + std::to_string(bytes) + " bytes for " +
                                std::string(name(type)) + to_string(a.extents_),
                            "free memory or use smaller extents",
                            {}});
  }
  return a;
}

HostArray::HostArray(DType type, Extents extents) {
  *this = uninitialized(type, std::move(extents));
  std::memset(const_cast<void*>(data_), 0, bytes());
}

HostArray HostArray::external(DType type, Extents extents, const void* data,
                              std::shared_ptr<const void> keep_alive) {
  HostArray a;
  checked_bytes(type, extents);
  a.dtype_ = type;
  a.size_ = element_count(extents);
  a.extents_ = std::move(extents);
  a.data_ = data;
  a.owner_ = std::move(keep_alive);
  return a;
}

HostArray HostArray::copy_of(DType type, Extents extents, const void* data, std::size_t count) {
  HostArray a = uninitialized(type, std::move(extents));
  if (static_cast<std::size_t>(a.size_) != count) {
    throw UserError({"TL-SHAPE-002",
                     "from",
                     std::to_string(count) + " values do not fill " + to_string(a.extents_),
                     "pass as many values as the shape has elements",
                     {}});
  }
  if (count) std::memcpy(const_cast<void*>(a.data_), data, a.bytes());
  return a;
}

void HostArray::swap(HostArray& other) noexcept {
  std::swap(dtype_, other.dtype_);
  std::swap(writable_, other.writable_);
  extents_.swap(other.extents_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
  owner_.swap(other.owner_);
}

void* HostArray::mutable_data() {
  if (!unique()) {
    HostArray copy = uninitialized(dtype_, extents_);
    if (size_) std::memcpy(const_cast<void*>(copy.data_), data_, bytes());
    *this = std::move(copy);
  }
  return const_cast<void*>(data_);
}

void HostArray::check_dtype(DType wanted) const {
  if (dtype_ == wanted) return;
  throw UserError(
      {"TL-DTYPE-001",
       "as",
       "the array holds " + std::string(name(dtype_)) + ", not " + std::string(name(wanted)),
       "ask for the array's own element type",
       {}});
}

HostArray HostArray::reshaped(Extents extents) const {
  internal_check(element_count(extents) == size_, "reshaped: element counts differ");
  HostArray a = *this;
  a.extents_ = std::move(extents);
  return a;
}

double HostArray::element(std::int64_t index) const {
  return dispatch(dtype_, [&]<class T>(TypeTag<T>) {
    return static_cast<double>(static_cast<ComputeType<T>>(static_cast<const T*>(data_)[index]));
  });
}

std::int64_t HostArray::element_int(std::int64_t index) const {
  return dispatch(dtype_, [&]<class T>(TypeTag<T>) {
    const auto x = static_cast<ComputeType<T>>(static_cast<const T*>(data_)[index]);
    if constexpr (std::is_floating_point_v<decltype(x)>) {
      if (!(x >= -0x1p63f)) return x < 0 ? std::numeric_limits<std::int64_t>::min() : 0;
      if (x >= 0x1p63f) return std::numeric_limits<std::int64_t>::max();
    }
    return static_cast<std::int64_t>(x);
  });
}

bool identical(const HostArray& a, const HostArray& b) {
  return a.dtype_ == b.dtype_ && a.extents_ == b.extents_ &&
         (a.size_ == 0 || std::memcmp(a.data_, b.data_, a.bytes()) == 0);
}

std::string to_string(const HostArray& array) {
  std::string s = std::string(name(array.dtype())) + to_string(std::span(array.extents())) + " {";
  dispatch(array.dtype(), [&]<class T>(TypeTag<T>) {
    const T* p = static_cast<const T*>(array.data());
    for (std::int64_t i = 0; i < array.size(); ++i) {
      if (i) s += ", ";
      if constexpr (std::is_same_v<T, bool>) {
        s += p[i] ? "true" : "false";
      } else {
        char buffer[64];
        const auto value = static_cast<ComputeType<T>>(p[i]);
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
        s.append(buffer, end);
      }
    }
  });
  return s + "}";
}

}  // namespace tlaloc
