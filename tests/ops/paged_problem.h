// Sequences in pages of a pool, with tokens that attend to them, and the results by plain loops.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/transform/program.h"
#include "tlaloc/ops/paged.h"

namespace tlaloc::testing {

struct PagedProblem {
  std::int64_t heads = 1, kv_heads = 1, width = 4, value_width = 4, page = 4;
  DType pool = DType::f32;
  ops::PagedParams params;
  std::vector<std::int64_t> lengths;  ///< of the sequences, as far as the pool holds them
  struct Token {
    std::int64_t sequence, position;
    HostArray q{};  ///< [heads, width]; drawn unless it is there
  };
  std::vector<Token> tokens;
  std::int64_t more_columns = 0;  ///< of the tables, which hold any number

  // What `fill` makes of these.
  HostArray q, keys, values, positions, sequences, tables;
  /// Pages in any order. What is no key of a sequence, and pages that nobody has, hold NaN and
  /// infinities; columns of the tables behind a sequence hold numbers that are no pages.
  void fill(std::mt19937_64& random);
  /// Puts the tokens anew on top of what `fill` made of the sequences.
  void use(std::vector<Token> others, std::mt19937_64& random);

  std::vector<HostArray> args() const { return {q, keys, values, positions, sequences, tables}; }
  /// Of paged_attention, with symbols for tokens, pages and sizes of tables unless `fixed`.
  GraphRef graph(bool fixed) const;
  /// In f64, one key after the other: [tokens, heads, value width].
  std::vector<double> expected() const;
  std::string text() const;
};

/// Some sequences, and tokens that are prompts, parts of them, single ones and padding.
PagedProblem random_paged_problem(std::mt19937_64& random);

/// f32 or another floating type.
HostArray drawn_floats(std::mt19937_64& random, DType t, Extents extents);

/// Expects results that are 2e-5 of the largest from what loops find.
void expect_paged(const PagedProblem& p, const HostArray& got);

}  // namespace tlaloc::testing
