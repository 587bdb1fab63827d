// Scalars, sizes and types as text. Arrays are in literal_text.cc.
#include "tlaloc/ir/text_io.h"

#include <bit>
#include <charconv>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/dim_expr.h"
#include "tlaloc/ir/real_text.h"

namespace tlaloc::ir {

// ---- printing ----

void print_value(Printer& p, bool x) { p.put(x ? "true" : "false"); }
void print_value(Printer& p, std::int64_t x) { p.text += std::to_string(x); }
void print_value(Printer& p, double x) { print_real(p, x); }
void print_value(Printer& p, DType x) { p.put(name(x)); }
void print_value(Printer& p, Dim x) { p.text += x.to_string(p.namer, p.order); }

void print_value(Printer& p, const std::string& x) {
  static constexpr char kHex[] = "0123456789abcdef";
  p.put("\"");
  for (const char c : x) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      p.text += '\\';
      p.text += c;
    } else if (c == '\n') {
      p.put("\\n");
    } else if (c == '\t') {
      p.put("\\t");
    } else if (byte < 0x20 || byte == 0x7f) {
      p.put("\\x");
      p.text += kHex[byte >> 4];
      p.text += kHex[byte & 15];
    } else {
      p.text += c;
    }
  }
  p.put("\"");
}

void print_value(Printer& p, Type x) {
  if (!x) return p.put("?");  // a wrong graph, printed for the verifier
  p.put(name(x.dtype()));
  if (x.encoding()) p.text += ":" + x.encoding()->name;
  p.put("[");
  for (int i = 0; i < x.rank(); ++i) {
    if (i) p.put(", ");
    print_value(p, x.dim(i));
  }
  p.put("]");
}

// ---- parsing ----

void parse_value(Parser& p, bool& x) {
  x = p.accept("true");
  if (!x && !p.accept("false")) p.fail("expected true or false");
}
void parse_value(Parser& p, std::int64_t& x) { x = p.integer(); }
void parse_value(Parser& p, double& x) { x = parse_real<double>(p); }
void parse_value(Parser& p, std::string& x) { x = p.quoted(); }

void parse_value(Parser& p, DType& x) {
  const std::size_t at = p.position();
  const std::string word = p.identifier();
  const auto dtype = parse_dtype(word);
  if (!dtype) p.fail_at(at, "unknown element type '" + word + "'");
  x = *dtype;
}

namespace {

constexpr int kMaxDepth = 64;
// Bound what multiplying out costs. Real sizes stay far below.
constexpr std::size_t kMaxTerms = 1024;
constexpr int kMaxFactors = 64;

Dim parse_dim(Parser& p, int depth);

Dim parse_factor(Parser& p, int depth) {
  const std::size_t at = p.position();
  if (!p.peek_identifier()) {
    const std::string_view rest = p.rest();
    if (rest.empty() || rest[0] < '0' || rest[0] > '9') p.fail("expected a size");
    return Dim(p.integer());
  }
  const std::string word = p.identifier();
  if (word == "floordiv" || word == "mod" || word == "min" || word == "max") {
    if (depth == 0) p.fail_at(at, "the size is nested too deeply");
    p.expect("(");
    const Dim a = parse_dim(p, depth - 1);
    p.expect(",");
    const Dim b = parse_dim(p, depth - 1);
    p.expect(")");
    if (word == "floordiv") return floordiv(a, b);
    if (word == "mod") return mod(a, b);
    return word == "min" ? min(a, b) : max(a, b);
  }
  const auto symbol = p.symbol_of ? p.symbol_of(word) : std::nullopt;
  if (!symbol) p.fail_at(at, "unknown size '" + word + "'");
  return Dim(*symbol);
}

/// factor * factor …, with the sign of the term.
std::vector<DimTerm> parse_term(Parser& p, std::int64_t sign, int depth) {
  std::vector<DimTerm> product{{{}, sign}};
  int factors = 0;
  do {
    const std::size_t at = p.position();
    const std::vector<DimTerm> factor = terms_of(parse_factor(p, depth));
    if (product.size() * factor.size() > kMaxTerms || ++factors > kMaxFactors) {
      p.fail_at(at, "the size has too many terms or factors");
    }
    product = multiply(product, factor);
  } while (p.accept("*"));
  return product;
}

Dim parse_dim(Parser& p, int depth) {
  std::vector<DimTerm> sum = parse_term(p, p.accept("-") ? -1 : 1, depth);
  while (true) {
    const bool minus = p.accept("-");
    if (!minus && !p.accept("+")) break;
    for (DimTerm& t : parse_term(p, minus ? -1 : 1, depth)) sum.push_back(std::move(t));
  }
  return make_dim(std::move(sum));
}

}  // namespace

void parse_value(Parser& p, Dim& x) {
  const std::size_t at = p.position();
  try {
    x = parse_dim(p, kMaxDepth);
  } catch (const UserError& e) {
    if (e.code() == "TL-TEXT-001") throw;
    p.fail_at(at, e.info().message);
  }
}

void parse_value(Parser& p, Type& x) {
  DType dtype{};
  parse_value(p, dtype);
  const Encoding* encoding = nullptr;
  if (p.accept(":")) {
    const std::size_t at = p.position();
    const std::string word = p.identifier();
    encoding = find_encoding(word);
    if (!encoding) p.fail_at(at, "unknown encoding '" + word + "'");
  }
  std::vector<Dim> shape;
  parse_field(p, shape);
  x = Type::get(dtype, shape, encoding);
}

}  // namespace tlaloc::ir
