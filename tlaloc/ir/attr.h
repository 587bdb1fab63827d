// Typed attributes. An op's attributes are one struct with a field list; equality, hash, text and
// substitution of dims derive from that list.
//
//   struct PadAttrs {
//     std::vector<Dim> low, high, interior;
//     static constexpr auto fields() {
//       return std::tuple(field("low", &PadAttrs::low), field("high", &PadAttrs::high),
//                         field("interior", &PadAttrs::interior));
//     }
//   };
//
// Field types: bool, int64_t, double, std::string, DType, Dim, Type, Literal, GraphAttr, enums with
// an `enum_names(E)` overload found by ADL, std::vector and std::optional of these, and structs
// with a field list of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/dim.h"
#include "tlaloc/ir/text_io.h"
#include "tlaloc/ir/type.h"

namespace tlaloc::ir {

class Graph;

template <class A, class M>
struct Field {
  std::string_view name;
  M A::* member;
};
template <class A, class M>
constexpr Field<A, M> field(std::string_view name, M A::* member) {
  return {name, member};
}

template <class A>
concept HasFields = requires { A::fields(); };

/// An array as attribute; equality is by bits, so that NaN payloads and signed zeros count.
struct Literal {
  HostArray value;
  friend bool operator==(const Literal& a, const Literal& b) { return identical(a.value, b.value); }
};

/// A closed graph as attribute, such as a reducer on scalars. Equal if structurally equal.
struct GraphAttr {
  std::shared_ptr<const Graph> graph;
  std::uint64_t content_hash() const;
  friend bool operator==(const GraphAttr& a, const GraphAttr& b);
};

/// Feeds a 64-bit hash. Symbols hash by what `symbol_key` says: their id inside one builder, their
/// binder position in a graph's content hash.
class Hasher {
 public:
  using SymbolKey = std::function<std::uint64_t(Symbol)>;
  Hasher() = default;
  explicit Hasher(SymbolKey key) : symbol_key_(std::move(key)) {}
  void add(std::uint64_t v) {
    state_ = (state_ ^ v) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void add_bytes(const void* data, std::size_t size);
  void add(Dim d);
  void add(Type t);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x6a09e667f3bcc908u;
  SymbolKey symbol_key_;
};

/// Type-erased attributes of a node. Immutable and shared.
class Attr : public std::enable_shared_from_this<Attr> {
 public:
  /// `tag`: the address that stands for the struct; cheaper to compare than a dynamic type.
  explicit Attr(const void* tag) : tag_(tag) {}
  virtual ~Attr() = default;
  const void* tag() const { return tag_; }
  /// The hash with symbols by id, computed once.
  std::uint64_t identity_hash() const;
  virtual bool equals(const Attr& other) const = 0;
  virtual void hash(Hasher& hasher) const = 0;
  virtual void print(Printer& printer) const = 0;
  virtual bool has_dims() const = 0;
  virtual void each_dim(const std::function<void(Dim)>& visit) const = 0;
  virtual std::shared_ptr<const Attr> substitute(const DimMap& map) const = 0;

 private:
  const void* tag_;
  mutable std::atomic<std::uint64_t> hash_{0};  // 0: not yet
};
using AttrRef = std::shared_ptr<const Attr>;

// ---- per-field functions; overloads recurse through vectors, optionals and structs ----

template <class T>
void hash_field(Hasher& h, const T& x) {
  if constexpr (std::is_same_v<T, Dim> || std::is_same_v<T, Type>) {
    h.add(x);
  } else if constexpr (std::is_same_v<T, std::string>) {
    h.add_bytes(x.data(), x.size());
  } else if constexpr (std::is_same_v<T, double>) {
    h.add(std::bit_cast<std::uint64_t>(x));
  } else if constexpr (std::is_same_v<T, Literal>) {
    h.add(static_cast<std::uint64_t>(x.value.dtype()));
    h.add(x.value.extents().size());
    for (auto e : x.value.extents()) h.add(static_cast<std::uint64_t>(e));
    h.add_bytes(x.value.data(), x.value.bytes());
  } else if constexpr (std::is_same_v<T, GraphAttr>) {
    h.add(x.content_hash());
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto... f) { (hash_field(h, x.*f.member), ...); }, T::fields());
  } else {
    h.add(static_cast<std::uint64_t>(x));
  }
}
template <class T>
void hash_field(Hasher& h, const std::optional<T>& x) {
  h.add(x.has_value());
  if (x) hash_field(h, *x);
}
template <class T>
void hash_field(Hasher& h, const std::vector<T>& x) {
  h.add(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) hash_field(h, static_cast<const T&>(x[i]));
}
inline void hash_field(Hasher& h, const std::vector<bool>& x) {
  h.add(x.size());
  for (bool b : x) h.add(b);
}

