// What raising an operation asks of it.
#include <algorithm>

#include "tlaloc/stablehlo/importer.h"

namespace tlaloc::stablehlo {

Site::Site(Importer& importer, Scope& scope, const Operation& op)
    : importer_(importer), scope_(scope), op_(op) {
  in_.reserve(op.operands.size());
  for (ValueIndex v : op.operands) in_.push_back(importer.value(scope, v));
}

void Site::fail(const std::string& message, const std::string& hint) const {
  importer_.source().fail(op_.at, std::string(op_.name) + ": " + message, hint);
}
void Site::unsupported(const std::string& message, const std::string& hint) const {
  importer_.source().unsupported(op_.at, std::string(op_.name), message, hint);
}
void Site::expect_operands(std::size_t n) const {
  if (in_.size() != n) fail("expected " + std::to_string(n) + " operands");
}
void Site::expect_regions(std::size_t n) const {
  if (op_.regions.size() != n) fail("expected " + std::to_string(n) + " regions");
}
SpecRef Site::result_type(std::size_t k) const {
  if (k >= op_.result_count) fail("it has no result " + std::to_string(k));
  return scope_.function.type(op_.first_result + static_cast<ValueIndex>(k));
}
std::vector<ir::Dim> Site::result_shape() const {
  const TensorSpec& t = *result_type();
  if (!t.is_static()) fail("the result's sizes must be stated");
  return {t.extents.begin(), t.extents.end()};
}

// ---- attributes ----

const Attribute& Site::attribute(Names names) const {
  if (const Attribute* a = op_.find(names)) return *a;
  fail("the attribute " + std::string(*names.begin()) + " is missing");
}
void Site::expect_fields(const Attribute& a, Names known) const {
  for (const NamedAttribute& f : a.fields) {
    if (std::ranges::find(known, f.name) == known.end()) {
      fail("nothing is known of " + std::string(f.name));
    }
  }
}
std::int64_t Site::integer(Names names) const {
  const Attribute& a = attribute(names);
  if (a.kind != Attribute::Kind::integer) fail(std::string(*names.begin()) + " is no integer");
  return a.integer;
}
std::int64_t Site::integer_or(Names names, std::int64_t otherwise) const {
  return op_.find(names) ? integer(names) : otherwise;
}
int Site::axis(Names names, std::size_t rank) const {
  const std::int64_t axis = integer(names);
  if (axis < 0 || usize(axis) >= rank) fail("it has no axis " + std::to_string(axis));
  return static_cast<int>(axis);
}
bool Site::flag_or(Names names, bool otherwise) const {
  const Attribute* a = op_.find(names);
  if (!a) return otherwise;
  if (a->kind == Attribute::Kind::unit) return true;
  if (a->kind != Attribute::Kind::boolean)
    fail(std::string(*names.begin()) + " is not true or false");
  return a->flag;
}
ops::AxisList Site::integers(const Attribute& a) const {
  if (a.kind == Attribute::Kind::integers) return a.integers;
  if (a.kind == Attribute::Kind::dense) return dense_integers(importer_.source(), a);
  ops::AxisList r;
  if (a.kind == Attribute::Kind::list) {
    for (const Attribute& item : a.items) {
      if (item.kind == Attribute::Kind::boolean) {
        r.push_back(item.flag);
      } else if (item.kind == Attribute::Kind::integers) {
        r.insert(r.end(), item.integers.begin(), item.integers.end());
      } else {
        fail("a list holds something that is no integer");
      }
    }
    return r;
  }
  fail("an attribute is no list of integers");
}
ops::AxisList Site::integers(Names names) const { return integers(attribute(names)); }
ops::AxisList Site::integers_or(Names names, ops::AxisList otherwise) const {
  const Attribute* a = op_.find(names);
  return a ? integers(*a) : otherwise;
}
std::string_view Site::word(Names names, std::string_view otherwise) const {
  const Attribute* a = op_.find(names);
  if (!a) return otherwise;
  const std::string_view w = word_of(a);
  if (w.empty()) fail(std::string(*names.begin()) + " is no word");
  return w;
}
std::string_view Site::word_of(const Attribute* a) {
  if (a && a->kind == Attribute::Kind::string) return a->text;
  if (!a || a->kind != Attribute::Kind::word) return {};
  // #stablehlo<comparison_direction LT>, #stablehlo.transpose<TRANSPOSE>, LT.
  std::string_view w = a->text;
  while (!w.empty() && w.back() == '>') w.remove_suffix(1);
  return w.substr(w.find_last_of(" <") + 1);
}
std::string_view Site::text(Names names) const {
  const Attribute& a = attribute(names);
  if (a.kind != Attribute::Kind::string && a.kind != Attribute::Kind::symbol) {
    fail(std::string(*names.begin()) + " is no name");
  }
  return a.text;
}
std::vector<ir::Dim> Site::sizes(std::size_t k) const {
  if (k >= op_.operands.size()) fail("it has no operand " + std::to_string(k));
  const Sizes s = importer_.sizes(scope_, op_.operands[k]);
  if (!s) unsupported("operand " + std::to_string(k) + " says sizes that only a run knows");
  return *s;
}

}  // namespace tlaloc::stablehlo
