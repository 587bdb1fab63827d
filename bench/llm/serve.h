// What both contestants do: read tasks from stdin, say the processor time that each took.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <vector>

namespace bench {

inline double process_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Tokens that no cache has an answer for.
inline std::vector<int> tokens_of(int count) {
  std::vector<int> tokens(static_cast<std::size_t>(count));
  long k = 0;
  for (int& t : tokens) t = static_cast<int>((k++ * 7919) % 40000 + 100);
  return tokens;
}

/// The surprise of a text in nats a token: the mean of -log p over the tokens behind the first of
/// each piece of 512, as the ones before it tell. `logits(tokens, each)` calls each(i, row) with
/// the logits behind every token.
template <class Logits>
double surprise_of(const std::vector<int>& text, int vocabulary, const Logits& logits) {
  double sum = 0;
  int count = 0;
  constexpr std::size_t kPiece = 512;
  for (std::size_t at = 0; at + kPiece <= text.size(); at += kPiece) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<int> piece(begin, begin + kPiece);
    logits(piece, [&](std::size_t i, const float* row) {
      if (i + 1 == kPiece) return;
      const float most = *std::max_element(row, row + vocabulary);
      double total = 0;
      for (int v = 0; v < vocabulary; ++v) total += std::exp(static_cast<double>(row[v] - most));
      sum += std::log(total) + static_cast<double>(most - row[piece[i + 1]]);
      ++count;
    });
  }
  return sum / count;
}

/// `run(tokens)` appends tokens, `best()` is the id of the largest logit behind them, and
/// `forget()` starts anew. Tasks: "prompt N", all at once; "decode N", one after the other; "score
/// N", the surprise of the N tokens that follow. Answers: seconds and the last id; the surprise.
template <class Run, class Best, class Forget, class Logits>
void serve(int vocabulary, const Run& run, const Best& best, const Forget& forget,
           const Logits& logits) {
  std::printf("ready %.6f\n", process_seconds());
  std::fflush(stdout);
  char what[16];
  int count = 0;
  while (std::scanf("%15s %d", what, &count) == 2) {
    forget();
    if (what[0] == 's') {
      std::vector<int> text(static_cast<std::size_t>(count));
      for (int& t : text) {
        if (std::scanf("%d", &t) != 1) return;
      }
      std::printf("%.6f\n", surprise_of(text, vocabulary, logits));
      std::fflush(stdout);
      continue;
    }
    const std::vector<int> tokens = tokens_of(count);
    const double start = process_seconds();
    if (what[0] == 'p') {
      run(tokens);
    } else {
      for (const int t : tokens) run({t});
    }
    const double seconds = process_seconds() - start;
    std::printf("%.9f %d\n", seconds, best());
    std::fflush(stdout);
  }
}

}  // namespace bench
