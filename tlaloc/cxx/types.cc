#include "tlaloc/cxx/types.h"

#include "tlaloc/base/error.h"

namespace tlaloc::cxx {

std::string type_name(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::i8:
      return "std::int8_t";
    case DType::i16:
      return "std::int16_t";
    case DType::i32:
      return "std::int32_t";
    case DType::i64:
      return "std::int64_t";
    case DType::u8:
      return "std::uint8_t";
    case DType::u16:
      return "std::uint16_t";
    case DType::u32:
      return "std::uint32_t";
    case DType::u64:
      return "std::uint64_t";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    default:
      refuse_dtype(dtype);
  }
}
std::string vector_of(const std::string& element) { return "std::vector<" + element + ">"; }
std::string type_name(ir::Type type) {
  if (type.encoding()) {
    throw UserError({"TL-CXX-002",
                     "to_source",
                     "no C++ type stands for " + type.to_string(),
                     "dequantize it before",
                     {}});
  }
  const std::string element = type_name(type.dtype());
  return type.rank() == 0 ? element : vector_of(element);
}

void refuse_dtype(DType dtype) {
  throw UserError({"TL-CXX-002",
                   "to_source",
                   "no C++ type stands for " + std::string(name(dtype)),
                   "convert to f32 before, or print the function in tensor mode",
                   {}});
}
void refuse_op(const ir::OpDef& op, const std::string& reason, const std::string& hint,
               const ir::Origin& origin) {
  throw UserError(
      {"TL-CXX-001", op.name, "can't be printed as C++: " + reason, hint, origin.place});
}

}  // namespace tlaloc::cxx
