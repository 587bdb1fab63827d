// Right sides of products that are the same in every run, packed once.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/cpu/kept_memory.h"
#include "tlaloc/cpu/packed_right.h"

namespace tlaloc::cpu {

/// Its bytes count among those that the process keeps for as long as it is there.
class KeptRight {
 public:
  /// nullptr where the process would keep more than it may: TLALOC_PACKED_BYTES, or a quarter of
  /// the machine's memory.
  static std::shared_ptr<KeptRight> reserve(const FixedMatrix& matrix);
  ~KeptRight();
  KeptRight(const KeptRight&) = delete;
  KeptRight& operator=(const KeptRight&) = delete;

  const FixedMatrix& matrix() const { return matrix_; }
  std::size_t bytes() const { return bytes_; }
  /// Once, before any run; `data`: the storage's, which is not read again. To so many bytes behind
  /// the start of memory that others lie in too, a multiple of 64.
  void pack(const std::byte* data, std::shared_ptr<const KeptMemory> memory, std::size_t at);
  PackedRight packed() const { return {matrix_.packing, memory_->get() + at_}; }

 private:
  KeptRight(const FixedMatrix& matrix, std::size_t bytes) : matrix_(matrix), bytes_(bytes) {}
  FixedMatrix matrix_;
  std::size_t bytes_;
  std::shared_ptr<const KeptMemory> memory_;
  std::size_t at_ = 0;
};

/// What all that are there take, of the process.
std::size_t kept_right_bytes();

/// Whether products with a matrix of elements are faster with it packed: it is large, and not so
/// narrow that most of a panel would be padding.
bool is_worth_packing(Packing packing, std::int64_t k, std::int64_t n);
/// Whether a panel is padding for the most part.
bool is_narrow(Packing packing, std::int64_t k, std::int64_t n);

/// For the step that is emitted next; one for all products with that matrix. nullptr where the
/// program keeps nothing, or there is no room; `why` says the latter.
std::shared_ptr<const KeptRight> keep_right(Emitter& e, const FixedMatrix& matrix,
                                            const char*& why);

}  // namespace tlaloc::cpu
