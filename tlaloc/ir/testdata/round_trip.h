// Printing and reading back, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tlaloc/ir/parse.h"
#include "tlaloc/ir/testdata/test_ops.h"

namespace tlaloc::ir::test {

inline GraphRef parse(std::string_view text) { return parse_graph(text, find); }

/// The graph read back from the text of g, which must be the same and print the same.
inline GraphRef round_trip(const Graph& g) {
  const std::string text = g.to_string();
  SCOPED_TRACE(text);
  GraphRef again;
  EXPECT_NO_THROW(
      try { again = parse(text); } catch (const Error& e) {
        ADD_FAILURE() << e.what();
        throw;
      });
  if (!again) return again;
  EXPECT_TRUE(same_graph(g, *again));
  EXPECT_EQ(g.content_hash(), again->content_hash());
  EXPECT_EQ(text, again->to_string());
  return again;
}

}  // namespace tlaloc::ir::test
