// The C header of a program that is compiled ahead of time.
#include <fmt/format.h>

#include "tlaloc/cpu/ahead_module.h"
#include "tlaloc/ops/quant_blocks.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;

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

std::string ahead_header(const ir::Graph& g, const AheadNames& names, bool grows) {
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
#ifndef TLALOC_AHEAD_{0}_H
#define TLALOC_AHEAD_{0}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* What a call returns. */
enum {0}_status {{
  {0}_status_ok = 0,
  {0}_status_scratch_too_small = 1,
  {0}_status_bad_size = 2,      /* a size is negative, too large, or does not fit another one */
  {0}_status_too_many_trips = 3 /* a loop did not end within its limit */
}};

/* Bytes of scratch memory that a call needs{1}{2}. */
{3}
/* Reads
{4}   and writes
{5}   No array may overlap with another one or with the scratch memory, which needs no alignment.
   Nothing is kept between calls; any number of threads may call at once, each with its own scratch
   memory. */
{6}
#ifdef __cplusplus
}}
#endif
#endif
)";
  return format(kHeader, names.function, more,
                names.dims.empty() ? "" : "; -1 for sizes that do not fit",
                declaration("int64_t " + names.function + "_scratch_bytes", sizes), arguments,
                results, declaration("int32_t " + names.function, call));
}

}  // namespace tlaloc::cpu
