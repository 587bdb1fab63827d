#include "tlaloc/cpu/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;

/// A number with the standard order of x: -0 is +0, and every NaN the same above all else.
template <class T>
auto order_of(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return std::uint32_t{x};
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr U kFlip = std::is_signed_v<T> ? U{1} << (8 * sizeof(U) - 1) : 0;
    return static_cast<U>(x) ^ kFlip;
  } else {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const auto value = static_cast<ComputeType<T>>(x);
    constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
    const U bits = std::bit_cast<U>(value);
    if (value != value) return ~U{0};
    if (value == 0) return kSign;
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }
}
template <class T>
using OrderOf = decltype(order_of(T()));

/// A key and where it was. Those of 32 bits, of fewer than 2^32 elements, are one number.
struct Narrow {
  static constexpr std::int64_t kMaxLength = std::int64_t{1} << 32;
  static constexpr int kBits = 32;
  std::uint64_t both = 0;
  Narrow() = default;
  Narrow(std::uint64_t key, std::int64_t at) : both(key << 32 | static_cast<std::uint64_t>(at)) {}
  std::uint64_t key() const { return both >> 32; }
  std::int64_t at() const { return static_cast<std::int64_t>(both & 0xffffffff); }
  auto operator<=>(const Narrow&) const = default;
};
struct Wide {
  static constexpr int kBits = 64;
  std::uint64_t number = 0;
  std::int64_t position = 0;
  Wide() = default;
  Wide(std::uint64_t key, std::int64_t at) : number(key), position(at) {}
  std::uint64_t key() const { return number; }
  std::int64_t at() const { return position; }
  auto operator<=>(const Wide&) const = default;
};

/// What sorting works in.
template <class Entry>
struct Entries {
  std::vector<Entry> entries, other;
};

template <class Entry>
void insertion_sort(std::vector<Entry>& entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const Entry e = entries[i];
    std::size_t k = i;
    for (; k > 0 && e.key() < entries[k - 1].key(); --k) entries[k] = entries[k - 1];
    entries[k] = e;
  }
}

/// Stable, by the lowest digits first.
template <int kDigit, class Entry>
void digit_sort(Entries<Entry>& e) {
  auto& [entries, other] = e;
  constexpr int kDigits = (Entry::kBits + kDigit - 1) / kDigit;
  constexpr std::size_t kValues = std::size_t{1} << kDigit;
  std::vector<std::array<std::size_t, kValues>> counts(kDigits);
  for (const Entry& e : entries) {
    for (int d = 0; d < kDigits; ++d) {
      ++counts[static_cast<std::size_t>(d)][(e.key() >> (d * kDigit)) & (kValues - 1)];
    }
  }
  other.resize(entries.size());
  for (int d = 0; d < kDigits; ++d) {
    auto& places = counts[static_cast<std::size_t>(d)];
    auto digit = [&](const Entry& e) { return (e.key() >> (d * kDigit)) & (kValues - 1); };
    // A digit that all have in common moves nothing.
    if (places[digit(entries[0])] == entries.size()) continue;
    std::size_t sum = 0;
    for (std::size_t& place : places) sum += std::exchange(place, sum);
    for (const Entry& e : entries) other[places[digit(e)]++] = e;
    entries.swap(other);
  }
}

template <class Entry>
void stable_sort(Entries<Entry>& e) {
  if (e.entries.size() <= 64) return insertion_sort(e.entries);
  e.entries.size() < 8192 ? digit_sort<8>(e) : digit_sort<11>(e);
}

/// Calls f with a tag of the element's type and one of the entries for it.
template <class F>
void with_entries(DType dtype, std::int64_t length, const F& f) {
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                  std::is_same_v<T, BFloat16>) {
      if (sizeof(OrderOf<T>) == 8 || length >= Narrow::kMaxLength) {
        f(TypeTag<T>{}, TypeTag<Wide>{});
      } else {
        f(TypeTag<T>{}, TypeTag<Narrow>{});
      }
    }
  });
}

// ---- sort ----

/// A step's integers: what is in front of the axis, the axis, what is behind it.
struct SortStep {
  std::vector<DType> dtypes;
  std::size_t keys;
  bool descending;
};

void run_sort(const KernelCall& call) {
  const SortStep& s = *static_cast<const SortStep*>(call.data);
  const std::int64_t outer = call.ints[0], length = call.ints[1], inner = call.ints[2];
  if (outer == 0 || length == 0 || inner == 0) return;
  const Ranges lines = share(outer * inner, 20.0 * static_cast<double>(length));
  parallel(lines, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> order(usize(length));
    std::tuple<Entries<Narrow>, Entries<Wide>> memory;
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t first = line / inner * inner * length + line % inner;
      // The last key first: those before it keep its order among equals.
      for (std::size_t k = s.keys; k-- > 0;) {
        const bool fresh = k + 1 == s.keys;
        with_entries(s.dtypes[k], length, [&]<class T, class Entry>(TypeTag<T>, TypeTag<Entry>) {
          const T* x = reinterpret_cast<const T*>(call.storages[k]) + first;
          auto& sorted = std::get<Entries<Entry>>(memory);
          sorted.entries.resize(usize(length));
          for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t at = fresh ? i : order[usize(i)];
            const OrderOf<T> key = order_of(x[at * inner]);
            sorted.entries[usize(i)] = {s.descending ? static_cast<OrderOf<T>>(~key) : key, at};
          }
          stable_sort(sorted);
          for (std::int64_t i = 0; i < length; ++i) order[usize(i)] = sorted.entries[usize(i)].at();
        });
      }
      for (std::size_t k = 0; k < s.dtypes.size(); ++k) {
        ops::by_size(s.dtypes[k], [&]<class U>(TypeTag<U>) {
          const U* x = reinterpret_cast<const U*>(call.storages[k]) + first;
          U* y = reinterpret_cast<U*>(call.storages[s.dtypes.size() + k]) + first;
          for (std::int64_t i = 0; i < length; ++i) y[i * inner] = x[order[usize(i)] * inner];
        });
      }
    }
  });
}

