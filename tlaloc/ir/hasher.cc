// Hashing of dims and types: symbols go through the hasher's key, so the same code serves interning
// (symbols by id) and content hashes (symbols by binder position).
#include <cstring>
#include <unordered_map>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/attr.h"
#include "tlaloc/ir/dim_expr.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::ir {

std::uint64_t Attr::identity_hash() const {
  std::uint64_t h = hash_.load(std::memory_order_relaxed);
  if (h) return h;
  Hasher hasher;
  hash(hasher);
  h = hasher.value() ? hasher.value() : 1;
  hash_.store(h, std::memory_order_relaxed);
  return h;
}

void Hasher::add_bytes(const void* data, std::size_t size) {
  add(size);
  const auto* p = static_cast<const unsigned char*>(data);
  for (; size >= 8; p += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    add(word);
  }
  std::uint64_t tail = 0;
  if (size) std::memcpy(&tail, p, size);
  add(tail);
}

namespace {
/// Hashes dims with symbols by a key. Terms and atoms are sorted by symbol id, which differs
/// between equal graphs: combines commutatively.
class DimHash {
 public:
  explicit DimHash(const Hasher::SymbolKey& key) : key_(key) {}
  std::uint64_t operator()(Dim d) {
    if (d.is_constant()) return static_cast<std::uint64_t>(d.constant()) * 2 + 1;
    if (!d.expr()->deep()) return of_terms(d);
    if (auto it = done_.find(d.word()); it != done_.end()) return it->second;
    const std::uint64_t r = of_terms(d);
    done_.emplace(d.word(), r);
    return r;
  }

 private:
  std::uint64_t of_terms(Dim d) {
    std::uint64_t sum = 0;
    for (const DimTerm& t : d.expr()->terms) {
      std::uint64_t product = 1;
      for (const DimAtom& a : t.atoms) product *= of_atom(a) | 1;
      Hasher h;
      h.add(product);
      h.add(static_cast<std::uint64_t>(t.coefficient));
      sum += h.value();
    }
    return sum;
  }
  std::uint64_t of_atom(const DimAtom& a) {
    Hasher h;
    h.add(static_cast<std::uint64_t>(a.kind));
    if (a.kind == DimAtomKind::symbol) {
      h.add(key_(Symbol::from_id(a.symbol)));
    } else if (a.kind == DimAtomKind::min || a.kind == DimAtomKind::max) {
      Hasher x, y;
      x.add((*this)(a.a));
      y.add((*this)(a.b));
      h.add(x.value() + y.value());
    } else {
      h.add((*this)(a.a));
      h.add((*this)(a.b));
    }
    return h.value();
  }

  const Hasher::SymbolKey& key_;
  std::unordered_map<std::uint64_t, std::uint64_t> done_;  // deep dims by word
};
}  // namespace

void Hasher::add(Dim d) {
  // Inside one builder the interned word is the identity.
  add(d.is_constant() || symbol_key_ ? DimHash(symbol_key_)(d) : d.word());
}

void Hasher::add(Type t) {
  add(static_cast<std::uint64_t>(t.dtype()));
  if (t.encoding()) add_bytes(t.encoding()->name.data(), t.encoding()->name.size());
  add(t.shape().size());
  for (Dim d : t.shape()) add(d);
}

void throw_attr_mismatch() { throw InternalError("attributes of another op's struct"); }

void InferContext::fail(const char* code, const std::string& message,
                        const std::string& hint) const {
  std::string text = message + " (operands: ";
  for (std::size_t i = 0; i < in.size(); ++i) text += (i ? ", " : "") + in[i].to_string();
  throw UserError({code, op->name, text + ")", hint, {}});
}

}  // namespace tlaloc::ir
