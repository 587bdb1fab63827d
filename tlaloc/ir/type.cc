#include "tlaloc/ir/type.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "tlaloc/base/block_formats.h"

namespace tlaloc::ir {

const Encoding* find_encoding(std::string_view name) {
  static const auto kEncodings = [] {
    constexpr std::array kNames{"q4_0", "q4_1", "q5_0", "q5_1", "q8_0",   "q8_32", "q2_k",
                                "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs"};
    std::array<Encoding, kNames.size()> encodings;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const BlockFormat& f = *find_block_format(kNames[i]);
      encodings[i] = {kNames[i], f.elements, f.bytes};
    }
    return encodings;
  }();
  for (const Encoding& e : kEncodings) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

struct Type::Table {
  std::mutex mutex;
  std::unordered_multimap<std::size_t, std::unique_ptr<Data>> map;
  static Table& instance() {
    static auto* table = new Table;  // interned for the life of the process
    return *table;
  }
};

Type Type::get(DType dtype, std::span<const Dim> shape, const Encoding* encoding) {
  std::size_t h = static_cast<std::size_t>(dtype) * 0x9e3779b97f4a7c15u +
                  std::hash<const void*>{}(encoding) + shape.size();
  for (Dim d : shape) h = (h ^ d.hash()) * 0x9e3779b97f4a7c15u + (h >> 31);
  // The last few types of a thread answer most requests without the lock.
  struct Recent {
    std::array<const Data*, 64> slots{};
  };
  thread_local Recent recent;
  const Data*& slot = recent.slots[h % recent.slots.size()];
  auto matches = [&](const Data& d) {
    return d.hash == h && d.dtype == dtype && d.encoding == encoding &&
           std::equal(d.shape.begin(), d.shape.end(), shape.begin(), shape.end());
  };
  if (slot && matches(*slot)) return Type(slot);
  Table& table = Table::instance();
  std::lock_guard lock(table.mutex);
  auto [begin, end] = table.map.equal_range(h);
  for (auto it = begin; it != end; ++it) {
    if (matches(*it->second)) return Type(slot = it->second.get());
  }
  const bool symbolic =
      std::any_of(shape.begin(), shape.end(), [](Dim d) { return !d.is_constant(); });
  auto data = std::make_unique<Data>(
      Data{dtype, encoding, std::vector<Dim>(shape.begin(), shape.end()), symbolic, h});
  return Type(slot = table.map.emplace(h, std::move(data))->second.get());
}

Dim Type::elements() const {
  Dim n(1);
  for (Dim d : shape()) n *= d;
  return n;
}

Type Type::with_leading(Dim lead) const {
  std::vector<Dim> s{lead};
  s.insert(s.end(), shape().begin(), shape().end());
  return get(dtype(), s, rank() > 0 ? encoding() : nullptr);
}
Type Type::without_leading() const {
  return get(dtype(), shape().subspan(1), rank() > 1 ? encoding() : nullptr);
}

Type Type::substitute(const DimMap& map) const {
  if (map.empty() || !has_symbols()) return *this;
  std::vector<Dim> s;
  for (Dim d : shape()) s.push_back(d.substitute(map));
  return get(dtype(), s, encoding());
}

std::string Type::to_string() const {
  return to_string([](Symbol s) { return s.name(); });
}
std::string Type::to_string(const Dim::Namer& namer) const {
  std::string s(name(dtype()));
  if (encoding()) s += ":" + encoding()->name;
  s += "[";
  for (int i = 0; i < rank(); ++i) {
    if (i) s += ", ";
    s += dim(i).to_string(namer);
  }
  return s + "]";
}

Truth equal(Type a, Type b) {
  if (a == b) return Truth::yes;
  if (a.dtype() != b.dtype() || a.encoding() != b.encoding() || a.rank() != b.rank()) {
    return Truth::no;
  }
  Truth all = Truth::yes;
  for (int i = 0; i < a.rank(); ++i) {
    const Truth t = equal(a.dim(i), b.dim(i));
    if (t == Truth::no) return t;
    if (t == Truth::unknown) all = t;
  }
  return all;
}

}  // namespace tlaloc::ir
