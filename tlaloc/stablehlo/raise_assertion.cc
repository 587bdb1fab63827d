// JAX's shape_assertion: what a module requires of its sizes.
#include <optional>

#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Dim;

/// Operations that are followed, and as many letters of a message are kept.
constexpr int kMaxOperations = 256;
constexpr std::size_t kMaxMessage = 400;

/// A condition on sizes as an inequality: it holds where a size is at most 0.
class Condition {
 public:
  explicit Condition(const Site& s) : site_(s) {}

  /// That size; nothing where the value is made of anything but sizes.
  std::optional<Dim> gap(ValueIndex v) {
    const Operation* op = definition(v);
    if (!op || !take()) return {};
    const std::string_view name = op->name;
    const std::size_t n = op->operands.size();
    if (n == 2 && name == "stablehlo.compare") return compared(*op);
    if (const Sizes known = site_.importer().sizes(site_.scope(), v)) return 1 - known->front();
    if (n == 1 && (name == "stablehlo.convert" || name == "stablehlo.reshape" ||
                   name == "stablehlo.broadcast_in_dim")) {
      return gap(op->operands[0]);
    }
    std::vector<Dim> of;
    for (ValueIndex operand : op->operands) {
      const std::optional<Dim> g = gap(operand);
      if (!g) return {};
      of.push_back(*g);
    }
    if (n == 1 && name == "stablehlo.not") return 1 - of[0];
    if (n == 2 && name == "stablehlo.and") return max(of[0], of[1]);
    if (n == 2 && name == "stablehlo.or") return min(of[0], of[1]);
    if (n == 2 && name == "stablehlo.xor") return either(of[0], 1 - of[1], of[1]);
    if (n == 3 && name == "stablehlo.select") return either(of[0], of[1], of[2]);
    return {};
  }

  /// A single bool's definition; null for what is none, or has none.
  const Operation* definition(ValueIndex v) const {
    const Function& f = site_.scope().function;
    const TensorSpec& t = *f.type(v);
    const bool one = t.dtype == DType::boolean && t.is_static() && element_count(t.extents) == 1;
    return one ? f.definitions[v] : nullptr;
  }

  /// Whether one operation more is followed.
  bool take() { return ++operations_ <= kMaxOperations; }

  struct Sides {
    Dim a, b;
    std::string_view direction;
  };
  /// Of a comparison of two sizes.
  std::optional<Sides> sides(const Operation& op) const {
    Importer& importer = site_.importer();
    const Sizes a = importer.sizes(site_.scope(), op.operands[0]),
                b = importer.sizes(site_.scope(), op.operands[1]);
    if (!a || !b || a->size() != 1 || b->size() != 1) return {};
    return Sides{a->front(), b->front(), Site::word_of(op.find("comparison_direction"))};
  }

 private:
  /// p ? x : y
  static Dim either(Dim p, Dim x, Dim y) { return min(max(p, x), max(1 - p, y)); }

  std::optional<Dim> compared(const Operation& op) const {
    const auto s = sides(op);
    if (!s) return {};
    const auto [a, b, direction] = *s;
    if (direction == "EQ") return max(a - b, b - a);
    if (direction == "NE") return 1 - max(a - b, b - a);
    if (direction == "LE") return a - b;
    if (direction == "LT") return a - b + 1;
    if (direction == "GE") return b - a;
    if (direction == "GT") return b - a + 1;
    return {};
  }

  const Site& site_;
  int operations_ = 0;
};

/// Requires the condition, one of a conjunction by itself: what fails says its own sizes.
void require(const Site& s, Condition& condition, ValueIndex v, const std::string& what) {
  using Kind = ir::Constraint::Kind;
  auto add = [&](Kind kind, Dim a, Dim b) {
    ir::Builder::current().require({kind, a, b, what, s.importer().source().place(s.op().at)});
  };
  const Operation* op = condition.definition(v);
  if (op && op->name == "stablehlo.and" && op->operands.size() == 2 && condition.take()) {
    for (ValueIndex operand : op->operands) require(s, condition, operand, what);
    return;
  }
  if (op && op->name == "stablehlo.compare" && op->operands.size() == 2) {
    if (const auto c = condition.sides(*op)) {
      if (c->direction == "EQ") return add(Kind::equal, c->a, c->b);
      if (c->direction == "GE") return add(Kind::less_equal, c->b, c->a);
      if (c->direction == "LE") return add(Kind::less_equal, c->a, c->b);
      if (c->direction == "GT") return add(Kind::less_equal, c->b + 1, c->a);
      if (c->direction == "LT") return add(Kind::less_equal, c->a + 1, c->b);
    }
  }
  const std::optional<Dim> gap = condition.gap(v);
  if (!gap) {
    s.unsupported("it asserts something else than a condition on sizes: " + what,
                  "export it for sizes that are numbers, or without the assertion");
  }
  add(Kind::less_equal, *gap, 0);
}

/// The message with {0}, {1} … as the sizes that the operands behind the condition are.
std::string message(const Site& s) {
  const Attribute* text = s.op().find("error_message");
  if (!text) return "shape_assertion";
  std::string r;
  for (std::size_t at = 0; at < text->text.size() && r.size() <= kMaxMessage; ++at) {
    const std::string_view rest = text->text.substr(at);
    std::int64_t k = 0;
    const std::size_t end = rest.find('}');
    if (rest[0] == '{' && end != rest.npos && parse_digits(rest.substr(1, end - 1), k) && k >= 0 &&
        static_cast<std::size_t>(k) + 1 < s.count()) {
      const ValueIndex operand = s.op().operands[static_cast<std::size_t>(k) + 1];
      const Sizes sizes = s.importer().sizes(s.scope(), operand);
      if (sizes && sizes->size() == 1) {
        r += sizes->front().to_string();
        at += end;
        continue;
      }
    }
    r += rest[0];
  }
  return r.size() <= kMaxMessage ? r : r.substr(0, kMaxMessage) + "…";
}

}  // namespace

ir::Vals shape_assertion(const Site& s) {
  if (s.count() == 0) s.fail("expected operands");
  Condition condition(s);
  require(s, condition, s.op().operands[0], message(s));
  return {};
}

}  // namespace tlaloc::stablehlo::raising
