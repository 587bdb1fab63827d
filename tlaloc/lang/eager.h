// Compiled single operations, so that one on concrete values is not compiled at each call.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include "tlaloc/ir/graph.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::core {

/// All that the graph of an operation depends on besides its name and its operands' types, such as
/// axes, sizes and flags: two calls that agree in the three must emit the same nodes.
class Variant {
 public:
  /// Unknown: the operation is compiled at each call.
  Variant() = default;
  /// Numbers, enums, sizes, and ranges of these.
  template <class... Parts>
  static Variant of(const Parts&... parts) {
    Variant v;
    v.size_ = 0;
    (v.add(parts), ...);
    return v;
  }
  bool known() const { return size_ >= 0; }
  std::span<const std::uint64_t> words() const {
    return std::span(words_).first(static_cast<std::size_t>(size_));
  }

 private:
  template <class T>
  void add(const T& x) {
    if constexpr (std::ranges::range<T>) {
      push(std::ranges::size(x));
      for (const auto& e : x) add(e);
    } else if constexpr (std::same_as<T, ir::Dim>) {
      push(x.word());
    } else if constexpr (std::same_as<T, double>) {
      push(std::bit_cast<std::uint64_t>(x));
    } else {
      static_assert(std::integral<T> || std::is_enum_v<T>);
      push(static_cast<std::uint64_t>(x));
    }
  }
  /// More than fit: unknown.
  void push(std::uint64_t word) {
    if (size_ < 0) return;
    const auto at = static_cast<std::size_t>(size_);
    if (at == words_.size()) {
      size_ = -1;
      return;
    }
    words_[at] = word;
    ++size_;
  }

  std::array<std::uint64_t, 24> words_;  // the first size_ ones
  int size_ = -1;
};

/// One operation on operands of these types. A view.
struct EagerKey {
  const char* name;  ///< compared by address: static storage
  const void* site;  ///< what emits the operation: the code, without what it captures
  const Variant& variant;
  std::span<const ir::Type> types;
};

struct Eager {
  ir::GraphRef graph;
  std::shared_ptr<const runtime::Bound> run;
};
using EagerRun = std::shared_ptr<const Eager>;
/// The compiled operation; null when there is none. Thread-safe, like `remember`.
EagerRun find_compiled(const EagerKey& key);
/// Keeps a bounded number: where one is full, a shard of the table starts anew.
void remember_compiled(const EagerKey& key, EagerRun run);

}  // namespace tlaloc::core
