// What tests of import share: texts that come in, and those that are refused.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/stablehlo/import.h"

namespace tlaloc::stablehlo {

inline ir::GraphRef imported(const std::string& text) {
  ir::GraphRef g = import_stablehlo(text, "t.mlir").main().graph;
  ir::verify(*g);
  return g;
}

/// The message with which the text is refused: by that code, with a place.
inline std::string error_of(const std::string& code, const std::string& text) {
  try {
    import_stablehlo(text, "t.mlir");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_TRUE(e.info().place.known()) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace tlaloc::stablehlo
