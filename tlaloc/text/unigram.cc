#include "tlaloc/text/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/text/byte_tree.h"

namespace tlaloc::text {
namespace {

// What SentencePiece subtracts from the lowest score for an unknown character.
constexpr double kUnknownPenalty = 10.0;

/// The best way to an end: the token that ends there, where it begins, the sum of scores.
struct Step {
  double score = 0;
  std::uint32_t begin = kNowhere;
  TokenId id = -1;
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
};

struct UnigramState : ModelState {
  std::vector<Step> best;
  std::vector<Range> path;
  std::size_t bytes() const override { return bytes_of(best) + bytes_of(path); }
};

class Unigram : public Model {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options)
      : Model(std::move(vocabulary)),
        scores_(std::move(scores)),
        options_(options),
        tree_(this->vocabulary()) {
    double least = std::numeric_limits<double>::infinity();
    for (double s : scores_) least = std::min(least, s);
    unknown_score_ = least - kUnknownPenalty;
    for (unsigned b = 0; b < 256; ++b) {
      fallback_[b] =
          options_.byte_fallback ? this->vocabulary().find(fmt::format("<0x{:02X}>", b)) : -1;
    }
  }

  std::unique_ptr<ModelState> make_state() const override {
    return std::make_unique<UnigramState>();
  }

  void tokenize(std::string_view text, std::span<const Range> pieces, bool, ModelState& state,
                TokenSink& out) const override {
    auto& s = static_cast<UnigramState&>(state);
    for (const Range r : pieces) {
      const std::string_view piece = text.substr(r.begin, r.end - r.begin);
      find_best(piece, r.begin, s.best);
      trace(piece, s);
      for (std::size_t i = s.path.size(); i-- > 0;) emit(piece, s.path[i], r.begin, out);
    }
  }

 private:
  void find_best(std::string_view piece, std::uint32_t base, std::vector<Step>& best) const {
    best.assign(piece.size() + 1, {});
    for (std::uint32_t begin = 0; begin < piece.size();) {
      const double so_far = best[begin].score;
      const auto char_length = static_cast<std::uint32_t>(length_of(piece[begin]));
      bool single = false;
      auto offer = [&](std::uint32_t end, TokenId id, double score) {
        Step& s = best[end];
        if (s.begin == Step::kNowhere || score > s.score) s = {score, begin, id};
      };
      tree_.prefixes(piece.substr(begin), [&](std::size_t length, TokenId id) {
        offer(begin + static_cast<std::uint32_t>(length), id,
              scores_[static_cast<std::size_t>(id)] + so_far);
        single |= length == char_length;
      });
      if (!single) {
        if (options_.unk < 0) throw_no_unknown(piece.substr(begin, char_length), base + begin);
        offer(begin + char_length, options_.unk, unknown_score_ + so_far);
      }
      begin += char_length;
    }
  }

  /// The pieces from the last to the first; unknown ones side by side are one.
  void trace(std::string_view piece, UnigramState& s) const {
    s.path.clear();
    bool after_unknown = false;
    for (auto end = static_cast<std::uint32_t>(piece.size()); end > 0;) {
      const Step& step = s.best[end];
      const bool unknown = step.id == options_.unk;
      if (unknown && after_unknown) {
        s.path.back().begin = step.begin;
      } else {
        s.path.push_back({step.begin, end});
      }
      after_unknown = unknown;
      end = step.begin;
    }
  }

  void emit(std::string_view piece, Range r, std::uint32_t base, TokenSink& out) const {
    const std::string_view token = piece.substr(r.begin, r.end - r.begin);
    const Range place{base + r.begin, base + r.end};
    TokenId id = vocabulary().find(token);
    if (id < 0 && options_.byte_fallback &&
        std::all_of(
            token.begin(), token.end(),
            [&](char c) { return fallback_[static_cast<unsigned char>(c)] >= 0; })) {
      out.reserve(token.size());
      for (char c : token) out.push(fallback_[static_cast<unsigned char>(c)], place);
      return;
    }
    if (id < 0) id = options_.unk;
    out.reserve(1);
    out.push(id, place);
  }

  [[noreturn]] static void throw_no_unknown(std::string_view c, std::uint32_t at) {
    throw UserError({"TL-TOKENIZER-005",
                     "tokenizer",
                     fmt::format("'{}' at byte {} of the normalized text is a character that is in "
                                 "no token, and the model has no token for what is unknown",
                                 c, at),
                     "give the model an unk_id, or byte_fallback",
                     {}});
  }

  std::vector<double> scores_;
  UnigramOptions options_;
  ByteTree tree_;
  double unknown_score_ = 0;
  std::array<TokenId, 256> fallback_;
};

}  // namespace

ModelPtr make_unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), options);
}

}  // namespace tlaloc::text
