#include "tlaloc/text/word_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

/// By the rule alone: of all pairs the one of the lowest rank, and of these the leftmost.
std::vector<TokenId> merged_by_rule(std::vector<TokenId> ids, const std::vector<Merge>& merges) {
  for (;;) {
    std::optional<std::size_t> best;
    std::uint32_t rank = 0;
    TokenId result = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      for (const Merge& m : merges) {
        if (m.left != ids[i] || m.right != ids[i + 1] || (best && m.rank >= rank)) continue;
        best = i;
        rank = m.rank;
        result = m.result;
      }
    }
    if (!best) return ids;
    ids[*best] = result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  }
}

std::vector<TokenId> merged(WordMerger& merger, const std::vector<TokenId>& ids,
                            const MergeTable& table) {
  merger.symbols.clear();
  for (const TokenId id : ids) merger.symbols.push_back({id, 1});
  merger.merge(table);
  std::vector<TokenId> left;
  std::size_t length = 0;
  for (const Symbol& s : merger.symbols) {
    length += s.length;
    if (s.length > 0) left.push_back(s.id);
  }
  EXPECT_EQ(length, ids.size());
  return left;
}

/// Merges over `letters` symbols; `rank_of(i)` says when the i-th goes.
template <class RankOf>
std::vector<Merge> some_merges(std::mt19937& random, int letters, int count, RankOf rank_of) {
  std::vector<Merge> merges;
  for (int i = 0; i < count; ++i) {
    auto symbol = [&] {
      return static_cast<TokenId>(random() % static_cast<unsigned>(letters + i));
    };
    Merge m{symbol(), symbol(), letters + i, rank_of(i)};
    auto is_same = [&](const Merge& o) { return o.left == m.left && o.right == m.right; };
    if (std::none_of(merges.begin(), merges.end(), is_same)) merges.push_back(m);
  }
  return merges;
}

class WordMergers : public testing::TestWithParam<int> {};

TEST_P(WordMergers, MergeAsTheRuleSays) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  WordMerger merger;  // one for all, as what a word leaves must not reach the next
  for (int round = 0; round < 60; ++round) {
    const int letters = 1 + static_cast<int>(random() % 3);
    // As from training; equal for several; and against the order in which they can come up.
    const std::vector<Merge> merges = some_merges(random, letters, 20, [&](int i) {
      return static_cast<std::uint32_t>(round % 3 == 0 ? i : round % 3 == 1 ? i / 4 : 20 - i);
    });
    const MergeTable table(merges);
    std::vector<TokenId> ids(random() % 300);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % static_cast<unsigned>(letters));
    ASSERT_EQ(merged(merger, ids, table), merged_by_rule(ids, merges)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, WordMergers, testing::Range(0, 8));

TEST(WordMerger, TakesLongRowsInOrder) {
  // Two merges make places of a third one, in two orders. The places overlap, so that what is left
  // tells the order in which they are taken: from the left, two by two.
  const std::vector<Merge> merges = {{0, 0, 3, 0}, {1, 1, 3, 1}, {3, 3, 4, 2}};
  const MergeTable table(merges);
  std::vector<TokenId> ids = {2, 2};  // or a pair would never lie across a digit's border
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto letter = static_cast<TokenId>(random() % 2);
    ids.insert(ids.end(), {letter, letter});
  }
  WordMerger merger;
  const std::vector<TokenId> left = merged(merger, ids, table);
  EXPECT_EQ(static_cast<std::size_t>(std::count(left.begin(), left.end(), 4)), left.size() - 2);
}

TEST(WordMerger, TakesRoomForThePlacesThatWait) {
  // Places come in for each of many ranks: as many at first as there are symbols, then half of
  // them, and so on, when those before them are done with.
  std::vector<Merge> merges;
  for (TokenId i = 0; i < 16; ++i) merges.push_back({i, i, i + 1, static_cast<std::uint32_t>(i)});
  const MergeTable table(merges);
  const std::size_t n = std::size_t{1} << 17;
  WordMerger merger;
  EXPECT_EQ(merged(merger, std::vector<TokenId>(n, 0), table), (std::vector<TokenId>{16, 16}));
  // A symbol, a node of a list and a place of the row for each, and a little.
  EXPECT_LE(merger.bytes(), n * (sizeof(Symbol) + 8 + 4 + 1));
}

TEST(WordMerger, RefusesMoreSymbolsThanItHasNumbersFor) {
  WordMerger::check_count(WordMerger::kMostSymbols);
  try {
    WordMerger::check_count(WordMerger::kMostSymbols + 1);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TOKENIZER-003");
    EXPECT_THAT(e.what(), testing::HasSubstr("a word of 2147483649 symbols"));
  }
}

}  // namespace
}  // namespace tlaloc::text