// ---- top_k ----

/// A step's integers: the number of lines, their length, k.
struct TopKStep {
  DType values, positions;
};

/// The k least entries, in order.
template <class Entry, class EntryOf>
void take_least(std::int64_t length, std::int64_t k, const EntryOf& entry, Entries<Entry>& least) {
  auto& entries = least.entries;
  entries.clear();
  if (k == 0) return;
  if (k > length / 16) {
    for (std::int64_t i = 0; i < length; ++i) entries.push_back(entry(i));
    stable_sort(least);
    entries.resize(usize(k));
    return;
  }
  for (std::int64_t i = 0; i < k; ++i) entries.push_back(entry(i));
  std::ranges::make_heap(entries);
  for (std::int64_t i = k; i < length; ++i) {
    const Entry e = entry(i);
    if (!(e < entries.front())) continue;
    std::ranges::pop_heap(entries);
    entries.back() = e;
    std::ranges::push_heap(entries);
  }
  std::ranges::sort_heap(entries);
}

void run_top_k(const KernelCall& call) {
  const TopKStep& s = *static_cast<const TopKStep*>(call.data);
  const std::int64_t lines = call.ints[0], length = call.ints[1], k = call.ints[2];
  if (lines == 0 || k == 0) return;
  parallel(
      share(lines, 3.0 * static_cast<double>(length)), [&](std::int64_t begin, std::int64_t end) {
        with_entries(s.values, length, [&]<class T, class Entry>(TypeTag<T>, TypeTag<Entry>) {
          Entries<Entry> least;
          for (std::int64_t line = begin; line < end; ++line) {
            const T* x = reinterpret_cast<const T*>(call.storages[0]) + line * length;
            T* y = reinterpret_cast<T*>(call.storages[1]) + line * k;
            take_least(
                length, k,
                [&](std::int64_t i) { return Entry(static_cast<OrderOf<T>>(~order_of(x[i])), i); },
                least);
            for (std::int64_t i = 0; i < k; ++i) y[i] = x[least.entries[usize(i)].at()];
            dispatch(s.positions, [&]<class I>(TypeTag<I>) {
              I* at = reinterpret_cast<I*>(call.storages[2]) + line * k;
              for (std::int64_t i = 0; i < k; ++i) {
                at[i] = ops::convert_element<I>(least.entries[usize(i)].at());
              }
            });
          }
        });
      });
}

}  // namespace

std::vector<Value> emit_sort(Emitter& e, std::span<const Value> operands,
                             const ops::SortAttrs& attrs) {
  SortStep sort{{}, usize(attrs.num_keys), attrs.descending};
  Step s;
  s.name = "sort";
  s.run = run_sort;
  for (const Value& v : operands) {
    sort.dtypes.push_back(v.type.dtype());
    s.storages.push_back(e.dense(v, "sort"));
  }
  s.reads = static_cast<std::uint32_t>(s.storages.size());
  std::vector<Value> results;
  for (const Value& v : operands) {
    results.push_back(dense_value(v.type, e.storage(v.type)));
    s.storages.push_back(*whole_storage(results.back()));
  }
  Dim outer = 1, inner = 1;
  const Type t = operands[0].type;
  for (int i = 0; i < t.rank(); ++i) {
    if (i != attrs.axis) (i < attrs.axis ? outer : inner) *= t.dim(i);
  }
  for (Dim d : {outer, t.dim(static_cast<int>(attrs.axis)), inner}) {
    s.ints.push_back(e.sizes.of(d));
  }
  s.data = std::make_shared<const SortStep>(std::move(sort));
  e.emit_step(std::move(s));
  return results;
}

std::vector<Value> emit_top_k(Emitter& e, const Value& x, Dim k, DType positions) {
  std::vector<Dim> shape(x.type.shape().begin(), x.type.shape().end());
  const Dim length = shape.back();
  shape.back() = k;
  Step s;
  s.name = "top_k";
  s.run = run_top_k;
  s.storages = {e.dense(x, "top_k")};
  s.reads = 1;
  std::vector<Value> results;
  for (const DType t : {x.type.dtype(), positions}) {
    const Type type = Type::get(t, shape);
    results.push_back(dense_value(type, e.storage(type)));
    s.storages.push_back(*whole_storage(results.back()));
  }
  Dim lines = 1;
  for (int i = 0; i + 1 < x.type.rank(); ++i) lines *= x.type.dim(i);
  for (Dim d : {lines, length, k}) s.ints.push_back(e.sizes.of(d));
  s.data = std::make_shared<const TopKStep>(TopKStep{x.type.dtype(), positions});
  e.emit_step(std::move(s));
  return results;
}

}  // namespace tlaloc::cpu
