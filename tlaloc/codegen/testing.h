// For tests: requests in short.
#pragma once

#include <string_view>

#include "tlaloc/codegen/api.h"

namespace tlaloc::codegen {

struct Choice {
  const char* passes = "early-cse,instcombine";
  const char* cpu = "";
  const char* features = "";
  bool explain = false;
};

/// `ir` must outlive the request.
inline Request request(std::string_view ir, const Choice& choice = {}) {
  return {.name = "test",
          .ir = ir.data(),
          .ir_size = ir.size(),
          .passes = choice.passes,
          .cpu = choice.cpu,
          .features = choice.features,
          .level = 2,
          .explain = choice.explain ? 1 : 0};
}

}  // namespace tlaloc::codegen
