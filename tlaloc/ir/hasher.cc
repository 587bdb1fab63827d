// Hashing of dims and types: symbols go through the hasher's key, so the same code serves interning
// (symbols by id) and content hashes (symbols by binder position).
#include <cstring>

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

void Hasher::add(Dim d) {
  if (d.is_constant()) {
    add(static_cast<std::uint64_t>(d.constant()) * 2 + 1);
    return;
  }
  if (!symbol_key_) {  // inside one builder the interned word is the identity
    add(d.word());
    return;
  }
  // Terms and atoms are sorted by symbol id, which differs between equal graphs: combine
  // commutatively.
  std::uint64_t sum = 0;
  for (const DimTerm& t : d.expr()->terms) {
    std::uint64_t product = 1;
    for (const DimAtom& a : t.atoms) {
      Hasher h(symbol_key_);
      h.add(static_cast<std::uint64_t>(a.kind));
      if (a.kind == DimAtomKind::symbol) {
        h.add(symbol_key_(Symbol::from_id(a.symbol)));
      } else if (a.kind == DimAtomKind::min || a.kind == DimAtomKind::max) {
        Hasher x(symbol_key_), y(symbol_key_);
        x.add(a.a);
        y.add(a.b);
        h.add(x.value() + y.value());
      } else {
        h.add(a.a);
        h.add(a.b);
      }
      product *= h.value() | 1;
    }
    Hasher h;
    h.add(product);
    h.add(static_cast<std::uint64_t>(t.coefficient));
    sum += h.value();
  }
  add(sum);
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