/// Equality that agrees with hash_field: doubles by their bits, so that a NaN equals itself and
/// -0.0 is not 0.0. Declared first: no argument here lets the overloads be found later.
template <class T>
bool equal_field(const std::optional<T>& x, const std::optional<T>& y);
template <class T>
bool equal_field(const std::vector<T>& x, const std::vector<T>& y);
template <class T>
bool equal_field(const T& x, const T& y) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  } else if constexpr (HasFields<T>) {
    return std::apply([&](auto... f) { return (equal_field(x.*f.member, y.*f.member) && ...); },
                      T::fields());
  } else {
    return x == y;
  }
}
template <class T>
bool equal_field(const std::optional<T>& x, const std::optional<T>& y) {
  return x.has_value() == y.has_value() && (!x || equal_field(*x, *y));
}
template <class T>
bool equal_field(const std::vector<T>& x, const std::vector<T>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](const T& a, const T& b) { return equal_field(a, b); });
}

template <class T>
inline constexpr bool field_has_dims =
    std::is_same_v<T, Dim> || std::is_same_v<T, Type> || HasFields<T>;
template <class T>
inline constexpr bool field_has_dims<std::vector<T>> = field_has_dims<T>;
template <class T>
inline constexpr bool field_has_dims<std::optional<T>> = field_has_dims<T>;

template <class T>
void each_field_dim(const T& x, const std::function<void(Dim)>& visit) {
  if constexpr (std::is_same_v<T, Dim>) {
    visit(x);
  } else if constexpr (std::is_same_v<T, Type>) {
    for (Dim d : x.shape()) visit(d);
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto... f) { (each_field_dim(x.*f.member, visit), ...); }, T::fields());
  }
}
template <class T>
void each_field_dim(const std::optional<T>& x, const std::function<void(Dim)>& visit) {
  if (x) each_field_dim(*x, visit);
}
template <class T>
void each_field_dim(const std::vector<T>& x, const std::function<void(Dim)>& visit) {
  if constexpr (field_has_dims<T>) {
    for (const T& e : x) each_field_dim(e, visit);
  }
}

template <class T>
void substitute_field(T& x, const DimMap& map) {
  if constexpr (std::is_same_v<T, Dim> || std::is_same_v<T, Type>) {
    x = x.substitute(map);
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto... f) { (substitute_field(x.*f.member, map), ...); }, T::fields());
  }
}
template <class T>
void substitute_field(std::optional<T>& x, const DimMap& map) {
  if (x) substitute_field(*x, map);
}
template <class T>
void substitute_field(std::vector<T>& x, const DimMap& map) {
  if constexpr (field_has_dims<T>) {
    for (T& e : x) substitute_field(e, map);
  }
}

template <class A>
inline constexpr char kAttrTag = 0;

template <class A>
class AttrBox final : public Attr {
 public:
  explicit AttrBox(A value) : Attr(&kAttrTag<A>), value(std::move(value)) {}
  bool equals(const Attr& other) const override {
    return other.tag() == tag() && equal_field(value, static_cast<const AttrBox&>(other).value);
  }
  void hash(Hasher& h) const override { hash_field(h, value); }
  void print(Printer& p) const override { print_fields(p, value); }
  bool has_dims() const override {
    return std::apply(
        [](auto... f) {
          return (field_has_dims<std::remove_cvref_t<decltype(std::declval<A>().*f.member)>> ||
                  ...);
        },
        A::fields());
  }
  void each_dim(const std::function<void(Dim)>& visit) const override {
    each_field_dim(value, visit);
  }
  AttrRef substitute(const DimMap& map) const override {
    A copy = value;
    substitute_field(copy, map);
    return std::make_shared<AttrBox<A>>(std::move(copy));
  }
  const A value;
};

template <HasFields A>
AttrRef make_attr(A value) {
  return std::make_shared<AttrBox<A>>(std::move(value));
}
/// The typed view; null when there are no attributes, or those of another struct.
template <HasFields A>
const A* attr_if(const Attr* attr) {
  if (!attr || attr->tag() != &kAttrTag<A>) return nullptr;
  return &static_cast<const AttrBox<A>*>(attr)->value;
}
/// The same where another struct would be a defect: InternalError.
template <HasFields A>
const A& attr_as(const Attr* attr) {
  const A* a = attr_if<A>(attr);
  if (!a) throw_attr_mismatch();
  return *a;
}

}  // namespace tlaloc::ir
