// The C side of a program that is compiled ahead of time: names, and the header.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/ahead_module.h"
#include "tlaloc/cpu/generate_ops.h"
#include "tlaloc/ops/quant_blocks.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;

/// What no parameter may be called in C or C++.
const std::set<std::string, std::less<>>& keywords() {
  static const std::set<std::string, std::less<>> words{
      "alignas",  "alignof", "and",      "asm",       "auto",      "bool",     "break",
      "case",     "catch",   "char",     "class",     "const",     "continue", "default",
      "delete",   "do",      "double",   "else",      "enum",      "explicit", "export",
      "extern",   "false",   "float",    "for",       "friend",    "goto",     "if",
      "inline",   "int",     "long",     "mutable",   "namespace", "new",      "not",
      "operator", "or",      "private",  "protected", "public",    "register", "restrict",
      "return",   "short",   "signed",   "sizeof",    "static",    "struct",   "switch",
      "template", "this",    "throw",    "true",      "try",       "typedef",  "typeid",
      "typename", "union",   "unsigned", "using",     "virtual",   "void",     "volatile",
      "while",    "xor",     "nullptr",  "concept",   "requires",  "scratch",  "scratch_bytes"};
  return words;
}

bool is_identifier(std::string_view s) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  return !s.empty() && letter(s[0]) && std::ranges::all_of(s, [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c));
  });
}

class Namer {
 public:
  /// The text with what C does not take as '_'; `otherwise` where nothing is left of it.
  std::string name(std::string_view text, const std::string& otherwise) {
    std::string s;
    for (char c : text) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (s.empty() || std::ranges::all_of(s, [](char c) { return c == '_'; })) s = otherwise;
    if (std::isdigit(static_cast<unsigned char>(s[0]))) s = otherwise + "_" + s;
    while (keywords().contains(s) || !used_.insert(s).second) s += "_";
    return s;
  }

 private:
  std::set<std::string> used_;
};

const char* c_type(DType t) {
  switch (t) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::i8:
      return "int8_t";
    case DType::i16:
      return "int16_t";
    case DType::i32:
      return "int32_t";
    case DType::i64:
      return "int64_t";
    case DType::u16:
      return "uint16_t";
    case DType::u32:
      return "uint32_t";
    case DType::u64:
      return "uint64_t";
    default:  // bool, u8 and what has no type in C: its bytes
      return byte_size(t) == 2 ? "uint16_t" : "uint8_t";
  }
}

/// A declaration, in lines of at most a hundred characters.
std::string declaration(const std::string& head, const std::vector<std::string>& params) {
  std::string text = head + "(";
  std::size_t column = text.size();
  for (std::size_t i = 0; i < params.size(); ++i) {
    const std::string param = params[i] + (i + 1 < params.size() ? "," : ");");
    if (i > 0 && column + 1 + param.size() > 100) {
      text += "\n" + std::string(head.size() + 1, ' ');
      column = head.size() + 1;
    } else if (i > 0) {
      text += " ";
      ++column;
    }
    text += param;
    column += param.size();
  }
  return text + "\n";
}

/// "x: f32[n, 784]"
std::string array_line(const std::string& name, ir::Type t) {
  return format("     {}: {}\n", name, t.to_string());
}

}  // namespace

AheadNames ahead_names(const ir::Graph& g, const AheadOptions& options) {
  const std::string& function = options.function;
  const bool taken = std::ranges::any_of(library_functions(), [&](const LibraryFunction& f) {
    return function == f.name || function == std::string(f.name) + "f";
  });
  if (!is_identifier(function) || keywords().contains(function) || taken) {
    throw UserError({"TL-AOT-002",
                     "compile_ahead",
                     "'" + function + "' is no name of a function in C",
                     "take letters, digits and underscores",
                     {}});
  }
  Namer namer;
  AheadNames names{function, {}, {}, {}};
  for (ir::Symbol s : g.dims()) names.dims.push_back(namer.name(s.name(), "n"));
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const bool named = k < options.params.size() && !options.params[k].empty();
    names.params.push_back(
        namer.name(named ? options.params[k] : g.param_label(k).name, "arg" + std::to_string(k)));
  }
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    const std::string number = "result" + std::to_string(k);
    const std::string& label = g.result_label(k).name;
    names.results.push_back(namer.name(label.empty() ? "" : "result_" + label, number));
  }
  return names;
}

std::string ahead_header(const ir::Graph& g, const AheadNames& names, bool grows) {
  std::string upper;
  for (char c : names.function) {
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  std::vector<std::string> sizes;
  for (const std::string& d : names.dims) sizes.push_back("int64_t " + d);
  std::vector<std::string> call = sizes;
  std::string arguments, results;
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const ir::Type t = ops::storage_type(g.type(static_cast<ir::ValueId>(k)));
    call.push_back(format("const {}* {}", c_type(t.dtype()), names.params[k]));
    arguments += array_line(names.params[k], t);
  }
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    const ir::Type t = g.type(g.results()[k]);
    call.push_back(format("{}* {}", c_type(t.dtype()), names.results[k]));
    results += array_line(names.results[k], t);
  }
  call.insert(call.end(), {"void* scratch", "int64_t scratch_bytes"});
  if (sizes.empty()) sizes = {"void"};

  const std::string more = !grows ? ""
                                  : ", beside what its loops keep in each trip: give more,\n"
                                    "   and again more where that is too small";
  constexpr const char* kHeader =
      R"(/* {0}, compiled ahead of time by Tlaloc. Arrays are row-major. */
#ifndef {1}_H
#define {1}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* What a call returns. */
enum {0}_status {{
  {1}_OK = 0,
  {1}_SCRATCH_TOO_SMALL = 1,
  {1}_BAD_SIZE = 2,      /* a size is negative, too large, or does not fit another one */
  {1}_TOO_MANY_TRIPS = 3 /* a loop did not end within its limit */
}};

/* Bytes of scratch memory that a call needs{2}{3}. */
{4}
/* Reads
{5}   and writes
{6}   No array may overlap with another one or with the scratch memory, which needs no alignment.
   Nothing is kept between calls; any number of threads may call at once, each with its own scratch
   memory. */
{7}
#ifdef __cplusplus
}}
#endif
#endif
)";
  return format(kHeader, names.function, upper, more,
                names.dims.empty() ? "" : "; -1 for sizes that do not fit",
                declaration("int64_t " + names.function + "_scratch_bytes", sizes), arguments,
                results, declaration("int32_t " + names.function, call));
}

}  // namespace tlaloc::cpu
