#include "tlaloc/base/checked.h"

#include "tlaloc/base/error.h"

namespace tlaloc {

void throw_size_overflow() {
  throw UserError(
      {"TL-SIZE-001", "size", "size arithmetic overflows 64 bits", "use smaller sizes", {}});
}

}  // namespace tlaloc
